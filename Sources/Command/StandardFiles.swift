import Glibc

/// The three files with which every process begins: its input, its output, and where it talks.
enum StandardFiles {
    /// Takes the numbers of those that were closed, before anything else can get them.
    ///
    /// Otherwise the next file that is opened would be the output: a socket of a node, or a file of
    /// the home. Each number stands for a file that refuses what it is for from then on. So output that
    /// nobody gets fails as on a full disk does, and input that nobody gives is told from an empty one.
    /// Source: glibc, csu/check_fds.c, which does the same for programs that run with others' rights.
    static func takeClosed() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free: those below are taken by now.
            let taken = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
            // Nobody could be told, and whatever came next would be written into.
            guard taken == number else { exit(ExitStatus.failed.number) }
        }
    }
}
