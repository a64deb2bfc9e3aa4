import ArgumentParser
import Foundation
import Parley

struct ProfileCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "show your profile or a contact's, or change yours",
        discussion: """
            A profile has, beside your name, a line of text, a language, a time zone and a small \
            picture. Your devices and your contacts see it; groups do not. An empty text removes \
            what you said. vipsthumbnail or ffmpeg, whichever is installed, makes the picture \
            small and removes its metadata, such as place and camera.

            Example:
              parley profile --status "at the lake" --time-zone Europe/Berlin
              parley profile --picture me.jpg
              parley profile ben --save-picture ben.jpg
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "a contact; without it, yourself")
    var person: String?
    @Option(name: .long, help: "what you do, or how you are")
    var status: String?
    @Option(name: .long, help: "the language to write to you in, such as de or pt-BR")
    var language: String?
    @Option(name: .long, help: ArgumentHelp("your time zone", valueName: "zone"))
    var timeZone: String?

    @Option(name: .long, help: "a file with a picture of you", completion: .file())
    var picture: String?
    @Flag(name: .long, help: "remove your picture")
    var noPicture = false
    @Option(
        name: .long, help: ArgumentHelp("write their picture into a file", valueName: "file"),
        completion: .file())
    var savePicture: String?

    private var isChange: Bool {
        status != nil || language != nil || timeZone != nil || picture != nil || noPicture
    }

    func validate() throws {
        if let person { try Check.name(person, "a name") }
        if person != nil, isChange {
            throw ValidationError("You can change only your own profile.")
        }
        for path in [picture, savePicture].compactMap({ $0 }) { try Check.file(path) }
        if picture != nil, noPicture {
            throw ValidationError("--picture and --no-picture exclude each other.")
        }
    }

    func run(with node: any NodeService) async throws {
        let bytes: [UInt8]? =
            try noPicture ? [] : picture.map { try SmallPicture.bytes(ofFile: absolutePath($0)) }
        let profile =
            isChange
            ? try await node.perform(
                ChangeProfile(
                    status: status, language: language, timeZone: timeZone,
                    picture: bytes.map { Data($0).base64EncodedString() }))
            : try await node.perform(GetProfile(person: person))
        if let savePicture { try await save(to: savePicture, of: profile, on: node) }
        let lines = [
            ("status", profile.status), ("language", profile.language),
            ("time zone", profile.timeZone), ("picture", profile.hasPicture ? "yes" : nil),
        ].compactMap { name, value in value.map { [name, $0] } }
        try Output.show(
            profile, json: output.json,
            as: ([harmless(profile.name)] + Table(lines).lines.map { "  " + $0 })
                .joined(separator: "\n"))
    }

    private func save(
        to file: String, of profile: ProfileView, on node: any NodeService
    ) async throws {
        let picture = try await node.perform(GetPicture(person: person))
        guard try picture.write(to: file) else {
            throw NodeError("no-picture", "\(harmless(profile.name)) has no picture.")
        }
    }
}
