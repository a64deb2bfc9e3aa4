import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Marks a message, on all devices of a person.
    public static let star = OperationKind(rawValue: 39)
}

extension EntryField {
    /// Which messages are marked, in the own space; one entry for each message.
    static let star = EntryField(rawValue: 15)
}

/// The payload that marks a message for its reader.
public struct Star: Equatable, Sendable {
    /// The conversation.
    public var space: SpaceID
    /// The message.
    public var message: OperationReference
    /// Whether it is marked.
    public var isOn: Bool

    /// A star with these fields.
    public init(space: SpaceID, message: OperationReference, isOn: Bool) {
        self.space = space
        self.message = message
        self.isOn = isOn
    }

    init?(payload: [UInt8]) {
        guard let star = Payload.decode(PayloadStar.self, payload),
            let space = SpaceID(fieldBytes(star.space)),
            let message = Self.message(fieldBytes(star.message))
        else { return nil }
        self.init(space: space, message: message, isOn: star.on)
    }

    /// The operation that says this, in the own space.
    public func draft() -> Draft {
        var star = PayloadStar()
        star.space = field(space.bytes)
        star.message = field(Self.bytes(of: message))
        star.on = isOn
        return Draft(kind: .star, lane: .shared, payload: Payload.encode(star))
    }

    /// A name of a message as 32 bytes: the numbers at full length, so that it has one spelling.
    fileprivate static func bytes(of message: OperationReference) -> [UInt8] {
        var writer = ByteWriter(capacity: 32)
        writer.uint64(message.tag.value)
        writer.uint64(message.sequence)
        writer.check(message.check)
        return writer.bytes
    }

    private static func message(_ bytes: [UInt8]) -> OperationReference? {
        var reader = ByteReader(bytes)
        // Bytes that are too short name nothing: the payload has no effect then, as with any other fault.
        guard let tag = try? reader.uint64(), let sequence = try? reader.uint64(),
            // The same.
            let check = try? reader.check(), reader.remaining == 0, sequence < Limits.placeMax
        else { return nil }
        return OperationReference(tag: LogTag(tag), sequence: sequence, check: check)
    }
}

extension Star: OwnNote {
    static var kind: OperationKind { .star }
    static var entryField: EntryField { .star }
    var subject: [UInt8] { Self.subject(message, in: space) }

    static func subject(_ message: OperationReference, in space: SpaceID) -> [UInt8] {
        space.bytes + bytes(of: message)
    }

    func changes(
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let space = try store.space(space),
            let log = try store.log(message.tag, in: space.number),
            let stored = try store.operation(at: message.sequence, in: log.number)
        else { return [] }
        return [.message(space.number, stored.number)]
    }
}

extension Overview {
    /// Whether the person marked this message.
    public static func isStarred(
        _ message: OperationReference, in space: SpaceID, ownSpace: SpaceNumber,
        store: some MergeStore
    ) throws(StoreError) -> Bool {
        let element = try store.locator(Star.subject(message, in: space))
        return try store.entries(about: .space, in: ownSpace, field: .star, element: element)
            .first?.isOn ?? false
    }

    /// All messages that the person starred, in that order; including those that were deleted
    /// since, or are not held here.
    public static func stars(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [Star] {
        try notes(Star.self, ownSpace: ownSpace, in: store).filter(\.isOn)
    }
}
