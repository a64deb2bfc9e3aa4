import Dispatch
import Logging
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire
import Synchronization

/// The one actor that owns the core and the store.
///
/// Inputs wait in a ``NodeInbox``. The actor takes some, steps them in one transaction, commits,
/// and then performs the effects, so that many messages share one fsync and nothing leaves before
/// it is on disk. A batch is short: a request to this node waits for one batch, not for everything
/// that arrived. Received operations are made durable as soon as nothing else waits.
actor RunningNode {
    /// How long received operations wait for the disk at most, in milliseconds.
    static let durabilityDelayMax: UInt64 = 1_000
    /// How often the guard is rewritten at most, in milliseconds.
    static let guardInterval: UInt64 = 1_000

    nonisolated let executor = QueueExecutor(label: "parley.node")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let inbox = SharedInbox()
    var core: NodeCore
    private let rosters = RosterCache()
    /// Nil once the node was shut down: releasing it releases the folder.
    var opened: SQLiteStore?
    private var random = SystemRandom()
    nonisolated let clock: NodeClock
    let logger: Logger
    weak var outlet: (any LinkOutlet)?
    weak var media: MediaDesk?
    var waiting: [CommandID: CheckedContinuation<CommandReply, any Error>] = [:]
    private var nextCommand: UInt64 = 1
    var listeners = Listeners<@Sendable ([ViewChange], Bool) -> Void>()
    /// Whether something that this device wrote may not survive a loss of power, as after a sync
    /// that failed, or an end of the process before one: nothing leaves before it does.
    private var owesDurability = true
    private var undurableSince: UInt64?
    private var guardWrittenAt: UInt64 = 0
    private var isGuardStale = false
    private var isGuardDue = false
    var lastFailure: StoreError?
    /// Damage found since the start.
    var damage: DamageNote?
    var renewal = VaultRenewal()
    private var logErasure = LogErasure()
    /// Sealed files that a message is about to name, and how many are.
    var stagedFiles: [BlobID: Int] = [:]

    init(core: NodeCore, store: sending SQLiteStore, clock: NodeClock, logger: Logger) {
        self.core = core
        opened = store
        self.clock = clock
        self.logger = logger
    }

    // MARK: Inputs

    /// Takes an input from any thread; it is stepped soon, those of one sender in order.
    nonisolated func offer(_ input: Input) { change { $0.add(input) } }

    /// Whether a sender may submit one more input; if not, the outlet is told once it may.
    nonisolated func hasRoom(for sender: NodeInbox.Sender) -> Bool {
        inbox.read { $0.hasRoom(for: sender) }
    }

    /// Changes what waits, by the inbox's own rules.
    nonisolated func change(_ change: (inout NodeInbox) -> Void) {
        if inbox.change(change) { schedule() }
    }

    /// Whether inputs wait.
    nonisolated var isBusy: Bool { inbox.isScheduled }
    nonisolated func schedule() {
        executor.queue.async { self.assumeIsolated { $0.drain() } }
    }

    /// Carries out a command; returns once it is on the disk.
    func perform(_ command: Command) async throws -> CommandReply {
        _ = try running()
        let id = CommandID(nextCommand)
        nextCommand += 1
        return try await withCheckedThrowingContinuation { continuation in
            waiting[id] = continuation
            offer(.command(id, command))
        }
    }

    /// Reads the store and the core between two steps.
    func read<R: Sendable>(_ body: (Views) throws -> R) throws -> R {
        let store = try running()
        return try noting {
            try store.reading { try body(views(of: store)) }
        }
    }

    /// Writes to the store between two steps, in transactions of the body's own.
    func write<R: Sendable>(_ body: (SQLiteStore) throws -> R) throws -> R {
        let store = try running()
        if let bar = bar(of: store) { throw StoreError(bar) }
        return try noting { try body(store) }
    }

    /// Checks everything that is stored. Views are recomputed in a transaction that is rolled back.
    func examine() throws -> DoctorReport {
        let store = try running()
        let report = views(of: store).doctor()
        keepNote(of: report, in: store)
        return report
    }

    private func views(of store: SQLiteStore) -> Views {
        Views(store: store, core: core, rosters: rosters, bar: bar(of: store))
    }

    private func running() throws -> SQLiteStore {
        guard let opened else { throw NodeError("stopped", "The node is shut down.") }
        return opened
    }

    func connect(_ outlet: any LinkOutlet, _ media: MediaDesk) {
        (self.outlet, self.media) = (outlet, media)
    }

    /// Begins: makes what every node has, and looks for everyone known.
    func start() {
        guard let store = opened, bar(of: store) != nil else { return offer(.started) }
        // What cannot be read now is reported to its callers.
        do { try core.look(in: store) } catch { note(error, "looking at the store failed") }
    }

    // MARK: Steps

    private func drain() {
        guard let opened else { return }
        if let bar = bar(of: opened) { return refuseAll(bar) }
        step(in: opened)
        // Senders whose queues have room again are read on.
        for sender in inbox.read({ $0.takeFreed() }) { outlet?.resume(sender) }
        let hasMore = inbox.endTurn()
        if hasMore { schedule() }
        settle(isIdle: !hasMore, in: opened)
    }

    /// Steps one batch of what waits.
    private func step(in store: SQLiteStore) {
        let isOwn = inbox.read { $0.beginsOwn }
        let end = now.monotonic + BatchLimits.timeMax
        var taken: [Input] = []
        do {
            try transact(isOwn: isOwn, in: store) { byteCount in
                guard taken.count < BatchLimits.countMax, byteCount < BatchLimits.byteCountMax,
                    taken.isEmpty || now.monotonic < end,
                    let input = inbox.read({ $0.next(mayBeOwn: isOwn) })
                else { return nil }
                taken.append(input)
                return input
            }
        } catch  where taken.count > 1 {
            // One of them met the failure; alone, the others may well pass.
            for input in taken { step(input, in: store) }
        } catch {
            if let only = taken.first { failed(only, error) }
        }
    }

    private func step(_ input: Input, in store: SQLiteStore) {
        do { try transact(input, in: store) } catch { failed(input, error) }
    }

    private func transact(_ input: Input, in store: SQLiteStore) throws(StoreError) {
        var left: Input? = input
        try transact(isOwn: input.isOwn, in: store) { _ in
            defer { left = nil }
            return left
        }
    }

    /// Steps inputs in one transaction; if it fails, nothing of it happened.
    ///
    /// - Parameter next: the next input, after so many bytes that are to be sent; nil for no more.
    private func transact(
        isOwn: Bool, in store: SQLiteStore, _ next: (_ byteCount: Int) -> Input?
    ) throws(StoreError) {
        guard let first = next(0) else { return }
        let before = core
        let committed: [Effect]
        do {
            try store.begin(isOwn ? .full : .normal)
            var effects: [Effect] = []
            var byteCount = 0
            var input: Input? = first
            while let taken = input {
                let more = try core.step(taken, at: now, in: store, using: &random)
                for case .send(_, let bytes) in more { byteCount += bytes.count }
                effects += more
                input = next(byteCount)
            }
            try store.commit()
            committed = effects
        } catch {
            store.rollback()
            core = before
            throw error
        }
        let mustBeDurable = committed.contains {
            if case .commitFully = $0 { true } else { false }
        }
        if (mustBeDurable && !isOwn) || owesDurability {
            owesDurability = !madeDurable(store)
            if owesDurability { return abandon(committed) }
        }
        if mustBeDurable {
            isGuardStale = true
            // The disk accepts writes again: earlier refusals are past.
            lastFailure = nil
        } else if !isOwn, undurableSince == nil {
            undurableSince = now.monotonic
        }
        perform(committed)
    }

    private func madeDurable(_ store: SQLiteStore) -> Bool {
        do {
            try store.makeDurable()
            return true
        } catch {
            note(error, "the disk failed")
            return false
        }
    }

    /// What is done when nothing waits, and at the latest after a second.
    private func settle(isIdle: Bool, in store: SQLiteStore) {
        let time = now.monotonic
        let isDue = undurableSince.map { time >= $0 + Self.durabilityDelayMax } ?? false
        if core.hasUnacknowledged, isIdle || isDue {
            do {
                try store.makeDurable()
                undurableSince = nil
                try transact(.madeDurable, in: store)
            } catch {
                note(error, "acknowledging failed")
            }
        }
        if store.rejoin != nil, !core.isBehind { endRejoin(in: store) }
        if isIdle { renewal.tend(store, at: time, logger) }
        if let wait = logErasure.tend(store, at: time, logger) { settle(in: wait) }
        if isGuardStale, isIdle, !isGuardDue {
            isGuardDue = true
            settle(in: Self.guardInterval)
        }
        if isGuardStale, isIdle, time >= guardWrittenAt + Self.guardInterval {
            writeGuard(in: store)
        }
    }

    /// Settles once more after a while. Not a drain: each makes sure of the next, so that there is
    /// never more than one of them, however long others keep this node busy.
    private func settle(in milliseconds: UInt64) {
        clock.call(on: executor.queue, after: milliseconds) { [weak self] in
            self?.assumeIsolated {
                $0.isGuardDue = false
                if let opened = $0.opened { $0.settle(isIdle: !$0.inbox.isScheduled, in: opened) }
            }
        }
    }

    /// Everything that this device ever wrote is here again.
    private func endRejoin(in store: SQLiteStore) {
        do {
            try store.rejoined(heads: store.heads(of: core.node.device))
        } catch {
            logger.warning("the guard was not written", metadata: ["error": "\(error)"])
        }
    }

    private func writeGuard(in store: SQLiteStore) {
        guardWrittenAt = now.monotonic
        isGuardStale = false
        do {
            try store.writeGuard(of: core.node)
        } catch {
            logger.warning("the guard was not written", metadata: ["error": "\(error)"])
        }
    }

    nonisolated var now: Instant { clock.now() }

    // MARK: Listeners and the end

    /// Calls back after every commit that changed something; returns what ends that.
    func listen(_ body: @escaping @Sendable ([ViewChange], Bool) -> Void) -> UInt64 {
        listeners.add(body)
    }
    func unlisten(_ id: UInt64) { listeners.remove(id) }

    /// Steps what still waits, writes the guard and closes the store.
    func stop() {
        guard let store = opened else { return }
        let end = now.monotonic + BatchLimits.farewellTimeMax
        while bar(of: store) == nil, inbox.read({ !$0.isEmpty }) {
            // Data from others comes again.
            if now.monotonic >= end { inbox.read { $0.endAll() } }
            step(in: store)
        }
        opened = nil
        for listener in listeners.all { listener([], false) }
        if core.rejoin == nil, bar(of: store) == nil { writeGuard(in: store) }
        for id in waiting.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            waiting[id]?.resume(throwing: NodeError("stopped", "The node is shut down."))
        }
        waiting = [:]
        do {
            try store.close()
        } catch {
            logger.warning("the store was not closed", metadata: ["error": "\(error)"])
        }
    }
}
