import Foundation
import Parley

/// The same work by other programs, if they are installed.
struct FilePeers {
    let folder: String
    let say: @Sendable (String) -> Void

    /// Seconds that rsync takes for a file, from a daemon on loopback; nil where there is none.
    func rsync(_ source: @autoclosure () throws -> String) throws -> Double? {
        let paths = ["/usr/bin/rsync", "/usr/local/bin/rsync"]
        guard let program = paths.first(where: { access($0, X_OK) == 0 }) else {
            say("rsync is not installed: apt install rsync")
            return nil
        }
        say("sending the same by rsync")
        let file = try source()
        let port = try Self.freePort()
        let settings = folder + "/rsyncd.conf"
        let text = """
            use chroot = no
            address = 127.0.0.1
            port = \(port)
            pid file = \(folder)/rsyncd.pid
            [files]
            path = \(folder)
            """
        try Data(text.utf8).write(to: URL(filePath: settings))
        let daemon = try Self.start(program, ["--daemon", "--no-detach", "--config=\(settings)"])
        defer {
            daemon.terminate()
            daemon.waitUntilExit()
        }
        let name = (file as NSString).lastPathComponent
        let target = folder + "/rsynced"
        // The daemon may not listen yet.
        for _ in 0..<100 {
            let start = seconds()
            let client = try Self.start(
                program, ["--whole-file", "rsync://127.0.0.1:\(port)/files/\(name)", target])
            client.waitUntilExit()
            if client.terminationStatus == 0 {
                let time = seconds() - start
                try FileManager.default.removeItem(atPath: target)
                try FileManager.default.removeItem(atPath: file)
                return time
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
        say("rsync did not send it")
        return nil
    }

    private static func start(_ program: String, _ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// A port that was free a moment ago.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw NodeError("bench", "No port is free.") }
        return UInt16(bigEndian: address.sin_port)
    }
}
