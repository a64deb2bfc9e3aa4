import ParleyLedger

/// Finds every row of a damaged table that SQLite can still read, and the number that it has.
///
/// No statement of a page is believed alone. A number that does not follow the one before is
/// compared with the index of the table, and with what SQLite finds under it. Then every number
/// without a row is looked up separately. All of it is bounded, wherever pointers lead.
struct RowWalk {
    /// A row that was found.
    struct Found {
        let row: Statement
        /// Its number, whatever its page says.
        let number: Int64
        /// Whether that is certain. One that is not gives way to one that is.
        let isSure: Bool
    }

    /// How the rows from a number on end.
    private enum End {
        /// There are no more.
        case ended
        /// It cannot continue; this is the lowest number that was not seen.
        case broken(next: Int64)
    }

    /// Rows in a row that were all seen before: a page leads back. One page holds fewer.
    private static let repeatedCountMax = 1_000
    /// How many numbers of one gap are looked up: those that a damaged page far up in a large tree
    /// hides. Of a larger gap, which a false number tears open, both edges are.
    private static let holeSizeMax: Int64 = 1 << 24
    private static let edgeSize: Int64 = 1 << 12
    /// How many numbers are looked up in all: a few minutes.
    private static let lookUpCountMax = 1 << 26
    /// How many more numbers than rows were found an index may tell.
    private static let indexExcessMax = 1 << 24

    private let rows: Statement?
    private let row: Statement?
    private let index: PlaceIndex?
    private var seen = NumberSet()
    private var leftLookUps = lookUpCountMax
    private var newCount = 0
    /// Whether the pages of the table contradict themselves: one of them may hide a row.
    private var isDoubtful = false
    /// How many rows the index names; nil where it could not be read to its end.
    private var namedCount: Int?
    /// How often something could not be read.
    private(set) var gapCount = 0

    init(_ source: Connection, _ table: RescueTable) {
        index = PlaceIndex(table, in: source)
        // A table that cannot be asked at all is one gap.
        rows = try? source.prepare("\(table.query) WHERE number >= ? ORDER BY number")
        // As above.
        row = try? source.prepare("\(table.query) WHERE number = ?")
    }

    /// Shows every row that can be read.
    mutating func run(_ body: (Found) throws(StoreError) -> Void) throws(StoreError) {
        guard rows != nil, row != nil else {
            gapCount = 1
            return
        }
        try followPages(body)
        try followIndex(body)
        try lookUpHoles(body)
        if isDoubtful, !isAccountedFor { gapCount = max(gapCount, 1) }
    }

    /// Whether the index knows every row that a page may hide. The numbers alone do not: a removed
    /// row leaves a gap as well.
    private var isAccountedFor: Bool {
        guard let namedCount else { return false }
        return namedCount >= newCount
    }

    // MARK: In the order of the pages

    /// Goes from page to page; behind one that cannot be read, on from higher and higher numbers.
    private mutating func followPages(
        _ body: (Found) throws(StoreError) -> Void
    ) throws(StoreError) {
        var start = Int64.min
        var (base, reach): (Int64, Int64) = (0, 0)
        while true {
            let before = newCount
            guard case .broken(let next) = try stream(from: start, body) else { return }
            isDoubtful = true
            if newCount > before {
                (base, reach) = (next, 0)
            } else {
                if reach == 0 { gapCount += 1 }
                reach = reach == 0 ? 1 : reach * 2
            }
            guard base <= RescueTable.numberMax, reach <= RescueTable.numberMax else { return }
            start = base + reach
        }
    }

