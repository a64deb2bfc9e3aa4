import ArgumentParser
import Foundation
import Parley

/// Which node a command is about.
struct HomeOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("the folder of the node", valueName: "folder"),
        completion: .directory)
    var home: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "a file whose first line is the passphrase; without it, it is asked for if the home has"
                + " one, and a new home gets none",
            valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    func validate() throws {
        if let home, home.isEmpty { throw ValidationError("--home needs a folder") }
    }

    /// The folder, as an absolute path.
    var path: String { Self.path(home: home, environment: World.current.environment) }

    /// Source: XDG Base Directory Specification, `XDG_DATA_HOME`: a relative path there is ignored.
    static func path(home: String?, environment: [String: String]) -> String {
        func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardized.path }
        if let home { return absolute(home) }
        if let home = environment["PARLEY_HOME"], !home.isEmpty { return absolute(home) }
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            return absolute(data + "/parley")
        }
        return absolute((environment["HOME"] ?? NSHomeDirectory()) + "/.local/share/parley")
    }

    /// The passphrase from the file or, where a person is there to type it, from them; nil where
    /// there is neither. It is never taken from an argument or a variable: others can read those.
    @Sendable func passphrase() throws -> [UInt8]? {
        if let passphraseFile { return try Passphrase.read(file: passphraseFile) }
        guard World.current.isInputTerminal else { return nil }
        return Passphrase.ask("Passphrase: ")
    }

    /// The same where a passphrase is known to be needed.
    @Sendable func currentPassphrase() throws -> [UInt8] {
        guard let passphrase = try passphrase() else {
            throw NodeError(
                "passphrase-needed", "The passphrase that was set is needed, and none was given.",
                hint: "type it, or name a file with --passphrase-file")
        }
        return passphrase
    }
}
