import Foundation
import Glibc
import Parley
import ParleyLocalAPI
import Synchronization
import Testing

/// A service manager of a test: what it is told, in order.
private final class Manager: Sendable {
    let name: String
    private let descriptor: Int32
    private let told = Mutex<[String]>([])
    private let watchers = Mutex<[AsyncStream<Void>.Continuation]>([])

    init(in folder: TemporaryFolder) throws {
        let path = folder.home("notify")
        let socket = Glibc.socket(
            AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        (name, descriptor) = (path, socket)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Late(description: "no socket at \(path)") }
        Thread.detachNewThread { [weak self] in
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(socket, &bytes, bytes.count, 0)
                guard count > 0, let self else { return }
                let text = String(decoding: bytes.prefix(count), as: UTF8.self)
                told.withLock { $0.append(text) }
                for watcher in watchers.withLock({ $0 }) { watcher.yield() }
            }
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    var all: [String] { told.withLock { $0 } }

    func count(of word: String) -> Int {
        all.count { $0.split(separator: "\n").contains { $0 == word } }
    }

    func hears(_ word: String, times: Int = 1) async throws {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        watchers.withLock { $0.append(continuation) }
        try await eventually("\(word) at the service manager", after: [stream]) {
            count(of: word) >= times
        }
    }
}

/// The node as a service of systemd's.
@Suite("Service", .timeLimit(.minutes(5)))
struct ServiceProcessTests {
    private func home(_ folder: TemporaryFolder) async throws -> String {
        let home = folder.home("ada")
        #expect(try await Program.run("init", "--home", home, "--name", "Adalgisa").status == 0)
        return home
    }

    @Test("it says when it is ready, alive, reads anew, and stops")
    func told() async throws {
        let folder = try TemporaryFolder()
        let manager = try Manager(in: folder)
        let home = try await home(folder)
        let config = folder.home("config.toml")
        try Data("[log]\nlevel = \"notice\"\n".utf8).write(to: URL(fileURLWithPath: config))
        let program = try Program(
            ["run", "--home", home, "--config", config, "--no-listen", "--no-lan"],
            environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "300000"])
        defer { program.signal(SIGKILL) }
        try await manager.hears("READY=1")
        // When it says so it answers.
        let client = try #require(try await NodeClient.connect(home: home))
        _ = try await client.perform(GetStatus())
        await client.close()
        try await manager.hears("WATCHDOG=1", times: 3)
        program.signal(SIGHUP)
        try await manager.hears("READY=1", times: 2)
        #expect(manager.count(of: "RELOADING=1") == 1)
        try Data("[log]\nlevle = 1\n".utf8).write(to: URL(fileURLWithPath: config))
        program.signal(SIGHUP)
        try await manager.hears("READY=1", times: 3)
        try await program.says("the configuration was not read")
        program.signal(SIGTERM)
        #expect(try await program.ended() == 0)
        try await manager.hears("STOPPING=1")
    }

