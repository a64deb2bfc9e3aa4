import Synchronization

/// What waits to be written to one peer: the only state that threads share with an event loop.
///
/// ```
/// send ─▶ waiting ──(once per loop turn)──▶ channel ──▶ system ──▶ peer
///         └────────── byteCount ───────────────────┘
/// ```
final class Outbox: Sendable {
    /// What became of bytes that somebody wants to send.
    enum Verdict: Equatable {
        /// They wait; the first of a turn has to see that the turn is ended by a drain.
        case queued(isFirst: Bool)
        /// The connection closes or is closed: they go nowhere.
        case closed
        /// They do not fit: ``TransportLimits/overflowByteCountMax``, or
        /// ``TransportLimits/totalByteCountMax``.
        case overflow
    }

    private struct State {
        var waiting: [[UInt8]] = []
        var byteCount = 0
        var isOpen = true
        var isCongested = false
        /// Somebody sends more as soon as next to nothing waits.
        var isRoomAwaited = false
    }

    private let limits: TransportLimits
    private let state = Mutex(State())
    private let total: Total

    init(limits: TransportLimits, total: Total = Total()) {
        self.limits = limits
        self.total = total
    }

    /// What waits on all connections of a transport, in bytes.
    final class Total: Sendable {
        private let count = Atomic(0)
        var byteCount: Int { count.load(ordering: .relaxed) }
        func change(by byteCount: Int) { count.add(byteCount, ordering: .relaxed) }
    }

    /// All bytes that the system has not taken yet.
    var byteCount: Int { state.withLock { $0.byteCount } }

    var isWritable: Bool { state.withLock { $0.isOpen && !$0.isCongested } }

    /// Whether next to nothing waits; if not, ``written(_:)`` tells once that is so.
    func awaitRoom() -> Bool {
        state.withLock { state in
            state.isRoomAwaited = state.byteCount > limits.roomByteCountMax
            return !state.isRoomAwaited
        }
    }

    func add(_ bytes: [UInt8]) -> Verdict {
        state.withLock { state in
            guard state.isOpen else { return .closed }
            let byteCount = state.byteCount + bytes.count
            let isTooMuchOfAll =
                byteCount > limits.queueByteCountMax
                && total.byteCount + bytes.count > limits.totalByteCountMax
            guard byteCount <= limits.overflowByteCountMax, !isTooMuchOfAll else {
                state.isOpen = false
                return .overflow
            }
            state.waiting.append(bytes)
            state.byteCount = byteCount
            total.change(by: bytes.count)
            if state.byteCount > limits.writableByteCountMax { state.isCongested = true }
            return .queued(isFirst: state.waiting.count == 1)
        }
    }

    /// Takes all that waits; it stays counted until ``written(_:)``.
    func takeWaiting() -> [[UInt8]] {
        state.withLock { state in
            let batch = state.waiting
            state.waiting = []
            return batch
        }
    }

    /// The system took bytes. True when that made the connection writable again, or made the room that
    /// somebody waits for.
    func written(_ byteCount: Int) -> Bool {
        state.withLock { state in
            // Discarded bytes no longer count.
            let byteCount = min(byteCount, state.byteCount)
            state.byteCount -= byteCount
            total.change(by: -byteCount)
            if state.isRoomAwaited, state.byteCount <= limits.roomByteCountMax {
                (state.isRoomAwaited, state.isCongested) = (false, false)
                return state.isOpen
            }
            guard state.isCongested, state.byteCount <= limits.writableByteCountMax / 2 else {
                return false
            }
            state.isCongested = false
            return state.isOpen
        }
    }

    /// Nothing more is taken in; what waits may still be written.
    func close() { state.withLock { $0.isOpen = false } }

    /// Nothing more is written either.
    func discard() {
        state.withLock { state in
            state.isOpen = false
            state.waiting = []
            total.change(by: -state.byteCount)
            state.byteCount = 0
        }
    }
}
