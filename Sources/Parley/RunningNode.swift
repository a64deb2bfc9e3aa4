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
/// Inputs wait in a ``NodeInbox``. The actor takes some, steps them in one transaction, commits, and
/// then performs the effects, so that many messages share one fsync and nothing leaves before it is
/// on the disk. A batch is short: whoever asks this node something waits for one, not for all that
/// came. Received operations are made durable as soon as nothing else waits.
actor RunningNode {
    /// Received operations wait at most so long for the disk, in milliseconds.
    static let durabilityDelayMax: UInt64 = 1_000
    /// The guard is written anew at most so often, in milliseconds.
    static let guardInterval: UInt64 = 1_000

    private nonisolated let executor = QueueExecutor(label: "parley.node")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let inbox = SharedInbox()
    private var core: NodeCore
    private let rosters = RosterCache()
    /// Nil once the node was shut down: letting go of it releases the folder.
    private var opened: SQLiteStore?
    private var random = SystemRandom()
    private let logger: Logger
    private weak var outlet: (any LinkOutlet)?
    private weak var media: MediaDesk?
    private var waiting: [CommandID: CheckedContinuation<CommandReply, any Error>] = [:]
    private var nextCommand: UInt64 = 1
    private var listeners = Listeners<@Sendable ([ViewChange], Bool) -> Void>()
    /// Whether something that this device wrote may not survive a loss of power, as after a sync
    /// that failed, or an end of the process before one: nothing leaves before it does.
    private var owesDurability = true
    private var undurableSince: UInt64?
    private var guardWrittenAt: UInt64 = 0
    private var isGuardStale = false
    private var isGuardDue = false
    private(set) var lastFailure: StoreError?
    private var renewal = VaultRenewal()
    private var logErasure = LogErasure()

    init(core: NodeCore, store: sending SQLiteStore, logger: Logger) {
        self.core = core
        opened = store
        self.logger = logger
    }

    // MARK: Inputs

    /// Takes an input from any thread; it is stepped soon, those of one sender in order.
    nonisolated func offer(_ input: Input) { change { $0.add(input) } }

    /// Whether a sender may bring one more input; if not, the outlet is told once it may.
    nonisolated func hasRoom(for sender: NodeInbox.Sender) -> Bool {
        inbox.read { $0.hasRoom(for: sender) }
    }

    /// Changes what waits, by the inbox's own rules.
    nonisolated func change(_ change: (inout NodeInbox) -> Void) {
        if inbox.change(change) { schedule() }
    }

    /// Whether inputs wait.
    nonisolated var isBusy: Bool { inbox.isScheduled }
    private nonisolated func schedule() {
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
        return try store.reading { try body(Views(store: store, core: core, rosters: rosters)) }
    }

    /// Writes to the store between two steps, in transactions of the body's own.
    func write<R: Sendable>(_ body: (SQLiteStore) throws -> R) throws -> R {
        try body(running())
    }

    /// Checks everything that is stored. Views are folded anew in a transaction that is thrown away.
    func examine() throws -> DoctorReport {
        try Views(store: running(), core: core, rosters: rosters).doctor()
    }

    private func running() throws -> SQLiteStore {
        guard let opened else { throw NodeError("stopped", "The node is shut down.") }
        return opened
    }

    func connect(_ outlet: any LinkOutlet, _ media: MediaDesk) {
        (self.outlet, self.media) = (outlet, media)
    }

    /// Begins: makes what every node has, and looks for everyone known.
    func start() { offer(.started) }

    // MARK: Steps

    private func drain() {
        guard let opened else { return }
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

    /// Steps inputs in one transaction; where it fails, nothing of it happened.
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
            // The disk takes what is written again: what it once refused is past.
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
            lastFailure = error
            logger.error("the disk failed", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// What was stored is stored, but may not be told: nothing leaves that a crash could take
    /// back. Links end, and the next ones find out anew what each side lacks.
    private func abandon(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .send(let link, _), .hangUp(let link, _): outlet?.hangUp(link)
            case .reply(let id, _):
                waiting.removeValue(forKey: id)?.resume(
                    throwing: NodeError("storage", "The disk failed: it may not be saved."))
            case .timer(let timer, let time): set(timer, at: time)
            case .dial(let target): outlet?.dial(target)
            // The core knows it already: links of this moment must not show what is past.
            case .renewIdentity(let operations): outlet?.renewIdentity(operations)
            case .forgetKeys: renewal.want()
            case .callRelay(let relay, let addresses): outlet?.callRelay(relay, at: addresses)
            case .leaveRelay(let relay): outlet?.leaveRelay(relay)
            // What was not asked is not answered: the relay is called anew.
            case .askRelay(let relay, _): outlet?.loseRelay(relay)
            case .admitted(let link): outlet?.markKnown(link)
            case .commitFully, .changed, .linksChanged, .call: break
            }
        }
    }

    private func failed(_ input: Input, _ error: StoreError) {
        lastFailure = error
        logger.error("a step failed", metadata: ["error": "\(error)"])
        switch input.recovery {
        case .again(let inputs):
            offerLater(inputs)
        case .hangUp(let link, let inputs):
            outlet?.hangUp(link)
            offerLater(inputs)
        case .refuse(let id):
            waiting.removeValue(forKey: id)?.resume(throwing: NodeError(error))
        case .drop:
            break
        }
    }

    private func offerLater(_ inputs: [Input]) {
        for input in inputs { offer(input, in: Recovery.pause) }
    }

    private func offer(_ input: Input, in milliseconds: UInt64) {
        let delay = DispatchTimeInterval.milliseconds(Int(clamping: milliseconds))
        executor.queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.offer(input) }
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
                lastFailure = error
                logger.error("acknowledging failed", metadata: ["error": "\(error)"])
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
        let delay = DispatchTimeInterval.milliseconds(Int(clamping: milliseconds))
        executor.queue.asyncAfter(deadline: .now() + delay) { [weak self] in
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

    // MARK: Effects

    private func perform(_ effects: [Effect]) {
        var frames: [LinkID: [[UInt8]]] = [:]
        var changes: [ViewChange] = []
        var linksChanged = false
        for effect in effects {
            switch effect {
            case .commitFully: break
            case .call(let output): media?.handle(output)
            case .send(let link, let bytes): frames[link, default: []].append(bytes)
            case .hangUp(let link, _):
                if let last = frames.removeValue(forKey: link) { outlet?.send(last, on: link) }
                outlet?.hangUp(link)
            case .dial(let target): outlet?.dial(target)
            case .timer(let timer, let time): set(timer, at: time)
            case .changed(let more): changes += more
            case .linksChanged: linksChanged = true
            case .admitted(let link): outlet?.markKnown(link)
            case .forgetKeys: renewal.want()
            case .renewIdentity(let operations): outlet?.renewIdentity(operations)
            case .callRelay(let relay, let addresses): outlet?.callRelay(relay, at: addresses)
            case .askRelay(let relay, let request): outlet?.askRelay(relay, request)
            case .leaveRelay(let relay): outlet?.leaveRelay(relay)
            case .reply(let id, let result): reply(id, result)
            }
        }
        for link in frames.keys.sorted() {
            outlet?.send(frames[link] ?? [], on: link)
        }
        guard !changes.isEmpty || linksChanged else { return }
        for listener in listeners.all { listener(changes, linksChanged) }
    }

    private func reply(_ id: CommandID, _ result: Result<CommandReply, CommandRefusal>) {
        guard let continuation = waiting.removeValue(forKey: id) else { return }
        switch result {
        case .success(let reply): continuation.resume(returning: reply)
        case .failure(let refusal): continuation.resume(throwing: NodeError(refusal))
        }
    }

    private func set(_ timer: TimerID, at time: UInt64) {
        offer(.timer(timer), in: time > now.monotonic ? time - now.monotonic : 0)
    }

    private nonisolated var now: Instant { SystemClock.now }

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
        while inbox.read({ !$0.isEmpty }) {
            // What came from others comes again.
            if now.monotonic >= end { inbox.read { $0.endAll() } }
            step(in: store)
        }
        opened = nil
        for listener in listeners.all { listener([], false) }
        if core.rejoin == nil { writeGuard(in: store) }
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
