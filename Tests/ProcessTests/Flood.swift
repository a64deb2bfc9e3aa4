import Foundation
import ParleySealing
import ParleyWire
import Synchronization

/// A stream socket to a node of this machine, from any of this machine's addresses. Blocking, so
/// that a flood goes as fast as the node takes it, and no faster.
final class FloodSocket {
    private let descriptor: Int32
    /// Bytes were written or read without an error until now.
    private(set) var isOpen = true

    /// Connects to a port of 127.0.0.1; nil where it was refused.
    init?(port: UInt16, from source: UInt32 = 0x7F00_0001) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 0, tv_usec: 250_000)
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            setsockopt(
                descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        let isBound = Self.at(source, 0) { bind(descriptor, $0, $1) == 0 }
        // What fails here is closed by `deinit`, and must not be closed twice.
        guard isBound, Self.at(0x7F00_0001, port, { connect(descriptor, $0, $1) == 0 }) else {
            return nil
        }
    }

    deinit { close(descriptor) }

    private static func at(
        _ host: UInt32, _ port: UInt16, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Writes all of it, unless the other side ends or the flood is over before.
    func write(_ bytes: [UInt8], while goesOn: () -> Bool) {
        var rest = bytes[...]
        while isOpen, !rest.isEmpty, goesOn() {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EAGAIN, errno != EINTR {
                isOpen = false
            }
        }
    }

    /// What came, or nothing within a quarter of a second; with `waits` off what is there already.
    func read(waits: Bool = true) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let flags = waits ? 0 : Int32(MSG_DONTWAIT)
        let count = recv(descriptor, &chunk, chunk.count, flags)
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { isOpen = false }
        return Array(chunk.prefix(max(0, count)))
    }
}

/// A link of a client that keeps to the handshake and to nothing else.
struct FloodLink {
    private let socket: FloodSocket
    private var link: Link

    var isOpen: Bool { socket.isOpen }

    /// Connects and shakes hands; nil where the node does not let it.
    init?(_ link: Link, port: UInt16, from source: UInt32 = 0x7F00_0001, while goesOn: () -> Bool) {
        guard let socket = FloodSocket(port: port, from: source) else { return nil }
        self.socket = socket
        self.link = link
        socket.write(self.link.start(), while: goesOn)
        while !self.link.isAuthenticated {
            guard goesOn(), socket.isOpen,
                // What does not hold is not a node's answer: it ends here as well.
                let events = try? self.link.receive(socket.read())
            else { return nil }
            for case .send(let bytes) in events { socket.write(bytes, while: goesOn) }
        }
    }

    mutating func send(_ frames: [[UInt8]], while goesOn: () -> Bool) {
        socket.write(link.seal(frames), while: goesOn)
    }

    /// Throws away what came.
    func ignore() { while isOpen, !socket.read(waits: false).isEmpty {} }
}

/// Threads that do harm until they are told to stop.
final class Flood: Sendable {
    private let isOver = Atomic(false)
    private let count = Atomic(0)
    private let threads = DispatchGroup()

    /// How many frames, or links, were sent or made.
    var total: Int { count.load(ordering: .relaxed) }
    var goesOn: Bool { !isOver.load(ordering: .relaxed) }

    func counted(_ more: Int) { count.add(more, ordering: .relaxed) }

    /// Does something again and again on a thread of its own.
    func begin(_ body: @escaping @Sendable (Flood) -> Void) {
        threads.enter()
        Thread.detachNewThread { [self] in
            while goesOn { body(self) }
            threads.leave()
        }
    }

    func end() async {
        isOver.store(true, ordering: .relaxed)
        await withCheckedContinuation { continuation in
            threads.notify(queue: .global()) { continuation.resume() }
        }
    }
}
