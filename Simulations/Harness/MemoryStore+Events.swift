public import ParleyLedger

extension MemoryStore {
    /// The operation that was stored last; 0 before the first.
    public var lastOperation: OperationNumber { OperationNumber(Int64(operationCount)) }

    /// The number that the next entry of the log of events gets.
    public var nextEventEntry: UInt64 {
        UInt64(contents.droppedEventCount + contents.events.count + 1)
    }

    /// Keeps an entry under that number.
    public func appendEventEntry(_ content: [UInt8]) throws(StoreError) {
        try writes("storing what happened")
        change {
            $0.events.append(content)
        } back: {
            $0.events.removeLast()
        }
    }

    /// At most `limit` entries from this number on, ascending.
    public func eventEntries(
        from number: UInt64, limit: Int
    ) throws(StoreError) -> [(number: UInt64, content: [UInt8])] {
        try called("reading what happened")
        let first = contents.droppedEventCount + 1
        let begin = max(first, Int(clamping: number))
        guard begin < first + contents.events.count else { return [] }
        return contents.events[(begin - first)...].prefix(limit).enumerated().map {
            (UInt64(begin + $0), $1)
        }
    }

    /// Drops the entries below this number.
    public func dropEventEntries(below number: UInt64) throws(StoreError) {
        try writes("dropping what happened")
        let count = min(
            max(0, Int(clamping: number) - 1 - contents.droppedEventCount), contents.events.count)
        let dropped = Array(contents.events.prefix(count))
        change {
            $0.events = Array($0.events.dropFirst(count))
            $0.droppedEventCount += count
        } back: {
            $0.events.insert(contentsOf: dropped, at: 0)
            $0.droppedEventCount -= count
        }
    }
}
