import Foundation
import Logging
import Parley
import ParleyWire

/// The surroundings of a running node: its log, its service manager, and notifications.
struct RunningService: Sendable {
    let sockets: InheritedSockets
    private let manager: ServiceManager
    private let log: ServiceLog
    private let notifier: Notifier
    private let environment: [String: String]
    /// From the first moment on: a wish that comes while the node starts must not end it.
    private let reloads = Stop.reloads()

    /// Takes the sockets passed to this process, and sets up its log: call it once, before the node
    /// is opened.
    init(_ configuration: Configuration, environment: [String: String]) {
        self.environment = environment
        sockets = InheritedSockets(environment)
        manager = ServiceManager(environment)
        InheritedSockets.forget()
        let put = World.current.log.put
        let log = ServiceLog(
            isJournal: ServiceLog.isJournal(STDERR_FILENO, environment: environment), put: put)
        self.log = log
        LoggingSystem.bootstrap { _ in log }
        notifier = Notifier(configuration, environment: environment)
        ServiceLog.setLevel(LogLevel.level(configuration.text("log.level")))
    }

    /// Says that the node runs: everything to a person, no name to a journal.
    func greet(_ node: any NodeService) async throws {
        let status = try await node.perform(GetStatus())
        if log.isJournal {
            note("the node is running", .notice)
            if !status.warnings.isEmpty {
                note("parley status has \(counted(status.warnings.count, "warning"))", .warning)
            }
        } else {
            let world = World.current
            world.say("\(harmless(status.name))'s node runs in \(harmless(status.home))")
            for address in status.addresses { world.write("listening on \(address)") }
            for warning in status.warnings { world.advise("warning: " + harmless(warning)) }
            world.say("Ctrl-C stops it")
        }
        manager.tellReady()
    }

    func sayStopping() {
        manager.tellStopping()
        if log.isJournal { note("stopping", .notice) } else { World.current.say("stopping") }
    }

    private func note(_ text: String, _ level: Logger.Level) {
        guard level >= log.logLevel else { return }
        World.current.log.put(log.line(text, level))
    }

    /// The work beside the node until it is cancelled.
    func work(
        for running: RunningHome, changes: AsyncStream<ChangeView>, configFile: String?
    ) -> [Task<Void, Never>] {
        let node = running.node
        return [
            Task { for await change in changes { warn(of: change) } },
            Task { for await _ in reloads { reload(configFile) } },
            Task {
                do {
                    try await notifier.follow(node)
                } catch {
                    note("notifications do not work: \(code(of: error))", .error)
                }
            },
            Task { await watch(node) },
            Task { await OpenedFiles.tend(environment, on: node) },
            Task {
                while !Task.isCancelled {
                    // Cut short when the node ends.
                    try? await Task.sleep(for: .seconds(3_600))
                    running.tidy()
                }
            },
            Task {
                do { try await HomeNode.nameDeviceOnceAllowed(of: node) } catch {
                    // Without a name the device works all the same, and the next run tries again.
                }
            },
        ]
    }

    private func code(of error: any Error) -> String { (error as? NodeError)?.code ?? "failed" }

    /// What the owner should know and nobody may be looking for.
    private func warn(of change: ChangeView) {
        // It is empty once there is nothing to warn of any more.
        guard change.kind == "clocks", let notice = change.notice, !notice.isEmpty else { return }
        if log.isJournal {
            note("clocks differ: parley status says whose", .warning)
        } else {
            World.current.advise("warning: " + harmless(notice))
        }
    }

    /// Applies the present settings. Invalid ones change nothing.
    private func reload(_ file: String?) {
        manager.tellReloading()
        do {
            let configuration = try Configuration.load(named: file, environment: environment)
            notifier.reload(configuration)
            ServiceLog.setLevel(LogLevel.level(configuration.text("log.level")))
            note("the configuration was read again", .notice)
        } catch {
            note("the configuration was not read: parley config check says why", .error)
        }
        manager.tellReady()
    }

    /// Says that the node is alive as often as it has to, each time after it has answered: one that hangs
    /// is started again.
    private func watch(_ node: any NodeService) async {
        guard let watchdog = manager.watchdog else { return }
        while !Task.isCancelled {
            // A node that does not answer is the very thing to be silent about.
            if (try? await node.perform(ReadChanges(limit: 1))) != nil { manager.tellAlive() }
            // Cut short when the node ends.
            try? await Task.sleep(for: watchdog / 3)
        }
    }
}
