import Synchronization

/// Tells screens how far a long work on the indexes is.
final class SearchWatch: Sendable {
    /// Told no more often than this.
    private static let pause: Duration = .milliseconds(100)

    private struct State {
        var listeners = Listeners<@Sendable (ChangeView) -> Void>()
        var lastTold: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Calls back from time to time while there is such work; returns what ends that.
    func listen(_ body: @escaping @Sendable (ChangeView) -> Void) -> UInt64 {
        state.withLock { $0.listeners.add(body) }
    }

    func unlisten(_ id: UInt64) { state.withLock { $0.listeners.remove(id) } }

    /// So many of all were dealt with.
    func tell(_ step: SearchWork.Step, _ done: Int, of count: Int) {
        let now = ContinuousClock.now
        let listeners = state.withLock { state -> [@Sendable (ChangeView) -> Void] in
            if let last = state.lastTold, now - last < Self.pause, done < count { return [] }
            state.lastTold = now
            return state.listeners.all
        }
        let work = SearchWork(step: step, done: done, count: count)
        for listener in listeners { listener(ChangeView(kind: "search", search: work)) }
    }
}
