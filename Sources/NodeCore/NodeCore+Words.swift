import ParleyConversation
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// From where on it is known whether what this device did in lane 4 is delivered. Nobody says in a receipt
/// that they have it, and what was acknowledged on links is lost with a repair: of what was written before
/// that nothing is known, and nothing is said.
extension NodeCore {
    private static func key(ofWordsIn log: LogTag) -> [UInt8] { Array("words".utf8) + log.bytes }

    private static func tag(of space: SpaceRecord, by device: DeviceID) -> LogTag {
        LogTag(OperationHash.log(space: space.id, device: device, lane: .shared))
    }

    /// Notes where that begins, with the first that is written.
    func noteWords(
        _ applied: [AppliedOperation], in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        guard space.kind != .own,
            let first = applied.first(where: { $0.log.lane == .shared })?.operation.sequence
        else { return }
        let key = Self.key(ofWordsIn: Self.tag(of: space, by: identity.device))
        if try store.number(.profile, key) == nil { try store.setNumber(first, .profile, key) }
    }

    /// The first place in the log of a device in lane 4 of which that is known; none where nothing is.
    public static func wordsKnown(
        of space: SpaceRecord, by device: DeviceID, in store: some NodeStore
    ) throws(StoreError) -> [LogTag: UInt64] {
        let tag = tag(of: space, by: device)
        guard let first = try store.number(.profile, key(ofWordsIn: tag)) else { return [:] }
        return [tag: first]
    }

    /// Forgets it, with what was acknowledged.
    public static func forgetWords(
        of space: SpaceRecord, by device: DeviceID, in store: some NodeStore
    ) throws(StoreError) {
        try store.setValue(nil, .profile, key(ofWordsIn: tag(of: space, by: device)))
    }
}
