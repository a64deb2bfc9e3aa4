import CProcess
import Foundation

/// A process that was started, and this node's ends of its pipes.
package struct MediaChild: Sendable {
    /// Why there is none.
    package struct Refusal: Error {
        package var reason: String

        init(_ number: Int32) { reason = String(cString: strerror(number)) }
    }

    package let process: Int32
    /// Where it is told.
    package let input: Int32
    /// Where it tells.
    package let output: Int32
    /// Where it complains.
    package let errors: Int32

    /// Starts a program with three pipes and nothing else of this process.
    package static func start(_ program: String, _ words: [String]) throws(Refusal) -> MediaChild {
        var pipes: [[Int32]] = []
        func closeAll() { for file in pipes.joined() { close(file) } }
        for _ in 0..<3 {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else {
                let number = errno
                closeAll()
                throw Refusal(number)
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipes.append(ends)
        }
        var process: pid_t = 0
        let number = spawn(&process, program, words, [pipes[0][0], pipes[1][1], pipes[2][1]])
        guard number == 0 else {
            closeAll()
            throw Refusal(number)
        }
        for file in [pipes[0][0], pipes[1][1], pipes[2][1]] { close(file) }
        return MediaChild(
            process: process, input: pipes[0][1], output: pipes[1][0], errors: pipes[2][0])
    }

    private static func spawn(
        _ process: inout pid_t, _ program: String, _ words: [String], _ files: [Int32]
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // High first: one of the three may have the number of another one's place.
        let held = files.map { fcntl($0, F_DUPFD_CLOEXEC, 64) }
        defer { for file in held { close(file) } }
        for (place, file) in held.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, file, Int32(place))
        }
        // Also of what a program has open that the node is part of.
        let failure = parley_spawn_close_from(&actions, 3)
        guard failure == 0 else { return failure }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // What this process ignores or blocks must not be inherited.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return posix_spawn(&process, program, &actions, &attributes, arguments, environ)
    }

    /// Waits until a process has ended, and leaves it to be waited for: till then its number is its own.
    static func awaitEnd(of process: Int32) {
        var news = siginfo_t()
        while waitid(P_PID, id_t(process), &news, WEXITED | WNOWAIT) < 0 {
            guard errno == EINTR else { return }
        }
    }

    /// Waits until a process is gone; returns its status, or its signal, negative.
    package static func wait(for process: Int32) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return 0 }
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
    }
}
