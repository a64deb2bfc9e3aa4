import Foundation
import Logging
import Synchronization
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("Service")
struct ServiceTests {
    /// A socket of a service manager, abstract or a file.
    private final class Manager: Sendable {
        let descriptor: Int32
        let name: String

        init(_ name: String) {
            self.name = name
            descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var bytes = Array(name.utf8)
            let isAbstract = bytes[0] == UInt8(ascii: "@")
            if isAbstract { bytes[0] = 0 }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let size = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size)
                }
            }
            #expect(result == 0)
        }

        deinit { close(descriptor) }

        /// What was told and not read yet.
        func read() -> String? {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
        }
    }

    @Test(
        "a manager is told over a socket in a folder and over an abstract one",
        arguments: [true, false])
    func told(isAbstract: Bool) throws {
        let folder = try TemporaryHome()
        let name = (isAbstract ? "@" : "") + folder.path + "/notify"
        let manager = Manager(name)
        let service = ServiceManager(["NOTIFY_SOCKET": name])
        service.tellReady()
        #expect(manager.read() == "READY=1\nSTATUS=running")
        service.tellAlive()
        #expect(manager.read() == "WATCHDOG=1")
        service.tellStopping()
        #expect(manager.read() == "STOPPING=1\nSTATUS=stopping")
        service.tellReloading()
        #expect(manager.read()?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(manager.read() == nil)
    }

    @Test(
        "where no manager listens, nothing happens",
        arguments: [
            "", "relative", "vsock:2:1", "/nowhere/notify",
            "@" + String(repeating: "x", count: 200),
        ])
    func nobody(name: String) { ServiceManager(["NOTIFY_SOCKET": name]).tellReady() }

    @Test("a watch holds for the process that is meant alone")
    func watchdog() {
        func time(_ environment: [String: String]) -> Duration? {
            ServiceManager(environment, processID: 7).watchdog
        }
        #expect(time(["WATCHDOG_USEC": "1500000"]) == .milliseconds(1_500))
        #expect(time(["WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "7"]) == .milliseconds(1_500))
        #expect(time(["WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "8"]) == nil)
        #expect(time(["WATCHDOG_USEC": "0"]) == nil && time(["WATCHDOG_USEC": "-1"]) == nil)
        #expect(time(["WATCHDOG_USEC": "much"]) == nil && time([:]) == nil)
    }

    @Test("sockets of another process, or of none, are not taken")
    func sockets() {
        for environment in [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_FDS": "1", "LISTEN_PID": "8"],
            ["LISTEN_FDS": "0", "LISTEN_PID": "7"], ["LISTEN_FDS": "-1", "LISTEN_PID": "7"],
            ["LISTEN_FDS": "99", "LISTEN_PID": "7"], ["LISTEN_FDS": "x", "LISTEN_PID": "7"],
        ] { #expect(InheritedSockets(environment, processID: 7) == InheritedSockets()) }
    }

    @Test("the journal reads a priority in front of each line, and a line stays one")
    func log() {
        let lines = Mutex<[String]>([])
        for isJournal in [true, false] {
            let log = ServiceLog(isJournal: isJournal) { line in lines.withLock { $0.append(line) }
            }
            var logger = Logger(label: "test") { _ in log }
            logger[metadataKey: "b"] = "2"
            logger.error("one\ntwo", metadata: ["a": "1\u{1B}"])
            logger.debug("nothing")
        }
        #expect(
            lines.withLock { $0 } == ["<3>one␊two a=1␛ b=2\n", "error: one␊two a=1␛ b=2\n"])
        #expect(!ServiceLog.isJournal(2, environment: [:]))
        #expect(!ServiceLog.isJournal(2, environment: ["JOURNAL_STREAM": "0:0"]))
    }

    @Test("a unit quotes what systemd would take for something else")
    func unit() {
        let unit = ServiceUnit(
            program: "/usr/bin/parley", home: "/home/a b/50% \"x\"$HOME", profile: nil, config: nil,
            socketPort: 7_447)
        #expect(
            unit.service.contains(
                #"ExecStart=/usr/bin/parley run --home "/home/a b/50%% \"x\"$$HOME""#))
        #expect(unit.service.contains("Requires=parley.socket"))
        #expect(unit.socket?.contains("ListenStream=[::]:7447\n") == true)
    }
}
