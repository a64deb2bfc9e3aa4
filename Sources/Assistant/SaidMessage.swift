/// A message as the assistant looks at it.
///
/// The room's contract: it knows texts, who said them and when, and must never know where they are
/// stored, ask a clock, or keep anything. What it returns are sentences of the messages that it was
/// given, with their numbers. Source: `Protocol/15-assistant.md`.
public struct SaidMessage: Sendable {
    /// What names the message for whoever asks.
    public var number: Int64
    /// What distinguishes its author from others.
    public var author: String
    /// The author's name, by which others address them.
    public var name: String
    /// When it was written, in Unix milliseconds.
    public var time: UInt64
    /// How many seconds the author's clock is ahead of UTC then: “tomorrow” is a day of that clock.
    public var offset: Int
    /// The text.
    public var text: String
    /// The number of the message that it replies to.
    public var replyTo: Int64?
    /// How many reactions it has.
    public var reactionCount: Int
    /// Whether it mentions the reader.
    public var mentionsReader: Bool
    /// Whether the reader wrote it.
    public var isOwn: Bool

    /// A message with these fields.
    public init(
        number: Int64, author: String, name: String, time: UInt64, offset: Int = 0, text: String,
        replyTo: Int64? = nil, reactionCount: Int = 0, mentionsReader: Bool = false,
        isOwn: Bool = false
    ) {
        self.number = number
        self.author = author
        self.name = name
        self.time = time
        self.offset = offset
        self.text = text
        self.replyTo = replyTo
        self.reactionCount = reactionCount
        self.mentionsReader = mentionsReader
        self.isOwn = isOwn
    }

    /// The day of the author's clock on which it was written, since 1970.
    var day: CivilDay {
        // A stamp beyond all calendars is of the last day that one can name.
        let seconds = Int(clamping: time / 1_000) + min(max(-86_400, offset), 86_400)
        return CivilDay(min(max(0, seconds / 86_400), CivilDay.last))
    }
}

/// A person who may be addressed or given something to do, beside the authors.
public struct AddressedPerson: Sendable {
    /// What distinguishes the person from others.
    public var id: String
    /// Their name.
    public var name: String

    /// A person with these fields.
    public init(id: String, name: String) { (self.id, self.name) = (id, name) }
}

/// A sentence of a message: all that the assistant ever says.
public struct CitedSentence: Equatable, Sendable {
    /// The number of its message.
    public var message: Int64
    /// Which sentence of the message it is, counted from 0.
    public var ordinal: Int
    /// The sentence, as it stands there; a very long one ends where a word does.
    public var text: String
    /// Whether more of the sentence follows.
    public var isCut: Bool
}

/// Something that somebody may have to do.
public struct ActionSuggestion: Equatable, Sendable {
    /// The sentence that says so.
    public var sentence: CitedSentence
    /// Who is to do it; nil where the sentence does not say.
    public var doer: String?
    /// Until which day, in days since 1970; nil where the sentence does not say.
    public var due: Int?
}

/// Something that may have been decided.
public struct DecisionSuggestion: Equatable, Sendable {
    /// The sentence that says what.
    public var sentence: CitedSentence
    /// The message in which somebody else agreed, where the sentence only proposes it.
    public var agreement: Int64?
}

/// A question that nobody answered.
public struct OpenQuestion: Equatable, Sendable {
    /// The question.
    public var sentence: CitedSentence
    /// Whether it is asked of the reader.
    public var isToReader: Bool
}
