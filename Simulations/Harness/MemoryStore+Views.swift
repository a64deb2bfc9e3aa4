public import ParleyLedger

extension MemoryStore {
    /// Keeps what a stretch of the log was written under; a row at the same place is replaced.
    public func setView(_ view: LogView, in log: LogNumber) throws(StoreError) {
        try writes("storing a view")
        replaceView(at: view.first, by: view, in: log)
    }

    /// Drops the row that begins at this place.
    public func removeView(at first: UInt64, in log: LogNumber) throws(StoreError) {
        try writes("dropping a view")
        replaceView(at: first, by: nil, in: log)
    }

    private func replaceView(at first: UInt64, by view: LogView?, in log: LogNumber) {
        let old = contents.views[log]?[first]
        change {
            $0.views[log, default: SortedMap()][first] = view
        } back: {
            $0.views[log, default: SortedMap()][first] = old
        }
    }

    /// The row with the highest place at or below this one, or nil.
    public func view(at sequence: UInt64, in log: LogNumber) throws(StoreError) -> LogView? {
        try called("reading a view")
        guard let rows = contents.views[log] else { return nil }
        let place = sequence == .max ? rows.count : rows.lowerBound(sequence + 1)
        return place > 0 ? rows.values[place - 1] : nil
    }

    /// The rows that begin in this range, ascending.
    public func views(
        in log: LogNumber, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> [LogView] {
        try called("reading views")
        return contents.views[log]?.values.filter { range.contains($0.first) } ?? []
    }
}
