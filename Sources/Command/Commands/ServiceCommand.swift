import ArgumentParser
import Foundation
import Parley
import ParleyLocalAPI

struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "have the node run whenever you are logged in",
        discussion: """
            It runs as a systemd user service: systemd starts the node, restarts it if it fails or \
            hangs, limits what it can access, and collects its log. To keep it running while you \
            are logged out, run `loginctl enable-linger` once.

            Example:
              parley service install
              parley service status
              parley service logs --follow
            """,
        subcommands: [
            ServiceInstall.self, ServiceUninstall.self, ServiceStatus.self, ServiceLogs.self,
        ])
}

/// Which home a service is about.
struct ServiceOptions: ParsableArguments {
    @OptionGroup var place: HomeOptions

    /// The name of the home; nil for the usual one, and for one that only --home names.
    var profile: String? {
        let environment = World.current.environment
        let folders = HomeFolders(environment).list()
        let name = place.profile ?? folders.first { $0.path == place.path }?.name
        return name == HomeFolders.usualName ? nil : name
    }

    /// What the unit is called, without what kind it is.
    var unitName: String { ServiceUnit.name(of: profile) }

    var folder: String { ServiceUnit.folder(World.current.environment) }

    /// Where units of both kinds are, or would be.
    var paths: [String] { ["service", "socket"].map { "\(folder)/\(unitName).\($0)" } }

    /// Asks the user's systemd manager; nil if there is none.
    func manage(_ words: [String]) throws -> (status: Int32, output: String)? {
        let environment = World.current.environment
        guard let systemctl = Subprocess("systemctl", environment: environment) else { return nil }
        return try systemctl.run(["--user", "--no-pager"] + words)
    }

    /// Refuses where no such service is installed.
    func requireInstalled() throws {
        guard paths.contains(where: FileManager.default.fileExists) else {
            throw NodeError(
                "no-service", "\(unitName).service is not installed.",
                hint: "`parley service install` installs it.")
        }
    }
}

struct ServiceInstall: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "have systemd run the node, from now on and at each login",
        discussion: """
            Writes a unit into your systemd folder and starts it. With --socket-port systemd \
            listens on that port and on the socket for commands, and starts the node when \
            something connects. If no user manager answers, as in a container, the unit is written \
            and the command that is left to run is shown.

            Example:
              parley service install
              parley service install --profile work --socket-port 7448
              parley service install --print
            """)

    @OptionGroup var options: ServiceOptions
    @Option(
        name: .long, help: ArgumentHelp("have systemd listen on this port", valueName: "port"))
    var socketPort: UInt16?
    @Flag(name: .long, help: "show what would be written, and write nothing")
    var print = false
    @Flag(name: .long, help: "write it, and start nothing")
    var noStart = false

    func validate() throws {
        if socketPort == 0 { throw ValidationError("--socket-port must be from 1 to 65535.") }
    }

    private var unit: ServiceUnit {
        let place = options.place
        return ServiceUnit(
            program: Self.program, home: place.path, profile: options.profile,
            config: place.config.map {
                Configuration.path(named: $0, environment: World.current.environment)
            }, socketPort: socketPort)
    }

    func run() throws {
        let world = World.current
        let unit = unit
        if print {
            world.write(unit.service)
            if let socket = unit.socket { world.write(socket) }
            return try world.checkOutput()
        }
        guard Node.exists(at: options.place.path) else {
            throw NodeError(
                "no-node", "There is no node in \(options.place.path).",
                hint: "`parley init --name YOURNAME` makes one.")
        }
        let paths = options.paths
        // What cannot be read is no unit of ours that would be lost.
        if let old = try? String(contentsOfFile: paths[0], encoding: .utf8), !unit.isOf(old) {
            throw NodeError(
                "other-home", "\(options.unitName).service runs another home.",
                hint:
                    "`parley service uninstall` ends that, and `parley homes new` gives a home a name."
            )
        }
        try write(unit.service, to: paths[0])
        if let socket = unit.socket {
            try write(socket, to: paths[1])
        } else if FileManager.default.fileExists(atPath: paths[1]) {
            _ = try options.manage(["disable", "--now", options.unitName + ".socket"])
            try FileManager.default.removeItem(atPath: paths[1])
        }
        try start()
    }

    private func start() throws {
        let world = World.current
        let kind = socketPort == nil ? "service" : "socket"
        let name = "\(options.unitName).\(kind)"
        let command = "systemctl --user enable --now \(name)"
        guard !noStart, let reload = try options.manage(["daemon-reload"]), reload.status == 0
        else {
            return world.say(
                noStart ? "\(command) starts it" : "systemd has no user manager here: \(command)")
        }
        let result = try options.manage(["enable", "--now", name])
        guard result?.status == 0 else {
            throw NodeError(
                "not-started",
                "The node was not started: \(result?.output.trimmed ?? "no answer")",
                hint: "`parley service logs` says why.")
        }
        world.say("\(name) is enabled and runs")
    }

    private func write(_ text: String, to path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: options.folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw NodeError("unit-not-written", "\(path) cannot be written: \(error).")
        }
        World.current.say("wrote \(harmless(path))")
    }

    /// The file of this program, wherever it was started from.
    static var program: String {
        // Where the kernel tells nothing, where a package would put it.
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? "/usr/bin/parley"
    }
}

