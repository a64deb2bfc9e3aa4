import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Pins a message to the top of a conversation, or takes it down.
    public static let pin = OperationKind(rawValue: 40)
}

extension EntryField {
    /// Which messages are pinned, one entry for each.
    static let pin = EntryField(rawValue: 16)
}

/// The payload that pins a message.
public struct Pin: Equatable, Sendable {
    /// Whether it is pinned or taken down.
    public var isOn: Bool

    /// A pin with these fields.
    public init(isOn: Bool) { self.isOn = isOn }

    package init?(payload: [UInt8]) {
        guard let pin = Payload.decode(PayloadPin.self, payload), (1...2).contains(pin.state) else {
            return nil
        }
        self.init(isOn: pin.state == 1)
    }

    /// The operation that says this of a message.
    public func draft(of message: OperationReference) -> Draft {
        var pin = PayloadPin()
        pin.state = isOn ? 1 : 2
        return Draft(
            kind: .pin, lane: .shared, references: [message], payload: Payload.encode(pin))
    }

    /// Of two messages at one place of a forked log each is pinned separately.
    fileprivate static func subject(_ message: OperationReference) -> [UInt8] {
        var writer = ByteWriter(capacity: 32)
        writer.uint64(message.tag.value)
        writer.uint64(message.sequence)
        writer.check(message.check)
        return writer.bytes
    }
}

/// Of all pins and unpins of a message the last in order holds, whoever wrote it. In a conversation
/// of two both may pin, in a group whom its rules let.
///
/// The list is bounded when it is read: a rule that dropped the excess would give different results
/// after an unpin, depending on the order of arrival.
enum PinRule: MergeRule {
    static let kind = OperationKind.pin
    static let lane = Lane.shared
    static let role = Role.member
    static let act: GroupAct? = .pin

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.roster.kind != .own,
            let target = applied.operation.operation.header.references.first,
            let pin = applied.operation.operation.payload.flatMap(Pin.init),
            try LastWriter.put(
                .pin, of: Pin.subject(target), isOn: pin.isOn, by: applied, context, in: store)
        else { return [] }
        let change = ViewChange.conversation(context.space.number)
        return try [change] + Target.change(target, context, in: store)
    }
}

extension Overview {
    /// So many pinned messages are shown of one conversation.
    public static let pinCountMax = 32

    /// The pinned messages, the last pinned first; at most ``pinCountMax``. Deleted messages and
    /// those not held are not among them.
    public static func pins(
        in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> [OperationReference] {
        var pins: [OperationReference] = []
        let entries = try store.entries(about: .space, in: space, field: .pin)
        for entry in entries.sorted(by: { $0.order > $1.order }) where entry.isOn {
            if pins.count == pinCountMax { break }
            guard let pin = try store.operation(entry.operation),
                let message = pin.operation.header.references.first,
                let log = try store.log(message.tag, in: space), log.lane == .content,
                let stored = try store.operation(at: message.sequence, in: log.number),
                stored.operation.header.kind == .text, stored.id.check == message.check,
                // What does not count has no row.
                let row = try store.message(stored.messageOrder(in: log), in: space),
                !row.flags.contains(.deleted)
            else { continue }
            pins.append(message)
        }
        return pins
    }

    /// How many messages are pinned that lie below where their logs begin here, and are not held.
    public static func absentPinCount(
        in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> Int {
        var count = 0
        for entry in try store.entries(about: .space, in: space, field: .pin) where entry.isOn {
            guard let pin = try store.operation(entry.operation),
                let message = pin.operation.header.references.first,
                let log = try store.log(message.tag, in: space), log.lane == .content,
                message.sequence < log.base,
                try store.operation(at: message.sequence, in: log.number) == nil
            else { continue }
            count += 1
        }
        return count
    }

    /// Whether the last word on a message is that it is pinned; ``pins(in:store:)`` tells whether it is
    /// shown so.
    public static func isPinned(
        _ message: OperationReference, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> Bool {
        let element = try store.locator(Pin.subject(message))
        return try store.entries(about: .space, in: space, field: .pin, element: element)
            .first?.isOn ?? false
    }
}
