import Glibc
import ParleyNodeCore

/// The clocks of this machine. The one that never jumps counts on while the machine sleeps: what is due
/// meanwhile is due when it wakes, and the wall clock moves against it only where it is set.
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
