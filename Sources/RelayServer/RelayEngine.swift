import Dispatch
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// Owns the one ``Relay`` and its store, and gives them what happens in turns: all that came while
/// the last turn wrote to the disk is one batch, so that many envelopes cost one fsync.
///
/// Unchecked, because relay, store and peers are plain variables; safe, because they are touched on
/// `queue` alone. Data from other threads is behind a lock.
final class RelayEngine: @unchecked Sendable {
    /// Bytes of requests that may wait for a turn before connections are read no more.
    static let waitingByteCountMax = 32 << 20
    /// An input counts as so many bytes at least, and so no more than 16,384 wait: a frame may have five
    /// bytes, and takes some hundred until it was worked on.
    static let inputByteCountMin = 2048

    /// Above so many bytes that wait for a client nothing more is pushed to it.
    static let writableByteCountMax = 512 << 10

    private struct Inbox {
        var inputs: [RelayInput] = []
        var byteCount = 0
        var isScheduled = false
        /// Connections that came and went: told with the inputs, so that none is before its peer.
        var joined: [RelayPeer] = []
        var left: [RelayConnection] = []
        /// Connections that are not read until the next turn is over.
        var paused: [RelayPeer] = []
    }

    /// The welcome for a client that calls now, and the state for observers.
    struct Snapshot {
        let starts: [RelayStart]
        var newest: UInt64
        var counters = RelayCounters()
        var load: (connections: Int, subscriptions: Int, pipes: Int) = (0, 0, 0)
        var storedByteCount: Int64 = 0
        var unpaidByteCount: Int64 = 0
        var shelfByteCount: Int64 = 0
        var batches: UInt64 = 0
        var storeFailures: UInt64 = 0
        /// Bytes that wait for clients to take them, as of the last tick.
        var unsentByteCount = 0
    }

    private let queue = DispatchQueue(label: "parley.relay", qos: .userInitiated)
    private let inbox = Mutex(Inbox())
    private let told: Mutex<Snapshot>
    private let now: @Sendable () -> UInt64
    private let report: @Sendable (String) -> Void
    let policy: RelayPolicy

    private var relay: Relay
    private var store: SQLiteRelayStore
    private var peers: [RelayConnection: RelayPeer] = [:]
    private var timer: (any DispatchSourceTimer)?
    private var isStopped = false
    /// What is left of orders that are performed in parts, one in each turn.
    private var unfinished: [(number: RelayOrderNumber, order: RelayOrder)] = []

    /// - Parameters:
    ///   - now: Unix milliseconds.
    ///   - report: told what the operator should know.
    init(
        store: SQLiteRelayStore, policy: RelayPolicy, now: @escaping @Sendable () -> UInt64,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.policy = policy
        self.now = now
        self.report = report
        var random = SystemRandom()
        relay = Relay(
            policy: policy, salt: .random(in: 0 ... .max, using: &random), at: now())
        told = Mutex(Snapshot(starts: store.starts, newest: store.newest))
    }

    var snapshot: Snapshot { told.withLock { $0 } }

    var welcome: RelayWelcome {
        let (starts, newest) = told.withLock { ($0.starts, $0.newest) }
        return Relay.welcome(starts: starts, newest: newest, policy: policy, at: now())
    }

    /// Lets time pass from here on.
    func start() {
        queue.async {
            let timer = DispatchSource.makeTimerSource(queue: self.queue)
            timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
            timer.setEventHandler { [weak self] in self?.offer([.tick]) }
            timer.resume()
            self.timer = timer
        }
    }

