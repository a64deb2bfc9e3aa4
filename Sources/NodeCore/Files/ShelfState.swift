import ParleyFiles
public import ParleyLedger
public import ParleyWire

/// How much of a file this device has laid at a relay for those who lack it.
public struct ShelfState: Equatable, Sendable {
    /// Where the relay is, the best address first; none where nobody knows.
    public var addresses: [String]
    /// How many pieces there are.
    public var pieceCount: Int
    /// How many of them lie there.
    public var laidCount: Int
    /// How many devices lack the file that read there.
    public var lackingCount: Int
    /// Whether it is more than a shelf holds there.
    public var isTooLarge: Bool
}

extension NodeCore {
    /// Where a file of this device lies, or is about to, ascending by the relay's key.
    public func shelfStates(
        of blob: BlobID, in store: some NodeStore
    ) throws(StoreError) -> [ShelfState] {
        guard let laying = shelves.laid[blob] else { return [] }
        var states: [ShelfState] = []
        for (relay, lackingCount) in laying.lacking.sorted(by: { $0.key < $1.key }) {
            let place = ShelfPlace(blob: blob, relay: relay)
            let record = try ShelfRecord.kept(place, in: store)
            let room = shelves.room(at: place) ?? .max
            states.append(
                ShelfState(
                    addresses: courier.lines[relay]?.places.addresses ?? [],
                    pieceCount: laying.writer.pieceCount,
                    laidCount: Int(clamping: record?.pieceCount ?? 0),
                    lackingCount: lackingCount, isTooLarge: room < laying.writer.byteCount))
        }
        return states
    }

    /// Where the relays are that were asked for a file, ascending by their keys.
    public func relaysAsked(for blob: BlobID) -> [[String]] {
        let relays = Set(shelves.readings.keys.filter { $0.blob == blob }.map(\.relay))
        return relays.sorted().compactMap { courier.lines[$0]?.places.addresses }.filter {
            !$0.isEmpty
        }
    }
}
