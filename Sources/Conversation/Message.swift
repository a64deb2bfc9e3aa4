public import ParleyLedger
public import ParleyWire

/// How far a message has come. Only what was observed is ever shown.
public enum MessageState: String, Comparable, Sendable {
    /// It is on this device's disk, and nobody else will be given it: all others came later, or came back
    /// later, and nobody is known to have it from before.
    case earlier
    /// It is on this device's disk.
    case saved
    /// A relay has it on its disk, for others to fetch.
    case relayed
    /// A device of another person holds it on its disk.
    case delivered
    /// Another person has read it.
    case read

    private var rank: Int {
        switch self {
        case .earlier: 0
        case .saved: 1
        case .relayed: 2
        case .delivered: 3
        case .read: 4
        }
    }

    /// States order by how far they are.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

/// A message as a screen shows it.
public struct Message: Equatable, Sendable {
    /// An emoji, and who reacted with it.
    public struct Reactions: Equatable, Sendable {
        /// The emoji.
        public var emoji: String
        /// Who reacted, in the order in which they did.
        public var persons: [PersonID]
    }

    /// Its row here: how commands of this node name it.
    public var number: OperationNumber
    /// How operations of the space name it.
    public var reference: OperationReference
    /// Where it stands.
    public var order: OrderKey
    /// Its author, or importer.
    public var author: PersonID
    /// The text as last edited; nil where it was deleted or has not arrived.
    public var text: String?
    /// Its original text; nil if it was deleted or has not arrived.
    public var content: TextMessage?
    /// After how many seconds it disappears; nil if it stays.
    public var lifetime: UInt64?
    /// Where it came from, unless it was written here.
    public var origin: ImportedOrigin? { content?.origin }
    /// The persons that the shown text mentions, among present and former members.
    public var mentions: Mentions
    /// When it was written by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// The message that it replies to.
    public var parent: OperationReference?
    /// The message that its thread begins with; nil where it answers none.
    public var thread: OperationReference?
    /// Earlier texts, oldest first; empty where it was never edited, and where they were not asked for.
    public var history: [String]
    /// How often it was edited.
    public var editCount: Int
    /// Reactions, in the order in which the first of each came.
    public var reactions: [Reactions]
    /// A mark on a screen.
    public var flags: MessageRow.Flags
    /// How far its newest change has come: the text, the last edit, or the deletion. Nil for messages
    /// of others.
    public var state: MessageState?
    /// What this person changed and no device of another person holds yet.
    public var waiting: [WaitingChange]
}

/// A message as another one that answers it shows it.
public struct QuotedMessage: Equatable, Sendable {
    /// Its author, or importer.
    public var author: PersonID
    /// Where it came from, unless it was written here.
    public var origin: ImportedOrigin?
    /// The text as last edited; nil where it was deleted or has not arrived.
    public var text: String?
    /// Whether it was deleted for everyone.
    public var isDeleted: Bool
    /// Whether it was edited.
    public var isEdited: Bool
    /// Its files; none where it was deleted.
    public var files: [Attachment] = []
}

/// A text that a message had.
public struct TextVersion: Equatable, Sendable {
    /// The text; nil where it has not arrived.
    public var text: String?
    /// When it was written by its author's clock, in Unix milliseconds.
    public var time: UInt64
}

/// A change of a message that waits.
public struct WaitingChange: Equatable, Sendable {
    /// What was changed.
    public enum Subject: String, CaseIterable, Sendable {
        /// The text.
        case edit
        /// It was taken back.
        case deletion
        /// A reaction was added or taken back.
        case reaction
    }

    /// What was changed.
    public var subject: Subject
    /// How far the change has come: ``MessageState/earlier``, ``MessageState/saved`` or
    /// ``MessageState/relayed``.
    public var state: MessageState
}
