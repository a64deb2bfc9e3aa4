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
    /// The number of others' messages that mention this person where the mention is unread: also in
    /// a message that was read before an edit added the mention.
    public var unreadMentions = 0
    /// Whether this person marked it as unread, and has read nothing in it since.
    public var isMarkedUnread = false
    /// Whether it is silenced.
    public var isMuted: Bool
    /// Until when it is silenced, in Unix milliseconds; nil where it is heard, or silent until one ends that.
    public var mutedUntil: UInt64?
    /// Whether it was put away, and nothing came since.
    public var isArchived = false
    /// Whether it stands above others in lists, since this person wants that.
    public var isKeptFirst = false
    /// Whether this person may write messages in it, by their role and its rules: in some groups only admins do.
    public var mayWrite = true
    /// After how many seconds messages disappear that are written now; nil if they stay.
    public var lifetime: UInt64?
    /// The draft in it; nil if there is none.
    public var draft: String?
    /// When the newest message was written, in Unix milliseconds.
    public var newest: UInt64?
    /// The newest message, as one that answers it shows it; nil where there is none.
    public var last: MessageView.Quote?
    /// What must happen before anything is written in it: "waiting for …"; nil if nothing must.
    public var waitingFor: String?
    /// The conversation of the same two that new messages go into instead, in hex; nil for all but those
    /// that were begun while that one was not known here.
    public var supersededBy: String?
    /// Another conversation of the same two in which something is unread, in hex: a name means this one.
    public var twin: String?
    /// Whether this person was in it before, was added again, and has not answered: it can be read,
    /// and nothing new arrives.
    public var isInvited = false
    /// Whether this person is no longer in it: it can be read, and nothing new arrives.
    public var isOut = false
    /// Whether this person was in it, left and came back, and messages from before that are only on
    /// other devices: on those that held them then. Nobody delivers them again.
    public var lacksEarlier = false
    /// Whether others of these messages are here.
    public var holdsEarlier = false
    /// Whether it was deleted on this device, so that earlier polls, notes, action items and
    /// decisions in it are missing here. Nobody delivers them again.
    public var lacksShared = false
    /// For a group that this person is out of and this device never was in: the names of their
    /// devices that were, which alone have its messages; nil for any other conversation.
    public var heldOn: [String]?
    /// Other conversations whose names look like that of this group, in the list of all: each the name,
    /// and the start of the identifier in brackets.
    public var resembles: [String] = []
}

/// A conversation that was deleted here.
public struct DeletedConversationView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// Its former name.
    public var name: String
}

/// A conversation as shown here.
public struct DigestView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// Its name.
    public var name: String
    /// One hash over all that members see alike.
    public var digest: String
    /// Operations held.
    public var operationCount: Int
    /// Whether it is in no list: another conversation of the same two has its place, and nothing was
    /// said in it.
    public var isSuperseded = false
}
