import ParleyConversation

/// A message.
public struct MessageView: Codable, Equatable, Sendable {
    /// An emoji and who reacted with it.
    public struct Reaction: Codable, Equatable, Sendable {
        /// The emoji; others may send any short text.
        public var emoji: String
        /// Whether it is one.
        public var isEmoji: Bool { ParleyConversation.Reaction.isEmoji(emoji) }
        /// Their names; of very many not all.
        public var names: [String]
        /// How many they are.
        public var count: Int
    }
    /// A message as another one that answers it shows it.
    public struct Quote: Codable, Equatable, Sendable {
        /// Characters of its text, at most.
        public static let characterCountMax = 100
        /// The name of its author.
        public var author: String
        /// How its text begins; nil where it was deleted, has not arrived or is not shown. Empty where it
        /// has files alone.
        public var text: String?
        /// Whether it was deleted for everyone.
        public var isDeleted: Bool
        /// Whether it was edited.
        public var isEdited: Bool
        /// Whether it is not shown, since this person blocked its author, in a group.
        public var isHidden = false
        /// Whether it has disappeared.
        public var hasDisappeared = false
        /// What its sender says that its files are, in order: `picture`, `video`, `sound`, `voice` or
        /// `file` each; nil if there are none, or they are not shown.
        public var files: [String]?
    }
    /// That the text mentions a person.
    public struct Mention: Codable, Equatable, Sendable {
        /// The person, in hex.
        public var person: String
        /// Their present name.
        public var name: String
        /// The first byte of their name in the UTF-8 of the text, which is that of an `@`; nil if
        /// the text contains no name.
        public var start: Int?
        /// How many bytes it has.
        public var length: Int?
    }
    /// What one did oneself, and what no device of another person holds yet.
    public struct Waiting: Codable, Equatable, Sendable {
        /// `edit`, `deletion`, `reaction` or `pin` of a message; `poll`, `vote` or `close` of a poll, `item`
        /// or `change` of something to be done; `name`, `description`, `picture` or `lifetime` of a conversation;
        /// `group` (that it was begun), `addition`, `removal`, `role`, `settings`, `link` or `acceptance` of a
        /// group.
        public var change: String
        /// `saved` or `relayed`; `earlier`, `returned`, `unknown`, `untold`, `uninvited` and `unaccepted` as
        /// with ``MessageView/state``;
        /// `removed` where the person was taken out before it arrived, and nobody takes it; `cut-off` where
        /// they are in the group and were taken out then, or made a reader; `revoked` where the device that
        /// revoked this one did not have it; `stranded` of what never leaves this device, which wrote two
        /// histories.
        public var state: String
        /// A change with these fields.
        public init(change: String, state: String) { (self.change, self.state) = (change, state) }
    }
    /// So many emojis, and so many names, come with a message.
    public static let reactionNameCountMax = 64
    /// Its number on this node.
    public var number: Int64
    /// Its name, which is the same on every device; empty where it is kept and not written yet.
    public var id = ""
    /// The conversation, in hex.
    public var conversation: String
    /// The name of its author; for an imported one the name it came with.
    public var author: String
    /// Its author or importer, in hex.
    public var person: String
    /// Whether it is this person's own.
    public var isOwn: Bool
    /// The text; nil where it was deleted, has not arrived or is not shown.
    public var text: String?
    /// Persons whom the text mentions, in the order of the text.
    public var mentions: [Mention] = []
    /// Whether it mentions everybody in the conversation.
    public var mentionsEveryone = false
    /// Whether it mentions this person, by name or with everybody; false for their own.
    public var mentionsMe = false
    /// When it was written, in Unix milliseconds.
    public var time: UInt64
    /// The number of the message that it replies to, where that is held.
    public var replyTo: Int64?
    /// The name of the message that it replies to, held or not.
    public var replyToID: String?
    /// What the message is now that it replies to; nil where that is not here.
    public var quote: Quote?
    /// The name of the message that its thread begins with, held or not; nil where it answers none.
    public var threadID: String?
    /// How many texts it had before this one; `history` tells them.
    public var editCount: Int
    /// Reactions.
    public var reactions: [Reaction]
    /// How far its newest change has come: `saved`, `relayed`, `delivered`, `read`; `earlier` where
    /// all others came later, and are not given it; `returned` where some of them came back later;
    /// `unknown` where this device was revoked, and hears no more whether it has come further; `untold` where
    /// its person is out of the group, and nobody tells them; `uninvited` where the other did not take the
    /// invite that was used, and it waits for another; `unaccepted` where all others are invited into the
    /// group, and it waits until one of them accepts; "waiting for …" where it is kept and not written yet,
    /// and then its number is 0; a sentence where ``untaken`` says why nobody takes it; nil for messages of
    /// others.
    public var state: String?
    /// Whether it was deleted for everyone.
    public var isDeleted: Bool
    /// Whether it was imported.
    public var isImported: Bool
    /// Whether an imported one was an action.
    public var isAction: Bool
    /// Whether it came long after newer ones.
    public var isLate: Bool
    /// Whether its text has not arrived.
    public var isMissing: Bool
    /// The name of the member who brought it in, where it was imported: nobody else vouches for its
    /// author and its time.
    public var importedBy: String?
    /// The name of its original author, if it was forwarded; empty if that is not known. Only its
    /// forwarder claims it: it identifies nobody who is known here, and nobody vouches for it.
    public var forwardedFrom: String?
    /// The files that it brings, in their order.
    public var files: [FileView] = []
    /// What its author saw behind an address in it, if they made a preview.
    public var link: LinkPreviewView?
    /// Whether it is pinned in its conversation, for everybody.
    public var isPinned = false
    /// Whether one marked it for oneself; nobody else knows.
    public var isStarred = false
    /// What one changed about it and waits to be delivered.
    public var waiting: [Waiting] = []
    /// Why its time cannot be true: `ahead` where it has not come yet by this device's clock, `before`
    /// where it lies before that of the message that it answers, or more than 35 days before what it
    /// follows; else nil. Clocks that differ by five minutes are not told.
    public var timeDoubt: String?
    /// Whether this device wrote it above the place where its log forked, or where the cut of its revocation
    /// ends it: nobody takes it from there.
    public var isStranded = false
    /// How much its author wrote right before it that has not arrived, at most so many messages; nil where
    /// nothing is missing, and for all but the first message after such a gap.
    public var missingBefore: Int?
    /// Whether its text is gone on this device alone: by a deletion of the person's own that nobody takes,
    /// since they were out before it arrived.
    public var isGoneHere = false
    /// Whether its text and files are not shown, since this person blocked its author, in a group.
    public var isHidden = false
    /// Why nobody takes it, of an own one that was written before its author heard that they were out, or a
    /// reader, or that this device was revoked: `removed`, `cut-off` or `revoked`, as with
    /// ``Waiting/state``. Nil for all others.
    public var untaken: String?
    /// Whether such a one was sent again since, by a device of the person; nil for all others.
    public var isSentAgain: Bool?
    /// After how many seconds it disappears, from when it is read or, if it is one's own, delivered; nil if it
    /// stays.
    public var lifetime: UInt64?
    /// When it disappears from here, in Unix milliseconds by this device's clock; nil until that time runs.
    public var disappears: UInt64?
}

