import ArgumentParser
import Foundation
import Parley

struct CallsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "calls that go on, and what calls need: list, send, media, turn",
        discussion: """
            Parley brings calls about; sound and pictures are made by a program of your choice, \
            which is started for each call and spoken with as Protocol/12-media.md tells. Servers \
            help where two cannot reach each other directly.

            Example:
              parley calls media /usr/local/bin/my-media
              parley calls turn add turn:turn.example.org:3478 --secret-file secret
            """,
        subcommands: [CallsList.self, CallsSend.self, CallsMedia.self, CallsTurn.self],
        defaultSubcommand: CallsList.self)
}

struct CallsMedia: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "media", abstract: "the program for sound and pictures: show or choose it",
        discussion: """
            It is used from the next call on, by this device alone. What follows its name is \
            passed on; say -- first where that begins with a hyphen. A name without a slash is \
            looked for as a shell does.

            Example:
              parley calls media
              parley calls media -- python3 media.py --quiet
              parley calls media --none
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Flag(name: .long, help: "use none any more")
    var none = false
    @Argument(help: ArgumentHelp("the program, and what it is started with", valueName: "program"))
    var words: [String] = []

    func validate() throws {
        guard words.first != "" else { throw ValidationError("a program needs a name") }
        if none, !words.isEmpty { throw ValidationError("--none or a program, not both") }
    }

    func run(with node: any NodeService) async throws {
        let settings =
            if none {
                try await node.perform(SetMediaProgram(words: []))
            } else if words.isEmpty {
                try await node.perform(GetCallSettings())
            } else {
                try await node.perform(SetMediaProgram(words: Self.found(words)))
            }
        let text = settings.program.map(harmless).joined(separator: " ")
        try Output.show(settings, json: output.json, as: text)
        guard !output.json, settings.program.isEmpty else { return }
        World.current.advise(
            "no program for sound and pictures: parley calls media PROGRAM names one")
    }

    /// The words with the program's whole path, as a shell would find it.
    private static func found(_ words: [String]) throws -> [String] {
        let name = words[0]
        if name.contains("/") {
            return [URL(fileURLWithPath: name).standardized.path] + words.dropFirst()
        }
        let path = World.current.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        for folder in path.split(separator: ":") where folder.hasPrefix("/") {
            let file = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: String(file)) {
                return [String(file)] + words.dropFirst()
            }
        }
        throw NodeError(
            "bad-program", "There is no program “\(name)” here.", hint: "Name its file.")
    }
}

struct CallsTurn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "turn", abstract: "servers that help calls: list, add, remove",
        discussion: """
            A STUN server tells a device how others see it; a TURN server passes sound and \
            pictures on, sealed, where no direct way exists. All your devices use them.

            Example:
              parley calls turn list
            """,
        subcommands: [CallsTurnList.self, CallsTurnAdd.self, CallsTurnRemove.self],
        defaultSubcommand: CallsTurnList.self)
}

struct CallsTurnList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "list your servers",
        discussion: """
            Example:
              parley calls turn list --json
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        try Self.show(try await node.perform(GetCallSettings()), output)
    }

    static func show(_ settings: CallSettingsView, _ output: OutputOptions) throws {
        let table = Table(
            settings.servers.map { [$0.address, words[$0.access] ?? "", $0.name ?? ""] })
        try Output.show(settings, json: output.json, as: table.text)
        guard !output.json, settings.servers.isEmpty else { return }
        World.current.say("no server: calls find direct ways only")
    }

    private static let words = [
        "open": "takes nothing", "name": "takes a password of", "secret": "shares a secret",
    ]
}

struct CallsTurnAdd: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "use a server",
        discussion: """
            With a secret, as coturn's static-auth-secret, each call gets a name and a password of \
            its own that hold for a day. A password and a secret are the first line of a file: \
            others can read what stands in a command.

            Example:
              parley calls turn add turn:turn.example.org:3478 --secret-file secret
              parley calls turn add turns:turn.example.org:5349 --name ada --password-file word
              parley calls turn add stun:turn.example.org:3478
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: ArgumentHelp("turn:HOST:PORT, turns:HOST:PORT or stun:HOST:PORT"))
    var address: String
    @Option(name: .long, help: "the name that the server knows you by")
    var name: String?
    @Option(
        name: .long, help: ArgumentHelp("holds the password of that name", valueName: "file"),
        completion: .file())
    var passwordFile: String?
    @Option(
        name: .long, help: ArgumentHelp("holds the secret of the server", valueName: "file"),
        completion: .file())
    var secretFile: String?

    func validate() throws {
        if (name == nil) != (passwordFile == nil) {
            throw ValidationError("--name and --password-file belong together")
        }
        if name != nil, secretFile != nil {
            throw ValidationError("--secret-file or --name, not both")
        }
        for file in [passwordFile, secretFile].compactMap({ $0 }) { try Check.file(file) }
        if let name { try Check.name(name, "a name") }
    }

    func run(with node: any NodeService) async throws {
        let settings = try await node.perform(
            AddTurnServer(
                address: address, name: name, password: try passwordFile.map(Self.line),
                secret: try secretFile.map(Self.line)))
        try CallsTurnList.show(settings, output)
    }

    private static func line(of file: String) throws -> String {
        String(decoding: try Passphrase.read(file: file), as: UTF8.self)
    }
}

struct CallsTurnRemove: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "use a server no more",
        discussion: """
            Example:
              parley calls turn remove turn:turn.example.org:3478
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its address, as it was added")
    var address: String

    func run(with node: any NodeService) async throws {
        try CallsTurnList.show(try await node.perform(RemoveTurnServer(address: address)), output)
    }
}
