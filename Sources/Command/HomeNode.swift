import Foundation
import Parley
import ParleyLocalAPI
import ParleyWire

/// The node of a home, opened by this very process: the one place that knows the real node.
enum HomeNode {
    /// Opens it for one command. It listens nowhere.
    static func open(
        home: String, passphrase: @Sendable () throws -> [UInt8]?
    ) async throws -> World.Access {
        let node = try await node(home: home, passphrase: passphrase)
        return World.Access(node: node, isRunning: false, close: { await node.shutdown() })
    }

    /// Opens it to look something up while a person types: nobody is linked, and nothing is asked of the
    /// person.
    static func glance(home: String) async throws -> World.Access {
        var settings = NodeSettings(home: home)
        (settings.isSilent, settings.isOffline) = (true, true)
        let node = try await Node.open(settings)
        return World.Access(node: node, isRunning: false, close: { await node.shutdown() })
    }

    /// Works on a home that no node has open, and says so where one has.
    static func alone<R: Sendable>(
        _ home: String, _ body: @Sendable (String) throws -> R
    ) async throws -> R {
        try await World.reach(
            home,
            running: { client in
                await client.close()
                throw NodeError(
                    "running", "A node is running in \(home).",
                    hint:
                        "Stop it (Ctrl-C where it runs), run this command again, and then `parley run`."
                )
            },
            home: { try body($0) })
    }

    /// Makes a home of a first device, and calls that by its machine. Where `show` cannot show
    /// the recovery code, and throws, no home is left.
    static func create(
        home: String, name: String, passphrase: [UInt8]?, code: UnusedRecoveryCode = .init(),
        showing show: @Sendable (_ recoveryCode: String) throws -> Void = { _ in }
    ) async throws {
        let settings = NodeSettings(home: home, passphrase: passphrase)
        let (node, _) = try await Node.create(settings, name: name, code: code, showing: show)
        try await node.perform(
            RenameDevice(device: node.perform(GetStatus()).device, name: machineName))
        await node.shutdown()
    }

    /// The default name of a device.
    static var machineName: String {
        let name = ProcessInfo.processInfo.hostName
        // A container is called by its identifier, which is no name.
        let isName =
            !name.isEmpty && !VisibleName.looksLikeIdentifier(name) && !VisibleName.isOwnWord(name)
        return isName ? String(name.prefix(60)) : "device"
    }

    /// Calls the device of a node by its machine, and otherwise than the person's others are called.
    static func nameDevice(of node: some NodeService) async throws {
        let devices = try await node.perform(ListDevices())
        let taken = Set(devices.map(\.name))
        let names = [machineName] + (2...devices.count + 2).map { "\(machineName) \($0)" }
        guard let own = devices.first(where: \.isThis), own.name.isEmpty,
            let name = names.first(where: { !taken.contains($0) })
        else { return }
        try await node.perform(RenameDevice(device: own.device, name: name))
    }

    /// Changes that say nothing of whether this device may be named now.
    private static let kindsOfTalk: Set<String> = [
        "message", "mention", "receipts", "typing", "presence", "search",
    ]

    /// Calls a device by its machine that came back by a recovery code, and so without a name: as soon as
    /// it may write where the person's devices read it.
    static func nameDeviceOnceAllowed(of node: some NodeService) async throws {
        func isNamed() async throws -> Bool {
            try await node.perform(ListDevices()).first(where: \.isThis)?.name.isEmpty != true
        }
        if try await isNamed() { return }
        for await change in try await node.changes() where !kindsOfTalk.contains(change.kind) {
            // It is refused until the device is let in.
            try? await nameDevice(of: node)
            if try await isNamed() { return }
        }
    }

    /// Makes a home of a further device, and opens it.
    static func join(
        home: String, text: String, name: String, passphrase: [UInt8]?
    ) async throws -> RunningHome {
        var settings = NodeSettings(home: home, passphrase: passphrase)
        settings.isSilent = true
        return RunningHome(try await Node.join(settings, text: text, name: name))
    }

    /// Opens it to run.
    static func openToRun(
        home: String, passphrase: @Sendable () throws -> [UInt8]?
    ) async throws -> RunningHome {
        RunningHome(try await node(home: home, passphrase: passphrase, isSilent: false))
    }

    /// Looks at the files of a home whose node does not open.
    static func examine(
        home: String, passphrase: @Sendable () throws -> [UInt8]?, unopened reason: NodeError
    ) async throws -> DoctorReport {
        try await unlocked(home, passphrase) { settings in
            // Without a database nothing is there that keys could open.
            if settings.passphrase == nil, reason.code != "database-gone",
                try Node.isProtectedByPassphrase(at: home)
            {
                throw NodeError(
                    "passphrase-needed", "The keys in \(home) are protected by a passphrase.",
                    hint: "Type it, or name a file with --passphrase-file.")
            }
            return Node.examine(settings, unopened: reason)
        }
    }

    /// Mends a home that no node has open.
    static func repair(
        home: String, passphrase: @Sendable () throws -> [UInt8]?,
        progress: (_ meaning: String, _ count: Int) -> Void
    ) async throws -> DoctorReport {
        try await unlocked(home, passphrase) { settings in
            var settings = settings
            settings.isSilent = true
            return try await Node.repair(settings, progress: progress)
        }
    }

    private static func node(
        home: String, passphrase: @Sendable () throws -> [UInt8]?, isSilent: Bool = true
    ) async throws -> Node {
        try await unlocked(home, passphrase) { settings in
            var settings = settings
            settings.isSilent = isSilent
            return try await Node.open(settings)
        }
    }

    /// Asks for a passphrase only where the keys need one.
    private static func unlocked<R: Sendable>(
        _ home: String, _ passphrase: @Sendable () throws -> [UInt8]?,
        _ body: (NodeSettings) async throws -> R
    ) async throws -> R {
        do {
            return try await body(NodeSettings(home: home))
        } catch let error as NodeError where error.code == "passphrase-needed" {
            guard let secret = try passphrase() else { throw error }
            return try await body(NodeSettings(home: home, passphrase: secret))
        }
    }
}

/// A node that this process runs.
struct RunningHome: Sendable {
    /// The node.
    var node: any NodeService
    /// Begins to listen, also on sockets that listen already, and to look for contacts.
    var start: @Sendable (_ listen: [String], _ sockets: [Int32]) async throws -> Void
    /// Looks for contacts on the local network, too.
    var seekNeighbours: @Sendable () -> Void
    /// Removes what is kept only for a while: once an hour.
    var tidy: @Sendable () -> Void
    /// Ends links in good order and closes the home.
    var shutdown: @Sendable () async -> Void
    /// The tokens with which programs may ask over HTTP.
    var tokens: AccessTokens
    /// Local programs that are told what changes.
    var webhooks: WebhookBook
    /// The browser sessions of the page.
    var pageSessions: PageSessions

    init(_ node: Node) {
        self.node = node
        tokens = node.accessTokens
        webhooks = node.webhooks
        pageSessions = node.pageSessions
        start = { try await node.start(listen: $0, sockets: $1) }
        seekNeighbours = { node.seekNeighbours() }
        tidy = { node.dropOldDatabases() }
        shutdown = { await node.shutdown() }
    }
}
