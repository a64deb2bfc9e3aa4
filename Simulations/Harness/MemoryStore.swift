import ParleyConversation
public import ParleyFiles
public import ParleyLedger
public import ParleyNodeCore
import ParleyWire

/// A store in memory, for tests and simulations: the same contract as the one on a disk.
///
/// Every change is kept together with its way back, so a rollback costs what the transaction
/// changed and not what is stored. It fails where it is told to, and can lose what was committed
/// without reaching the disk, as a machine does that loses its power.
public final class MemoryStore: SimulatedStore {
    /// One step back.
    typealias Undo = (inout Contents) -> Void

    /// Everything that is stored.
    struct Contents {
        var spaces: [SpaceRecord] = []
        var spaceNumbers: [SpaceID: SpaceNumber] = [:]
        /// Their rows stay, so that numbers go by places.
        var removedSpaces: Set<SpaceNumber> = []
        var logs: [LogRecord] = []
        var logOrder: [SpaceNumber: SortedMap<LogTag, LogNumber>] = [:]
        var operations: [StoredOperation] = []
        var places: [LogNumber: SortedMap<UInt64, OperationNumber>] = [:]
        var heads: [LogNumber: SortedMap<UInt64, SignedHead>] = [:]
        var forks = SortedMap<LogID, ForkEvidence>()
        var views: [LogNumber: SortedMap<UInt64, LogView>] = [:]
        var messages: [SpaceNumber: SortedMap<OrderKey, MessageRow>] = [:]
        var messagePlaces: [LogNumber: SortedMap<UInt64, OrderKey>] = [:]
        var entries: [SpaceNumber: [EntryObject: [EntryField: [UInt64: [Entry]]]]] = [:]
        var marks: [SpaceNumber: SortedMap<MarkKey, Mark>] = [:]
        var values: [ValueTable: SortedMap<ByteKey, [UInt8]>] = [:]
        var namings: [PersonID: SortedMap<SpaceNumber, Bool>] = [:]
        /// What happened, from the entry that is kept longest on.
        var events: [[UInt8]] = []
        var droppedEventCount = 0
        /// As bytes: a simulated world has more secrets than a machine has locked memory.
        var secrets: [SecretDrawer: SortedMap<ByteKey, [UInt8]>] = [:]
    }

    struct SecretDrawer: Hashable {
        let purpose: SecretPurpose
        let space: SpaceNumber?
    }

    struct MarkKey: Comparable, Hashable {
        let kind: UInt8
        let tag: LogTag
        let actor: Digest

        static func < (left: Self, right: Self) -> Bool {
            (left.kind, left.tag, left.actor) < (right.kind, right.tag, right.actor)
        }
    }

    private(set) var contents = Contents()
    private var undo: [Undo] = []
    /// The ways back behind the last commit that a machine's crash survives.
    private var unsafeUndo: [Undo] = []
    private var durability: Durability?
    /// When a call fails: a call by its number, or the first behind a change.
    private enum FailurePoint {
        case call(Int), change(Int)
    }
    private var failure: (point: FailurePoint, code: StoreError.Code)?
    private var changeTally = 0
    private let locatorSeed: UInt64

    /// Where sealed files lie.
    public var blobs: any BlobStore { sealedFiles }
    private var sealedFiles = MemoryBlobs()

    /// How many calls were made, transactions included; rollbacks do not count.
    public private(set) var callCount = 0

    /// How many operations of logs were handed out, one by one asked for aside.
    public private(set) var operationReadCount = 0

    /// How often all secrets of a purpose were handed out.
    public private(set) var secretListCount = 0

    /// How many entries were handed out: what readers of views have to look at.
    public private(set) var entryCount = 0

    /// How often something was stored, or taken back.
    public var changeCount: UInt64? { storedCount }
    private var storedCount: UInt64 = 0

    /// Whether somebody outside looks on: then no call counts, and none fails.
    public var isObserved = false

    /// How many operations are stored: their rows are numbered from 1 without a hole.
    public var operationCount: Int { contents.operations.count }

    /// Another store with the same contents, to try something on.
    public func copy() -> any SimulatedStore {
        let copy = MemoryStore(locatorSeed: locatorSeed)
        copy.contents = contents
        copy.sealedFiles = sealedFiles.copy()
        return copy
    }

    /// Whether a transaction is open.
    public var isInTransaction: Bool { durability != nil }

    /// An empty store.
    ///
    /// - Parameter locatorSeed: tells the locators of one store from those of another.
    public init(locatorSeed: UInt64 = 0) {
        self.locatorSeed = locatorSeed
    }

