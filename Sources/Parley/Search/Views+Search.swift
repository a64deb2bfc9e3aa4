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
            // An identifier, or the start of one, is never looked for as a name.
            if VisibleName.isIdentifier(name.lowercased()) {
                authors.persons.insert(try person(name, among: everyone() + [ownPerson]))
                continue
            }
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
                let names = [
                    try bareName(of: member.person, in: roster),
                    try name(of: member.person, in: roster),
                ]
                if names.contains(where: { authors.names.contains(Folding.folded($0)) }) {
                    authors.persons.insert(member.person)
                }
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

    /// The message that an operation says the text of, and the text, where that matches.
    func matching(_ hit: Int64, _ query: SearchQuery) throws -> (message: Int64, text: String)? {
        guard let stored = try store.operation(OperationNumber(hit)),
            let text = stored.searchableText, query.matches(in: text.text) != nil,
            try mayHave(stored, text, query), let number = try message(of: stored, text)
        else { return nil }
        if query.asksAboutMessages {
            guard let view = try message(OperationNumber(number)), Self.has(view, query) else {
                return nil
            }
        }
        return (number, text.text)
    }

    /// Whether the message of a text can match: a glance, where a full look at a message costs ten
    /// times as much.
    private func mayHave(
        _ stored: StoredOperation, _ text: SearchableText, _ query: SearchQuery
    ) throws -> Bool {
        // An edit's text is examined in full.
        guard query.asksAboutMessages, text.message == nil else { return true }
        if query.states.contains("reply"), stored.operation.header.references.isEmpty {
            return false
        }
        guard query.states.contains("edited") || query.has.contains("reaction") else { return true }
        guard let log = try store.log(stored.log) else { return false }
        let object = EntryObject.operation(log.tag, stored.sequence)
        return try !store.entries(about: object, in: log.space, field: nil).isEmpty
    }

    /// Whether a message is, and has, what its text alone does not tell.
    private static func has(_ view: MessageView, _ query: SearchQuery) -> Bool {
        if query.has.contains("reaction"), view.reactions.isEmpty { return false }
        if query.states.contains("reply"), view.replyTo == nil { return false }
        return !query.states.contains("edited") || view.editCount > 0
    }

    /// The message whose text an operation says.
    func message(of stored: StoredOperation, _ text: SearchableText) throws -> Int64? {
        guard let reference = text.message else { return stored.number.rawValue }
        guard let log = try store.log(stored.log),
            let target = try store.log(reference.tag, in: log.space)
        else { return nil }
        return try store.operation(at: reference.sequence, in: target.number)?.number.rawValue
    }

    // MARK: Showing

    /// A message as a hit; nil if it no longer matches.
    func hit(
        _ number: Int64, _ query: SearchQuery, _ filter: SearchFilter, isByWords: Bool
    ) throws -> (message: MessageView, name: String, pieces: [SearchHit.Piece], cursor: String)? {
        guard let stored = try store.operation(OperationNumber(number)),
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let roster = try roster(of: space), let view = try message(OperationNumber(number)),
            let text = view.text, passes(view, space, filter), Self.has(view, query)
        else { return nil }
        let matches = query.matches(in: text)
        if isByWords, matches == nil { return nil }
        if !isByWords, !query.allows(text) { return nil }
        let marks = matches ?? query.marks(in: text)
        let cursor = try Cursor.text(
            pageOrder(after: stored, log), in: space.number, of: self)
        return (view, try title(of: space, roster), Self.pieces(of: text, marks), cursor)
    }

    /// Whether one of these operations contains the present text of a message, and not an earlier
    /// one.
    func says(_ view: MessageView, _ operations: [Int64]) throws -> Bool {
        if view.editCount == 0, operations.contains(view.number) { return true }
        return try operations.contains { number in
            try store.operation(OperationNumber(number))?.searchableText?.text == view.text
        }
    }

    /// Whether a message is by whom, where and from when a search wants it.
    func passes(
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
