import Foundation
import Glibc

/// Shows notices on a desktop: one call over D-Bus, by a client of our own that knows nothing else. A helper program
/// would have the text on its command line, where every user of the machine could read it.
///
/// Source: D-Bus Specification 0.42; Desktop Notifications Specification 1.2.
struct DesktopBus {
    /// Why nothing was shown.
    enum Failure: Error, Equatable {
        case unreachable, refused
    }

    /// Where the bus listens: a path, or an abstract name behind a zero.
    let address: [UInt8]
    /// A bus that does not answer is not waited for longer, in seconds.
    private static let secondsMax = 2
    private static let messageByteCountMax = 1 << 20

    /// The D-Bus session bus of the person; nil if there is none.
    init?(_ environment: [String: String]) {
        if let given = environment["DBUS_SESSION_BUS_ADDRESS"], !given.isEmpty {
            for one in given.split(separator: ";") where one.hasPrefix("unix:") {
                for part in one.dropFirst("unix:".count).split(separator: ",") {
                    let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
                    guard pair.count == 2, let value = pair[1].removingPercentEncoding else {
                        continue
                    }
                    if pair[0] == "path" {
                        address = Array(value.utf8)
                        return
                    }
                    if pair[0] == "abstract" {
                        address = [0] + Array(value.utf8)
                        return
                    }
                }
            }
            return nil
        }
        guard let folder = environment["XDG_RUNTIME_DIR"],
            FileManager.default.fileExists(atPath: folder + "/bus")
        else { return nil }
        address = Array((folder + "/bus").utf8)
    }

    /// Shows a notice. It blocks, for a bounded time.
    func show(title: String, body: String, isUrgent: Bool) throws(Failure) {
        let descriptor = try connect()
        defer { close(descriptor) }
        let user = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
        try send(Array("\0AUTH EXTERNAL \(user)\r\n".utf8), to: descriptor)
        guard try readLine(descriptor).hasPrefix("OK ") else { throw .refused }
        try send(Array("BEGIN\r\n".utf8), to: descriptor)
        var hello = BusMessage(member: "Hello", serial: 1)
        (hello.path, hello.interface, hello.destination) = (
            "/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus"
        )
        try send(hello.bytes, to: descriptor)
        try send(
            BusMessage.notify(title: title, body: body, isUrgent: isUrgent, serial: 2).bytes,
            to: descriptor)
        try awaitReply(to: 2, from: descriptor)
    }

    private func connect() throws(Failure) -> Int32 {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        guard address.count < MemoryLayout.size(ofValue: name.sun_path) else { throw .unreachable }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        let descriptor = socket(
            AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .unreachable }
        var time = timeval(tv_sec: Self.secondsMax, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(
                descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        let head = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let size = socklen_t(head + address.count + (address.first == 0 ? 0 : 1))
        let isConnected = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, size) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            throw .unreachable
        }
        return descriptor
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw .unreachable }
            rest = rest.dropFirst(count)
        }
    }

    private func read(_ count: Int, from descriptor: Int32) throws(Failure) -> [UInt8] {
        guard count <= Self.messageByteCountMax else { throw .refused }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: max(1, count))
        while bytes.count < count {
            let more = recv(descriptor, &chunk, count - bytes.count, 0)
            guard more > 0 else { throw .unreachable }
            bytes += chunk.prefix(more)
        }
        return bytes
    }

    private func readLine(_ descriptor: Int32) throws(Failure) -> String {
        var line: [UInt8] = []
        while line.last != 0x0A {
            guard line.count < 1_024 else { throw .refused }
            line += try read(1, from: descriptor)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Reads until the answer to one call comes; whatever else comes is passed over.
    private func awaitReply(to serial: UInt32, from descriptor: Int32) throws(Failure) {
        // Signals of others may come between; of so many none is ours.
        for _ in 0..<64 {
            let head = try read(16, from: descriptor)
            let isLittle = head[0] == UInt8(ascii: "l")
            func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
                (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) {
                    $0 << 8 | UInt32($1)
                }
            }
            let bodyCount = Int(number(head[4..<8]))
            let fieldCount = Int(number(head[12..<16]))
            guard bodyCount + fieldCount <= Self.messageByteCountMax else { throw .refused }
            let fields = try read((fieldCount + 7) & ~7, from: descriptor)
            _ = try read(bodyCount, from: descriptor)
            // REPLY_SERIAL: code 5, a variant of the kind u, at a place of eight.
            for place in stride(from: 0, to: fields.count - 7, by: 8)
            where fields[place..<place + 4] == [5, 1, UInt8(ascii: "u"), 0] {
                guard number(fields[place + 4..<place + 8]) == serial else { continue }
                guard head[1] == 2 else { throw .refused }
                return
            }
        }
        throw .refused
    }
}