    private mutating func stream(
        from first: Int64, _ body: (Found) throws(StoreError) -> Void
    ) throws(StoreError) -> End {
        guard let rows else { return .ended }
        rows.bind(1, first)
        defer { rows.reset() }
        var previous = max(first, 1) - 1
        var repeatedCount = 0
        var last: Int64?
        while true {
            do throws(StoreError) {
                guard try rows.step("reading what can be read") else { return .ended }
            } catch {
                return .broken(next: previous + 1)
            }
            let number = rows.integer(0)
            // The numbers of a sound table ascend: in the place of this row, or of one before it, another
            // one should stand.
            if let last, number <= last { isDoubtful = true }
            last = number
            if number == previous + 1, !seen.contains(number) {
                try show(rows, as: number, body)
                (previous, repeatedCount) = (number, 0)
            } else if let placed = try place(rows, after: previous, body) {
                previous = placed
                repeatedCount = 0
            } else {
                repeatedCount += 1
                if seen.contains(number) { previous = number }
                guard repeatedCount < Self.repeatedCountMax else {
                    let end = seen.range(of: number)?.upperBound ?? previous
                    return .broken(next: min(end, RescueTable.numberMax) + 1)
                }
            }
        }
    }

    /// Finds out the number of a row that does not follow on the one before.
    ///
    /// - Returns: its number; nil if it reveals nothing new.
    private mutating func place(
        _ rows: Statement, after previous: Int64, _ body: (Found) throws(StoreError) -> Void
    ) throws(StoreError) -> Int64? {
        let number = rows.integer(0)
        let told = index?.number(of: rows)
        if let told, told == number || told == previous + 1, !seen.contains(told),
            isPossible(told)
        {
            try show(rows, as: told, body)
            return told
        }
        if seen.contains(number), told == nil || told == number { return nil }
        if isPossible(number), !seen.contains(number), try lookUp(number, body) { return number }
        // Neither the index nor SQLite knows a row of this number, and yet there it is.
        gapCount += 1
        let guess = told.flatMap { seen.contains($0) || !isPossible($0) ? nil : $0 } ?? number
        guard isPossible(guess), !seen.contains(guess) else { return nil }
        try body(Found(row: rows, number: guess, isSure: false))
        return nil
    }

    private func isPossible(_ number: Int64) -> Bool { 1...RescueTable.numberMax ~= number }

    private mutating func show(
        _ row: Statement, as number: Int64, _ body: (Found) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard seen.insert(number) else { return }
        newCount += 1
        try body(Found(row: row, number: number, isSure: true))
    }

    // MARK: By their numbers

    /// Shows the row that SQLite finds under a number.
    ///
    /// - Returns: whether there is one.
    private mutating func lookUp(
        _ number: Int64, _ body: (Found) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        guard let row else { return false }
        row.bind(1, number)
        defer { row.reset() }
        do throws(StoreError) {
            guard try row.step("reading what can be read"), row.integer(0) == number
            else { return false }
        } catch {
            // What cannot be read is looked for elsewhere.
            isDoubtful = true
            return false
        }
        try show(row, as: number, body)
        return true
    }

    /// Looks up what the index names and no page showed.
    private mutating func followIndex(
        _ body: (Found) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let index else { return }
        var lost = NumberSet()
        var count = 0
        let isWhole = try index.eachNumber(atMost: newCount + Self.indexExcessMax) {
            number throws(StoreError) in
            count += 1
            guard isPossible(number), !seen.contains(number), !lost.contains(number) else { return }
            if try !lookUp(number, body) { lost.insert(number) }
        }
        if isWhole { namedCount = count }
        if !lost.ranges.isEmpty { gapCount += lost.ranges.count }
    }

    /// Looks up every number that lies between those of which a row was seen, and some above.
    private mutating func lookUpHoles(
        _ body: (Found) throws(StoreError) -> Void
    ) throws(StoreError) {
        let top = min(seen.ranges.last?.upperBound ?? 0, RescueTable.numberMax)
        for hole in seen.holes + [top + 1...top + Self.edgeSize] {
            guard hole.upperBound - hole.lowerBound >= Self.holeSizeMax else {
                try lookUp(hole, body)
                continue
            }
            try lookUp(hole.lowerBound...hole.lowerBound + Self.edgeSize, body)
            try lookUp(hole.upperBound - Self.edgeSize...hole.upperBound, body)
        }
    }

    private mutating func lookUp(
        _ numbers: ClosedRange<Int64>, _ body: (Found) throws(StoreError) -> Void
    ) throws(StoreError) {
        for number in numbers where leftLookUps > 0 {
            leftLookUps -= 1
            _ = try lookUp(number, body)
        }
    }
}