extension MessageView {
    /// About how many bytes it takes in a line of JSON, at most.
    var lineByteCount: Int {
        let quoted = quote.map { [$0.author, $0.text ?? ""] } ?? []
        let names =
            quoted + reactions.flatMap { [$0.emoji] + $0.names }
            + mentions.flatMap {
                [$0.person, $0.name, ""]
            }
        let fileNames = files.flatMap { file in
            [file.name, file.type, file.transcript ?? "", ""] + (file.holders ?? [])
                + (file.receivers ?? [])
        }
        let linkWords = link.map { [$0.address, $0.title, $0.description, $0.site] } ?? []
        let words = [text ?? "", author, importedBy ?? "", forwardedFrom ?? ""]
        return (words + names + fileNames + linkWords).reduce(1024 + 1024 * files.count) {
            $0 + 8 + Self.jsonByteCount($1)
        }
    }

    private static func jsonByteCount(_ text: String) -> Int {
        text.utf8.reduce(0) {
            $0 + ($1 < 0x20 || $1 == 0x7F ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1)
        }
    }
}

/// A page of a timeline.
public struct MessagePage: Codable, Equatable, Sendable {
    /// Oldest first.
    public var messages: [MessageView]
    /// The value of `before` for the page above this one; nil if there is none.
    public var cursor: String?
    /// How many messages stand above the page.
    public var aboveCount: Int
    /// How many stand below it.
    public var belowCount: Int
    /// The last operation that was stored when the page was made, for `markRead`: later ones were
    /// not shown.
    public var last: Int64
    /// A page ends before it would take so many bytes, unless it has one message.
    static let byteCountMax = 2 << 20
}

/// Texts that a message had.
public struct HistoryPage: Codable, Equatable, Sendable {
    /// How many come at once, at most.
    public static let versionCountMax = 20
    /// One of them.
    public struct Version: Codable, Equatable, Sendable {
        /// The text; nil where it has not arrived.
        public var text: String?
        /// When it was written, in Unix milliseconds.
        public var time: UInt64
        /// `removed`, `revoked` or `cut-off` of an edit that nobody takes, as with
        /// ``MessageView/Waiting/state``; `gone` of a text that was deleted on this device alone; else nil.
        public var state: String?
    }
    /// Oldest first; the last without a state is the one that is shown.
    public var versions: [Version]
    /// How many there are in all; 0 of a message that was deleted.
    public var count: Int
    /// The value of `from` for the next page; nil if there is none.
    public var next: Int?
}
