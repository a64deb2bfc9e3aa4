/// Something changed.
public struct ChangeView: Codable, Equatable, Sendable {
    /// `message`, `conversation`, `receipts`, `members`, `refolded` (all of a conversation may look
    /// different), `contact`, `invitation` (one into a group came, changed or was answered),
    /// `invitations` (who may add one unasked), `devices`, `relays`, `link`, `call` (one that goes on), `calls` (what
    /// became of one, or goes on, may look different), `typing`, `presence`, `search` (how far a
    /// long work on the indexes is).
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
    /// Who types in the conversation now, where that changed.
    public var typing: [String]? = nil
    /// Whether a person is there, where that changed: `online`, `away` or `offline`.
    public var presence: String? = nil
    /// How far a long work on the indexes is, while there is one.
    public var search: SearchWork? = nil
}
