/// What went wrong, in a sentence for a person, with what to do about it.
public struct NodeError: Error, Equatable, Codable, Sendable, CustomStringConvertible {
    /// A stable word for programs, as `unknown-conversation`.
    public var code: String
    /// The sentence.
    public var message: String
    /// What to do about it.
    public var hint: String?

    /// An error with these fields.
    public init(_ code: String, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// The sentence.
    public var description: String { message }
}
