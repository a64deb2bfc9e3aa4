import Foundation
import Synchronization

/// Networks of a test's own, in namespaces that are gone with it.
///
/// They bear the number of this process, as those of real runs do: what a killed test leaves
/// behind is removed by the next real run.
final class Namespaces: Sendable {
    /// Why there can be none here, or nil.
    static let lack: String? = {
        let name = "parley-\(getpid())-probe"
        let made = run(["ip", "netns", "add", name])
        _ = run(["ip", "netns", "del", name])
        return made.status == 0 ? nil : made.output
    }()

    private static let count = Mutex(0)
    private let folks: [String]
    private let number: Int

    init(_ folks: [String]) throws {
        self.folks = folks
        number = Self.count.withLock { count in
            count += 1
            return count
        }
        for folk in folks {
            try must(["ip", "netns", "add", name(of: folk)])
            try must(["ip", "-n", name(of: folk), "link", "set", "lo", "up"])
        }
    }

    deinit {
        for folk in folks { _ = Self.run(["ip", "netns", "del", name(of: folk)]) }
    }

    func name(of folk: String) -> String { "parley-\(getpid())-\(number)-\(folk)" }

    /// Lays a cable between two of them; each end has the address given for it.
    func join(_ one: String, at address: String, _ other: String, at otherAddress: String) throws {
        let (here, there) = ("to-" + other, "to-" + one)
        try must([
            "ip", "-n", name(of: one), "link", "add", here, "type", "veth", "peer", "name", there,
            "netns", name(of: other),
        ])
        try give(one, address, on: here)
        try give(other, otherAddress, on: there)
    }

    /// Lets somebody have this address alone on a cable.
    func give(_ folk: String, _ address: String, on device: String) throws {
        let ip = ["ip", "-n", name(of: folk)]
        try must(ip + ["addr", "flush", "dev", device])
        try must(ip + ["addr", "add", address + "/24", "dev", device])
        try must(ip + ["link", "set", device, "up"])
    }

    /// Runs a program of the system in somebody's network.
    func run(_ words: [String], by folk: String) -> (status: Int32, output: String) {
        Self.run(["ip", "netns", "exec", name(of: folk)] + words)
    }

    func must(_ words: [String]) throws {
        let (status, output) = Self.run(words)
        guard status == 0 else { throw Late(description: "\(words): \(output)") }
    }

    /// Runs a program of the system.
    static func run(_ words: [String]) -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        do { try process.run() } catch { return (-1, "\(error)") }
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
