public import ParleyLedger
public import ParleyNodeCore
public import ParleyWire

/// The store of a simulated node: what the core asks of it, what faults do to it, and what those
/// who look on want to know.
public protocol SimulatedStore: TransactionalStore {
    /// Whether somebody outside looks on: then no call counts, and none fails.
    var isObserved: Bool { get set }
    /// Whether a call may fail from now on: else nobody need remember what was before it.
    var mayFail: Bool { get }
    /// How many operations are stored: their rows are numbered from 1 without a hole.
    var operationCount: Int { get }
    /// A number that is another one whenever what is stored may have changed; nil where that cannot
    /// be told.
    var changeCount: UInt64? { get }
    /// Every file of the disk; none where there is no disk.
    var files: [StoredFile] { get }
    /// The files as a shutdown would leave them.
    func filesAfterShutdown() throws -> [StoredFile]
    /// A payload as it lies on the disk, sealed; nil where there is none to be found.
    func sealedPayload(of number: OperationNumber) throws -> [UInt8]?
    /// What the store found out about being behind when it was opened; nil where all is well.
    var foundBehind: Rejoin? { get }

    /// Makes the `call`-th call from now fail once, as a disk does. The first is number 1.
    ///
    /// What a call is, is the store's to say: of the store in memory, or of the disk below SQLite.
    func fail(atCall call: Int, _ code: StoreError.Code)
    /// Makes a call fail once after so many changes from now, in the same step in every process.
    func fail(afterChange change: Int, _ code: StoreError.Code)
    /// Forgets a failure that was asked for and has not come up.
    func failNoMore()
    /// The process dies; with the power, commits that were not durable are lost.
    ///
    /// - Returns: what the next process opens. This one is done with.
    func afterDeath(losingPower: Bool) throws -> any SimulatedStore
    /// A copy of everything that is committed, to be put in its place later.
    func snapshot() -> StoreSnapshot
    /// Another store with the same contents, to try something on.
    func copy() throws -> any SimulatedStore
    /// Makes unreadable what is left of secrets that were dropped.
    func forgetKeys() throws
    /// The version of the newest part of its card that is remembered beside the database.
    var guardedCardVersion: CardVersion { get }
    /// Remembers beside the database how far the logs of this device are, and its card; and what was
    /// remembered beyond them, as long as the database is behind.
    func rememberHeads(of device: DeviceID, cardVersion: CardVersion, isBehind: Bool) throws
}

extension SimulatedStore {
    /// Makes the `call`-th call from now fail once with an I/O error.
    public func fail(atCall call: Int) { fail(atCall: call, .inputOutput) }
    /// It may: where that cannot be told, the way back is kept.
    public var mayFail: Bool { true }
    /// Unknown: then everything may have changed at any time.
    public var changeCount: UInt64? { nil }
    /// None: there is no disk.
    public var files: [StoredFile] { [] }
    /// None: there is no disk.
    public func filesAfterShutdown() throws -> [StoredFile] { [] }
    /// None: nothing is sealed in memory.
    public func sealedPayload(of number: OperationNumber) throws -> [UInt8]? { nil }
    /// Nothing: there is nothing beside the contents that could tell.
    public var foundBehind: Rejoin? { nil }
    /// Does nothing: nothing is left of them in memory.
    public func forgetKeys() throws {}
    /// None: there is nothing beside the contents.
    public var guardedCardVersion: CardVersion { .zero }
    /// Does nothing.
    public func rememberHeads(
        of device: DeviceID, cardVersion: CardVersion, isBehind: Bool
    ) throws {}
}

/// A file of a simulated disk, as a thief would find it.
public struct StoredFile: Equatable, Sendable {
    /// Its name, as "database-wal".
    public let name: String
    /// Its bytes.
    public let bytes: [UInt8]

    /// A file with this name and these bytes.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// Everything that a store held at one moment.
public struct StoreSnapshot {
    let putBack: () throws -> any SimulatedStore

    /// A moment that can be gone back to.
    ///
    /// - Parameter putBack: makes the store hold what it held then, and returns what to use.
    public init(putBack: @escaping () throws -> any SimulatedStore) { self.putBack = putBack }
}

/// What the store of a new node is made of.
public struct StoreChoice {
    let make: (_ seed: UInt64) throws -> any SimulatedStore

    /// Stores of a kind of your own.
    ///
    /// - Parameter make: makes an empty store; all of its chance comes from the seed.
    public init(_ make: @escaping (_ seed: UInt64) throws -> any SimulatedStore) {
        self.make = make
    }

    /// A model in memory: fast, and right by being simple.
    public static var memory: StoreChoice { StoreChoice { MemoryStore(locatorSeed: $0) } }
}
