import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Adds a reaction to a message or takes it back.
    public static let reaction = OperationKind(rawValue: 67)
}

extension EntryField {
    /// The reactions to a message, one entry for each person and emoji.
    static let reaction = EntryField(rawValue: 3)
    /// Which reactions there are of one person to one message, an entry for each: what bounds them.
    static let reactor = EntryField(rawValue: 13)
}

/// The payload of a reaction.
public struct Reaction: Equatable, Sendable {
    /// The emoji. Others may send any short text: see ``isEmoji(_:)``.
    public var emoji: String
    /// Whether it is added or taken back.
    public var isOn: Bool

    /// A reaction with these fields.
    public init(emoji: String, isOn: Bool) {
        self.emoji = emoji
        self.isOn = isOn
    }

    /// The reaction in a payload, or nil.
    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadReaction.self, payload),
            !message.emoji.isEmpty, message.emoji.utf8.count <= Limits.emojiByteCountMax
        else { return nil }
        self.init(emoji: message.emoji, isOn: message.on)
    }

    /// The operation that says this of a message.
    public func draft(to message: OperationReference) -> Draft {
        var payload = PayloadReaction()
        payload.emoji = emoji
        payload.on = isOn
        return Draft(
            kind: .reaction, lane: .content, references: [message],
            payload: Payload.encode(payload))
    }
}

/// For each message, person and emoji the last toggle in order wins, and of those of one person on
/// one message the last ``Limits/reactionCountMax`` count. A toggle that dropped out stands below
/// all that count for good, so no order of arrival matters.
enum ReactionRule: MergeRule {
    static let kind = OperationKind.reaction
    static let lane = Lane.content
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let target = applied.operation.operation.header.references.first,
            let payload = applied.operation.operation.payload,
            let reaction = Reaction(payload: payload)
        else { return [] }
        let person = context.author.person
        let entry = Entry(
            space: context.space.number, object: .operation(target.tag, target.sequence),
            field: .reaction, element: try store.locator(person.bytes + reaction.emoji.utf8),
            operation: applied.number, order: applied.orderKey, isOn: reaction.isOn)
        let rivals = try LastWriter.rivals(of: entry, in: store)
        guard rivals.allSatisfy({ $0.order <= entry.order }),
            try makeRoom(for: entry, replacing: rivals, of: person, to: target, in: store)
        else { return [] }
        for rival in rivals { try store.remove(rival) }
        try store.put(entry)
        return try Target.change(target, context, in: store)
    }

    /// Stores a person's entry about the message, in place of the one it replaces, or of the least
    /// in order if there is no room. Returns whether it was stored.
    private static func makeRoom(
        for entry: Entry, replacing rivals: [Entry], of person: PersonID,
        to target: OperationReference, in store: some MergeStore
    ) throws(StoreError) -> Bool {
        var place = ByteWriter(capacity: 64)
        place.identifier(person)
        place.uint64(target.tag.value)
        place.uint64(target.sequence)
        var said = entry
        // About the space: a reader of the message need not look at these.
        (said.object, said.field) = (.space, .reactor)
        said.element = try store.locator(place.bytes)
        var kept = try LastWriter.rivals(of: said, in: store)
        for rival in rivals {
            guard let place = kept.firstIndex(where: { $0.operation == rival.operation })
            else { continue }
            try store.remove(kept.remove(at: place))
        }
        if kept.count >= Limits.reactionCountMax, let least = kept.first {
            guard least.order < entry.order else { return false }
            try store.remove(least)
            try drop(least.operation, of: person, about: entry.object, in: store)
        }
        try store.put(said)
        return true
    }

    private static func drop(
        _ operation: OperationNumber, of person: PersonID, about object: EntryObject,
        in store: some MergeStore
    ) throws(StoreError) {
        guard let stored = try store.operation(operation),
            let reaction = stored.operation.payload.flatMap(Reaction.init(payload:)),
            let log = try store.log(stored.log)
        else { return }
        try store.remove(
            Entry(
                space: log.space, object: object, field: .reaction,
                element: try store.locator(person.bytes + reaction.emoji.utf8),
                operation: operation,
                order: VerifiedOperation(stored: stored, tag: log.tag).orderKey))
    }
}

/// One value with one owner: the greatest in order stays.
enum LastWriter {
    /// The entries of the same element, ascending by order.
    static func rivals(
        of entry: Entry, in store: some ConversationStore
    ) throws(StoreError) -> [Entry] {
        try store.entries(
            about: entry.object, in: entry.space, field: entry.field, element: entry.element)
    }

    /// Stores an operation's entry about an element of a field if it is the last in order. Returns
    /// whether it was.
    static func put(
        _ field: EntryField, of element: [UInt8]? = nil, about object: EntryObject = .space,
        isOn: Bool = true, by applied: AppliedOperation, _ context: MergeContext,
        in store: some ConversationStore
    ) throws(StoreError) -> Bool {
        let entry = Entry(
            space: context.space.number, object: object, field: field,
            element: try element.map { bytes throws(StoreError) in try store.locator(bytes) } ?? 0,
            operation: applied.number, order: applied.orderKey, isOn: isOn)
        let rivals = try rivals(of: entry, in: store)
        guard rivals.allSatisfy({ $0.order <= entry.order }) else { return false }
        for rival in rivals { try store.remove(rival) }
        try store.put(entry)
        return true
    }
}
