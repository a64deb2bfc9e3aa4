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
        /// They do not fit: ``TransportLimits/overflowByteCountMax``.
        case overflow
    }

    private struct State {
        var waiting: [[UInt8]] = []
        var byteCount = 0
        var isOpen = true
        var isCongested = false
    }

    private let limits: TransportLimits
    private let state = Mutex(State())

    init(limits: TransportLimits) { self.limits = limits }

    /// All bytes that the system has not taken yet.
    var byteCount: Int { state.withLock { $0.byteCount } }

    var isWritable: Bool { state.withLock { $0.isOpen && !$0.isCongested } }

    func add(_ bytes: [UInt8]) -> Verdict {
        state.withLock { state in
            guard state.isOpen else { return .closed }
            guard state.byteCount + bytes.count <= limits.overflowByteCountMax else {
                state.isOpen = false
                return .overflow
            }
            state.waiting.append(bytes)
            state.byteCount += bytes.count
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

    /// The system took bytes. True when that made the connection writable again.
    func written(_ byteCount: Int) -> Bool {
        state.withLock { state in
            state.byteCount -= byteCount
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
            state.byteCount = 0
        }
    }
}
