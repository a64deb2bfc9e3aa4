internal import Glibc
internal import Synchronization

/// A process that was started here, and is ended by its number.
final class ChildProcess: Sendable {
    let processID: Int32
    private let ending = Mutex<Int32?>(nil)

    /// Starts a program, which is looked up as a shell would.
    ///
    /// - Parameters:
    ///   - input: what it reads from; nothing where negative.
    ///   - output: where both its outputs go.
    ///   - isApart: whether it gets a process group of its own, which Ctrl-C does not reach.
    init(_ words: [String], input: Int32 = -1, output: Int32, isApart: Bool) throws(RealFailure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if input >= 0 {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that we ignore would stay ignored in what we start.
        var usual = sigset_t()
        sigemptyset(&usual)
        for number in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&usual, number) }
        posix_spawnattr_setsigdefault(&attributes, &usual)
        let flags = POSIX_SPAWN_SETSIGDEF | (isApart ? POSIX_SPAWN_SETPGROUP : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var started: pid_t = 0
        let failure = posix_spawnp(
            &started, words[0], &actions, &attributes, &arguments, environ)
        guard failure == 0 else {
            throw RealFailure("cannot start \(words[0]): \(message(failure))")
        }
        processID = started
    }

    /// How it ended, or nil while it runs; the number of a signal is negative.
    var status: Int32? {
        ending.withLock { ending in
            guard ending == nil else { return ending }
            var status: Int32 = 0
            if waitpid(processID, &status, WNOHANG) == processID { ending = Self.told(status) }
            return ending
        }
    }

    /// Waits on this thread until it has ended.
    func wait() -> Int32 {
        ending.withLock { ending in
            if let ending { return ending }
            var status: Int32 = 0
            while waitpid(processID, &status, 0) < 0, errno == EINTR {}
            ending = Self.told(status)
            return ending ?? 0
        }
    }

    /// Sends it a signal, unless it is known to have ended.
    func signal(_ number: Int32) {
        ending.withLock { if $0 == nil { kill(processID, number) } }
    }

    /// As `WIFEXITED` and its kin, which are macros.
    private static func told(_ status: Int32) -> Int32 {
        status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }
}

/// Programs of the system that do one thing and end.
enum Tool {
    /// What one of them may say, in bytes; the rest is not read.
    private static let outputByteCountMax = 1 << 20

    /// Runs a command to its end, and returns what it said.
    ///
    /// - Parameter input: what it reads, at most a pipe full of it (64 KiB).
    @discardableResult
    static func run(_ words: [String], input: String = "") throws(RealFailure) -> String {
        let (status, output) = try attempt(words, input: input)
        guard status == 0 else {
            throw RealFailure("\(words.joined(separator: " ")): status \(status): \(output)")
        }
        return output
    }

    /// Runs a command to its end, whatever comes of it.
    static func attempt(
        _ words: [String], input: String = ""
    ) throws(RealFailure) -> (status: Int32, output: String) {
        let (source, feed) = try connectedEnds()
        let (drain, sink) = try connectedEnds()
        defer { close(drain) }
        let bytes = Array(input.utf8)
        precondition(bytes.count <= 65_536, "it would wait for a reader that does not run yet")
        _ = write(feed, bytes, bytes.count)
        close(feed)
        let started: Result<ChildProcess, RealFailure>
        do throws(RealFailure) {
            started = .success(
                try ChildProcess(words, input: source, output: sink, isApart: false))
        } catch {
            started = .failure(error)
        }
        close(source)
        close(sink)
        let process = try started.get()
        let output = read(all: drain)
        return (process.wait(), output)
    }

    /// Where a program is, as a shell would find it, or nil.
    static func path(of name: String) -> String? {
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "") + ":/usr/sbin:/sbin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    private static func read(all descriptor: Int32) -> String {
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if output.count < outputByteCountMax { output += chunk.prefix(count) }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

/// Two ends that nothing we start inherits: what is written to the second is read from the first.
func connectedEnds() throws(RealFailure) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
        throw RealFailure("no pair of sockets: \(message(errno))")
    }
    return (ends[0], ends[1])
}
