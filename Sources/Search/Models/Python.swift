import Glibc

/// The machine's Python, which people who install models have.
enum Python {
    /// Runs it, and waits for its end. What it says goes where our own talk goes.
    ///
    /// - Returns: how it ended; nil where there is none.
    static func run(
        _ arguments: [String], environment: [String: String], isSilent: Bool = false
    ) -> Int32? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        if isSilent {
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var words = (["python3"] + arguments).map { strdup($0) } + [nil]
        var variables = environment.sorted { $0.key < $1.key }.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, "python3", &actions, nil, &words, &variables) == 0 else {
            return nil
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        // The low bits name a signal that ended it, else the next eight are its own word.
        return status & 0x7f != 0 ? -(status & 0x7f) : status >> 8 & 0xff
    }
}
