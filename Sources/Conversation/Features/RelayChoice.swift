import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// A relay that the person's devices use, or use no more.
    public static let relay = OperationKind(rawValue: 36)
}

extension EntryField {
    /// The person's relays, in the own space; one entry for each.
    static let relay = EntryField(rawValue: 9)
}

/// The payload that says whether a person's devices use a relay.
public struct RelayChoice: Equatable, Sendable {
    /// Addresses of one relay.
    public static let addressCountMax = 16
    private static let addressByteCountMax = 256

    /// The relay's key.
    public var relay: NoiseKey
    /// Where it is, as `host:port`; the best first.
    public var addresses: [String]
    /// Until when it is still read, in Unix milliseconds; nil for one that is in use.
    public var until: UInt64?

    /// A choice with these fields.
    public init(relay: NoiseKey, addresses: [String], until: UInt64? = nil) {
        self.relay = relay
        self.addresses = addresses
        self.until = until
    }

    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadRelay.self, payload),
            let relay = NoiseKey(fieldBytes(message.key)),
            message.addresses.count <= Self.addressCountMax,
            message.addresses.allSatisfy({
                $0.utf8.count <= Self.addressByteCountMax
                    && $0.utf8.allSatisfy { (0x21...0x7e).contains($0) }
            }), message.until < Limits.wallClockMax
        else { return nil }
        self.init(
            relay: relay, addresses: message.addresses,
            until: message.until == 0 ? nil : message.until)
    }

    /// The operation that says this, in the own space.
    public func draft() -> Draft {
        var message = PayloadRelay()
        message.key = field(relay.bytes)
        message.addresses = Array(addresses.prefix(Self.addressCountMax))
        message.until = until ?? 0
        return Draft(kind: .relay, lane: .shared, payload: Payload.encode(message))
    }
}

extension RelayChoice: OwnNote {
    static var kind: OperationKind { .relay }
    static var entryField: EntryField { .relay }
    var subject: [UInt8] { relay.bytes }

    func changes(_ context: MergeContext, in store: some MergeStore) -> [ViewChange] { [.relays] }
}

extension Overview {
    /// The relays that a person's devices use or have used, in the order in which they were chosen.
    public static func relays(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [RelayChoice] {
        try notes(RelayChoice.self, ownSpace: ownSpace, in: store)
    }
}
