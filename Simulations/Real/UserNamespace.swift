internal import Glibc

/// How somebody who is not root makes networks: as root of a world of their own.
public enum UserNamespace {
    /// Set in the process that was begun anew, which does not try again.
    static let mark = "PARLEY_USER_NAMESPACE"

    /// Begins this process anew where it is root, if it is not and that is allowed. Returns where
    /// it is not needed or does not work.
    ///
    /// The process keeps its number. It gets a `/run` of its own, where `ip` keeps namespaces: what
    /// it makes there goes with it.
    ///
    /// - Parameters:
    ///   - program: this program, as a path.
    ///   - arguments: those of this process, without its name.
    public static func enter(program: String, arguments: [String]) {
        guard geteuid() != 0, getenv(mark) == nil,
            // Whatever the reason: then it goes on as it is, and is told what it lacks.
            let (status, _) = try? Tool.attempt(Self.prefix + ["true"]), status == 0
        else { return }
        setenv(mark, "1", 1)
        let words = command(program: program, arguments: arguments)
        var pointers = words.map { strdup($0) } + [nil]
        execvp(words[0], &pointers)
        // It did not work: go on as we are.
        for pointer in pointers { free(pointer) }
    }

    private static let prefix = ["unshare", "--user", "--map-root-user", "--net", "--mount"]

    /// The command that begins a program anew.
    static func command(program: String, arguments: [String]) -> [String] {
        // The tmpfs first: `ip` makes its folder in it.
        let script = "mount -t tmpfs none /run; exec \"$0\" \"$@\""
        return prefix + ["sh", "-c", script, program] + arguments
    }
}
