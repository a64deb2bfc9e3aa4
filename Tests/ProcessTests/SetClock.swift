import Foundation

/// The clock of a machine, as a process sees it: right, until it is set.
///
/// A library is loaded before all others, and moves what the C library says of the time of day. Clocks
/// that never jump stay as they are. The process looks into a file each time, so that its clock can be set
/// while it runs.
final class SetClock: Sendable {
    private let folder: TemporaryFolder
    private var file: String { folder.path + "/ahead" }
    /// What a process is given whose clock this is.
    var environment: [String: String] {
        ["LD_PRELOAD": folder.path + "/clock.so", "TEST_CLOCK_AHEAD": file]
    }

    init() throws {
        folder = try TemporaryFolder()
        try set(ahead: 0)
        let source = folder.path + "/clock.c"
        try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // It comes with Swift.
        compiler.arguments = ["clang", "-shared", "-fPIC", "-o", folder.path + "/clock.so", source]
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw Late(description: "no clock to set") }
    }

    /// Sets it: so many seconds ahead of the machine's, behind where negative.
    func set(ahead seconds: Int) throws {
        try "\(seconds)\n".write(toFile: file, atomically: true, encoding: .utf8)
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>

        static long ahead(void) {
            const char *path = getenv("TEST_CLOCK_AHEAD");
            char text[32] = {0};
            int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
            if (file < 0) return 0;
            ssize_t count = read(file, text, sizeof text - 1);
            close(file);
            return count > 0 ? atol(text) : 0;
        }

        int clock_gettime(clockid_t clock, struct timespec *time) {
            long result = syscall(SYS_clock_gettime, clock, time);
            if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
                time->tv_sec += ahead();
            return (int)result;
        }

        int gettimeofday(struct timeval *time, void *zone) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            time->tv_sec = now.tv_sec;
            time->tv_usec = now.tv_nsec / 1000;
            return 0;
        }

        time_t time(time_t *place) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (place) *place = now.tv_sec;
            return now.tv_sec;
        }

        """
}