    /// Answers all that came, says goodbye to all clients, and gives the store back.
    func stop(retryAfter: UInt32) async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.timer?.cancel()
                self.timer = nil
                self.turn(.leaving(retryAfter: retryAfter))
                self.isStopped = true
                do throws(RelayStoreFailure) {
                    try self.store.close()
                } catch {
                    self.report("\(error)")
                }
                continuation.resume()
            }
        }
    }

    /// Bytes that wait for each client; touched on `queue` alone.
    private var pendingByteCounts: [Int] { peers.values.map(\.connection.pendingByteCount) }

    /// Bytes that wait for the client for which most waits.
    func mostUnsentByteCount() async -> Int {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.pendingByteCounts.max() ?? 0) }
        }
    }

    // MARK: What comes

    /// A connection stands.
    func opened(_ peer: RelayPeer, origin: [UInt8]) {
        inbox.withLock { $0.joined.append(peer) }
        offer([.opened(peer.handler.number, origin: origin)])
    }

    /// A connection is gone.
    func closed(_ connection: RelayConnection) {
        inbox.withLock { $0.left.append(connection) }
        offer([.closed(connection)])
    }

    /// Takes inputs, in their order.
    ///
    /// - Parameter byteCount: what they hold in memory.
    /// - Returns: whether too much waits: the sender is told to resume after the next turn.
    @discardableResult
    func offer(
        _ inputs: [RelayInput], byteCount: Int = 0, from sender: RelayPeer? = nil
    ) -> Bool {
        let (mustSchedule, isFull) = inbox.withLock { inbox in
            inbox.inputs += inputs
            inbox.byteCount += max(byteCount, inputs.count * Self.inputByteCountMin)
            let isFull = sender != nil && inbox.byteCount > Self.waitingByteCountMax
            if isFull, let sender { inbox.paused.append(sender) }
            defer { inbox.isScheduled = true }
            return (!inbox.isScheduled, isFull)
        }
        if mustSchedule { queue.async { self.turn() } }
        return isFull
    }

    // MARK: Turns

    /// - Parameter last: what happens once all that waited is stored and answered.
    private func turn(_ last: RelayInput? = nil) {
        let batch = inbox.withLock { inbox in
            defer { inbox = Inbox() }
            return inbox
        }
        guard !isStopped else { return }
        for peer in batch.joined { peers[peer.handler.number] = peer }
        let time = now()
        var outbox = RelayOutbox()
        var orders: [(number: RelayOrderNumber, order: RelayOrder)] = []
        for input in batch.inputs {
            for effect in relay.handle(input, at: time) { outbox.add(effect, &orders) }
            holdBack(outbox.takeFull(), time)
        }
        // What arrived in this turn goes first.
        orders += unfinished
        unfinished = []
        if !orders.isEmpty { store(&orders, time, &outbox) }
        if !unfinished.isEmpty { offer([]) }
        if let last {
            orders = []
            for effect in relay.handle(last, at: time) { outbox.add(effect, &orders) }
        }
        // Before anybody has an answer: who asks for figures then finds themselves counted.
        let isTick = batch.inputs.contains { if case .tick = $0 { true } else { false } }
        // Once a second: there may be thousands to be asked.
        let unsent = isTick ? pendingByteCounts.reduce(0, +) : nil
        told.withLock { told in
            told.unsentByteCount = unsent ?? told.unsentByteCount
            told.newest = store.newest
            told.storedByteCount = store.byteCount
            told.unpaidByteCount = store.unpaidByteCount
            told.shelfByteCount = store.shelfByteCount
            told.counters = relay.counters
            told.load = relay.load
        }
        for (connection, steps) in outbox.steps { peers[connection]?.perform(steps) }
        for connection in batch.left { peers[connection] = nil }
        for peer in batch.paused { peer.resume() }
    }

    /// Pushes nothing more to these within a turn, which can bring many MiB at once: their
    /// connections find out themselves when they get the results of the turn, and report the end of
    /// it.
    private func holdBack(_ connections: [RelayConnection], _ time: UInt64) {
        for connection in connections {
            let effects = relay.handle(.congested(connection, true), at: time)
            precondition(effects.isEmpty, "who is told less is not told of it")
        }
    }

    private func store(
        _ orders: inout [(number: RelayOrderNumber, order: RelayOrder)], _ time: UInt64,
        _ outbox: inout RelayOutbox
    ) {
        var further: [(number: RelayOrderNumber, order: RelayOrder)] = []
        do throws(RelayStoreFailure) {
            let outcomes = try store.perform(orders.map(\.order), at: time)
            told.withLock { $0.batches += 1 }
            for (order, outcome) in zip(orders, outcomes) {
                if case .unfinished(let rest) = outcome { unfinished.append((order.number, rest)) }
                for effect in relay.handle(.performed(order.number, outcome), at: time) {
                    outbox.add(effect, &further)
                }
                holdBack(outbox.takeFull(), time)
            }
        } catch {
            // Told to the clients as busy, and to the operator.
            report("\(error)")
            told.withLock { $0.storeFailures += 1 }
            for order in orders {
                for effect in relay.handle(.failed(order.number), at: time) {
                    outbox.add(effect, &further)
                }
            }
        }
        precondition(further.isEmpty, "no outcome leads to an order")
    }
}

/// The results of a turn, by connection: each is woken once.
struct RelayOutbox {
    /// What a connection is to do.
    enum Step: Sendable {
        case send([UInt8])
        case close(RelayClosing)
        case pause(milliseconds: UInt32)
    }

    private(set) var steps: [RelayConnection: [Step]] = [:]
    private var byteCounts: [RelayConnection: Int] = [:]
    /// Clients that are told within the turn that the relay is there.
    private var ponged: Set<RelayConnection> = []
    /// Where the steps of a connection hold its pause: the longest is meant.
    private var pauses: [RelayConnection: (place: Int, time: UInt32)] = [:]
    /// Clients for whom more resulted within the turn than may wait for a client, in that order.
    private var full: [RelayConnection] = []

    mutating func takeFull() -> [RelayConnection] {
        defer { full = [] }
        return full
    }

    mutating func add(
        _ effect: RelayEffect, _ orders: inout [(number: RelayOrderNumber, order: RelayOrder)]
    ) {
        switch effect {
        case .send(let connections, .pong):
            for connection in connections where ponged.insert(connection).inserted {
                steps[connection, default: []].append(.send(RelayServerFrame.pong.encoded()))
            }
        case .send(let connections, let frame):
            // Written once, however many read it.
            let bytes = frame.encoded()
            for connection in connections {
                steps[connection, default: []].append(.send(bytes))
                byteCounts[connection, default: 0] += bytes.count
                if byteCounts[connection, default: 0] > RelayEngine.writableByteCountMax {
                    full.append(connection)
                }
            }
        case .close(let connection, let reason):
            steps[connection, default: []].append(.close(reason))
        case .pause(let connection, let time): pause(connection, time)
        case .perform(let number, let order): orders.append((number, order))
        }
    }

    /// A flood of frames may have as many pauses: one is carried out.
    private mutating func pause(_ connection: RelayConnection, _ time: UInt32) {
        guard let pause = pauses[connection] else {
            pauses[connection] = (steps[connection]?.count ?? 0, time)
            steps[connection, default: []].append(.pause(milliseconds: time))
            return
        }
        guard time > pause.time else { return }
        pauses[connection]?.time = time
        steps[connection]?[pause.place] = .pause(milliseconds: time)
    }
}