extension String {
    /// Without the blanks and ends of lines around it.
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}

struct ServiceUninstall: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninstall",
        abstract: "stop the service and remove it; the home stays as it is",
        discussion: """
            The data of the node is not touched: parley run continues with it.

            Example:
              parley service uninstall
            """)

    @OptionGroup var options: ServiceOptions

    func run() throws {
        try options.requireInstalled()
        let names = options.paths.map { URL(fileURLWithPath: $0).lastPathComponent }
        // Units that systemd does not know need no end.
        _ = try options.manage(["disable", "--now"] + names.reversed())
        for path in options.paths where FileManager.default.fileExists(atPath: path) {
            do {
                try FileManager.default.removeItem(atPath: path)
            } catch {
                throw NodeError("unit-not-removed", "\(path) cannot be removed: \(error).")
            }
            World.current.say("removed \(harmless(path))")
        }
        _ = try options.manage(["daemon-reload"])
    }
}

struct ServiceStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "say whether the service is installed, and how it is doing",
        discussion: """
            Shows what systemd says of it, and whether the node answers. Exits with 1 if it does \
            not.

            Example:
              parley service status
            """)

    @OptionGroup var options: ServiceOptions
    @OptionGroup var output: OutputOptions

    private struct View: Encodable {
        var unit: String
        var isInstalled: Bool
        /// As systemd says it: `enabled`, `active`, …; empty where it says nothing.
        var enabled: String
        var active: String
        var restarts: Int?
        var answers: Bool
    }

    func run() async throws {
        let name = options.unitName + ".service"
        let shown = try options.manage([
            "show", name, "--property=UnitFileState,ActiveState,NRestarts",
        ])
        var facts: [String: String] = [:]
        for line in (shown?.output ?? "").split(separator: "\n") {
            let pair = line.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { facts[pair[0]] = pair[1] }
        }
        // One that cannot be asked does not answer.
        let client = try? await NodeClient.connect(home: options.place.path)
        await client?.close()
        let view = View(
            unit: name, isInstalled: FileManager.default.fileExists(atPath: options.paths[0]),
            enabled: facts["UnitFileState"] ?? "", active: facts["ActiveState"] ?? "",
            restarts: facts["NRestarts"].flatMap { Int($0) }, answers: client != nil)
        var table = Table()
        table.add(
            "unit", view.isInstalled ? options.paths[0] : "not installed: parley service install")
        if !view.enabled.isEmpty { table.add("enabled", view.enabled) }
        if !view.active.isEmpty { table.add("active", view.active) }
        if let restarts = view.restarts, restarts > 0 { table.add("restarts", "\(restarts)") }
        table.add("node", view.answers ? "answers" : "does not answer")
        try Output.show(view, json: output.json, as: table.text)
        if !view.answers { throw ExitCode(ExitStatus.failed.number) }
    }
}

struct ServiceLogs: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "show what the service logged",
        discussion: """
            From systemd's journal. The log holds no texts, names or keys.

            Example:
              parley service logs --lines 200
              parley service logs --follow
            """)

    @OptionGroup var options: ServiceOptions
    @Flag(name: .long, help: "keep showing new lines, until Ctrl-C")
    var follow = false
    @Option(name: .long, help: "how many lines")
    var lines = 50

    func validate() throws {
        guard (1...100_000).contains(lines) else {
            throw ValidationError("--lines must be from 1 to 100000.")
        }
    }

    func run() throws {
        guard let journal = Subprocess("journalctl", environment: World.current.environment) else {
            throw NodeError("no-journal", "There is no journalctl on this machine.")
        }
        var words = [
            "--user", "--no-pager", "--unit", options.unitName + ".service", "--lines", "\(lines)",
        ]
        if follow { words.append("--follow") }
        let status = try journal.run(words, isShown: true).status
        guard status == 0 else { throw ExitCode(ExitStatus.failed.number) }
    }
}
