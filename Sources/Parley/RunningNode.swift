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
/// Inputs wait in an inbox. The actor takes all that wait, steps them in one transaction, commits,
/// and then performs the effects, so that many messages share one fsync and nothing leaves before
/// it is on the disk. Received operations are made durable as soon as nothing else waits.
actor RunningNode {
    /// Inputs that share a transaction, at most.
    static let batchCountMax = 512
    /// Received operations wait at most so long for the disk, in milliseconds.
    static let durabilityDelayMax: UInt64 = 1_000
    /// The guard is written anew at most so often, in milliseconds.
    static let guardInterval: UInt64 = 1_000

    private nonisolated let executor = QueueExecutor(label: "parley.node")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private struct Inbox {
        var inputs: [Input] = []
        var isScheduled = false
    }
    private nonisolated let inbox = Mutex(Inbox())

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

    /// Takes an input from any thread; it is stepped soon, in order.
    nonisolated func offer(_ input: Input) {
        let mustSchedule = inbox.withLock { inbox in
            inbox.inputs.append(input)
            defer { inbox.isScheduled = true }
            return !inbox.isScheduled
        }
        if mustSchedule { schedule() }
    }

    /// Whether inputs wait.
    nonisolated var isBusy: Bool { inbox.withLock { $0.isScheduled } }

    private nonisolated func schedule() {
        executor.queue.async { self.assumeIsolated { $0.drain() } }
    }

    /// Carries out a command; returns once it is on the disk.
    func perform(_ command: Command) async throws -> CommandReply {
        guard opened != nil else { throw NodeError("stopped", "The node is shut down.") }
        let id = CommandID(nextCommand)
        nextCommand += 1
        return try await withCheckedThrowingContinuation { continuation in
            waiting[id] = continuation
            offer(.command(id, command))
        }
    }

    /// Reads the store and the core between two steps.
    func read<R: Sendable>(_ body: (Views) throws -> R) throws -> R {
        guard let opened else { throw NodeError("stopped", "The node is shut down.") }
        return try opened.reading {
            try body(Views(store: opened, core: core, rosters: rosters))
        }
    }

    /// Writes to the store between two steps, in transactions of the body's own.
    func write<R: Sendable>(_ body: (SQLiteStore) throws -> R) throws -> R {
        guard let opened else { throw NodeError("stopped", "The node is shut down.") }
        return try body(opened)
    }

    /// Checks everything that is stored. Views are folded anew in a transaction that is thrown away.
    func examine() throws -> DoctorReport {
        guard let opened else { throw NodeError("stopped", "The node is shut down.") }
        return try Views(store: opened, core: core, rosters: rosters).doctor()
    }

    func connect(_ outlet: any LinkOutlet, _ media: MediaDesk) {
        (self.outlet, self.media) = (outlet, media)
    }

    /// Begins: makes what every node has, and looks for everyone known.
    func start() { offer(.started) }

    // MARK: Steps

    private func drain() {
        let inputs = inbox.withLock { inbox in
            let taken = Array(inbox.inputs.prefix(Self.batchCountMax))
            inbox.inputs.removeFirst(taken.count)
            if inbox.inputs.isEmpty { inbox.isScheduled = false }
            return taken
        }
        guard let opened else { return }
        if !inputs.isEmpty { step(inputs, in: opened) }
        releaseFrames(of: inputs)
        let hasMore = inbox.withLock { $0.isScheduled }
        if hasMore { schedule() }
        settle(isIdle: !hasMore, in: opened)
    }

    /// Links go on reading once their frames were dealt with.
    private func releaseFrames(of inputs: [Input]) {
        var counts: [LinkID: Int] = [:]
        for case .frame(let link, _) in inputs { counts[link, default: 0] += 1 }
        for link in counts.keys.sorted() {
            outlet?.consumed(counts[link] ?? 0, on: link)
        }
    }

    private func step(_ inputs: [Input], in store: SQLiteStore) {
        do {
            try transact(inputs, in: store)
        } catch  where inputs.count > 1 {
            // One of them met the failure; alone, the others may well pass.
            for input in inputs { step([input], in: store) }
        } catch {
            failed(inputs[0], error)
        }
    }

    /// Steps inputs in one transaction; where it fails, nothing of it happened.
    private func transact(
        _ inputs: [Input], in store: SQLiteStore
    ) throws(StoreError) {
        let before = core
        let committed: [Effect]
        let isOwn = inputs.contains(where: \.isOwn)
        do {
            try store.begin(isOwn ? .full : .normal)
            var effects: [Effect] = []
            for input in inputs {
                effects += try core.step(input, at: now, in: store, using: &random)
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
                try transact([.madeDurable], in: store)
            } catch {
                lastFailure = error
                logger.error("acknowledging failed", metadata: ["error": "\(error)"])
            }
        }
        if store.rejoin != nil, !core.isBehind { endRejoin(in: store) }
        if isIdle { renewal.tend(store, at: time, logger) }
        if let wait = logErasure.tend(store, at: time, logger) {
            executor.queue.asyncAfter(deadline: .now() + .milliseconds(Int(wait))) { [weak self] in
                self?.assumeIsolated { $0.drain() }
            }
        }
        if isGuardStale, isIdle, !isGuardDue {
            isGuardDue = true
            let wait = DispatchTimeInterval.milliseconds(Int(Self.guardInterval))
            executor.queue.asyncAfter(deadline: .now() + wait) { [weak self] in
                self?.assumeIsolated {
                    $0.isGuardDue = false; $0.drain()
                }
            }
        }
        if isGuardStale, isIdle, time >= guardWrittenAt + Self.guardInterval {
            writeGuard(in: store)
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
            try store.writeGuard(heads: store.heads(of: core.node.device))
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
        let inputs = inbox.withLock { inbox in
            defer { inbox.inputs = [] }
            return inbox.inputs
        }
        if !inputs.isEmpty { step(inputs, in: store) }
        opened = nil
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
