internal import Foundation
internal import Parley

/// Server-sent events as bytes. Source: WHATWG HTML, 9.2, "Server-sent events".
enum EventText {
    static let mediaType = "text/event-stream"
    /// A comment: it says that the stream is still there, and nothing else.
    static let keepAlive = ": \n\n"
    /// How long a client is asked to wait before it comes back, in milliseconds.
    static let opening = "retry: 1000\n\n"

    /// A change: its cursor, by which to resume after it, its kind, and all of it as JSON on one
    /// line.
    static func bytes(_ change: ChangeView) throws -> [UInt8] {
        var bytes: [UInt8] = []
        if let cursor = change.cursor { bytes += Array("id: \(cursor)\n".utf8) }
        bytes += Array("event: \(change.kind)\ndata: ".utf8)
        bytes += try json(change)
        return bytes + [0x0A, 0x0A]
    }

    /// A view as JSON on one line: it escapes line ends, so that no text of a message can end the line.
    static func json(_ view: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try Array(encoder.encode(view))
    }
}
