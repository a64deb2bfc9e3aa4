/// A message that was found.
public struct SearchHit: Codable, Equatable, Sendable {
    /// A part of the text.
    public struct Piece: Codable, Equatable, Sendable {
        /// The part.
        public var text: String
        /// Whether it is a hit.
        public var isMatch: Bool

        /// A part with these fields.
        public init(text: String, isMatch: Bool) { (self.text, self.isMatch) = (text, isMatch) }
    }
    /// Why it is here, in figures.
    public struct Explanation: Codable, Equatable, Sendable {
        /// Its place among those that have all words, from 1.
        public var wordRank: Int?
        /// Its place by meaning, from 1.
        public var meaningRank: Int?
        /// The cosine between the search and the message, by model.
        public var cosines: [String: Double]
        /// By how many standard deviations it is nearer than usual: the highest of all models.
        public var deviation: Double?
        /// What its age added.
        public var recency: Double
        /// All of it together.
        public var score: Double
    }
    /// The message.
    public var message: MessageView
    /// The name of its conversation.
    public var conversation: String
    /// `word`, `meaning` or `both`; `reply` for a reply to a message that asks the same.
    public var reason: String
    /// The text in parts, with what matches marked.
    public var pieces: [Piece]
    /// What `before` takes for the page of the timeline that ends with it.
    public var cursor: String
    /// The figures, where they were asked for.
    public var explanation: Explanation?

    /// A hit with these fields.
    public init(
        message: MessageView, conversation: String, reason: String, pieces: [Piece],
        cursor: String, explanation: Explanation? = nil
    ) {
        self.message = message
        self.conversation = conversation
        self.reason = reason
        self.pieces = pieces
        self.cursor = cursor
        self.explanation = explanation
    }
}

/// The result of a search.
public struct SearchReply: Codable, Equatable, Sendable {
    /// The best first; the newest first where only words count.
    public var hits: [SearchHit]
    /// `available`, `unavailable` (no model is installed), `not-indexed` (no vector yet),
    /// `not-asked` (the query contains an exact phrase), or, while somebody types, `loading`:
    /// vectors are being loaded into memory, so asking again finds more; `damaged` (no model can be
    /// used).
    public var semantic: String
    /// Notes on this answer for the person, each a sentence.
    public var notes: [String]
    /// How long it took, in milliseconds.
    public var milliseconds: Double
    /// Whether there are as many hits as were asked for: then more may match.
    public var mayHaveMore = false
}

/// Where a message stands.
public struct ContextView: Codable, Equatable, Sendable {
    /// The message.
    public var message: Int64
    /// The page around it, oldest first.
    public var page: MessagePage
    /// Its thread: what it replies to, up to the first, and the replies to those, oldest first.
    public var thread: [MessageView]
}

/// What is indexed.
public struct SearchStats: Codable, Equatable, Sendable {
    /// One kind of index.
    public struct Index: Codable, Equatable, Sendable {
        /// `words`, or the name of a model.
        public var name: String
        /// `on`, `off`, `no-model`, or `damaged`: then nothing more is indexed or found by it.
        public var state: String
        /// Operations that were looked at.
        public var indexed: Int
        /// Operations that are held.
        public var held: Int
        /// Rows in the database.
        public var rows: Int?
        /// Bytes in the database.
        public var byteCount: Int
        /// Bytes in memory now.
        public var memoryByteCount: Int
        /// What is wrong with the model, in a phrase.
        public var damage: String?
    }
    /// The index of words first.
    public var indexes: [Index]
}

/// How far a long work on the indexes is.
public struct SearchWork: Codable, Equatable, Sendable {
    /// The present work.
    public enum Step: String, Codable, Sendable, CaseIterable {
        /// Vectors that are of no use any more are removed; places of operations are counted.
        case removingVectors
        /// Vectors are compared with what is held; places of operations are counted.
        case checkingVectors
        /// Texts are read; places of operations are counted.
        case readingTexts
        /// The index of words is read; its parts are counted.
        case readingWords
        /// What differs is looked at again; places of operations are counted.
        case comparing
    }
    /// The present work.
    public var step: Step
    /// How much of that is done.
    public var done: Int
    /// How much it is in all.
    public var count: Int
}
