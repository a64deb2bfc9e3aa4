import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// What one noted of a person.
    public static let contact = OperationKind(rawValue: 34)
}

extension EntryField {
    /// The person's statements about others, in the own space; one entry for each person.
    static let contact = EntryField(rawValue: 6)
    /// Contact requests, in the own space; one entry for each person.
    static let asking = EntryField(rawValue: 17)
}

/// How far two persons have come with each other. The numbers are sent and stored.
public enum ContactState: UInt8, CaseIterable, Sendable {
    /// No contact; something else was noted of them.
    case none = 0
    /// They ask to be a contact, and wait for an answer.
    case pending = 1
    /// One asked them, and they have not answered.
    case requested = 2
    /// Each took the other in, as far as one can know it.
    case accepted = 3
    /// They asked, and one does not want to. Nobody tells them.
    case declined = 4
}

/// The payload about a person one knows.
public struct Contact: Equatable, Sendable {
    /// The person.
    public var person: PersonID
    /// The root key of the person's identity.
    public var root: Digest
    /// What one calls them; empty for the name on their card.
    public var alias: String
    /// How far it has come.
    public var state: ContactState
    /// Whether safety numbers were compared.
    public var isVerified: Bool
    /// Whether they are kept away, whatever the state.
    public var isBlocked: Bool
    /// Their card as it was known when this was noted; empty where none was.
    public var card: [UInt8]

    /// Whether they may talk to this node as a contact.
    public var isAccepted: Bool { state == .accepted && !isBlocked }

    /// A contact with these fields.
    public init(
        person: PersonID, root: Digest, alias: String = "", state: ContactState = .accepted,
        isVerified: Bool = false, isBlocked: Bool = false, card: [UInt8] = []
    ) {
        self.person = person
        self.root = root
        self.alias = alias
        self.state = state
        self.isVerified = isVerified
        self.isBlocked = isBlocked
        self.card = card
    }

    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadContact.self, payload),
            let person = PersonID(fieldBytes(message.person)),
            let root = Digest(fieldBytes(message.root)),
            message.alias.utf8.count <= Limits.nameByteCountMax,
            let state = UInt8(exactly: message.state).flatMap(ContactState.init),
            message.card.count <= Limits.cardByteCountMax
        else { return nil }
        self.init(
            person: person, root: root, alias: message.alias, state: state,
            isVerified: message.verified, isBlocked: message.blocked,
            card: fieldBytes(message.card))
    }

    /// What a person says of another by an operation of the own space; nil where it says nothing of it. That
    /// somebody asks is no statement of theirs.
    public init?(said operation: VerifiedOperation) {
        guard operation.operation.header.kind == .contact,
            let said = operation.operation.payload.flatMap(Contact.init(payload:)),
            said.state != .pending
        else { return nil }
        self = said
    }

    /// The operation by which a person says this, in the own space. A contact request is not a
    /// statement of the person's, so a device that hears of one late replaces none.
    public func draft() -> Draft {
        var said = self
        if state == .pending { said.state = .none }
        return said.encodedDraft()
    }

    /// The operation by which a node notes that somebody asks, with their card.
    public static func askingDraft(_ person: PersonID, root: Digest, card: [UInt8]) -> Draft {
        Contact(person: person, root: root, state: .pending, card: card).encodedDraft()
    }

    private func encodedDraft() -> Draft {
        var message = PayloadContact()
        message.person = field(person.bytes)
        message.root = field(root.bytes)
        message.alias = alias
        message.state = UInt32(state.rawValue)
        message.verified = isVerified
        message.blocked = isBlocked
        message.card = field(card)
        return Draft(kind: .contact, lane: .shared, payload: Payload.encode(message))
    }
}

extension Contact: OwnNote {
    static var kind: OperationKind { .contact }
    static var entryField: EntryField { .contact }
    var entryField: EntryField { state == .pending ? .asking : .contact }
    var subject: [UInt8] { person.bytes }
    var isOn: Bool { isAccepted }

    func changes(_ context: MergeContext, in store: some MergeStore) -> [ViewChange] {
        [.contact(person)]
    }
}

extension Contact {
    /// The relation to a person, from what was said about them and whether they ask: a statement
    /// that leaves it open is combined with the request, any other one decides.
    init?(said: Contact?, asking: Contact?) {
        guard var known = said ?? asking else { return nil }
        if known.state == .none, let asking {
            known.state = .pending
            known.card = asking.card
        }
        self = known
    }
}
