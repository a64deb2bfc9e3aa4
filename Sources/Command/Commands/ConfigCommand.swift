import ArgumentParser
import Parley
import ParleyWire

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "show, check and change the settings of this machine",
        discussion: """
            Settings are in one TOML file; a variable for each key overrides it, such as \
            $PARLEY_LOG_LEVEL for log.level. The file is the one that --config names, else \
            $PARLEY_CONFIG, else parley/config.toml in $XDG_CONFIG_HOME, else \
            ~/.config/parley/config.toml; without a file, the defaults apply. The file never holds \
            keys of a node or passphrases. A running node reads it again at SIGHUP.

            Example:
              parley config list
              parley config set notify.quiet-hours 22:00-07:00
              parley config check
            """,
        subcommands: [
            ConfigList.self, ConfigGet.self, ConfigSet.self, ConfigUnset.self, ConfigCheck.self,
        ],
        defaultSubcommand: ConfigList.self)
}

/// `--config`.
struct ConfigOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("the file with what is set", valueName: "file"),
        completion: .file())
    var config: String?

    /// What holds, with all that is wrong.
    func read() -> Configuration {
        let environment = World.current.environment
        let isNamed = config != nil || !(environment["PARLEY_CONFIG"] ?? "").isEmpty
        return Configuration(path: path, isNamed: isNamed, environment: environment)
    }

    var path: String {
        Configuration.path(named: config, environment: World.current.environment)
    }

    /// The key of this name.
    static func key(_ name: String) throws -> ConfigKey {
        if let key = ConfigKey.named(name) { return key }
        let near = Spelling.nearest(to: name, among: ConfigKey.all.map(\.name))
        throw NodeError(
            "unknown-key", "There is no key \(name).",
            hint: near.map { "Was it \($0)?" } ?? "`parley config list` shows them all.")
    }
}

/// A key with its value, for programs.
private struct ConfigView: Encodable {
    var key: String
    var value: String
    /// `usual`, `file` or `variable`.
    var source: String
    var meaning: String
    var variable: String
    /// Whether a running node applies a change at SIGHUP.
    var isLive: Bool

    init(_ key: ConfigKey, in configuration: Configuration) {
        (self.key, meaning, variable, isLive) = (key.name, key.meaning, key.variable, key.isLive)
        value = configuration.value(of: key).text
        source =
            switch configuration.source(of: key) {
            case .usual: "usual"
            case .file: "file"
            case .variable: "variable"
            }
    }
}

struct ConfigList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list all keys and their values",
        discussion: """
            Shows the value of each and where it comes from: the file, a variable, or the default.

            Example:
              parley config list
            """)

    @OptionGroup var options: ConfigOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let configuration = options.read()
        let views = ConfigKey.all.map { ConfigView($0, in: configuration) }
        let rows = views.map {
            [$0.key, $0.value, $0.source == "usual" ? "" : $0.source, $0.meaning]
        }
        try Output.show(views, json: output.json, as: Table(rows, columnsMax: 36).text)
        if !output.json { World.current.say("the file: \(harmless(configuration.path))") }
        if let fault = configuration.faults.first { throw fault.nodeError }
    }
}

struct ConfigGet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "show the value of a key",
        discussion: """
            It is shown as it is written in the file; a text is in quotes.

            Example:
              parley config get log.level
            """)

    @OptionGroup var options: ConfigOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the key, as config list shows it")
    var key: String

    func run() throws {
        let key = try ConfigOptions.key(key)
        let configuration = options.read()
        if let fault = configuration.faults.first { throw fault.nodeError }
        try Output.show(
            ConfigView(key, in: configuration), json: output.json,
            as: configuration.value(of: key).text)
    }
}

struct ConfigSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "set a key in the file",
        discussion: """
            Everything else in the file stays as it is, comments included. A value that the key \
            does not accept is refused. Give a list as several words, or in TOML.

            Example:
              parley config set log.level debug
              parley config set run.listen '*:7447'
              parley config set notify.command -- /usr/local/bin/ring --soft
            """)

    @OptionGroup var options: ConfigOptions
    @Argument(help: "the key, as config list shows it")
    var key: String
    @Argument(help: "its value")
    var value: [String]

    func run() throws {
        let key = try ConfigOptions.key(key)
        let isList = key.kind == .addresses || key.kind == .command
        let given: ConfigValue
        do throws(TOMLDocument.Fault) {
            given =
                isList && !(value.count == 1 && value[0].hasPrefix("["))
                ? .strings(value.filter { !$0.isEmpty })
                : try key.value(typed: value.joined(separator: " "))
        } catch {
            throw NodeError("bad-value", "\(key.name): \(error.what)")
        }
        if let fault = key.fault(of: given) {
            throw NodeError(
                "bad-value", "\(key.name): \(fault)", hint: "\(key.name) takes \(key.taken).")
        }
        try ConfigFile(path: options.path).set(key, to: given)
        World.current.say("\(key.name) = \(harmless(given.text))")
        if World.current.environment[key.variable] != nil {
            World.current.say("warning: $\(key.variable) overrides it")
        }
        World.current.say(key.isLive ? ConfigOptions.liveHint : ConfigOptions.lateHint)
    }
}

extension ConfigOptions {
    static let liveHint = "a running node uses it once it reloads its configuration (SIGHUP)"
    static let lateHint = "it applies to commands, and to a node, that start from now on"
}

struct ConfigUnset: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset",
        abstract: "remove a key from the file",
        discussion: """
            The default applies again.

            Example:
              parley config unset log.level
            """)

    @OptionGroup var options: ConfigOptions
    @Argument(help: "the key, as config list shows it")
    var key: String

    func run() throws {
        let key = try ConfigOptions.key(key)
        try ConfigFile(path: options.path).set(key, to: nil)
        World.current.say("\(key.name) = \(harmless(key.fallback.text))")
    }
}

struct ConfigCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "check the file and the variables for mistakes",
        discussion: """
            Shows every mistake with its line and column. Exits with 1 if there is one.

            Example:
              parley config check
            """)

    @OptionGroup var options: ConfigOptions
    @OptionGroup var output: OutputOptions

    private struct View: Encodable {
        struct Fault: Encodable {
            var path: String
            var line: Int?
            var column: Int?
            var what: String
        }
        var path: String
        var faults: [Fault]
    }

    func run() throws {
        let configuration = options.read()
        let faults = configuration.faults
        let view = View(
            path: configuration.path,
            faults: faults.map {
                .init(path: $0.path, line: $0.place?.line, column: $0.place?.column, what: $0.what)
            })
        try Output.show(
            view, json: output.json,
            as: faults.map { harmless($0.text) }.joined(separator: "\n"))
        guard !faults.isEmpty else {
            if !output.json {
                World.current.say("nothing is wrong in \(harmless(configuration.path))")
            }
            return
        }
        throw NodeError(
            "bad-config", "The configuration has \(counted(faults.count, "mistake")).",
            hint: "`parley config list` shows what each key takes.")
    }
}
