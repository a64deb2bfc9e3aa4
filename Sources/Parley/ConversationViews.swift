/// A conversation in one line.
public struct ConversationView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var id: String
    /// `direct` or `group`.
    public var kind: String
    /// Its name, or that of the other person.
    public var name: String
    /// Names of everyone in it.
    public var members: [String]
    /// Messages not read.
    public var unread: Int
    /// Of messages of others, those that mention one where one has not read it: also in a message that was
    /// read before an edit of it mentioned one.
    public var unreadMentions = 0
    /// Whether one marked it as unread, and has read nothing in it since.
    public var isMarkedUnread = false
    /// Whether it is silenced.
    public var isMuted: Bool
    /// Until when it is silenced, in Unix milliseconds; nil where it is heard, or silent until one ends that.
    public var mutedUntil: UInt64?
    /// Whether it was put away, and nothing came since.
    public var isArchived = false
    /// What one began to write in it and has not sent; nil where that is nothing.
    public var draft: String?
    /// When the newest message was written, in Unix milliseconds.
    public var newest: UInt64?
    /// What must come before anything is written in it: "waiting for …"; nil where nothing must.
    public var waitingFor: String?
    /// The conversation of the same two that new messages go into instead, in hex; nil for all but those
    /// that were begun while that one was not known here.
    public var supersededBy: String?
    /// Whether one was in it before, was added again, and has not answered: it can be read, and nothing
    /// new comes.
    public var isInvited = false
    /// Whether one is not in it any more: it can be read, and nothing new comes.
    public var isOut = false
    /// Whether one was in it, went and came back, and what was said before is on other devices alone: on
    /// those that held it then. Nobody gives it again.
    public var lacksEarlier = false
    /// Whether it was deleted on this device and what people do together in it, as polls, notes, action
    /// items and decisions, is not here from before that. Nobody gives it again.
    public var lacksShared = false
    /// Of a group that one is out of and this device never was in: the names of those of one's devices that
    /// were, which alone have what was said there; nil for any other conversation.
    public var heldOn: [String]?
    /// Other conversations whose names look like that of this group, in the list of all: each the name,
    /// and the start of the identifier in brackets.
    public var resembles: [String] = []
}

/// A conversation that was deleted here.
public struct DeletedConversationView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// What it was called.
    public var name: String
}

/// What a conversation looks like here.
public struct DigestView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// Its name.
    public var name: String
    /// One hash over all that members see alike.
    public var digest: String
    /// Operations held.
    public var operationCount: Int
}
