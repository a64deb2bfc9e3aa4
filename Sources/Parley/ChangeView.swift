/// Something changed.
///
/// Changes with a cursor are kept in the node's log and reported once each, in order, over restarts
/// of the node and of the reader. Transient ones are only reported to present listeners: links,
/// typing, presence, the progress of calls, and of long work on the indexes.
public struct ChangeView: Codable, Equatable, Sendable {
    /// `message`, `mention` (a message mentions this person that did not before; reported after the
    /// message itself), `conversation`, `receipts`, `members`, `refolded` (all of a conversation
    /// may look different), `contact`, `invitation` (one into a group arrived, changed or was
    /// answered), `invitations` (who may add this person without asking), `preferences` (another
    /// setting of the person on all devices), `devices`, `relays`, `link`, `call` (one in
    /// progress), `calls` (the record of one, or one in progress, may look different), `poll` (one
    /// was asked, answered, closed or withdrawn), `item` (the same for an item), `note` (the same
    /// for a note), `decision` (for a decision), `media` (an order to the client that has a call's
    /// media, and to nobody else), `reminder` (this device rang for one), `scheduled`
    /// (this device could not send one when its time had come), `typing`, `presence`,
    /// `clocks` (which clocks differ), `search` (progress of long work on the indexes), `missed`
    /// (see ``missed``), `start` (nothing happened: where a new follower begins).
    public var kind: String
    /// The conversation, in hex, where it concerns one.
    public var conversation: String?
    /// The message as it is now, where it concerns one.
    public var message: MessageView?
    /// A name, where it concerns a person.
    public var name: String?
    /// A sentence about it for the person.
    public var notice: String? = nil
    /// The call as it is now, where it concerns one.
    public var call: CallView? = nil
    /// The poll as it is now, where it concerns one that was not taken back.
    public var poll: PollView? = nil
    /// The item in its present state, if it concerns one that was not withdrawn.
    public var item: ItemView? = nil
    /// The note as it is now, without its text, where it concerns one that was not taken back.
    public var note: NoteView? = nil
    /// The decision as it is now, where it concerns one that was not taken back.
    public var decision: DecisionView? = nil
    /// The reminder for which this device rang, where it was not ended since.
    public var reminder: ReminderView? = nil
    /// The scheduled message that could not be sent, where it still waits for what becomes of it.
    public var scheduled: ScheduledView? = nil
    /// What the client that has a call's sound and pictures is to do.
    public var media: MediaLine? = nil
    /// Who types in the conversation now, where that changed.
    public var typing: [String]? = nil
    /// The person's presence, if it changed: `online`, `away` or `offline`.
    public var presence: String? = nil
    /// How far a long work on the indexes is, while there is one.
    public var search: SearchWork? = nil
    /// Whether the message appeared with this change, which is reported once for each; nil if the
    /// change is not about a message.
    public var isNew: Bool? = nil
    /// The value of `after` that resumes right after this change.
    public var cursor: String? = nil
    /// Why earlier events are not reported, in a change of the kind `missed`: `forgotten` (the log
    /// does not go back that far), `undone` (the last reported events were lost as the node ended
    /// suddenly; what others hold of them comes again), `foreign` (the cursor is of another node's
    /// log, or of this one before it was rolled back), `skipped` (too many transient events came at
    /// once). Reload what is shown; the following changes continue without a gap.
    public var missed: String? = nil
}

extension ChangeView {
    /// A change of this kind, which concerns nothing in particular.
    ///
    /// - Parameters:
    ///   - kind: one of those that ``ChangeView/kind`` can be.
    ///   - cursor: where to resume after it.
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
