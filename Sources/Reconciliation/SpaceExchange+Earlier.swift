public import ParleyLedger
import ParleyWire

/// What was written before a person came, as far as one of their own devices holds it: whoever went and
/// came back is given nothing of before by others, and one of their devices may have been there.
/// Source: `Protocol/06-sync.md`, "What own devices hold from before".
struct EarlierHistory: Sendable {
    /// Whether the peer is a device of the same person.
    let isOwn: Bool
    /// Whether the peer is still to be asked.
    private(set) var isDue: Bool
    /// Below which place of a log the peer may still hold something; where nothing is said, below where
    /// the log begins.
    private var ends: [LogTag: UInt64] = [:]
    /// What the peer was asked for last.
    private var asked: [Want.Range] = []

    init(isOwn: Bool) {
        self.isOwn = isOwn
        isDue = isOwn
    }

    /// Another part of the space passes, and logs may begin elsewhere.
    mutating func beginAgain() { self = EarlierHistory(isOwn: isOwn) }

    /// What the peer is to be asked for next; nothing where it has told all.
    ///
    /// - Parameter firsts: below which place of a log nothing is wanted: it was deleted here.
    mutating func nextRanges(
        of logs: [LogRecord], from firsts: [LogTag: UInt64]
    ) -> [Want.Range] {
        while isDue {
            let ranges = ranges(of: logs, from: firsts)
            // Nothing of that has come: the peer does not hold it.
            guard ranges == asked, !ranges.isEmpty else {
                asked = ranges
                isDue = !ranges.isEmpty
                return ranges
            }
            for range in ranges { ends[range.tag] = range.first }
        }
        return []
    }

    /// The newest stretch that is not held of each log, below where it begins.
    private func ranges(
        of logs: [LogRecord], from firsts: [LogTag: UInt64]
    ) -> [Want.Range] {
        let ranges = logs.compactMap { log -> Want.Range? in
            let first = firsts[log.tag] ?? 0
            guard let places = log.unheld(below: min(log.base, ends[log.tag] ?? log.base)),
                places.upperBound >= first
            else { return nil }
            return Want.Range(
                tag: log.tag, first: max(first, places.lowerBound), last: places.upperBound)
        }
        return Array(ranges.prefix(Limits.wantRangeCountMax))
    }
}

extension SpaceExchange {
    /// The next question about what was written before this device's person came; once all else is here
    /// that the peer said it holds.
    mutating func nextEarlierWant(
        from firsts: (LogRecord) throws(StoreError) -> UInt64, store: some LogStore
    ) throws(StoreError) -> Want? {
        guard earlier.isDue, scope.isEverything, !questions.contains(.earlier),
            try lacksNothing(store: store)
        else { return nil }
        let logs = try logs(store).filter { $0.base > 0 }
        var wanted: [LogTag: UInt64] = [:]
        for log in logs { wanted[log.tag] = try firsts(log) }
        let ranges = earlier.nextRanges(of: logs, from: wanted)
        guard !ranges.isEmpty else { return nil }
        questions.append(.earlier)
        return Want(space: space.id, limit: UInt64(Limits.wantOperationCountMax), ranges: ranges)
    }
}

extension SyncSession {
    /// Asks a device of the same person for what it holds from before that person came; nothing as long
    /// as it is to answer, and once it has told all.
    ///
    /// - Parameter firsts: below which place of a log nothing is wanted.
    public mutating func askForEarlier(
        from firsts: (LogRecord) throws(StoreError) -> UInt64, _ store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard isOpen else { return [] }
        var outputs: [SessionOutput] = []
        for number in shared.keys.sorted() where shared[number]?.earlier.isDue == true {
            if let want = try shared[number]?.nextEarlierWant(from: firsts, store: store) {
                outputs.append(.send(.want(want)))
            }
        }
        return outputs
    }

    /// Whether the peer is to answer what it holds from before.
    public var awaitsEarlier: Bool {
        shared.values.contains { $0.questions.contains(.earlier) }
    }
}
