import Dispatch
import Glibc
import ParleyNodeCore

/// The clocks of this machine. The one that never jumps counts on while the machine sleeps: what is due
/// meanwhile is due when it wakes, within ``NodeClock/wakeMax``, and the wall clock moves against it only
/// where it is set.
enum SystemClock {
    static var now: Instant {
        Instant(monotonic: milliseconds(CLOCK_BOOTTIME), wall: milliseconds(CLOCK_REALTIME))
    }

    private static func milliseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}

/// Where a running node has its time from, and who wakes it: the machine, but in tests that let time
/// pass as they please.
struct NodeClock: Sendable {
    /// Both clocks, now.
    var now: @Sendable () -> Instant
    /// Runs a body on a queue after so many milliseconds in which the machine was awake: what wakes stands
    /// still while the machine sleeps. ``call(on:after:_:)`` does not.
    var wake: @Sendable (DispatchQueue, UInt64, @escaping @Sendable () -> Void) -> Void

    static let system = NodeClock(now: { SystemClock.now }) { queue, milliseconds, body in
        let delay = DispatchTimeInterval.milliseconds(Int(clamping: milliseconds))
        queue.asyncAfter(deadline: .now() + delay, execute: body)
    }

    /// After so many milliseconds it is looked at the clock again, as the machine may have slept meanwhile.
    static let wakeMax: UInt64 = 60_000

    /// Runs a body on a queue once so many milliseconds have passed, those that the machine sleeps included;
    /// after a sleep at most ``wakeMax`` late.
    func call(
        on queue: DispatchQueue, after milliseconds: UInt64, _ body: @escaping @Sendable () -> Void
    ) {
        let (due, isNever) = now().monotonic.addingReportingOverflow(milliseconds)
        call(on: queue, at: isNever ? .max : due, body)
    }

    private func call(
        on queue: DispatchQueue, at due: UInt64, _ body: @escaping @Sendable () -> Void
    ) {
        let now = now().monotonic
        wake(queue, min(due - min(now, due), Self.wakeMax)) {
            guard self.now().monotonic < due else { return body() }
            call(on: queue, at: due, body)
        }
    }
}