    @Test("a node that hangs is not said to be alive")
    func hangs() async throws {
        let folder = try TemporaryFolder()
        let manager = try Manager(in: folder)
        let home = try await home(folder)
        let program = try Program(
            ["run", "--home", home, "--no-listen", "--no-lan"],
            environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "100000"])
        defer { program.signal(SIGKILL) }
        try await manager.hears("WATCHDOG=1")
        program.signal(SIGSTOP)
        // What was sent before it stopped may still come; nothing comes after that.
        let before = manager.count(of: "WATCHDOG=1")
        // The one thing that can be waited for here is time: a silence.
        try await Task.sleep(for: .milliseconds(600))
        #expect(manager.count(of: "WATCHDOG=1") <= before + 1)
        program.signal(SIGCONT)
        try await manager.hears("WATCHDOG=1", times: before + 2)
    }

    @Test(
        "systemd's own program hands it sockets, and it answers on them",
        .enabled(if: Tool.exists("systemd-socket-activate")))
    func activated() async throws {
        let folder = try TemporaryFolder()
        let home = try await home(folder)
        let port = try FreePort.some()
        // A shell between: Foundation takes a child that closes what it does not know for one that has
        // ended, and waits for that with everybody else's. The shell has the signals of the tests blocked, so
        // that the node itself is told to end.
        let script = "systemd-socket-activate \"$@\"; exit $?"
        func endNode() {
            let lock = try? String(contentsOfFile: home + "/lock", encoding: .utf8)
            let number = lock?.prefix { $0.isNumber }
            if let process = number.flatMap({ Int32($0) }) { kill(process, SIGTERM) }
        }
        let starter = try Program(
            [
                "--listen=" + home + "/socket", "--listen=127.0.0.1:\(port)", Program.path, "run",
                "--home", home, "--no-lan",
            ], by: ["sh", "-c", script, "sh"])
        defer { endNode() }
        try await starter.says("Listening on 127.0.0.1:\(port)")
        #expect(!starter.output.contains("node runs"), "nobody has knocked yet")
        // The first to come starts it, and is answered.
        let status = try await Program.run("status", "--home", home, "--json")
        #expect(status.status == 0, "\(status.output)")
        #expect(status.output.contains("\"addresses\":[\"127.0.0.1:\(port)\"]"))
        #expect(status.output.contains("\"isRunning\":true"))
        // Another node comes to the port that was handed over.
        let ben = try await NodeProcess(
            home: folder.home("ben"), name: "ben", port: try FreePort.some())
        try await ben.start()
        let link = try await Program.run("invite", "--home", home).output
        let accepted = try await ben.run(
            "accept",
            link.split(separator: "\n").first { $0.contains("parley") }.map(String.init) ?? "")
        #expect(accepted.status == 0, "\(accepted.output)")
        try await eventually("ben and ada linked", on: [ben]) {
            try await ben.client?.perform(GetStatus()).links.isEmpty == false
        }
        // The socket is its manager's, and is there for the next one.
        endNode()
        #expect(try await starter.ended() == 0)
        #expect(FileManager.default.fileExists(atPath: home + "/socket"))
        _ = try await ben.stop()
    }

    @Test(
        "the units are what systemd takes, and leave the node little to do harm with",
        .enabled(if: Tool.exists("systemd-analyze")))
    func units() async throws {
        let folder = try TemporaryFolder()
        let environment = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            "XDG_CONFIG_HOME": folder.home("c"),
            "XDG_DATA_HOME": folder.home("d"), "PATH": "/nowhere",
        ]
        func run(_ words: String...) async throws -> (status: Int32, output: String) {
            let program = try Program(words, environment: environment)
            return (try await program.ended(), program.output)
        }
        #expect(try await run("service", "install").output.contains("There is no node"))
        #expect(try await run("init", "--name", "Ada").status == 0)
        #expect(try await run("homes", "new", "work", "--name", "Ada").status == 0)
        let installed = try await run("service", "install", "--socket-port", "7447")
        #expect(installed.status == 0)
        #expect(installed.output.contains("systemctl --user enable --now parley.socket"))
        #expect(try await run("service", "install", "--profile", "work").status == 0)
        let units = folder.home("c/systemd/user/")
        for name in ["parley.service", "parley.socket", "parley-work.service"] {
            #expect(FileManager.default.fileExists(atPath: units + name), "\(name)")
        }
        let verify = try Program(
            [], environment: ["XDG_RUNTIME_DIR": folder.path, "MANPATH": "/nowhere"],
            by: [
                "systemd-analyze", "verify", "--user", "--man=no", "--recursive-errors=yes",
                units + "parley.service", units + "parley.socket", units + "parley-work.service",
            ])
        #expect(try await verify.ended() == 0, "\(verify.output)")
        #expect(!verify.output.contains(units), "\(verify.output)")
        let security = try Program(
            [],
            by: [
                "systemd-analyze", "security", "--offline=true", "--threshold=25",
                units + "parley.service",
            ])
        #expect(try await security.ended() == 0, "\(security.output)")
        #expect(try await run("service", "status").status == 1)
        #expect(try await run("init", "--name", "Ada", "--home", folder.home("x")).status == 0)
        let other = try await run("service", "install", "--home", folder.home("x"))
        #expect(other.status == 1 && other.output.contains("runs another home"))
        #expect(try await run("service", "uninstall").status == 0)
        #expect(!FileManager.default.fileExists(atPath: units + "parley.service"))
        #expect(!FileManager.default.fileExists(atPath: units + "parley.socket"))
        #expect(FileManager.default.fileExists(atPath: units + "parley-work.service"))
        #expect(try await run("service", "uninstall").output.contains("is not installed"))
    }

    @Test("systemd is told what to do, in this order, and a refusal of its is told")
    func manager() async throws {
        let folder = try TemporaryFolder()
        let bin = folder.home("bin")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            echo "$@" >>'\(folder.home("said"))'
            case "$*" in *enable*fail*) echo 'no such thing' >&2; exit 1;; esac
            case "$*" in *show*) printf 'NRestarts=2\\nActiveState=active\\nUnitFileState=enabled\\n';; esac
            """
        for name in ["systemctl", "journalctl"] {
            try Data(script.utf8).write(to: URL(fileURLWithPath: bin + "/" + name))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: bin + "/" + name)
        }
        func run(_ words: String...) async throws -> (status: Int32, output: String) {
            let program = try Program(
                words,
                environment: [
                    "HOME": folder.path, "XDG_CONFIG_HOME": folder.home("c"),
                    "XDG_DATA_HOME": folder.home("d"), "PATH": bin + ":/usr/bin:/bin",
                ])
            return (try await program.ended(), program.output)
        }
        for name in ["work", "fail"] {
            #expect(try await run("homes", "new", name, "--name", "Ada").status == 0)
        }
        #expect(try await run("service", "install", "--profile", "work").status == 0)
        let failed = try await run("service", "install", "--profile", "fail")
        #expect(failed.status == 1 && failed.output.contains("no such thing"))
        let status = try await run("service", "status", "--profile", "work", "--json")
        #expect(status.status == 1 && status.output.contains("\"active\":\"active\""))
        #expect(status.output.contains("\"restarts\":2"))
        #expect(try await run("service", "logs", "--profile", "work", "--lines", "7").status == 0)
        #expect(try await run("service", "uninstall", "--profile", "work").status == 0)
        let said = try String(contentsOfFile: folder.home("said"), encoding: .utf8)
            .split(separator: "\n").map { $0.replacing("--user --no-pager ", with: "") }
        #expect(
            said == [
                "daemon-reload", "enable --now parley-work.service", "daemon-reload",
                "enable --now parley-fail.service",
                "show parley-work.service --property=UnitFileState,ActiveState,NRestarts",
                "--unit parley-work.service --lines 7",
                "disable --now parley-work.socket parley-work.service", "daemon-reload",
            ])
    }
}
