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
        help: ArgumentHelp("the home of this name, see parley homes", valueName: "profile"))
    var profile: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "a file whose first line is the passphrase; without this option, you are asked "
                + "for it if the home has one, and a new home gets none",
            valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp("the configuration file, see parley config", valueName: "file"),
        completion: .file())
    var config: String?

    @Flag(name: .shortAndLong, help: "print only what was asked for, and errors")
    var quiet = false

    func validate() throws {
        if let home, home.isEmpty { throw ValidationError("--home needs a folder.") }
        guard let profile else { return }
        if home != nil { throw ValidationError("--home and --profile exclude each other.") }
        guard HomeFolders.isName(profile) else {
            throw ValidationError(NodeError.sentence(HomeFolders.nameRule))
        }
    }

    /// The folder, as an absolute path.
    var path: String {
        Self.path(
            home: home, profile: profile, configFile: config,
            environment: World.current.environment)
    }

    /// Options override the environment, and that overrides the configuration; in each a folder
    /// overrides a name.
    ///
    /// Source: XDG Base Directory Specification, `XDG_DATA_HOME`: a relative path there is ignored.
    static func path(
        home: String?, profile: String? = nil, configFile: String? = nil,
        environment: [String: String]
    ) -> String {
        let folders = HomeFolders(environment)
        if let home { return wholePath(home) }
        if let profile { return folders.path(of: profile) }
        if let home = environment["PARLEY_HOME"], !home.isEmpty { return wholePath(home) }
        // Problems are reported before a command runs: what is read here is valid.
        let configuration = Configuration(
            path: Configuration.path(named: configFile, environment: environment),
            environment: environment)
        let chosen = configuration.text("profile")
        return chosen.isEmpty ? folders.root : folders.path(of: chosen)
    }

    /// The passphrase from the file or, if a person can type it, from them; nil if there is
    /// neither. It is never taken from an argument or a variable: others can read those.
    @Sendable func passphrase() throws -> [UInt8]? {
        if let passphraseFile { return try Passphrase.read(file: passphraseFile) }
        if let file = try Self.configuredPassphraseFile(config) {
            return try Passphrase.read(file: file)
        }
        guard World.current.isInputTerminal else { return nil }
        return Passphrase.ask("Passphrase: ")
    }

    /// The sockets from a service manager, else the addresses in the configuration.
    ///
    /// Source: systemd.exec(5), `LoadCredential=`.
    private static func configuredPassphraseFile(_ config: String?) throws -> String? {
        let environment = World.current.environment
        if let folder = environment["CREDENTIALS_DIRECTORY"] {
            let file = folder + "/parley-passphrase"
            if FileManager.default.fileExists(atPath: file) { return file }
        }
        let file = try Configuration.load(named: config, environment: environment)
            .text("passphrase-file")
        guard file.hasPrefix("~/") else { return file.isEmpty ? nil : file }
        return (environment["HOME"] ?? NSHomeDirectory()) + file.dropFirst()
    }

    /// The same where a passphrase is known to be needed.
    @Sendable func currentPassphrase() throws -> [UInt8] {
        guard let passphrase = try passphrase() else {
            throw NodeError(
                "passphrase-needed", "The passphrase that was set is needed, and none was given.",
                hint: "Type it, or name a file with --passphrase-file.")
        }
        return passphrase
    }
}
