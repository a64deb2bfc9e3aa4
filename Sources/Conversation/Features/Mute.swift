import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Silences a conversation, on all devices of a person.
    public static let mute = OperationKind(rawValue: 33)
}

extension EntryField {
    /// Which spaces are muted, in the own space; one entry for each space.
    static let mute = EntryField(rawValue: 5)
}

/// The payload that silences a conversation.
public struct Mute: Equatable, Sendable {
    /// The conversation.
    public var space: SpaceID
    /// Whether it is silent.
    public var isOn: Bool
    /// Until when, in Unix milliseconds; nil for until it is ended. Each device goes by its own clock.
    public var until: UInt64?

    /// A mute with these fields.
    public init(space: SpaceID, isOn: Bool, until: UInt64? = nil) {
        self.space = space
        self.isOn = isOn
        self.until = until
    }

    /// Whether it is silent at this time.
    public func isSilent(at time: UInt64) -> Bool { isOn && until.map { time < $0 } ?? true }

    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadMute.self, payload),
            let space = SpaceID(fieldBytes(message.space))
        else { return nil }
        self.init(
            space: space, isOn: message.on, until: message.until == 0 ? nil : message.until)
    }

    /// The operation that says this, in the own space.
    public func draft() -> Draft {
        var message = PayloadMute()
        message.space = field(space.bytes)
        message.on = isOn
        message.until = until ?? 0
        return Draft(kind: .mute, lane: .shared, payload: Payload.encode(message))
    }
}

extension Mute: OwnNote {
    static var kind: OperationKind { .mute }
    static var entryField: EntryField { .mute }
    var subject: [UInt8] { space.bytes }

    func changes(
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        try store.space(space).map { [.conversation($0.number)] } ?? []
    }
}
