/// A part of a message that may answer a question, with where it stands.
public struct PassageView: Codable, Equatable, Sendable {
    /// The number of its message on this node.
    public var number: Int64
    /// The name of its message, which is the same on every device.
    public var id: String
    /// The conversation, in hex.
    public var conversation: String
    /// The name of that.
    public var title: String
    /// The name of the message's author; for an imported one the name it came with.
    public var author: String
    /// The author or importer, in hex.
    public var person: String
    /// When the message was written, in Unix milliseconds.
    public var time: UInt64
    /// Whether this person wrote it.
    public var isOwn: Bool
    /// The passage, as it stands in the message.
    public var text: String
    /// The same in parts, with words of the question marked.
    public var pieces: [SearchHit.Piece]
    /// Whether the message says more than that.
    public var isCut: Bool
    /// Why it is here: `word`, `meaning` or `both`; `reply` for a reply to a message that asks the same.
    public var reason: String
    /// What `before` takes for the page of the timeline that ends with the message.
    public var cursor: String

    /// The best part of a message that was found.
    init(_ hit: SearchHit) {
        let passage = Passage(hit.pieces)
        let message = hit.message
        (number, id, conversation) = (message.number, message.id, message.conversation)
        (title, author, person) = (hit.conversation, message.author, message.person)
        (time, isOwn) = (message.time, message.isOwn && !message.isImported)
        (text, pieces, isCut) = (passage.text, passage.pieces, passage.isCut)
        (reason, cursor) = (hit.reason, hit.cursor)
    }
}

/// What was found of a question.
public struct AnswersView: Codable, Equatable, Sendable {
    /// The passages that answer best, the best first; none where nobody wrote anything that answers.
    public var passages: [PassageView]
    /// Whether a model took part: see ``SearchReply/semantic``.
    public var semantic: String
    /// Notes on this answer for the person, each a sentence.
    public var notes: [String]
    /// How long it took, in milliseconds.
    public var milliseconds: Double
}
