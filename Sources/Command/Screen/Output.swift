import Foundation
import Parley

/// Writes a value as JSON, or as the text a person reads.
enum Output {
    /// One line. Keys are sorted, so that two runs can be compared.
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// The value as JSON, or the text where there is any. Throws where it could not be written.
    static func show(_ value: some Encodable, json isJSON: Bool, as text: String) throws {
        if isJSON {
            World.current.write(try json(value))
        } else if !text.isEmpty {
            World.current.write(text)
        }
        try World.current.checkOutput()
    }
}

/// The output could not be shown.
struct OutputError: Error {
    /// An `errno`.
    var code: Int32

    /// Whether who read has left, as `head` does: they want nothing more, and nothing went wrong.
    var isReaderGone: Bool { code == EPIPE }

    /// The message for a person.
    var nodeError: NodeError {
        let reason = code == EBADF ? "it is closed" : String(cString: strerror(code))
        return NodeError(
            "output-failed", "The output could not be written: \(reason).",
            hint: "The command did its work, but could not show its result.")
    }
}
