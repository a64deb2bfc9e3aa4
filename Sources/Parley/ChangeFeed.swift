import ParleyConversation
import ParleyNodeCore
import ParleyWire
import Synchronization

/// One reader of the event log, which reads as fast as it likes: what it has not taken yet is only
/// in the log.
///
/// Transient events pass through a short queue, whose overflow is reported.
final class ChangeFeed: Sendable {
    /// Changes of the log that are read at once.
    private static let readCount = 64
    /// Transient events that wait to be taken; beyond it the oldest are dropped, and that is
    /// reported.
    private static let passingCountMax = 1024

    fileprivate struct State {
        var cursor: EventCursor
        /// Whether the cursor is of this process.
        var isKnown: Bool
        /// Read and not taken yet, the next one last.
        var read: [ChangeView] = []
        var passing = Queue<ChangeView>()
        /// Orders to this reader alone, none of which may be left out.
        var orders = Queue<MediaLine>()
        var orderByteCount = 0
        var hasSkipped = false
        /// Whether something may have come since the log was last read to its end.
        var isDue = true
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
        var ends: [@Sendable () -> Void] = []
    }

    private let running: RunningNode
    private let state: Mutex<State>

    /// - Parameter cursor: where to begin.
    init(of running: RunningNode, after cursor: EventCursor, isKnown: Bool) {
        self.running = running
        state = Mutex(State(cursor: cursor, isKnown: isKnown))
    }

    deinit { for end in state.withLock({ $0.ends }) { end() } }

    /// To be called once nobody reads any more.
    func whenDone(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.ends.append(body) }
    }

    /// There may be something in the log.
    func wake() {
        state.withLock { state in
            state.isDue = true
            return state.takeWaiter()
        }?.resume()
    }

    /// Something happened that may be forgotten.
    func add(_ change: ChangeView) {
        state.withLock { state in
            // For a present state the newest event suffices.
            if state.passing.contains(where: { $0.isReplaced(by: change) }) {
                state.passing.removeAll { $0.isReplaced(by: change) }
            }
            state.passing.append(change)
            if state.passing.count > Self.passingCountMax {
                state.passing.dropOldest()
                state.hasSkipped = true
            }
            return state.takeWaiter()
        }?.resume()
    }

    /// Has this reader told to do something, before all else. False where so much waits to be taken
    /// that it seems to read no more.
    func order(_ line: MediaLine) -> Bool {
        let (isTaken, waiter) = state.withLock { state in
            let sum = state.orderByteCount + line.bytes.count
            guard !state.isEnded, sum <= MediaProcess.waitingByteCountMax else {
                return (false, nil as CheckedContinuation<Void, Never>?)
            }
            state.orders.append(line)
            state.orderByteCount = sum
            return (true, state.takeWaiter())
        }
        waiter?.resume()
        return isTaken
    }

    /// Nothing more is reported.
    func end() {
        state.withLock { state in
            state.isEnded = true
            return state.takeWaiter()
        }?.resume()
    }

    /// The next change, once there is one; nil after the end, which is that of the node as well.
    func next() async -> ChangeView? {
        while true {
            let (change, position) = state.withLock { ($0.take(), ($0.cursor, $0.isKnown)) }
            if let change { return change }
            if state.withLock({ $0.isEnded }) { return nil }
            guard let isAtEnd = await read(from: position.0, isKnown: position.1) else {
                return nil
            }
            if isAtEnd { await wait() }
        }
    }

    /// Reads on. Returns whether there is nothing more; nil once nothing can be read.
    private func read(from cursor: EventCursor, isKnown: Bool) async -> Bool? {
        let isDue = state.withLock { state in
            defer { state.isDue = false }
            return state.isDue
        }
        guard isDue else { return true }
        // A node that is shut down, or cannot be read, tells nothing more.
        let page = try? await running.read { views in
            try views.changes(after: cursor, limit: Self.readCount, isKnown: isKnown)
        }
        // The text of a cursor that was just made reads back.
        guard let page, let next = try? EventCursor(text: page.cursor) else { return nil }
        return state.withLock { state in
            (state.cursor, state.isKnown) = (next, true)
            state.read = page.changes.reversed()
            if !page.isEnd { state.isDue = true }
            return page.isEnd && page.changes.isEmpty
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard !state.isDue, !state.isEnded, state.passing.isEmpty, state.orders.isEmpty
                    else { return false }
                    state.waiter = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            end()
        }
    }
}

extension ChangeFeed.State {
    fileprivate mutating func take() -> ChangeView? {
        if let line = orders.popFirst() {
            orderByteCount -= line.bytes.count
            var change = ChangeView(kind: "media")
            change.media = line
            return stamped(change)
        }
        if let change = read.popLast() { return change }
        if hasSkipped {
            hasSkipped = false
            return stamped(.skipped)
        }
        return passing.popFirst().map(stamped)
    }

    /// Transient events have no place in the log: reading resumes after the previous event.
    private func stamped(_ change: ChangeView) -> ChangeView {
        var change = change
        change.cursor = cursor.text
        return change
    }

    fileprivate mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
        defer { waiter = nil }
        return waiter
    }
}

extension ChangeView {
    /// Whether it says nothing any more beside a newer one.
    fileprivate func isReplaced(by newer: ChangeView) -> Bool {
        guard kind == newer.kind else { return false }
        switch kind {
        case "link", "search": return true
        case "typing": return conversation == newer.conversation
        case "presence": return name == newer.name
        default: return false
        }
    }
}
