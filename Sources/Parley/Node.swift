import Logging
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleySearch
import ParleyStorage
import ParleyTransport
import ParleyWire
import Synchronization

/// A person's node on this device: conversations that survive, are sealed, and come together with
/// those of others whenever there is a way.
///
/// ```swift
/// let (node, recoveryCode) = try await Node.create(NodeSettings(home: home), name: "ann")
/// try await node.start()
/// for await change in try await node.changes() { … }
/// await node.shutdown()
/// ```
/// One node per folder: opening it twice is refused. All work of a node happens in one actor; requests
/// may be made from anywhere.
public final class Node: Sendable {
    /// Of the library and of its program: what `parley --version` and the metrics say.
    public static let version = "0.1.0"

    let running: RunningNode
    let network: NodeNetwork
    let home: Home
    let indexer: SearchIndexer
    let desk: SearchDesk
    let watch = SearchWatch()
    let media: MediaDesk
    let depot: FileDepot
    let links = LinkDesk()
    let linkConsent = LinkConsent()
    let openConversations = OpenConversations()
    /// The tokens with which programs may ask this node over HTTP.
    public let accessTokens: AccessTokens
    /// Local programs that are told what changes.
    public let webhooks: WebhookBook
    /// The browser sessions of the page.
    public let pageSessions: PageSessions

    private init(
        store: sending SQLiteStore, keys: NodeKeys, settings: NodeSettings
    ) {
        home = store.home
        accessTokens = AccessTokens(of: home)
        webhooks = WebhookBook(of: home)
        pageSessions = PageSessions(of: home)
        let logger =
            settings.isSilent
            ? Logger(label: "parley") { _ in SwiftLogNoOpLogHandler() } : Logger(label: "parley")
        let core = NodeCore(
            identity: keys.identity, rejoin: Rejoin(store), cardVersion: store.guardedCardVersion)
        running = RunningNode(
            core: core, store: store, clock: settings.clock, logger: logger)
        indexer = SearchIndexer(
            running: running, shelf: ModelShelf(ModelFolder(settings.models)), logger: logger)
        desk = SearchDesk(running: running, indexer: indexer)
        media = MediaDesk(running: running)
        depot = FileDepot(running: running, folder: home.files)
        network = NodeNetwork(
            identity: keys.identity, noise: keys.noise,
            network: NetworkID(named: settings.network), inputs: running, logger: logger)
    }

    /// Whether a node was made in this folder.
    public static func exists(at home: String) -> Bool { Home(home).isMade }

    /// Refuses a folder that already contains a node; one that was never completed may be started
    /// over.
    ///
    /// - Throws: ``NodeError``.
    public static func requireVacant(_ home: String) throws {
        let home = Home(home)
        guard !home.lacksDatabase else {
            throw NodeError(home.databaseGone)
        }
        guard !home.isMade || home.isUnfinished else {
            throw NodeError(
                "exists", "There is already a node in \(home.path).",
                hint: "Use another folder with --home, or continue with that node.")
        }
        // Its key has the name of the file that opens a keystore: a node would replace it.
        guard !home.isOfRelay else {
            throw NodeError(
                "relay-home",
                "\(home.path) is the home of a relay: a node needs a folder of its own.",
                hint: "Use another folder with --home.")
        }
    }

    /// Whether a node can be made in this folder: it holds none, or one that was never completed.
    public static func isVacant(_ home: String) -> Bool {
        do {
            try explaining { try Home(home).requireSight() }
            try requireVacant(home)
            return true
        } catch {
            return false
        }
    }

    /// Makes a new person with this device, in a folder that holds no node yet.
    ///
    /// - Parameters:
    ///   - settings: where the home is to be.
    ///   - name: by which others see the person.
    ///   - unused: the recovery code, where its person has it already.
    ///   - show: shows the recovery code before the home is complete. If it throws, nothing of the home
    ///     is left: nobody could recover an identity whose code was never seen.
    /// - Returns: the node, and the recovery code: the only key to the identity. It is not kept,
    ///   and cannot be shown again.
    /// - Throws: ``NodeError`` with a hint.
    public static func create(
        _ settings: NodeSettings, name: String, code unused: UnusedRecoveryCode = .init(),
        showing show: @Sendable (_ recoveryCode: String) throws -> Void = { _ in }
    ) async throws -> (node: Node, recoveryCode: String) {
        if let refusal = NodeCore.refusal(personName: name) { throw NodeError(refusal) }
        var random = SystemRandom()
        let code = unused.code
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        let log = try IdentityLog.founded(
            root: code.rootKey, device: key, noiseKey: noise.publicKey,
            time: SystemClock.now.wall, using: &random)
        let node = try making(settings) { store in
            try NodeKeys.keep(
                key: key, noise: noise, identity: log,
                backup: code.backupCertificate, in: store)
            try show(code.revealed())
        }.node
        await node.begin()
        _ = try await node.running.perform(.setProfile(name: name, addresses: nil))
        return (node, code.revealed())
    }

