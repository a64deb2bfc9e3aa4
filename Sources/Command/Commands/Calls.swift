import ArgumentParser
import Foundation
import Parley

struct CallsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "current calls, and what calls need: list, send, media, turn",
        discussion: """
            Parley sets calls up; a program of your choice handles sound and pictures. It is \
            started for each call, and Protocol/12-media.md describes how the node talks to it. \
            Servers help if two devices cannot reach each other directly.

            Example:
              parley calls media /usr/local/bin/my-media
              parley calls turn add turn:turn.example.org:3478 --secret-file secret
            """,
        subcommands: [CallsList.self, CallsSend.self, CallsMedia.self, CallsTurn.self],
        defaultSubcommand: CallsList.self)
}

struct CallsMedia: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "media", abstract: "show or choose the program for sound and pictures",
        discussion: """
            It is used from the next call on, by this device only. What follows its name is passed \
            to it; put -- first if that begins with a hyphen. A name without a slash is looked up \
            as a shell does.

            Example:
              parley calls media
              parley calls media -- python3 media.py --quiet
              parley calls media --none
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Flag(name: .long, help: "use no program any more")
    var none = false
    @Argument(help: ArgumentHelp("the program and its arguments", valueName: "program"))
    var words: [String] = []

    func validate() throws {
        guard words.first != "" else { throw ValidationError("The program has no name.") }
        if none, !words.isEmpty {
            throw ValidationError("--none and a program exclude each other.")
        }
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
            return [wholePath(name)] + words.dropFirst()
        }
        let path = World.current.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        for folder in path.split(separator: ":") where folder.hasPrefix("/") {
            let file = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: String(file)) {
                return [String(file)] + words.dropFirst()
            }
        }
        throw NodeError(
            "bad-program", "There is no program named “\(name)” here.",
            hint:
                "Give the path of its file.")
    }
}

struct CallsTurn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "turn", abstract: "servers that help calls: list, add, remove",
        discussion: """
            A STUN server tells a device the address at which others see it; a TURN server \
            forwards sound and pictures, encrypted, if there is no direct connection. All your \
            devices use them.

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
        World.current.say("no servers: calls can only connect directly")
    }

    private static let words = [
        "open": "needs no password", "name": "has a password for", "secret": "shares a secret",
    ]
}

struct CallsTurnAdd: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "add a server",
        discussion: """
            With a secret, such as coturn's static-auth-secret, each call gets a name and a \
            password of its own, valid for a day. A password or a secret is read from the first \
            line of a file, because others can see the arguments of a command.

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
        name: .long,
        help: ArgumentHelp(
            "a file whose first line is the password of that name", valueName: "file"),
        completion: .file())
    var passwordFile: String?
    @Option(
        name: .long,
        help: ArgumentHelp(
            "a file whose first line is the secret of the server", valueName: "file"),
        completion: .file())
    var secretFile: String?

    func validate() throws {
        if (name == nil) != (passwordFile == nil) {
            throw ValidationError("--name and --password-file must be given together.")
        }
        if name != nil, secretFile != nil {
            throw ValidationError("--secret-file and --name exclude each other.")
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
        commandName: "remove", abstract: "stop using a server",
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
