import Foundation
import Glibc
import Synchronization

/// A server on this machine that answers with whatever a test says, byte for byte.
final class LyingServer: Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let answers: @Sendable (String) -> [UInt8]?
    private let asked = Mutex<[String]>([])

    /// - Parameter answers: what it sends for a path and then ends; nil where it never says a word.
    init(_ answers: @escaping @Sendable (String) -> [UInt8]?) throws {
        self.answers = answers
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        self.descriptor = descriptor
        guard isListening else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in serve() }
    }

    /// The paths that were asked for, in their order.
    var paths: [String] { asked.withLock { $0 } }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func serve() {
        while true {
            let guest = accept(descriptor, nil, nil)
            guard guest >= 0 else {
                close(descriptor)
                return
            }
            Thread.detachNewThread { [self] in answer(guest) }
        }
    }

    private func answer(_ guest: Int32) {
        defer { close(guest) }
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = read(guest, &chunk, chunk.count)
        guard count > 0 else { return }
        let words = String(decoding: chunk[..<count], as: UTF8.self).split(separator: " ")
        let path = words.count > 1 ? String(words[1]) : ""
        asked.withLock { $0.append(path) }
        guard let answer = answers(path) else {
            // Until the other side loses its patience.
            _ = read(guest, &chunk, 1)
            return
        }
        var done = 0
        while done < answer.count {
            let sent = answer[done...].withUnsafeBytes {
                send(guest, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            done += sent
        }
        shutdown(guest, Int32(SHUT_WR))
        _ = read(guest, &chunk, 1)
    }

    /// An answer of the usual form.
    static func page(
        _ body: String, type: String = "text/html; charset=utf-8", status: String = "200 OK",
        more: String = ""
    ) -> [UInt8] {
        page(Array(body.utf8), type: type, status: status, more: more)
    }

    static func page(
        _ body: [UInt8], type: String, status: String = "200 OK", more: String = ""
    ) -> [UInt8] {
        Array(
            "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\n\(more)Connection: close\r\n\r\n".utf8)
            + body
    }
}
