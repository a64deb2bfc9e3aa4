import ArgumentParser
import Parley

struct ProfileCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "show what you or a contact say of themselves, or change it",
        discussion: """
            Beside the name: a line of text, a language and a time zone, on all of your devices and for \
            your contacts; groups are not told. An empty text says nothing any more.

            Example:
              parley profile --status "at the lake" --time-zone Europe/Berlin
              parley profile ben
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "a contact; without it, yourself")
    var person: String?
    @Option(name: .long, help: "what you do, or how you are")
    var status: String?
    @Option(name: .long, help: "the language to write to you in, as de or pt-BR")
    var language: String?
    @Option(name: .long, help: ArgumentHelp("where your clock is", valueName: "zone"))
    var timeZone: String?

    private var isChange: Bool { status != nil || language != nil || timeZone != nil }

    func validate() throws {
        if let person { try Check.name(person, "a name") }
        if person != nil, isChange {
            throw ValidationError("you can change your own profile alone")
        }
    }

    func run(with node: any NodeService) async throws {
        let profile =
            isChange
            ? try await node.perform(
                ChangeProfile(status: status, language: language, timeZone: timeZone))
            : try await node.perform(GetProfile(person: person))
        let lines = [
            ("status", profile.status), ("language", profile.language),
            ("time zone", profile.timeZone),
        ].compactMap { name, value in value.map { [name, $0] } }
        try Output.show(
            profile, json: output.json,
            as: ([harmless(profile.name)] + Table(lines).lines.map { "  " + $0 })
                .joined(separator: "\n"))
    }
}
