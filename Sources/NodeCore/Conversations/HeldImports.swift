import ParleyConversation
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// What somebody has brought into a conversation already, of the rows that are to come in: the person, or others.
///
/// Rows are recognised by their content, not by their place in a file, so any part of a log is
/// recognised after any other part. The content is read from the messages themselves, so it works
/// whichever version imported them, on whichever of the person's devices, and a removed message
/// leaves nothing behind.
struct HeldImports {
    /// What makes two rows alike.
    private struct Words: Hashable {
        var time: UInt64
        var author: String
        var isAction: Bool
        var text: String

        init?(_ message: TextMessage) {
            guard let origin = message.origin else { return nil }
            (time, author) = (origin.time, origin.author)
            (isAction, text) = (origin.isAction, message.text)
        }

        var origin: ImportedOrigin {
            ImportedOrigin(author: author, time: time, isAction: isAction)
        }
    }

    /// What is still known about a deleted row.
    private struct Shape: Hashable {
        var time: UInt64
        var author: String
        var isAction: Bool
        var byteCount: UInt64

        init(_ words: Words, byteCount: UInt64) {
            (time, author, isAction) = (words.time, words.author, words.isAction)
            self.byteCount = byteCount
        }

        init(_ words: Words) { self.init(words, byteCount: UInt64(words.text.utf8.count)) }
    }

    /// A row that shows a time of the future stands where it was brought in, below that time. Times
    /// without a zone are less than a day ahead, and a clock may be wrong by another: 2 days.
    private static let futureMax: UInt64 = 48 * 60 * 60 * 1000
    private static let pageCount = 500

    private let space: SpaceNumber
    private let logs: Set<LogNumber>
    /// How often each of the rows is held.
    private var counts: [Words: Int] = [:]
    /// The row that nothing ends in its file, and how often a longer one that begins with it is held.
    private let open: Words?
    private var longerCount = 0
    /// How many rows were brought in that look like those that were deleted, these included.
    private var shapes: [Shape: Int] = [:]
    private var isLongerDeleted = false
    /// The logs in which any of the rows is held.
    private(set) var importers: Set<LogNumber> = []

    /// - Parameter isMeant: whether it is about what this person brought in.
    init(
        of rows: [ImportedRow], in space: SpaceRecord, _ roster: Roster?, _ store: some Store,
        by isMeant: (PersonID) -> Bool
    ) throws(StoreError) {
        self.space = space.number
        open = rows.last { $0.mayGrow }.flatMap { Words($0.message) }
        var own: [LogRecord] = []
        for log in try store.logs(in: space.number)
        where log.lane == .content && log.end > 0 {
            if let person = roster?.person(of: log.device), isMeant(person) { own.append(log) }
        }
        logs = Set(own.map(\.number))
        var times: Set<UInt64> = []
        for row in rows where row.alikeAbove != nil {
            guard let words = Words(row.message) else { continue }
            counts[words] = 0
            times.insert(words.time)
        }
        guard !own.isEmpty, !times.isEmpty else { return }
        try readDeleted(like: rows, in: space, store)
        let first = try Self.firstStand(of: own, store)
        for time in times.sorted() where time << 16 < first {
            try read(from: time << 16, through: time << 16, [time], store)
        }
        let later = times.filter { $0 << 16 >= first }
        guard let low = later.min(), let high = later.max() else { return }
        let start = low - min(low, Self.futureMax)
        try read(from: max(first, start << 16), through: high << 16, later, store)
    }

    /// Whether the row is in, or was.
    func contains(_ row: ImportedRow) -> Bool { isHeld(row) || wasDeleted(row) }

    /// Whether the row is in: as many like it as stand above it in its file, and one more.
    func isHeld(_ row: ImportedRow) -> Bool {
        guard let above = row.alikeAbove, let words = Words(row.message) else { return false }
        return counts[words, default: 0] + (row.mayGrow ? longerCount : 0) > above
    }

    /// Whether the row was imported and deleted. Its text is gone: it is recognised by its author,
    /// its time, its length, and by how many such rows precede it in its file.
    func wasDeleted(_ row: ImportedRow) -> Bool {
        guard row.alikeAbove != nil, let words = Words(row.message), !isHeld(row) else {
            return false
        }
        if row.mayGrow, isLongerDeleted { return true }
        guard let count = shapes[Shape(words)] else { return false }
        return row.likeLengthAbove.map { $0 < count } ?? false
    }

