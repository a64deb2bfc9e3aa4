import Foundation
import Glibc
import Testing

@testable import Parley

/// What a program that was taken over by its input would try.
@Suite("A program in a cage tries to get out of it", .timeLimit(.minutes(2)))
struct CageEscapeTests {
    private let python = CagedProgram("python3")

    /// Says which of its tries came through: on a file and its folder, on another process of the same
    /// user, and on itself.
    private static let tries = """
        import ctypes, fcntl, os, resource, signal, sys
        L = ctypes.CDLL(None, use_errno=True)
        file, other = sys.argv[1], int(sys.argv[2])
        folder = os.path.dirname(file)
        def c(name, *words):
            given = getattr(L, name)(*words)
            if given == -1: raise OSError(ctypes.get_errno(), name)
            return given
        def asks(owner=None, signs=None, flags=None, kind=None):
            r, w = os.pipe()
            if owner is not None: fcntl.fcntl(r, fcntl.F_SETOWN, owner)
            if kind is not None: fcntl.fcntl(r, 15, kind.to_bytes(4, "little") + owner2)
            if signs is not None: fcntl.fcntl(r, 10, signs)
            if flags is not None: fcntl.fcntl(r, fcntl.F_SETFL, flags)
        owner2 = other.to_bytes(4, "little")
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
        def memory():
            own = os.memfd_create("own", 0)
            os.write(own, b"#!/bin/sh\\necho run from memory\\n")
            print("make a file in memory", flush=True)
            os.execve(own, ["own"], {})
        def child():
            if os.fork() == 0: os._exit(0)
        tries = {
            "chmod": lambda: os.chmod(file, 0o666),
            "chmod of the folder": lambda: os.chmod(folder, 0o777),
            "fchmod": lambda: os.fchmod(os.open(folder, os.O_RDONLY), 0o777),
            "fchmod of the input": lambda: os.fchmod(0, 0o600),
            "fchmodat2": lambda: c("syscall", 452, -100, file.encode(), 0o666, 0),
            "chown": lambda: os.chown(file, os.getuid(), os.getgid()),
            "lchown": lambda: os.lchown(file, os.getuid(), os.getgid()),
            "utimensat": lambda: os.utime(file, (0, 0)),
            "setxattr": lambda: os.setxattr(file, "user.x", b"y"),
            "lsetxattr": lambda: os.setxattr(file, "user.x", b"y", follow_symlinks=False),
            "removexattr": lambda: os.removexattr(file, "user.there"),
            "setxattrat": lambda: c("syscall", 463, -100, file.encode(), 0, b"user.x", b"", 0),
            "truncate": lambda: os.truncate(file, 3),
            "open to write": lambda: os.open(file, os.O_WRONLY),
            "open to append": lambda: os.open(file, os.O_RDWR | os.O_APPEND),
            "make a nameless file": lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR),
            "openat2": lambda: c("syscall", 437, -100, file.encode(), (ctypes.c_ulong * 3)(2), 24),
            "link": lambda: os.link(file, folder + "/link"),
            "symlink": lambda: os.symlink(file, folder + "/symlink"),
            "mkdir": lambda: os.mkdir(folder + "/made"),
            "mkfifo": lambda: os.mkfifo(folder + "/pipe"),
            "kill": lambda: os.kill(other, signal.SIGURG),
            "killpg": lambda: os.killpg(os.getpgid(other), 0),
            "tgkill": lambda: c("tgkill", other, other, signal.SIGURG),
            "F_SETOWN": lambda: asks(owner=other),
            "F_SETOWN of a group": lambda: asks(owner=-os.getpgid(other)),
            "F_SETOWN_EX": lambda: asks(kind=1),
            "F_SETSIG": lambda: asks(signs=signal.SIGURG),
            "O_ASYNC": lambda: asks(flags=0o20000),
            "F_SETLEASE": lambda: fcntl.fcntl(0, 1024, 0),
            "F_NOTIFY": lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), 1026, 2),
            "FIOSETOWN": lambda: fcntl.ioctl(os.pipe()[0], 0x8901, owner2),
            "FIOASYNC": lambda: fcntl.ioctl(os.pipe()[0], 0x5452, b"\\1\\0\\0\\0"),
            "TIOCSTI": lambda: fcntl.ioctl(0, 0x5412, b"x"),
            "pidfd_open": lambda: os.pidfd_open(other),
            "pidfd_send_signal": lambda: c("syscall", 424, os.pidfd_open(other), 23, 0, 0),
            "ptrace": lambda: c("ptrace", 0x4206, other, 0, 0),
            "process_vm_readv": lambda: c("process_vm_readv", other, vector, 1, vector, 1, 0),
            "process_vm_writev": lambda: c("process_vm_writev", other, vector, 1, vector, 1, 0),
            "prlimit": lambda: resource.prlimit(other, resource.RLIMIT_NOFILE),
            "setpriority": lambda: os.setpriority(os.PRIO_PROCESS, other, 19),
            "sched_setaffinity": lambda: os.sched_setaffinity(other, {0}),
            "PR_SET_PTRACER": lambda: c("prctl", 0x59616d61, -1, 0, 0, 0),
            "PR_SET_DUMPABLE": lambda: c("prctl", 4, 1, 0, 0, 0),
            "PR_SET_PDEATHSIG": lambda: c("prctl", 1, 0, 0, 0, 0),
            "io_uring_setup": lambda: c("syscall", 425, 8, (ctypes.c_uint * 30)()),
            "shmget": lambda: L.shmctl(c("shmget", 0, 4096, 0o1600), 0, None),
            "unshare": lambda: c("unshare", 0x10000000),
            "setsid": lambda: os.setsid(),
            "fork": child,
            "run from memory": memory,
        }
        print("begun", flush=True)
        for name, act in tries.items():
            try:
                act()
                print(name, flush=True)
            except OSError:
                pass
        print("ended")
        """

