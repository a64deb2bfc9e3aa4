import Logging
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
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
/// One node per folder: opening it twice is refused. All work of a node happens in one actor; the
/// methods of ``NodeService`` may be called from anywhere.
public final class Node: Sendable {
    let running: RunningNode
    let network: NodeNetwork
    let home: Home

    private init(
        store: sending SQLiteStore, keys: NodeKeys, settings: NodeSettings
    ) {
        home = store.home
        let logger = Logger(label: "parley")
        let core = NodeCore(identity: keys.identity, rejoin: Rejoin(store))
        running = RunningNode(core: core, store: store, logger: logger)
        network = NodeNetwork(
            identity: keys.identity, noise: keys.noise,
            network: NetworkID(named: settings.network), inputs: running, logger: logger)
    }

    /// Whether a node was made in this folder.
    public static func exists(at home: String) -> Bool { Home(home).isMade }

    /// Whether a node was begun in this folder and never completed: it may be begun anew.
    public static func isUnfinished(at home: String) -> Bool { Home(home).isUnfinished }

    /// Makes a new person with this device, in a folder that holds no node yet.
    ///
    /// - Returns: the node, and the recovery code: the only key to the identity. It is not kept,
    ///   and cannot be shown again.
    /// - Throws: ``NodeError`` with a hint.
    public static func create(
        _ settings: NodeSettings, name: String
    ) async throws -> (node: Node, recoveryCode: String) {
        guard !exists(at: settings.home) else {
            throw NodeError(
                "exists", "There is a node in \(settings.home) already.",
                hint: "Use another folder with --home, or just go on with that node.")
        }
        if let refusal = NodeCore.refusal(name: name) { throw NodeError(refusal) }
        return try await Self.explaining {
            var random = SystemRandom()
            let store = try openStore(settings)
            let code = RecoveryCode.generate(using: &random)
            let root = code.rootKey
            let key = DeviceSigningKey.generate(using: &random)
            let noise = DeviceNoiseKey.generate(using: &random)
            let log = try IdentityLog.founded(
                root: root, device: key, noiseKey: noise.publicKey, time: SystemClock.now.wall,
                using: &random)
            try NodeKeys.keep(
                key: key, noise: noise, identity: log,
                backupKey: code.backupKey.publicKey, in: store)
            let node = try assemble(store, settings)
            await node.begin()
            _ = try await node.running.perform(.setProfile(name: name, addresses: nil))
            return (node, code.revealed())
        }
    }

    /// Opens the node in a folder.
    ///
    /// - Throws: ``NodeError``: no node there, another process has it, a wrong passphrase, a
    ///   damaged or foreign file, a newer version's database.
    public static func open(_ settings: NodeSettings) async throws -> Node {
        guard exists(at: settings.home) else {
            throw NodeError(
                "no-node", "There is no node in \(settings.home).",
                hint: "`parley init --name YOURNAME` makes one.")
        }
        guard !Home(settings.home).isUnfinished else {
            throw NodeError(
                "unfinished", "The node in \(settings.home) was never completed: it was cut off.",
                hint: "Say the same `parley backup restore` or `parley recover` again.")
        }
        return try await Self.explaining {
            let node = try assemble(try openStore(settings), settings)
            await node.begin()
            return node
        }
    }

    /// Turns errors of the rooms below into what a person is told.
    static func explaining<R>(_ body: () async throws -> sending R) async throws
        -> sending R
    {
        do {
            return try await body()
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
            throw NodeError(
                "damaged", "The node in \(settings.home) was never completed.",
                hint: "Nothing is lost: remove the folder and run `parley init` again.")
        }
        return Node(store: store, keys: keys, settings: settings)
    }

    func begin() async {
        await running.connect(network)
        await running.start()
    }

    /// Begins to listen and to look for contacts.
    ///
    /// - Parameter addresses: where to listen, as `host:port`; `*` is every address of this
    ///   machine, port 0 any free port.
    /// - Returns: the addresses at which others can reach this node; they go onto its card.
    @discardableResult
    public func start(listen addresses: [String] = ["*:0"]) async throws -> [String] {
        let reachable = try await network.listen(on: addresses)
        // A node that may not write now has its addresses on the card from before.
        _ = try? await running.perform(.setProfile(name: nil, addresses: reachable))
        return reachable
    }

    /// Ends all links and makes no new ones until it is taken back: everything that is written
    /// waits, as it does where there is no network.
    public func setOffline(_ isOffline: Bool) { network.setOffline(isOffline) }

    /// Ends links in good order, lets what was begun reach the disk, and closes the folder.
    public func shutdown() async {
        await network.shutdown()
        await running.stop()
    }
}

/// The keys of this device, as the store's vault keeps them.
struct NodeKeys {
    let identity: NodeIdentity
    let noise: DeviceNoiseKey

    private static let seedName = "signing seed"
    private static let noiseName = "noise key"
    private static let backupKeyName = Array("backup key".utf8)
    private static let recoveryCheckName = Array("recovery check".utf8)

    static func keep(
        key: DeviceSigningKey, noise: DeviceNoiseKey, identity: IdentityLog,
        card: Card? = nil, backupKey: BackupPublicKey?, in store: SQLiteStore
    ) throws(StoreError) {
        try store.begin(.full)
        do {
            try store.setSecret(key.seed, seedName)
            try store.setSecret(noise.scalar, noiseName)
            try NodeIdentity.keep(identity, in: store)
            if let card { try store.setValue(card.encoded, .card, card.person.bytes) }
            if let backupKey { try store.setValue(backupKey.bytes, .profile, backupKeyName) }
            try store.commit()
        } catch {
            store.rollback()
            throw error
        }
    }

    /// The keys, or nil where making the node was cut off.
    init?(in store: SQLiteStore) throws {
        guard let seed = try store.secret(Self.seedName),
            let scalar = try store.secret(Self.noiseName),
            let log = try NodeIdentity.log(in: store)
        else { return nil }
        noise = DeviceNoiseKey(secret: scalar)
        identity = NodeIdentity(
            log: log, key: DeviceSigningKey(seed: seed), noiseKey: noise.publicKey)
    }

    /// What backups are sealed to; nil where this device was never told.
    static func backupKey(in store: SQLiteStore) throws -> BackupPublicKey? {
        try store.value(.profile, backupKeyName).flatMap { BackupPublicKey($0) }
    }

    /// When the recovery code was last asked back, in Unix milliseconds; nil if never.
    static func recoveryCheckTime(in store: SQLiteStore) throws -> UInt64? {
        guard let bytes = try store.value(.profile, recoveryCheckName) else { return nil }
        var reader = ByteReader(bytes)
        return try reader.uint64()
    }

    /// Notes that the recovery code was asked back. What backups are sealed to is noted where it
    /// is not known yet, and never replaced.
    static func noteRecoveryCheck(
        backupKey: BackupPublicKey, at time: UInt64, in store: SQLiteStore
    ) throws(StoreError) {
        var writer = ByteWriter()
        writer.uint64(time)
        try store.begin(.full)
        do {
            if try store.value(.profile, backupKeyName) == nil {
                try store.setValue(backupKey.bytes, .profile, backupKeyName)
            }
            try store.setValue(writer.bytes, .profile, recoveryCheckName)
            try store.commit()
        } catch {
            store.rollback()
            throw error
        }
    }
}