    /// Whether all that is known of the row is a longer one, of which it may be the beginning.
    func mayBeOther(_ row: ImportedRow) -> Bool {
        guard row.mayGrow, let above = row.alikeAbove, let words = Words(row.message) else {
            return false
        }
        return contains(row) && counts[words, default: 0] <= above
    }

    /// Counts deleted rows at the times of these rows and by their authors.
    private mutating func readDeleted(
        like rows: [ImportedRow], in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        var seen: Set<[UInt8]> = []
        for row in rows where row.alikeAbove != nil {
            guard let words = Words(row.message) else { continue }
            let origin = words.origin
            guard seen.insert(DeletedImports.key(of: origin, in: space.id)).inserted else {
                continue
            }
            for line in try DeletedImports.lines(of: origin, in: space, store) {
                shapes[Shape(words, byteCount: line.byteCount), default: 0] += 1
                if let open, open.origin == origin, line.byteCount > open.text.utf8.count {
                    isLongerDeleted = true
                }
            }
        }
    }

    /// Where the first stands that the person wrote here: nothing was brought in above it at a time of
    /// the future.
    private static func firstStand(
        of logs: [LogRecord], _ store: some Store
    ) throws(StoreError) -> UInt64 {
        var first = UInt64.max
        for log in logs {
            guard let place = log.spans.first?.first,
                let stored = try store.operation(at: place, in: log.number)
            else { continue }
            first = min(first, VerifiedOperation(stored: stored, tag: log.tag).orderKey.stand)
        }
        return first
    }

    /// Counts imported rows with one of these times in the range.
    private mutating func read(
        from low: UInt64, through high: UInt64, _ times: Set<UInt64>, _ store: some Store
    ) throws(StoreError) {
        var before = OrderKey(
            stand: high + 1, tag: LogTag(0), sequence: 0, id: OperationID { _ in })
        while true {
            let rows = try store.messages(in: space, before: before, limit: Self.pageCount)
            for row in rows {
                guard row.order.stand >= low else { return }
                guard row.flags.contains(.imported), !row.flags.contains(.deleted),
                    logs.contains(row.log), mayShow(times, row.order.stand)
                else { continue }
                try add(row, times, store)
            }
            guard rows.count == Self.pageCount, let last = rows.last else { return }
            before = last.order
        }
    }

    /// Most rows stand right at their own time, to the minute: that tells without their text.
    private func mayShow(_ times: Set<UInt64>, _ stand: UInt64) -> Bool {
        let (time, rest) = (stand >> 16, stand & 0xFFFF)
        return times.contains(time) || rest != 0 || !time.isMultiple(of: 60_000)
    }

    private mutating func add(
        _ row: MessageRow, _ times: Set<UInt64>, _ store: some Store
    ) throws(StoreError) {
        let payload = try store.operation(row.operation)?.operation.payload
        guard let words = payload.flatMap(TextMessage.init).flatMap(Words.init),
            times.contains(words.time)
        else { return }
        if let count = counts[words] {
            counts[words] = count + 1
            importers.insert(row.log)
        }
        if let count = shapes[Shape(words)] { shapes[Shape(words)] = count + 1 }
        guard let open, open.time == words.time, open.author == words.author,
            open.isAction == words.isAction, open.text.utf8.count < words.text.utf8.count,
            words.text.utf8.starts(with: open.text.utf8)
        else { return }
        longerCount += 1
    }
}

extension NodeCore {
    /// How many of these rows, which the person has not brought in, others have brought into a conversation, and
    /// who they are.
    public func importedByOthers(
        _ rows: [ImportedRow], in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> (count: Int, persons: [PersonID]) {
        let roster = try knownRoster(of: space, store)
        let own = try HeldImports(of: rows, in: space, roster, store) { $0 == identity.person }
        let new = rows.filter { !own.contains($0) }
        let others = try HeldImports(of: new, in: space, roster, store) { $0 != identity.person }
        var persons: Set<PersonID> = []
        for number in others.importers {
            guard let log = try store.log(number), let person = roster?.person(of: log.device)
            else { continue }
            persons.insert(person)
        }
        return (new.count(where: others.isHeld), persons.sorted())
    }
}
