import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Shows a picture of a group.
    public static let groupPicture = OperationKind(rawValue: 43)
}

extension EntryField {
    /// The pictures that a group was given, all of them.
    static let groupPicture = EntryField(rawValue: 48)
}

/// The payload that shows a picture of a group.
public struct GroupPicture: Equatable, Sendable {
    /// The picture; empty for none. Nobody has inspected it.
    public var content: [UInt8]

    /// This picture.
    public init(content: [UInt8]) { self.content = content }

    package init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadPicture.self, payload),
            message.content.count <= Limits.inlineFileByteCountMax
        else { return nil }
        content = fieldBytes(message.content)
    }

    /// The operation that says this.
    ///
    /// - Parameter previous: the values that its author saw, which it replaces.
    public func draft(replacing previous: [OperationReference]) -> Draft {
        var message = PayloadPicture()
        message.content = field(content)
        // Always one byte at least, of no picture as well.
        message.version = 1
        return Draft(
            kind: .groupPicture, lane: .shared,
            references: Array(previous.prefix(Limits.referenceCountMax)),
            payload: Payload.encode(message))
    }
}

/// A picture replaces those that its author saw; of the remaining ones the greatest in order is
/// shown, as with names.
enum GroupPictureRule: RegisterRule {
    static let kind = OperationKind.groupPicture
    static let field = EntryField.groupPicture

    static func isReadable(_ payload: [UInt8]) -> Bool { GroupPicture(payload: payload) != nil }
}

extension Overview {
    /// The picture of a group; nil where none is shown.
    public static func picture(
        of space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [UInt8]? {
        let shown = try Register.survivors(of: .groupPicture, in: space, store: store).first
        let content = shown?.operation.operation.payload.flatMap(GroupPicture.init)?.content
        return content?.isEmpty == false ? content : nil
    }

    /// How operations name the values that a new picture replaces.
    public static func pictureReferences(
        of space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [OperationReference] {
        try Register.survivors(of: .groupPicture, in: space, store: store)
            .map(\.entry.order.reference)
    }
}
