import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Sets the description of a group.
    public static let groupDescription = OperationKind(rawValue: 41)
}

extension EntryField {
    /// All descriptions of a group.
    static let groupDescription = EntryField(rawValue: 46)
}

/// The payload that describes a group.
public struct GroupDescription: Equatable, Sendable {
    /// The text; empty for none.
    public var text: String

    /// This text.
    public init(text: String) { self.text = text }

    package init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadDescription.self, payload),
            message.text.utf8.count <= Limits.groupDescriptionByteCountMax
        else { return nil }
        text = message.text
    }

    /// The operation that says this.
    ///
    /// - Parameter previous: the values that its author saw, which it replaces.
    public func draft(replacing previous: [OperationReference]) -> Draft {
        var message = PayloadDescription()
        message.text = text
        // Always one byte at least, of an empty text as well.
        message.version = 1
        return Draft(
            kind: .groupDescription, lane: .shared,
            references: Array(previous.prefix(Limits.referenceCountMax)),
            payload: Payload.encode(message))
    }
}

/// A description replaces those that its author saw; of the remaining ones the greatest in order is
/// shown, as with names.
enum DescriptionRule: RegisterRule {
    static let kind = OperationKind.groupDescription
    static let field = EntryField.groupDescription

    static func isReadable(_ payload: [UInt8]) -> Bool { GroupDescription(payload: payload) != nil }
}

extension Overview {
    /// The description of a group; nil if there is none.
    public static func description(
        of space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> String? {
        let shown = try Register.survivors(of: .groupDescription, in: space, store: store).first
        let text = shown?.operation.operation.payload.flatMap(GroupDescription.init)?.text
        return text?.isEmpty == false ? text : nil
    }

    /// How operations name the values that a new description replaces.
    public static func descriptionReferences(
        of space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [OperationReference] {
        try Register.survivors(of: .groupDescription, in: space, store: store)
            .map(\.entry.order.reference)
    }
}
