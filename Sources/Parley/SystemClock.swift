import Dispatch
import Glibc
import ParleyNodeCore

/// The clocks of this machine. The monotonic one continues while the machine sleeps: what becomes
/// due meanwhile is due when it wakes, and the wall clock moves against it only if it is set.
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
    /// Runs a body on a queue after so many milliseconds.
    var wake: @Sendable (DispatchQueue, UInt64, @escaping @Sendable () -> Void) -> Void

    static let system = NodeClock(now: { SystemClock.now }) { queue, milliseconds, body in
        let delay = DispatchTimeInterval.milliseconds(Int(clamping: milliseconds))
        queue.asyncAfter(deadline: .now() + delay, execute: body)
    }
}
