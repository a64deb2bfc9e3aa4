/// Timers that are set, each once: the only way to set one.
struct Timers: Sendable {
    /// The moments of the monotonic clock for which they are set.
    private var pending: [TimerID: UInt64] = [:]

    /// Whether a timer is set and has not gone off.
    func isPending(_ timer: TimerID) -> Bool { pending[timer] != nil }

    /// Sets a timer unless it is set.
    mutating func set(
        _ timer: TimerID, in milliseconds: UInt64, _ turn: inout some Turn
    ) {
        guard !isPending(timer) else { return }
        move(timer, to: turn.now.monotonic + milliseconds, &turn)
    }

    /// Sets a timer unless it is set for sooner. Whoever waits for later sets it again when it goes off.
    mutating func hasten(
        _ timer: TimerID, in milliseconds: UInt64, _ turn: inout some Turn
    ) {
        let moment = turn.now.monotonic + milliseconds
        if let set = pending[timer], set <= moment { return }
        move(timer, to: moment, &turn)
    }

    /// Sets a timer for a moment of the monotonic clock, whether it is set or not: of two moments the
    /// shell keeps the later word.
    mutating func move(_ timer: TimerID, to moment: UInt64, _ turn: inout some Turn) {
        pending[timer] = moment
        turn.emit(.timer(timer, at: moment))
    }

    /// Notes that a timer went off.
    mutating func goOff(_ timer: TimerID) { pending[timer] = nil }
}
