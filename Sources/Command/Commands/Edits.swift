import ArgumentParser
import Parley

struct Edits: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "edits",
        abstract: "show the texts that a message had",
        discussion: """
            Oldest first; the last is the one that is shown. A message that was deleted has none.

            Example:
              parley edits 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message's number or identifier")
    var message: MessageArgument
    @Option(name: .long, help: "begin at this text, counted from 0")
    var from = 0

    func validate() throws {
        guard from >= 0 else { throw ValidationError("--from must be 0 or more.") }
    }

    func run(with node: any NodeService) async throws {
        let page = try await node.perform(GetMessageHistory(message: message.reference, from: from))
        let clock = Clock()
        let lines = page.versions.map { version in
            "\(clock.moment(version.time))  "
                + (version.text.map { harmless($0) }
                    ?? (version.state == "gone" ? "(deleted here)" : "(not here yet)"))
                + (WaitingMarks.notTaken(version.state).map { "  \($0)" } ?? "")
        }
        try Output.show(page, json: output.json, as: lines.joined(separator: "\n"))
        guard !output.json else { return }
        if page.versions.isEmpty { World.current.say("no texts") }
        if let next = page.next {
            World.current.advise(
                "\(page.count - next) more: parley edits \(message.reference) --from \(next)")
        }
    }
}
