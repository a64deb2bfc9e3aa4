public import ParleyConversation
public import ParleyLedger
public import ParleyWire

/// Entries that are looked for across what they are about: mentions, answers, threads and
/// decisions.
extension MemoryStore {
    /// How many entries that are mentions are on about these places and stand above this.
    public func mentionCount(
        on tag: LogTag, _ range: ClosedRange<UInt64>, above stand: UInt64, in space: SpaceNumber
    ) throws(StoreError) -> Int {
        try called("counting mentions")
        return mentions(in: space).count {
            $0.order.tag == tag && range.contains($0.order.sequence) && $0.order.stand > stand
        }
    }

    /// At most `limit` entries that are mentions and on, of all spaces, the highest first.
    public func mentions(before: OrderKey?, limit: Int) throws(StoreError) -> [Entry] {
        try called("reading mentions")
        let all = contents.entries.keys.sorted().flatMap { mentions(in: $0) }
        let below = all.filter { entry in before.map { entry.order < $0 } ?? true }
        return Array(below.sorted { $0.order > $1.order }.prefix(limit))
    }

    private func mentions(in space: SpaceNumber) -> [Entry] {
        entries(of: .mention, in: space).filter(\.isOn)
    }

    private func entries(of field: EntryField, in space: SpaceNumber) -> [Entry] {
        // They are sorted or counted: the order of the loop cannot be seen.
        (contents.entries[space] ?? [:]).values.flatMap { fields in
            (fields[field] ?? [:]).values.flatMap { $0 }
        }
    }

    /// At most `limit` answers of a thread, below `before` or the newest; newest first.
    public func answers(
        in thread: UInt64, of space: SpaceNumber, before: OrderKey?, limit: Int
    ) throws(StoreError) -> [Entry] {
        try called("reading answers")
        let found = answers(in: thread, of: space, before: before)
        return Array(found.sorted { $0.order > $1.order }.prefix(limit))
    }

    /// How many answers of a thread there are below `before`, or in all.
    public func answerCount(
        in thread: UInt64, of space: SpaceNumber, before: OrderKey?
    ) throws(StoreError) -> Int {
        try called("counting answers")
        return answers(in: thread, of: space, before: before).count
    }

    private func answers(
        in thread: UInt64, of space: SpaceNumber, before: OrderKey?
    ) -> [Entry] {
        entries(of: .answer, in: space).filter { entry in
            entry.element == thread && before.map { entry.order < $0 } ?? true
        }
    }

    /// The thread of each answer about a place of a log in the range that stands above this.
    public func threadsAnswered(
        on tag: LogTag, _ range: ClosedRange<UInt64>, above stand: UInt64, in space: SpaceNumber
    ) throws(StoreError) -> [UInt64] {
        try called("reading answers")
        let found = entries(of: .answer, in: space).filter {
            $0.order.tag == tag && range.contains($0.order.sequence) && $0.order.stand > stand
        }
        return found.map(\.element).sorted()
    }

    /// At most `limit` threads of a space or of all, below `before` or all, the highest first.
    public func threads(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry] {
        try called("reading threads")
        return page(of: .thread, in: space, before: before, limit: limit)
    }

    /// At most `limit` decisions of a space or of all, below `before` or all, the highest first.
    public func decisions(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry] {
        try called("reading decisions")
        return page(of: .decision, in: space, before: before, limit: limit)
    }

    /// At most `limit` messages that bring files, of a space or of all, below `before` or all, the highest
    /// first.
    public func files(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry] {
        try called("reading files")
        return page(of: .files, in: space, before: before, limit: limit)
    }

    /// At most `limit` entries of messages that name a sealed file, of all spaces, by their rows.
    public func naming(blob element: UInt64, limit: Int) throws(StoreError) -> [Entry] {
        try called("reading files")
        let all = contents.entries.keys.sorted().flatMap { entries(of: .blob, in: $0) }
        let found = all.filter { $0.element == element }
        return Array(found.sorted { $0.operation < $1.operation }.prefix(limit))
    }

    private func page(
        of field: EntryField, in space: SpaceNumber?, before: Entry?, limit: Int
    ) -> [Entry] {
        func place(_ entry: Entry) -> (UInt64, Int64) {
            (entry.order.stand, entry.operation.rawValue)
        }
        let spaces = space.map { [$0] } ?? contents.entries.keys.sorted()
        let all = spaces.flatMap { entries(of: field, in: $0) }
        let below = all.filter { entry in before.map { place(entry) < place($0) } ?? true }
        return Array(below.sorted { place($0) > place($1) }.prefix(limit))
    }
}
