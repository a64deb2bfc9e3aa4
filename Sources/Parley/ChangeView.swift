/// Something changed.
///
/// Changes with a cursor of their own are kept in the node's log and told once each, in their order,
/// over restarts of the node and of who reads them. What may be forgotten is told as it comes to those
/// who listen: links, typing, presence, calls as they go on, and long works on the indexes.
public struct ChangeView: Codable, Equatable, Sendable {
    /// `message`, `mention` (a message mentions one that did not before; told after the message itself),
    /// `conversation`, `receipts`, `members`, `refolded` (all of a conversation may look
    /// different), `contact`, `invitation` (one into a group came, changed or was answered),
    /// `invitations` (who may add one unasked), `preferences` (something else that holds for the person
    /// on all devices), `devices`, `relays`, `link`, `call` (one that goes on), `calls` (what
    /// became of one, or goes on, may look different), `poll` (one was asked, answered, closed or taken
    /// back), `item` (the same of something to be done), `note` (the same of a text that everybody may edit),
    /// `decision` (of something to decide), `media` (an order to the client that has a call's sound and
    /// pictures, and to nobody else), `reminder` (this device rang for one), `typing`, `presence`,
    /// `clocks` (which clocks differ), `search` (how far a long work on the indexes is), `missed` (see
    /// ``missed``), `start` (nothing happened: where one who follows begins).
    public var kind: String
    /// The conversation, in hex, where it concerns one.
    public var conversation: String?
    /// The message as it is now, where it concerns one.
    public var message: MessageView?
    /// A name, where it concerns a person.
    public var name: String?
    /// What a person should read of it, as a sentence.
    public var notice: String? = nil
    /// The call as it is now, where it concerns one.
    public var call: CallView? = nil
    /// The poll as it is now, where it concerns one that was not taken back.
    public var poll: PollView? = nil
    /// What is to be done as it is now, where it concerns something that was not taken back.
    public var item: ItemView? = nil
    /// The note as it is now, without its text, where it concerns one that was not taken back.
    public var note: NoteView? = nil
    /// The decision as it is now, where it concerns one that was not taken back.
    public var decision: DecisionView? = nil
    /// The reminder for which this device rang, where it was not ended since.
    public var reminder: ReminderView? = nil
    /// What the client that has a call's sound and pictures is to do.
    public var media: MediaLine? = nil
    /// Who types in the conversation now, where that changed.
    public var typing: [String]? = nil
    /// Whether a person is there, where that changed: `online`, `away` or `offline`.
    public var presence: String? = nil
    /// How far a long work on the indexes is, while there is one.
    public var search: SearchWork? = nil
    /// Whether the message appeared with this change, which is told once of each; nil where the change
    /// is of no message.
    public var isNew: Bool? = nil
    /// What `after` takes to go on right after this change.
    public var cursor: String? = nil
    /// Why something that happened before is not told, in a change of the kind `missed`: `forgotten`
    /// (the log does not go back so far), `undone` (the last that was told was lost as the node ended
    /// suddenly; what others hold of it comes again), `foreign` (the cursor is of another node's log, or of this
    /// one before it was set back), `skipped` (too much of what may be forgotten came at once). What is
    /// shown is then to be read again; the changes that follow go on without a gap.
    public var missed: String? = nil
}

extension ChangeView {
    /// A change of this kind, which concerns nothing in particular.
    ///
    /// - Parameter cursor: where one goes on after it.
    public init(kind: String, cursor: String) {
        self.init(kind: kind)
        self.cursor = cursor
    }
}

/// Changes of the log, in their order.
public struct ChangePage: Codable, Equatable, Sendable {
    /// How many come at once, at most.
    public static let changeCountMax = 200
    /// A page ends before it would take so many bytes, unless it has one change.
    static let byteCountMax = 256 << 10
    /// Oldest first.
    public var changes: [ChangeView]
    /// What `after` takes for those that follow.
    public var cursor: String
    /// Whether nothing follows yet.
    public var isEnd: Bool
}