    /// Opens the node in a folder.
    ///
    /// - Throws: ``NodeError``: no node there, another process has it, a wrong passphrase, a
    ///   damaged or foreign file, a newer version's database.
    public static func open(_ settings: NodeSettings) async throws -> Node {
        try explaining { try Home(settings.home).requireSight() }
        guard exists(at: settings.home) else {
            throw NodeError(
                "no-node", "There is no node in \(settings.home).",
                hint: "`parley init --name YOURNAME` creates one.")
        }
        guard !Home(settings.home).isUnfinished else {
            throw NodeError(
                "unfinished",
                "The node in \(settings.home) was never completed: its creation was interrupted.",
                hint:
                    "Run the command again that began it: `parley init`, `device accept-link`, "
                    + "`backup restore` or `recover`.")
        }
        let node: Node
        do {
            node = try explaining { try assemble(openStore(settings), settings) }
        } catch let error as NodeError where error.code == "damaged" {
            let unlock: Unlock = settings.passphrase.map { .passphrase($0) } ?? .keyFile
            let home = Home(settings.home)
            // Then no repair helps, and none is advised.
            throw NodeKeys.areLost(in: home, unlock) ? NodeError.noKeys(home) : error
        }
        if settings.isOffline { node.network.leaveAll() }
        await node.begin()
        await node.takeOverFormerSettings()
        await node.tellRecoveryCheck()
        return node
    }

    /// Creates a home in a vacant folder, and leaves nothing of it if that fails.
    static func making<R: Sendable>(
        _ settings: NodeSettings, _ body: @Sendable (SQLiteStore) throws -> R
    ) throws -> (node: Node, result: R) {
        try requireVacant(settings.home)
        let home = Home(settings.home)
        return try explaining {
            try home.beginMaking()
            do {
                let store = try openStore(settings)
                let result = try body(store)
                // From here on a home without one is a home whose guard was lost.
                if let identity = try NodeKeys(in: store)?.identity {
                    try store.writeGuard(of: identity)
                }
                let node = try assemble(store, settings)
                try home.endMaking()
                return (node, result)
            } catch {
                // The next try removes leftovers as well.
                try? home.discard()
                throw error
            }
        }
    }

    /// Turns errors of the lower rooms into messages for a person.
    static func explaining<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as HomeError {
            throw NodeError(error)
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }

    static func openStore(
        _ settings: NodeSettings
    ) throws(HomeError) -> sending SQLiteStore {
        try SQLiteStore.open(
            home: Home(settings.home),
            unlock: settings.passphrase.map { .passphrase($0) } ?? .keyFile)
    }

    static func assemble(
        _ store: sending SQLiteStore, _ settings: NodeSettings
    ) throws -> Node {
        guard let keys = try NodeKeys(in: store) else {
            throw NodeError.noKeys(Home(settings.home))
        }
        return Node(store: store, keys: keys, settings: settings)
    }

    /// Removes databases that repairs put aside long enough ago, as opening does.
    public func dropOldDatabases() {
        // What cannot be removed is tried again.
        try? home.dropAsides(at: SystemClock.now.wall / 1_000)
    }

    func begin() async {
        await running.connect(network, media)
        await running.start()
    }

    /// Begins to listen and to look for contacts.
    ///
    /// - Parameter addresses: where to listen, as `host:port`; `*` is every address of this
    ///   machine, port 0 any free port.
    /// - Parameter sockets: descriptors of sockets that listen already, as a service manager hands them
    ///   over; the node owns them from now on.
    /// - Returns: the addresses at which others can reach this node; they go onto its card.
    @discardableResult
    public func start(
        listen addresses: [String] = ["*:0"], sockets: [Int32] = []
    ) async throws -> [String] {
        if let bar = await running.bar {
            guard case .full = bar else { throw NodeError(StoreError(bar)) }
            throw NodeError(
                "disk-full", "The disk is full: the node does not start.",
                hint: "Free some space, and start it again. What is here can be read.")
        }
        // What cannot be read is proven anew.
        let known = try? await running.read { try CardReader.provenOperations($0.store) }
        network.hellos.withLock { $0.learn(known ?? []) }
        let reachable = try await network.listen(on: addresses, sockets: sockets)
        await announce(reachable)
        await indexer.start()
        inspectDatabase(after: Self.inspectionPauses.first)
        return reachable
    }

    /// Puts onto the card where this node can be reached. What fails is tried again after a while: nobody
    /// else does it, and the ports of before are another program's by now.
    private func announce(_ addresses: [String], pause: UInt64 = Recovery.pause) async {
        do {
            _ = try await running.perform(.setProfile(name: nil, addresses: addresses))
        } catch let error as NodeError where error.code == "stopped" {
            // There is nothing to be reached any more.
        } catch {
            if pause == Recovery.pause {
                running.logger.warning(
                    "the addresses are not on the card yet", metadata: ["error": "\(error)"])
            }
            let next = min(2 * pause, NodeClock.wakeMax)
            running.clock.call(on: running.executor.queue, after: pause) { [weak self] in
                Task { await self?.announce(addresses, pause: next) }
            }
        }
    }

    /// Looks for contacts on the local network as well, and is found there by those who know this
    /// node: by multicast DNS, under names that tell nobody else who it is. To be called once it
    /// listens; does nothing where it listens on this machine alone.
    public func seekNeighbours() { network.seekNeighbours() }

    /// Ends links cleanly, lets pending writes reach the disk, and closes the folder.
    public func shutdown() async {
        indexer.stop()
        await hangUp()
        await network.shutdown()
        await running.stop()
    }
}
