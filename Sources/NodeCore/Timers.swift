/// Timers that are set, each once: the only way to set one.
struct Timers: Sendable {
    private var pending: Set<TimerID> = []

    /// Whether a timer is set and has not gone off.
    func isPending(_ timer: TimerID) -> Bool { pending.contains(timer) }

    /// Sets a timer unless it is set.
    mutating func set(
        _ timer: TimerID, in milliseconds: UInt64, _ turn: inout some Turn
    ) {
        guard !isPending(timer) else { return }
        move(timer, to: turn.now.monotonic + milliseconds, &turn)
    }

    /// Sets a timer for a moment of the monotonic clock, whether it is set or not: of two moments the
    /// shell keeps the later word.
    mutating func move(_ timer: TimerID, to moment: UInt64, _ turn: inout some Turn) {
        pending.insert(timer)
        turn.emit(.timer(timer, at: moment))
    }

    /// Notes that a timer went off.
    mutating func goOff(_ timer: TimerID) { pending.remove(timer) }
}
