import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire
import ParleyWords

extension Views {
    /// At most so many imported messages of one author are looked through.
    private static let importedCountMax = 500_000

    // MARK: Conditions

    /// What the conditions of a search mean here.
    func filter(of query: SearchQuery) throws -> SearchFilter {
        var filter = SearchFilter(before: query.before, after: query.after)
        if !query.conversations.isEmpty {
            filter.spaces = Set(try query.conversations.map { try conversation($0).number })
        }
        if !query.authors.isEmpty { filter.authors = try authors(query.authors) }
        return filter
    }

    private func authors(_ names: [String]) throws -> SearchFilter.Authors {
        var authors = SearchFilter.Authors()
        for name in names {
            let folded = Folding.folded(name)
            authors.names.append(folded)
            if name.lowercased() == "me" { authors.persons.insert(ownPerson) }
            authors.imported.formUnion(
                try store.wordHits(
                    [[.author(name)]], excluding: [], limit: Self.importedCountMax))
        }
        for space in try store.spaces() where space.kind != .own {
            guard let roster = try roster(of: space) else { continue }
            for member in roster.members {
                let name = Folding.folded(try self.name(of: member.person, in: roster))
                if authors.names.contains(name) { authors.persons.insert(member.person) }
            }
            for log in try store.logs(in: space.number) where log.lane == .content {
                guard let person = roster.person(of: log.device),
                    authors.persons.contains(person)
                else { continue }
                authors.tags.insert(log.tag.value)
            }
        }
        return authors
    }

    // MARK: Words

    /// Rows that are taken from the index at once.
    private static let chunkCount = 256
    /// Texts that one search opens at most.
    private static let openedCountMax = 5000

    /// The newest messages whose texts match, newest first.
    func wordMatches(
        _ query: SearchQuery, _ filter: SearchFilter, _ places: PlaceTable, limit: Int
    ) throws -> [Int64] {
        let narrowing = query.narrowing
        guard !narrowing.isEmpty else { return try newest(filter, places, limit: limit) }
        var found: [Int64] = []
        var waiting = Newest()
        var below: Int64?
        var opened = 0
        while opened < Self.openedCountMax {
            let chunk = try store.wordHits(
                narrowing, excluding: query.excluding, below: below, limit: Self.chunkCount)
            for hit in chunk where places.passes(hit, filter) ?? true {
                waiting.insert(hit, places.time(hit) ?? .max)
            }
            let isLast = chunk.count < Self.chunkCount
            below = chunk.last
            let bound = isLast ? 0 : places.newest(below: below ?? 0)
            while let hit = waiting.take(from: bound) {
                opened += 1
                guard let message = try matching(hit, query), !found.contains(message) else {
                    continue
                }
                found.append(message)
                if found.count == limit { return found }
            }
            if isLast { break }
        }
        return found
    }

    /// The message that an operation says the text of, where that text matches.
    private func matching(_ hit: Int64, _ query: SearchQuery) throws -> Int64? {
        guard let stored = try store.operation(OperationNumber(hit)),
            let text = stored.searchableText, query.matches(in: text.text) != nil
        else { return nil }
        return try message(of: stored, text)
    }

    /// The message whose text an operation says.
    func message(of stored: StoredOperation, _ text: SearchableText) throws -> Int64? {
        guard let reference = text.message else { return stored.number.rawValue }
        guard let log = try store.log(stored.log),
            let target = try store.log(reference.tag, in: log.space)
        else { return nil }
        return try store.operation(at: reference.sequence, in: target.number)?.number.rawValue
    }

    /// The newest messages that pass, for a search that names no words.
    private func newest(
        _ filter: SearchFilter, _ places: PlaceTable, limit: Int
    ) throws -> [Int64] {
        var newest: [(time: UInt64, operation: Int64)] = []
        for index in places.times.indices {
            let operation = Int64(index)
            guard places.passes(operation, filter) == true else { continue }
            newest.append((places.times[index], operation))
        }
        return newest.sorted { $0 > $1 }.prefix(limit).map(\.operation)
    }

    // MARK: Showing

    /// A message as a hit; nil where it is no longer what was found.
    func hit(
        _ number: Int64, _ query: SearchQuery, _ filter: SearchFilter, isByWords: Bool
    ) throws -> (message: MessageView, name: String, pieces: [SearchHit.Piece], cursor: String)? {
        guard let stored = try store.operation(OperationNumber(number)),
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let roster = try roster(of: space), let view = try message(OperationNumber(number)),
            let text = view.text, passes(view, space, filter)
        else { return nil }
        let matches = query.matches(in: text)
        if isByWords, matches == nil { return nil }
        if !isByWords, !query.allows(text) { return nil }
        let marks = matches ?? query.marks(in: text)
        var order = try pageOrder(after: stored, log)
        order = order ?? OrderKey.last
        return (
            view, try title(of: space, roster), Self.pieces(of: text, marks),
            order.map(Cursor.text) ?? ""
        )
    }

    /// Whether one of these operations says what a message shows now, and not what it once said.
    func says(_ view: MessageView, _ operations: [Int64]) throws -> Bool {
        if view.history.isEmpty, operations.contains(view.number) { return true }
        return try operations.contains { number in
            try store.operation(OperationNumber(number))?.searchableText?.text == view.text
        }
    }

    private func passes(
        _ view: MessageView, _ space: SpaceRecord, _ filter: SearchFilter
    ) -> Bool {
        if let before = filter.before, view.time >= before { return false }
        if let after = filter.after, view.time < after { return false }
        if let spaces = filter.spaces, !spaces.contains(space.number) { return false }
        guard let authors = filter.authors else { return true }
        if authors.names.contains(Folding.folded(view.author)) { return true }
        return !view.isImported && authors.persons.contains { $0.description == view.person }
    }

    /// The text in parts; marks are bytes of its UTF-8, ascending and apart.
    static func pieces(of text: String, _ marks: [Range<Int>]) -> [SearchHit.Piece] {
        let bytes = Array(text.utf8)
        var pieces: [SearchHit.Piece] = []
        var place = 0
        func add(_ range: Range<Int>, _ isMatch: Bool) {
            guard !range.isEmpty else { return }
            pieces.append(
                .init(text: String(decoding: bytes[range], as: UTF8.self), isMatch: isMatch))
        }
        for mark in marks where mark.lowerBound >= place && mark.upperBound <= bytes.count {
            add(place..<mark.lowerBound, false)
            add(mark, true)
            place = mark.upperBound
        }
        add(place..<bytes.count, false)
        return pieces
    }
}

/// What waits to be opened, the newest first.
private struct Newest {
    private var waiting: [(time: UInt64, operation: Int64)] = []
    private var isSorted = true

    mutating func insert(_ operation: Int64, _ time: UInt64) {
        waiting.append((time, operation))
        isSorted = false
    }

    /// The newest, unless all that wait are older than `bound`.
    mutating func take(from bound: UInt64) -> Int64? {
        if !isSorted {
            waiting.sort { $0 < $1 }
            isSorted = true
        }
        guard let last = waiting.last, last.time >= bound else { return nil }
        waiting.removeLast()
        return last.operation
    }
}
