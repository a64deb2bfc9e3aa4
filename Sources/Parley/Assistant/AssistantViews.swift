/// A sentence of a message, as it stands there.
public struct CitedLine: Codable, Equatable, Sendable {
    /// The number of its message on this node.
    public var number: Int64
    /// The name of its message, which is the same on every device.
    public var id: String
    /// The conversation, in hex.
    public var conversation: String
    /// The name of the message's author; for an imported one the name it came with.
    public var author: String
    /// The author or importer, in hex.
    public var person: String
    /// When the message was written, in Unix milliseconds.
    public var time: UInt64
    /// Whether this person wrote it; false for what they imported.
    public var isOwn: Bool
    /// Which sentence of the message it is, counted from 0.
    public var sentence: Int
    /// The sentence.
    public var text: String
    /// Whether more of the sentence follows.
    public var isCut: Bool
}

/// How much was looked at.
public struct LookedAt: Codable, Equatable, Sendable {
    /// How many messages.
    public var messageCount: Int
    /// Whether there are earlier ones that were not looked at.
    public var hasMore: Bool
}

/// What was said in a conversation, in a few of its sentences.
public struct SummaryView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// Its name.
    public var title: String
    /// The sentences, in their order.
    public var points: [CitedLine]
    /// How much was looked at.
    public var looked: LookedAt
}

/// Something that somebody may have to do: a suggestion, until somebody makes an item of it.
public struct ItemSuggestion: Codable, Equatable, Sendable {
    /// The sentence that says so.
    public var line: CitedLine
    /// The person who is to do it, in hex; nil where the sentence does not say.
    public var assignee: String?
    /// Their name.
    public var assigneeName: String?
    /// Until which day, as `2026-12-01`; nil where the sentence does not say.
    public var due: String?
}

/// What somebody may have to do.
public struct ItemSuggestionList: Codable, Equatable, Sendable {
    /// In the order of the conversation.
    public var suggestions: [ItemSuggestion]
    /// How much was looked at.
    public var looked: LookedAt
}

/// Something that may have been decided: a suggestion, until somebody proposes a decision of it.
public struct DecisionSuggestionView: Codable, Equatable, Sendable {
    /// The sentence that says what.
    public var line: CitedLine
    /// The number of the message in which somebody else agreed, where the sentence only proposes.
    public var agreement: Int64?
}

/// What may have been decided.
public struct DecisionSuggestionList: Codable, Equatable, Sendable {
    /// In the order of the conversation.
    public var suggestions: [DecisionSuggestionView]
    /// How much was looked at.
    public var looked: LookedAt
}

/// A question that nobody answered.
public struct OpenQuestionView: Codable, Equatable, Sendable {
    /// The question.
    public var line: CitedLine
    /// Whether it is asked of this person.
    public var isToMe: Bool
}

/// Questions that nobody answered.
public struct OpenQuestionList: Codable, Equatable, Sendable {
    /// In the order of the conversation.
    public var questions: [OpenQuestionView]
    /// How much was looked at.
    public var looked: LookedAt
}

/// What one missed.
public struct CatchUpView: Codable, Equatable, Sendable {
    /// A line that waits for this person.
    public struct Urgent: Codable, Equatable, Sendable {
        /// The line.
        public var line: CitedLine
        /// `mention`, `question` or `task`.
        public var reason: String
    }
    /// A conversation with unread messages.
    public struct Part: Codable, Equatable, Sendable {
        /// The conversation, in hex.
        public var conversation: String
        /// Its name.
        public var title: String
        /// Whether it is with one person alone.
        public var isDirect: Bool
        /// How many messages one has not read.
        public var unreadCount: Int
        /// What waits for this person.
        public var urgent: [Urgent]
        /// What may have been decided.
        public var decisions: [CitedLine]
        /// What else was said, in a few of its sentences.
        public var points: [CitedLine]
        /// How much was looked at.
        public var looked: LookedAt
    }
    /// The most urgent first.
    public var parts: [Part]
    /// Conversations with unread messages that are not among the parts.
    public var leftCount: Int
    /// Open polls that wait for this person's answer, whether they were seen or not.
    public var pollCount: Int
    /// Open action items of this person, whether they were seen or not.
    public var itemCount: Int
}
