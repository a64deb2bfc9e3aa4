import Foundation
import Glibc

/// Messages to a service manager: that the node is ready, alive, or about to end.
///
/// Source: sd_notify(3): one datagram of `NAME=value` lines to the socket in `$NOTIFY_SOCKET`,
/// whose name may be abstract. If there is none, nothing is sent. The library of that name is not
/// needed.
struct ServiceManager: Sendable {
    private let address: String?
    /// How long the node may be silent before it is taken for dead; nil where nobody watches.
    let watchdog: Duration?

    /// - Parameter processID: of this process: a watch on another one is not meant.
    init(_ environment: [String: String], processID: Int32 = getpid()) {
        let given = environment["NOTIFY_SOCKET"] ?? ""
        address = given.hasPrefix("/") || given.hasPrefix("@") ? given : nil
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isOurs && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Listens and answers.
    func tellReady() { tell(["READY=1", "STATUS=running"]) }
    /// Reads its configuration again; ``tellReady()`` follows.
    func tellReloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        tell(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
    }
    /// Ends in good order.
    func tellStopping() { tell(["STOPPING=1", "STATUS=stopping"]) }
    /// Is alive.
    func tellAlive() { tell(["WATCHDOG=1"]) }

    /// Sends one datagram. A manager that does not listen is not told: nothing depends on it here.
    private func tell(_ lines: [String]) {
        guard let address else { return }
        let descriptor = socket(
            AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        // An abstract name begins with a zero, and ends where the length says.
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        guard bytes.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let head = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let size = socklen_t(head + bytes.count + (isAbstract ? 0 : 1))
        let message = Array(lines.joined(separator: "\n").utf8)
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(
                    descriptor, message, message.count, CInt(MSG_NOSIGNAL), address, size)
            }
        }
    }
}

/// Sockets on which a service manager listens already and which it handed over.
///
/// Source: sd_listen_fds(3): `$LISTEN_FDS` descriptors from 3 on, for the process `$LISTEN_PID` alone.
struct InheritedSockets: Equatable {
    /// The one for programs of this machine.
    var local: Int32?
    /// Those for other nodes.
    var network: [Int32] = []

    private static let first: Int32 = 3
    /// More are a mistake.
    private static let countMax: Int32 = 16

    init() {}

    /// Takes them, so that no child finds them open.
    init(_ environment: [String: String], processID: Int32 = getpid()) {
        guard environment["LISTEN_PID"] == "\(processID)",
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }),
            (1...Self.countMax).contains(count)
        else { return }
        for descriptor in Self.first..<Self.first + count {
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { continue }
            take(descriptor)
        }
    }

    private mutating func take(_ descriptor: Int32) {
        guard Self.option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue),
            Self.option(SO_ACCEPTCONN, of: descriptor) == 1
        else { return }
        switch Self.option(SO_DOMAIN, of: descriptor) {
        case AF_UNIX: local = local ?? descriptor
        case AF_INET, AF_INET6: network.append(descriptor)
        default: break
        }
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 else { return nil }
        return value
    }

    /// Takes away what only this process was to read: programs that it starts have no such sockets.
    static func forget() {
        for name in [
            "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC",
            "WATCHDOG_PID",
        ] { unsetenv(name) }
    }
}
