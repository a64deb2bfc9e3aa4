import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Where its author's device can be found.
    public static let card = OperationKind(rawValue: 113)
}

extension EntryField {
    /// Which operation of a device holds its newest card; one entry for each device.
    static let card = EntryField(rawValue: 8)
}

/// The payload that shows a space's members where the author's device can be found: a card with
/// only the author's own part. The node checks its content; here it is bytes.
public struct SharedCard: Equatable, Sendable {
    /// The card as it travels.
    public var card: [UInt8]

    /// The payload with this card.
    public init(card: [UInt8]) { self.card = card }

    /// The card in a payload, or nil.
    public init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadCard.self, payload), !message.card.isEmpty,
            message.card.count <= Limits.cardByteCountMax
        else { return nil }
        card = fieldBytes(message.card)
    }

    /// The operation that says this. It is never erased: it holds nothing that somebody said.
    public func draft() -> Draft {
        var message = PayloadCard()
        message.card = field(card)
        return Draft(
            kind: .card, lane: .receipts, payload: Payload.encode(message), isErasable: false)
    }
}

/// For each device the last that it wrote holds.
enum SharedCardRule: MergeRule {
    static let kind = OperationKind.card
    static let lane = Lane.receipts
    static let role = Role.reader

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let payload = applied.operation.operation.payload, SharedCard(payload: payload) != nil
        else { return [] }
        let isLast = try LastWriter.put(
            .card, of: applied.log.device.bytes, by: applied, context, in: store)
        return isLast ? [.card(applied.number)] : []
    }
}

extension Overview {
    /// The card that a device last showed the members of a space and its place in the log, or nil.
    public static func sharedCard(
        of device: DeviceID, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> (card: SharedCard, sequence: UInt64)? {
        guard let number = try sharedCards(of: [device], in: space, store: store).first,
            let stored = try store.operation(number),
            let card = stored.operation.payload.flatMap(SharedCard.init)
        else { return nil }
        return (card, stored.sequence)
    }

    /// The operations in which devices last showed their cards to the members of a space.
    public static func sharedCards(
        of devices: [DeviceID], in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> [OperationNumber] {
        var elements: Set<UInt64> = []
        for device in devices { elements.insert(try store.locator(device.bytes)) }
        return try store.entries(about: .space, in: space, field: .card)
            .filter { elements.contains($0.element) }.map(\.operation)
    }
}
