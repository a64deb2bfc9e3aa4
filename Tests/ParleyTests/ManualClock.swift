import Dispatch
import ParleyNodeCore
import Synchronization

@testable import Parley

/// A clock of a node that goes on when it is told to, and not by itself.
final class ManualClock: Sendable {
    private struct Alarm {
        var time: UInt64
        var queue: DispatchQueue
        var body: @Sendable () -> Void
    }
    private struct State {
        var now: UInt64 = 1_000_000
        var alarms: [Alarm] = []
    }
    private let state = Mutex(State())
    private let begin = SystemClock.now.wall

    /// What a node is given.
    var clock: NodeClock {
        NodeClock(now: { self.now }) { queue, milliseconds, body in
            self.state.withLock { state in
                let time = state.now + milliseconds
                state.alarms.append(Alarm(time: time, queue: queue, body: body))
            }
        }
    }

    private var now: Instant {
        let time = state.withLock { $0.now }
        return Instant(monotonic: time, wall: begin + time)
    }

    /// Lets so many milliseconds pass, and all be done that is due meanwhile.
    func advance(by milliseconds: UInt64) {
        let end = state.withLock { $0.now } + milliseconds
        while let alarm = next(until: end) { alarm.queue.sync(execute: alarm.body) }
        state.withLock { $0.now = end }
    }

    private func next(until end: UInt64) -> Alarm? {
        state.withLock { state in
            let due = state.alarms.indices.filter { state.alarms[$0].time <= end }
            guard let first = due.min(by: { state.alarms[$0].time < state.alarms[$1].time })
            else { return nil }
            state.now = max(state.now, state.alarms[first].time)
            return state.alarms.remove(at: first)
        }
    }
}
