import ArgumentParser
import Foundation
import Parley

struct Initialise: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "create a node of your own",
        discussion: """
            Creates the keys, and prints the recovery code. The code is shown only once, and \
            nothing else can recover your identity if you lose all your devices. Write it on paper.

            Without a passphrase, the keys are in a file that only you can read.

            Example:
              parley init --name Ada
            """)

    @OptionGroup var place: HomeOptions
    @Option(name: .long, help: "what others see you as (default: your user name)")
    var name: String?
    @Flag(name: .long, help: "protect the keys with a passphrase; you are asked for it")
    var passphrase = false

    func validate() throws { _ = try Self.chosenName(name) }

    /// The name that was given, or else the user name that the environment says.
    ///
    /// - Throws: `ValidationError` if there is neither, or if nothing of it can be seen.
    static func chosenName(_ given: String?) throws -> String {
        // POSIX has LOGNAME; cron and containers may set one of both, or none.
        let users = ["USER", "LOGNAME"].compactMap { World.current.environment[$0] }
        guard let name = given ?? users.first(where: { !$0.isEmpty }) else {
            throw ValidationError(
                "No name was given, and no user name is known: add --name NAME, by which others "
                    + "will see you.")
        }
        try Check.name(name, "a name")
        return name
    }

    func run() async throws {
        var secret: [UInt8]?
        if let file = place.passphraseFile {
            secret = try Passphrase.read(file: file)
        } else if passphrase {
            secret = try Passphrase.choose()
        }
        let world = World.current
        let (name, path) = (try Self.chosenName(name), place.path)
        try await HomeNode.create(home: path, name: name, passphrase: secret) { code in
            world.say("\(harmless(name))'s node is in \(harmless(path))")
            world.say("Write this recovery code on paper. It is not shown again:")
            world.write(code)
            try Self.requireShown(world)
        }
        if secret == nil {
            world.say("Anybody who can read this folder can read your keys: there is no passphrase")
        }
        world.advise("Next: parley run")
    }

    /// Throws if the recovery code did not arrive, also where its reader has gone: without it, nobody could
    /// recover the identity.
    private static func requireShown(_ world: World) throws {
        do {
            try world.checkOutput()
        } catch let error as OutputError {
            throw NodeError(
                "output-failed",
                "The recovery code could not be shown: \(String(cString: strerror(error.code))).",
                hint: "The new node was removed again. Run the command where you can read its "
                    + "output.")
        }
    }
}

struct NameCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "name",
        abstract: "show your name, or change it",
        discussion: """
            Your contacts see the new name as soon as their nodes hear of it, beside the same \
            identifier as before.

            Example:
              parley name "Ada L."
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the new name")
    var name: String?

    func validate() throws {
        if let name { try Check.name(name, "a name") }
    }

    func run(with node: any NodeService) async throws {
        if let name { try await node.perform(RenameSelf(name: name)) }
        let status = try await node.perform(GetStatus())
        try Output.show(["name": status.name], json: output.json, as: harmless(status.name))
    }
}
