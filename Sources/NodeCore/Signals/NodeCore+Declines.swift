import ParleyConversation
public import ParleyLedger
public import ParleySignalling
import ParleyWire

/// Which calls this person declined. A record of a call is its founder's and does not tell that of a group, where
/// the others ring on.
extension NodeCore {
    /// Of so many this is known: beyond that those declined first are forgotten.
    static let declinedCallCountMax = 256

    /// Whether this device declined a call, or heard that another one of the person did.
    public static func hasDeclined(
        _ call: CallID, in space: SpaceNumber, _ store: some NodeStore
    ) throws(StoreError) -> Bool {
        try store.value(.declinedCall, key(of: call, in: space)) != nil
    }

    /// Keeps that a call was declined, where it stopped ringing for that.
    func keepDecline(
        _ end: CallEnd, of call: CallID, in space: SpaceNumber, at now: Instant,
        _ store: some NodeStore
    ) throws(StoreError) {
        guard [.declined, .declinedElsewhere].contains(end) else { return }
        try store.setNumber(now.wall, .declinedCall, Self.key(of: call, in: space))
        let all = try store.values(.declinedCall)
        let excess = all.count - Self.declinedCallCountMax
        guard excess > 0 else { return }
        // A time is a number of fixed length: its bytes ascend as it does.
        let oldest = all.sorted { left, right in
            left.value.lexicographicallyPrecedes(right.value)
        }
        for row in oldest.prefix(excess) { try store.setValue(nil, .declinedCall, row.key) }
    }

    private static func key(of call: CallID, in space: SpaceNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 24)
        writer.uint64(UInt64(bitPattern: space.rawValue))
        writer.uint64(call.check.high)
        writer.uint64(call.check.low)
        return writer.bytes
    }
}
