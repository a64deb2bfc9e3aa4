import Foundation
import Glibc
import Synchronization

/// Runs the person's own program for each notice: a few at a time, each for a bounded time, the facts in
/// its environment and nothing of them on its command line, where every user of the machine could read it.
final class NoticeHook: Sendable {
    /// Programs that run at once, and notices that wait for one, at most; others are counted and dropped.
    static let runningCountMax = 4, waitingCountMax = 64

    private struct State {
        var waiting: ArraySlice<[String: String]> = []
        var runningCount = 0
        var droppedCount = 0
    }

    private let state = Mutex(State())
    private let environment: [String: String]

    /// - Parameter environment: a program's other variables.
    init(environment: [String: String]) {
        // What this process alone was told, and what sets the node's own ways, is not handed on.
        self.environment = environment.filter { name, _ in
            !name.hasPrefix("PARLEY_") && !name.hasPrefix("LISTEN_") && !name.hasPrefix("WATCHDOG_")
                && name != "NOTIFY_SOCKET" && name != "CREDENTIALS_DIRECTORY"
        }
    }

    /// How many notices nobody saw.
    var droppedCount: Int { state.withLock { $0.droppedCount } }

    /// Starts the program, now or once another one has ended.
    func run(_ words: [String], facts: [String: String], within seconds: Int) {
        guard !words.isEmpty else { return }
        let isFree = state.withLock { state in
            if state.runningCount < Self.runningCountMax {
                state.runningCount += 1
                return true
            }
            if state.waiting.count < Self.waitingCountMax {
                state.waiting.append(facts)
            } else {
                state.droppedCount += 1
            }
            return false
        }
        guard isFree else { return }
        Thread.detachNewThread { [self] in
            var next: [String: String]? = facts
            while let facts = next {
                play(words, facts, within: seconds)
                next = state.withLock { state in
                    let waiting = state.waiting.popFirst()
                    if waiting == nil { state.runningCount -= 1 }
                    return waiting
                }
            }
        }
    }

    /// Runs it to its end, or ends it and all that it started.
    private func play(_ words: [String], _ facts: [String: String], within seconds: Int) {
        guard let process = start(words, environment.merging(facts) { $1 }) else { return }
        let alarm = DispatchSource.makeTimerSource(queue: .global())
        alarm.schedule(deadline: .now() + .seconds(seconds))
        alarm.setEventHandler { kill(-process, SIGKILL) }
        alarm.resume()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        alarm.cancel()
    }

    private func start(_ words: [String], _ environment: [String: String]) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for file in 0..<Int32(3) {
            posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_RDWR, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // What this process ignores or blocks is its own affair.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, words[0], &actions, &attributes, arguments, variables)
        return failure == 0 ? process : nil
    }
}