    /// Whether a call may fail, unless it is against the contract.
    public var mayFail: Bool { failure != nil }

    /// Makes the `call`-th call from now fail once, as a disk does. The first is number 1.
    public func fail(atCall call: Int, _ code: StoreError.Code) {
        failure = (.call(callCount + call), code)
    }

    /// Makes the first call after so many changes from now fail once. A change is the beginning of a
    /// transaction or a call that writes.
    ///
    /// How often a step reads may follow the order in which it walks a set, which differs from process to
    /// process; what it changes does not. And a transaction ends with a call, so that the failure falls
    /// into the same step in each.
    public func fail(afterChange change: Int, _ code: StoreError.Code) {
        failure = (.change(changeTally + change), code)
    }

    /// Forgets a failure that was asked for and has not come up.
    public func failNoMore() { failure = nil }

    /// The machine loses its power: an open transaction is gone, and so is every commit since the
    /// last one with full durability.
    public func losePower() {
        rollback()
        for step in unsafeUndo.reversed() { step(&contents) }
        storedCount += 1
        unsafeUndo = []
    }

    /// The process dies, and the same contents are there for the next one.
    public func afterDeath(losingPower: Bool) -> any SimulatedStore {
        if losingPower { losePower() } else { rollback() }
        return self
    }

    /// A copy of everything that is committed.
    public func snapshot() -> StoreSnapshot {
        let contents = contents
        return StoreSnapshot {
            self.contents = contents
            self.storedCount += 1
            self.undo = []
            self.unsafeUndo = []
            self.durability = nil
            return self
        }
    }

    // MARK: Transactions

    /// Begins a transaction; there is no other open.
    public func begin(_ durability: Durability) throws(StoreError) {
        precondition(self.durability == nil, "one transaction at a time")
        try called("beginning a transaction")
        noteChange()
        self.durability = durability
    }

    /// Ends the transaction and keeps what it did. After an error nothing of it is kept.
    public func commit() throws(StoreError) {
        guard let durability else { preconditionFailure("a commit ends a transaction") }
        do {
            try called("committing")
        } catch {
            rollback()
            throw error
        }
        self.durability = nil
        switch durability {
        case .normal: unsafeUndo += undo
        case .full: unsafeUndo = []
        }
        undo = []
    }

    /// Ends the transaction and forgets what it did. Without one it does nothing.
    public func rollback() {
        for step in undo.reversed() { step(&contents) }
        if !undo.isEmpty { storedCount += 1 }
        undo = []
        durability = nil
    }

    /// Makes everything that was committed before survive a crash of the machine.
    public func makeDurable() throws(StoreError) {
        precondition(durability == nil, "durability is asked for between transactions")
        try called("making commits durable")
        unsafeUndo = []
    }

    // MARK: What every call does

    /// Counts a call, and fails it where that was asked for.
    func called(_ attempt: String) throws(StoreError) {
        if isObserved { return }
        callCount += 1
        guard let failure, isDue(failure.point) else { return }
        self.failure = nil
        throw StoreError(failure.code, attempt: attempt, detail: "injected")
    }

    private func isDue(_ point: FailurePoint) -> Bool {
        switch point {
        case .call(let call): callCount >= call
        case .change(let change): changeTally >= change
        }
    }

    private func noteChange() {
        if !isObserved { changeTally += 1 }
    }

    /// Counts entries that are handed out.
    func handedOut(_ entries: [Entry]) -> [Entry] {
        if !isObserved { entryCount += entries.count }
        return entries
    }

    /// Counts operations that are handed out.
    func noteRead(_ count: Int) { operationReadCount += count }

    /// Counts that all secrets of a purpose are handed out.
    func noteSecretList() {
        if !isObserved { secretListCount += 1 }
    }

    /// Counts a call that writes.
    func writes(_ attempt: String) throws(StoreError) {
        precondition(isInTransaction, "a write belongs to a transaction")
        try called(attempt)
        noteChange()
    }

    /// Changes what is stored, and remembers the way back.
    func change(_ change: (inout Contents) -> Void, back: @escaping Undo) {
        change(&contents)
        storedCount += 1
        undo.append(back)
    }

    /// A short keyed hash of a private value, the same for the life of this store only.
    public func locator(_ value: [UInt8]) throws(StoreError) -> UInt64 {
        try called("hashing a value")
        // FNV-1a: a test store has no secrets, but the same seed must give the same number.
        var hash = 0xcbf2_9ce4_8422_2325 ^ locatorSeed
        for byte in value { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}
