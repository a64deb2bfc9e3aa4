import Synchronization

/// Tells screens how far a long work on the indexes is.
final class SearchWatch: Sendable {
    /// Told no more often than this.
    private static let pause: Duration = .milliseconds(100)

    private struct State {
        var listeners: [UInt64: @Sendable (ChangeView) -> Void] = [:]
        var nextListener: UInt64 = 1
        var lastTold: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Calls back from time to time while there is such work; returns what ends that.
    func listen(_ body: @escaping @Sendable (ChangeView) -> Void) -> UInt64 {
        state.withLock { state in
            defer { state.nextListener += 1 }
            state.listeners[state.nextListener] = body
            return state.nextListener
        }
    }

    func unlisten(_ id: UInt64) { state.withLock { $0.listeners[id] = nil } }

    /// So many of all were dealt with.
    func tell(_ step: SearchWork.Step, _ done: Int, of count: Int) {
        let now = ContinuousClock.now
        let listeners = state.withLock { state -> [@Sendable (ChangeView) -> Void] in
            if let last = state.lastTold, now - last < Self.pause, done < count { return [] }
            state.lastTold = now
            return state.listeners.sorted { $0.key < $1.key }.map(\.value)
        }
        let work = SearchWork(step: step, done: done, count: count)
        for listener in listeners { listener(ChangeView(kind: "search", search: work)) }
    }
}
