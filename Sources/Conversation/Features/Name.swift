import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Names a conversation.
    public static let name = OperationKind(rawValue: 32)
}

extension EntryField {
    /// The names that a conversation was given, all of them.
    static let name = EntryField(rawValue: 4)
}

/// The payload that names a conversation.
public struct ConversationName: Equatable, Sendable {
    /// The name.
    public var name: String

    /// This name.
    public init(name: String) { self.name = name }

    package init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadName.self, payload),
            message.name.utf8.count <= Limits.nameByteCountMax
        else { return nil }
        name = message.name
    }

    /// The operation that says this.
    ///
    /// - Parameter previous: the values that its author saw, which it replaces.
    public func draft(replacing previous: [OperationReference]) -> Draft {
        var message = PayloadName()
        message.name = name
        return Draft(
            kind: .name, lane: .shared,
            references: Array(previous.prefix(Limits.referenceCountMax)),
            payload: Payload.encode(message))
    }
}

/// A name replaces those that its author saw; of the remaining ones the greatest in order is shown,
/// so no clock can pin a name. Admins name a group; a conversation of two shows the persons' names,
/// so that neither can make it pass for one with somebody else.
enum NameRule: RegisterRule {
    static let kind = OperationKind.name
    static let field = EntryField.name

    static func isReadable(_ payload: [UInt8]) -> Bool { ConversationName(payload: payload) != nil }
}

extension Overview {
    /// All names that a group was ever given, the first one first.
    public static func namesEver(
        of space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [String] {
        let entries = try store.entries(about: .space, in: space, field: .name)
        var names: [String] = []
        for entry in entries.sorted(by: { $0.order < $1.order }) {
            let payload = try store.operation(entry.operation)?.operation.payload
            if let name = payload.flatMap(ConversationName.init(payload:)) {
                names.append(name.name)
            }
        }
        return names
    }
}

/// A value that an admin gives a group, and that replaces those which its author saw. All are kept:
/// which of them no other replaces is found where they are read.
protocol RegisterRule: MergeRule {
    /// What its values are kept as.
    static var field: EntryField { get }
    /// Whether a payload holds a value.
    static func isReadable(_ payload: [UInt8]) -> Bool
}

extension RegisterRule {
    static var lane: Lane { .shared }
    static var role: Role { .admin }

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.roster.kind == .group,
            applied.operation.operation.payload.map(isReadable) == true
        else { return [] }
        try store.put(
            Entry(
                space: context.space.number, object: .space, field: field,
                operation: applied.number, order: applied.operation.orderKey))
        return [.conversation(context.space.number)]
    }
}

/// Values of a conversation that each replace those which their author saw.
enum Register {
    /// The values that no other replaced, the shown one first.
    static func survivors(
        of field: EntryField, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> [(entry: Entry, operation: StoredOperation)] {
        var all: [(entry: Entry, operation: StoredOperation)] = []
        var replaced: Set<OperationReference> = []
        for entry in try store.entries(about: .space, in: space, field: field) {
            guard let operation = try store.operation(entry.operation) else { continue }
            all.append((entry, operation))
            replaced.formUnion(operation.operation.header.references)
        }
        return all.filter { !replaced.contains($0.entry.order.reference) }
            .sorted { $0.entry.order > $1.entry.order }
    }
}

extension OrderKey {
    /// How an operation of the space names the one with this key.
    package var reference: OperationReference {
        OperationReference(tag: tag, sequence: sequence, check: id.check)
    }
}
