/// What went wrong, in a sentence for a person, with what to do about it.
public struct NodeError: Error, Equatable, Codable, Sendable, CustomStringConvertible {
    /// A stable word for programs, as `unknown-conversation`.
    public var code: String
    /// The sentence.
    public var message: String
    /// What to do about it.
    public var hint: String?

    /// An error with these fields. What the message quotes is shortened where it is long: it may be all
    /// that somebody typed.
    public init(_ code: String, _ message: String, hint: String? = nil) {
        self.init(code, whole: Self.shortened(message), hint: hint)
    }

    /// An error with these fields, of which the message quotes what would else be lost.
    public init(_ code: String, whole message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// The longest quote, in characters.
    private static let quoteCountMax = 80

    private static func shortened(_ message: String) -> String {
        guard message.utf8.count > quoteCountMax else { return message }
        var (shown, rest) = ("", message[...])
        while let start = rest.firstIndex(of: "“"),
            let end = rest[start...].firstIndex(of: "”")
        {
            let quote = rest[start..<end]
            shown += rest[..<start]
            shown += quote.count > quoteCountMax ? quote.prefix(quoteCountMax) + "…" : quote
            rest = rest[end...]
        }
        return shown + rest
    }

    /// The sentence.
    public var description: String { message }

    /// A part of a sentence as one of its own: with a capital letter in front, and a period behind
    /// where it has no end. Nothing is said of nothing.
    package static func sentence(_ text: String) -> String {
        ended(text.prefix(1).uppercased() + text.dropFirst())
    }

    /// A text with a period behind it where it has no end. What it begins with may be a person's own word.
    package static func ended(_ text: String) -> String {
        guard let last = text.last else { return text }
        return text + (".?!:…".contains(last) ? "" : ".")
    }
}
