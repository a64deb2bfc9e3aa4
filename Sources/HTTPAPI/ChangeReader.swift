internal import Parley
internal import Synchronization

/// Takes changes from a node one at a time, for one reader, until somebody ends it.
///
/// The task that waits for the node can be ended from anywhere, at any time; a reader that waits
/// for the next change is told then that there is none.
final class ChangeReader: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var change: ChangeView?
        var isOver = false
        var taker: CheckedContinuation<Void, Never>?
        var giver: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    init(_ changes: AsyncStream<ChangeView>) {
        let task = Task { [weak self] in
            for await change in changes {
                guard let self, await self.give(change) else { break }
            }
            self?.end()
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// The next change, once there is one; nil after the end.
    func next() async -> ChangeView? {
        while true {
            let (change, giver, isOver) = state.withLock { state in
                defer { (state.change, state.giver) = (nil, nil) }
                return (state.change, state.giver, state.isOver)
            }
            giver?.resume()
            if change != nil || isOver { return isOver ? nil : change }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.change == nil, !state.isOver else { return false }
                    state.taker = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    /// Ends it; changes that were not taken are no longer reported.
    func end() {
        let (task, taker, giver) = state.withLock { state in
            defer { (state.task, state.taker, state.giver) = (nil, nil, nil) }
            state.isOver = true
            return (state.task, state.taker, state.giver)
        }
        task?.cancel()
        taker?.resume()
        giver?.resume()
    }

    /// Hands a change over, and waits until it is taken. False after the end.
    private func give(_ change: ChangeView) async -> Bool {
        let taker = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state.taker = nil }
            state.change = change
            return state.taker
        }
        taker?.resume()
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                guard state.change != nil, !state.isOver else { return false }
                state.giver = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        }
        return state.withLock { !$0.isOver }
    }
}
