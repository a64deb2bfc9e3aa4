import ParleyConversation
import ParleyLedger
import ParleyWire

/// The place of an operation follows from what it names, which can arrive later. Then operations
/// are placed again, and views are recomputed if anything moved.
///
/// Source: `Protocol/03-operations.md`, "Order".
extension NodeCore {
    /// In a space of so many operations they are placed again at once.
    static let placedAtOnceMax: UInt64 = 4_096
    /// In a larger space this long after the arrival of an operation that others had named, in
    /// milliseconds, and a tenth of a millisecond later for each operation: naming operations that
    /// nobody has can keep much unsettled, and must not make every arrival cost as much.
    static let placingDelay: UInt64 = 100

    /// Places operations of a space again, at once or soon, where some are not settled.
    mutating func placeAgain(_ space: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        var heldCount: UInt64 = 0
        var isPending = false
        for log in try turn.store.logs(in: space) where log.lane.carriesAuthority {
            heldCount += UInt64(log.heldCount)
            isPending = isPending || log.lacksOrder
        }
        guard isPending else { return }
        if heldCount <= Self.placedAtOnceMax { return try place(space, &turn) }
        guard let id = try turn.store.space(space)?.id else { return }
        try turn.store.setValue([1], .unplaced, id.bytes)
        timers.set(.placing(space), in: Self.placingDelay + heldCount / 10, &turn)
    }

    /// Continues at the start with what was to be placed again.
    mutating func placeAll(_ turn: inout some Turn) throws(StoreError) {
        for (key, _) in try turn.store.values(.unplaced) {
            guard let id = SpaceID(key), let space = try turn.store.space(id) else { continue }
            timers.set(.placing(space.number), in: Self.placingDelay, &turn)
        }
    }

    /// Places what is not placed yet.
    mutating func place(_ number: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        guard let space = try turn.store.space(number) else { return }
        try turn.store.setValue(nil, .unplaced, space.id.bytes)
        try prepare(space, turn.store)
        guard let rule = rosters.judges[number]?.placing,
            try StandSettling.settle(number, by: rule, in: turn.store)
        else { return }
        try refold(space, &turn)
    }

    /// Places all of a space again: another part of a log counts than before, or begins elsewhere.
    ///
    /// - Returns: whether anything stands elsewhere.
    mutating func placeAnew(
        _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        try prepare(space, store)
        guard let rule = rosters.judges[space.number]?.placing else { return false }
        return try StandSettling.again(space.number, by: rule, in: store)
    }
}
