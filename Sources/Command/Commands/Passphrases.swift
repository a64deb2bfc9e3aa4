import ArgumentParser
import Parley

struct PassphraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "protect the keys with a passphrase, change it, or remove it",
        discussion: """
            Without a passphrase, the keys are in a file that only you can read. Stop the node \
            first: its keys are written again, and the word index is rebuilt under another key. A \
            wrong passphrase changes nothing. If the command is interrupted, `parley run` does the \
            rest.

            Example:
              parley passphrase set
            """,
        subcommands: [PassphraseSet.self, PassphraseChange.self, PassphraseRemove.self])
}

/// What the three have in common.
struct PassphraseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "a file whose first line is the new passphrase; without this option, you are "
                + "asked for it",
            valueName: "file"),
        completion: .file())
    var newPassphraseFile: String?

    func choose() throws -> [UInt8] {
        if let newPassphraseFile { return try Passphrase.read(file: newPassphraseFile) }
        return try Passphrase.choose(option: "--new-passphrase-file")
    }
}

struct PassphraseSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "protect the keys with a passphrase from now on",
        discussion: """
            Then whoever copies the folder learns nothing without the passphrase. Nobody can \
            restore it: if you lose the passphrase and the recovery code, the node is lost.

            Example:
              parley passphrase set --new-passphrase-file words.txt
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var options: PassphraseOptions

    func run() async throws {
        try await PassphraseCommand.change(place, isProtected: false) { try options.choose() }
        World.current.say("the passphrase is set: the node asks for it from now on")
    }
}

struct PassphraseChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "protect the keys with another passphrase",
        discussion: """
            Asks for the old one, then for the new one.

            Example:
              parley passphrase change
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var options: PassphraseOptions

    func run() async throws {
        try await PassphraseCommand.change(place, isProtected: true) { try options.choose() }
        World.current.say("the passphrase is changed")
    }
}

struct PassphraseRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "remove the passphrase from the keys",
        discussion: """
            Afterwards the keys are in a file that only you can read.

            Example:
              parley passphrase remove
            """)

    @OptionGroup var place: HomeOptions

    func run() async throws {
        try await PassphraseCommand.change(place, isProtected: true) { nil }
        World.current.say(
            "the passphrase is removed: whoever can read this folder can read your keys")
    }
}

extension PassphraseCommand {
    /// Opens the home by itself: a running node would have to be told a passphrase over a socket.
    fileprivate static func change(
        _ place: HomeOptions, isProtected wanted: Bool, to choose: @Sendable () throws -> [UInt8]?
    ) async throws {
        try await HomeNode.alone(place.path) { home in
            guard try Node.isProtectedByPassphrase(at: home) == wanted else {
                throw wanted
                    ? NodeError(
                        "no-passphrase", "This node has no passphrase.",
                        hint: "`parley passphrase set` gives it one.")
                    : NodeError(
                        "has-passphrase", "This node has a passphrase already.",
                        hint: "`parley passphrase change` gives it another.")
            }
            var settings = NodeSettings(home: home)
            if wanted { settings.passphrase = try place.currentPassphrase() }
            let line = ProgressLine()
            try Node.setPassphrase(settings, to: choose) { done, all in
                line.show { _ in
                    "the keys are new; indexing words again: \(done) of \(all) operations"
                }
            }
            line.end()
        }
    }
}