    /// What a script says that is in no cage.
    private func free(
        _ words: [String], _ python: CagedProgram
    ) throws -> [Substring] {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: python.path)
        process.arguments = words
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: said, as: UTF8.self).split(separator: "\n")
    }

    @Test("Attack 304: it changes no mode, owner, time or attribute, and signals and sees nobody")
    func escapes() throws {
        guard let python else { return }
        let folder = try TemporaryFolder()
        let file = folder.home("secret")
        try "secret".write(toFile: file, atomically: true, encoding: .utf8)
        chmod(file, 0o600)
        func status() -> stat {
            var status = stat()
            stat(file, &status)
            return status
        }
        let before = status()
        let other = Process()
        other.executableURL = URL(filePath: "/bin/sleep")
        other.arguments = ["100"]
        try other.run()
        defer { other.terminate() }
        let words = ["-I", "-c", Self.tries, file, "\(other.processIdentifier)"]
        let input = try MemoryFile([1, 2, 3])
        let said = try python.output(words, input: input.descriptor)
        #expect(String(decoding: said, as: UTF8.self) == "begun\nended\n")
        let after = status()
        #expect(after.st_mode == before.st_mode && after.st_ctim.tv_sec == before.st_ctim.tv_sec)
        #expect(after.st_ctim.tv_nsec == before.st_ctim.tv_nsec, "nothing of it was touched")
        #expect(other.isRunning)
        // The tries are such as come through without a cage.
        let free = try free(words, python)
        for name in [
            "chmod", "fchmod", "chown", "utimensat", "truncate", "kill", "tgkill", "F_SETOWN",
            "F_SETOWN_EX", "F_SETSIG", "O_ASYNC", "pidfd_send_signal", "PR_SET_PDEATHSIG",
            "prlimit",
            "fork", "make a file in memory", "run from memory",
        ] { #expect(free.contains(Substring(name)), "\(name)") }
    }

    @Test("Attack 305: one that fetches calls one port, by TCP and UDP alone, and is not called")
    func network() throws {
        guard let python else { return }
        // Landlock bounds ports since its fourth version.
        let version = try free(
            ["-I", "-c", "import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))"], python)
        let isBounded = (version.first.flatMap { Int($0) } ?? 0) >= 4
        let script = """
            import socket
            def tried(name, act):
                try:
                    act()
                    print(name)
                except ConnectionRefusedError:
                    print(name)
                except OSError:
                    pass
            def call(port):
                socket.create_connection(("127.0.0.1", port), 5)
            tried("its port", lambda: call(1))
            tried("another port", lambda: call(2))
            tried("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
            tried("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
            tried("packet", lambda: socket.socket(17, socket.SOCK_DGRAM, 0))
            tried("vsock", lambda: socket.socket(40, socket.SOCK_STREAM, 0))
            tried("sctp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))
            tried("mptcp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))
            tried("local", lambda: socket.socket(socket.AF_UNIX))
            tried("listen", lambda: socket.create_server(("127.0.0.1", 0)))
            """
        var bounds = CagedProgram.Bounds()
        bounds.port = 1
        let said = try python.output(["-I", "-c", script], input: -1, bounds: bounds)
        let expected = isBounded ? "its port\n" : "its port\nanother port\n"
        #expect(String(decoding: said, as: UTF8.self) == expected)
    }
}
