import Foundation
import Glibc
import Synchronization
import Testing

@testable import Parley

@Suite("A program in a cage", .timeLimit(.minutes(2)))
struct CageTests {
    private let shell = CagedProgram("sh")

    /// What a script wrote.
    private func run(
        _ script: String, input: [UInt8] = [], bounds: CagedProgram.Bounds = .init()
    ) throws -> String {
        let program = try #require(shell)
        let file = try MemoryFile(input)
        let output = try program.output(["-c", script], input: file.descriptor, bounds: bounds)
        return String(decoding: output, as: UTF8.self)
    }

    private func failure(
        _ script: String, bounds: CagedProgram.Bounds = .init()
    ) throws -> CageFailure? {
        do { _ = try run(script, bounds: bounds) } catch let failure as CageFailure {
            return failure
        }
        return nil
    }

    @Test("reads its input, by its number and as a path, and what it writes comes back")
    func talk() throws {
        #expect(try run("read -r a; echo \"$a!\"", input: Array("hello\n".utf8)) == "hello!\n")
        #expect(
            try run("read -r a <\(CagedProgram.input); echo $a", input: Array("x\n".utf8)) == "x\n")
        #expect(try failure("exit 3") == .ended(3))
        #expect(try failure("kill -9 $$; exit 4") == .ended(4), "it signals nobody, itself neither")
        #expect(CagedProgram("no such program") == nil)
    }

    @Test("Attack 242: it opens nothing of the person's, and writes nowhere")
    func files() throws {
        let folder = try TemporaryFolder()
        let secret = folder.home("secret")
        try "secret".write(toFile: secret, atomically: true, encoding: .utf8)
        for path in [
            secret, "/etc/passwd", "/proc/\(getpid())/environ", "/proc/\(getpid())/cmdline",
        ] {
            let said = try run("read -r a <\(path) && echo read \"$a\"; echo end")
            #expect(said == "end\n", "\(path)")
        }
        for path in [folder.home("new"), secret, "/tmp/parley-cage", "/dev/shm/parley-cage"] {
            #expect(try run("echo x >\(path) && echo wrote; echo end") == "end\n", "\(path)")
        }
        #expect(try String(contentsOfFile: secret, encoding: .utf8) == "secret")
        // Its input is what it was given, and not another file of that folder.
        let program = try #require(shell)
        let file = try FileSource(secret)
        let script = "read -r a <\(CagedProgram.input); read -r b <\(secret); echo $a $b"
        let said = try program.output(["-c", script], input: file.descriptor)
        #expect(String(decoding: said, as: UTF8.self) == "secret secret\n")
        #expect(try failure("echo x >\(CagedProgram.input)") != nil)
    }

    @Test("Attack 242: it has no file and no word of the node's")
    func inheritance() throws {
        let folder = try TemporaryFolder()
        // Another part of the process may have left one open to whatever is started.
        let stray = open(folder.path, O_RDONLY)
        defer { close(stray) }
        #expect(fcntl(stray, F_GETFD) & FD_CLOEXEC == 0)
        let said = try run("for f in /proc/self/fd/*; do echo ${f##*/}; done")
        // The folder that is listed is open itself.
        #expect(said.split(separator: "\n").allSatisfy { (Int($0) ?? 99) <= 3 }, "\(said)")
        setenv("PARLEY_SECRET", "mellon", 1)
        defer { unsetenv("PARLEY_SECRET") }
        #expect(try run("echo \"[$PARLEY_SECRET][$HOME]\"") == "[][/]\n")
    }

    @Test("Attack 243: it starts nothing, signals nobody, and reaches no machine")
    func others() throws {
        // A shell that cannot start a part of itself gives up.
        #expect(try failure("(echo child); echo end") == .ended(2))
        #expect(try run("kill -0 \(getpid()) && echo can; echo end") == "end\n")
        #expect(try run("kill -0 1 && echo can; echo end") == "end\n")
        guard let python = CagedProgram("python3") else { return }
        let script = """
            import socket
            for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):
                try:
                    socket.socket(family)
                    print("open", int(family))
                except OSError:
                    pass
            """
        #expect(try python.output(["-c", script], input: -1) == [])
        var bounds = CagedProgram.Bounds()
        bounds.port = 443
        let said = try python.output(["-c", script], input: -1, bounds: bounds)
        #expect(String(decoding: said, as: UTF8.self) == "open 2\nopen 10\n")
    }

    @Test("Attack 243: memory, time and what it writes are bounded")
    func bounds() throws {
        var bounds = CagedProgram.Bounds()
        bounds.outputByteCount = 10_000
        #expect(try failure("while :; do echo 0123456789; done", bounds: bounds) == .tooMuch)
        bounds = CagedProgram.Bounds()
        bounds.time = .milliseconds(300)
        #expect(try failure("while :; do :; done", bounds: bounds) == .tooSlow)
        #expect(try failure("exec >&-; while :; do :; done", bounds: bounds) == .tooSlow)
        bounds = CagedProgram.Bounds()
        bounds.processorSeconds = 1
        #expect(try failure("while :; do :; done", bounds: bounds) == .ended(-SIGKILL))
        bounds = CagedProgram.Bounds()
        bounds.memoryByteCount = 32 << 20
        let grows = "a=x; i=0; while [ $i -lt 30 ]; do a=$a$a; i=$((i+1)); done; echo grew"
        let said = try? run(grows, bounds: bounds)
        #expect(said?.contains("grew") != true)
    }

    @Test("what cannot be started is told, and many at once are no matter")
    func starts() async throws {
        let folder = try TemporaryFolder()
        let path = folder.home("program")
        try "#!/bin/sh\necho hi\n".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o755)
        // It lies where a cage opens nothing.
        let program = try #require(CagedProgram("program", in: [folder.path]))
        #expect(throws: CageFailure.self) { try program.output([], input: -1) }
        await withTaskGroup(of: String?.self) { group in
            for number in 0..<16 { group.addTask { try? run("echo \(number)") } }
            var said: Set<String> = []
            for await line in group { said.insert(line ?? "") }
            #expect(said.count == 16)
        }
    }
}
