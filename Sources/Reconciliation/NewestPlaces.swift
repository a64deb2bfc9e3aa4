import ParleyLedger

/// Where the newest part of each log of a space begins, read anew only where a log of the space changed.
struct NewestPlaces: Sendable {
    /// What was read last, and the change count of the store then.
    private var known: (changeCount: UInt64, places: [(log: LogNumber, first: UInt64)])?

    /// The first place of each log among the newest operations of a space; of logs without any, nothing.
    mutating func read(
        of space: SpaceNumber, count: Int, _ store: some LogStore
    ) throws(StoreError) -> [(log: LogNumber, first: UInt64)] {
        let changeCount = store.logChangeCount(in: space)
        if let known, known.changeCount == changeCount { return known.places }
        let places = try store.newestPlaces(in: space, count: count)
        known = (changeCount, places)
        return places
    }
}
