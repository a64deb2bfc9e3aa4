/// A message, as a person or a program names it: by its identifier, which is the same on every
/// device, or by its number, which holds on this node alone.
///
/// The identifier is the tag of its log in hex, a hyphen, and its place in that log; where the log
/// forked, a hyphen and the check of the operation as well. In JSON it is a number or a text.
/// Source: `Protocol/03-operations.md`, "Names of messages".
public struct MessageReference: Hashable, Sendable {
    /// The text: a number, or an identifier.
    public let text: String

    /// The message that a text names: `12`, `#12`, or an identifier.
    public init(_ text: String) {
        self.text = text.hasPrefix("#") ? String(text.dropFirst()) : text.lowercased()
    }

    /// The message that has this number here.
    public init(_ number: Int64) { text = String(number) }

    /// Whether the text can name a message at all.
    public var isWellFormed: Bool { (number ?? 0) > 0 || identifier != nil }

    /// The number; nil if the text is none.
    var number: Int64? {
        text.utf8.count < 16 && text.utf8.allSatisfy { (48...57).contains($0) } ? Int64(text) : nil
    }

    /// The parts of the identifier; nil if the text is none.
    var identifier: (tag: String, sequence: UInt64, check: String)? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), (8...16).contains(parts[0].count),
            let sequence = UInt64(parts[1]), "\(sequence)" == parts[1]
        else { return nil }
        return (String(parts[0]), sequence, parts.count == 3 ? String(parts[2]) : "")
    }
}

extension MessageReference: Codable {
    /// Reads a number or a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // What is not a number must be a text, and then that failure is thrown.
        if let number = try? container.decode(Int64.self) {
            self.init(number)
        } else {
            self.init(try container.decode(String.self))
            guard isWellFormed else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "not a message's number or identifier")
            }
        }
    }

    /// Writes a number as such, and an identifier as a text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let number { try container.encode(number) } else { try container.encode(text) }
    }
}

extension MessageReference: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The message that has this number here.
    public init(integerLiteral number: Int64) { self.init(number) }

    /// The text.
    public var description: String { text }
}
