import Synchronization

/// Dials that are under way: the event loops must not end before the last of them.
final class DialCount: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// A dial begins, unless the transport is shut down.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.count += 1
            return true
        }
    }

    /// A dial came to its end, whichever that was.
    func end() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Lets no dial begin from now on, and waits for the last one.
    func close() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.isClosed = true
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isIdle { continuation.resume() }
        }
    }
}
