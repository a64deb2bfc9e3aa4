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
}

/// The payload of a reaction.
public struct Reaction: Equatable, Sendable {
    /// The emoji, or any short text.
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

/// For each message, person and emoji the last toggle in order wins.
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
        guard
            try LastWriter.put(
                .reaction, of: context.author.person.bytes + reaction.emoji.utf8,
                about: .operation(target.tag, target.sequence), isOn: reaction.isOn, by: applied,
                context, in: store)
        else { return [] }
        return try Target.change(target, context, in: store)
    }
}

/// One value with one owner: the greatest in order stays.
enum LastWriter {
    /// Keeps what an operation says of an element of a field if it is the last word on it. Returns
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
        let rivals = try store.entries(
            about: entry.object, in: entry.space, field: entry.field
        ).filter { $0.element == entry.element }
        guard rivals.allSatisfy({ $0.order <= entry.order }) else { return false }
        for rival in rivals { try store.remove(rival) }
        try store.put(entry)
        return true
    }
}
