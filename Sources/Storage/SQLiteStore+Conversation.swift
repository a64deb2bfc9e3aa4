public import ParleyConversation
public import ParleyLedger
import ParleySealing
public import ParleyWire

extension SQLiteStore {
    /// A short keyed hash of a private value, the same for the life of this store only.
    public func locator(_ value: [UInt8]) throws(StoreError) -> UInt64 {
        vault.locator(2, value).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: Messages

    /// Keeps a message. Its place in the timeline is `row.order`.
    public func insert(_ row: MessageRow) throws(StoreError) {
        writes()
        let statement = statements.insertMessage
        bind(row.order, in: row.space, statement)
        statement.bind(5, row.operation.rawValue)
        statement.bind(6, Int64(row.flags.rawValue))
        try statement.run("storing a message")
        try tally(row.log.rawValue, row.order.sequence, !row.flags.contains(.deleted))
    }

    /// Replaces the flags of a message that is kept.
    public func update(_ row: MessageRow) throws(StoreError) {
        writes()
        guard try message(row.order, in: row.space) != nil else { return }
        let statement = statements.updateMessage
        bind(row.order, in: row.space, statement)
        statement.bind(5, Int64(row.flags.rawValue))
        try statement.run("updating a message")
        try tally(row.log.rawValue, row.order.sequence, !row.flags.contains(.deleted))
    }

    /// Drops a message from its place.
    public func remove(_ row: MessageRow) throws(StoreError) {
        writes()
        guard let kept = try message(row.order, in: row.space) else { return }
        let statement = statements.removeMessage
        bind(row.order, in: row.space, statement)
        try statement.run("dropping a message")
        try tally(kept.log.rawValue, row.order.sequence, false)
    }

    /// The message that stands at this place, or nil.
    public func message(
        _ order: OrderKey, in space: SpaceNumber
    ) throws(StoreError) -> MessageRow? {
        let statement = statements.message
        bind(order, in: space, statement)
        defer { statement.reset() }
        return try statement.step("reading a message") ? try message(statement, space) : nil
    }

    /// At most `limit` messages below `before` (or the newest), newest first.
    public func messages(
        in space: SpaceNumber, before: OrderKey?, limit: Int
    ) throws(StoreError) -> [MessageRow] {
        let statement = before == nil ? statements.newestMessages : statements.messagesBefore
        if let before {
            bind(before, in: space, statement)
            statement.bind(5, Int64(limit))
        } else {
            statement.bind(1, space.rawValue)
            statement.bind(2, Int64(limit))
        }
        defer { statement.reset() }
        var found: [MessageRow] = []
        found.reserveCapacity(min(limit, 64))
        while try statement.step("reading messages") {
            found.append(try message(statement, space))
        }
        return found
    }

    /// How many messages, that are not deleted, the log holds with places in the range.
    public func messageCount(
        in log: LogNumber, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> Int {
        try tallyCount(log.rawValue, range)
    }

    private func bind(_ order: OrderKey, in space: SpaceNumber, _ statement: Statement) {
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(clamping: order.stand))
        statement.bind(3, Int64(ordered: order.tag.value))
        statement.bind(4, Int64(clamping: order.sequence))
    }

    private func message(
        _ row: Statement, _ space: SpaceNumber
    ) throws(StoreError) -> MessageRow {
        guard let id = OperationID(row.bytes(6)) else { throw Self.damaged("reading messages") }
        let order = OrderKey(
            stand: UInt64(bitPattern: row.integer(0)),
            tag: LogTag(UInt64(ordered: row.integer(1))),
            sequence: UInt64(bitPattern: row.integer(2)), id: id)
        return MessageRow(
            space: space, order: order, operation: OperationNumber(row.integer(3)),
            log: LogNumber(row.integer(5)),
            flags: MessageRow.Flags(rawValue: UInt8(truncatingIfNeeded: row.integer(4))))
    }

    // MARK: Entries

    /// Keeps an entry; one with the same object, field, element and operation is replaced.
    public func put(_ entry: Entry) throws(StoreError) {
        writes()
        let statement = statements.entries.put
        bind(entry, statement)
        statement.bind(7, Int64(clamping: entry.order.stand))
        statement.bind(8, entry.isOn ? 1 : 0)
        try statement.run("storing an entry")
    }

    /// Drops the entry with this object, field, element and operation.
    public func remove(_ entry: Entry) throws(StoreError) {
        writes()
        let statement = statements.entries.remove
        bind(entry, statement)
        try statement.run("dropping an entry")
    }

    /// The entries about an object, of one field or of all, ascending by (field, element, order).
    public func entries(
        about object: EntryObject, in space: SpaceNumber, field: EntryField?
    ) throws(StoreError) -> [Entry] {
        let statement = field == nil ? statements.entries.all : statements.entries.ofField
        bind(object, in: space, statement)
        if let field { statement.bind(4, Int64(field.rawValue)) }
        return try entries(statement, object, space)
    }

    /// The entries about an object of one field and element, ascending by order.
    public func entries(
        about object: EntryObject, in space: SpaceNumber, field: EntryField, element: UInt64
    ) throws(StoreError) -> [Entry] {
        let statement = statements.entries.ofElement
        bind(object, in: space, statement)
        statement.bind(4, Int64(field.rawValue))
        statement.bind(5, Int64(ordered: element))
        return try entries(statement, object, space)
    }

    /// Whether there is an entry about an object of a field.
    public func hasEntry(
        about object: EntryObject, in space: SpaceNumber, field: EntryField
    ) throws(StoreError) -> Bool {
        let statement = statements.entries.anyOfField
        bind(object, in: space, statement)
        statement.bind(4, Int64(field.rawValue))
        defer { statement.reset() }
        return try statement.step("looking for an entry")
    }

    /// Whether there is an entry about an object of a field and element.
    public func hasEntry(
        about object: EntryObject, in space: SpaceNumber, field: EntryField, element: UInt64
    ) throws(StoreError) -> Bool {
        let statement = statements.entries.anyOfElement
        bind(object, in: space, statement)
        statement.bind(4, Int64(field.rawValue))
        statement.bind(5, Int64(ordered: element))
        defer { statement.reset() }
        return try statement.step("looking for an entry")
    }

    /// How many entries that are mentions are on about these places and stand above this.
    public func mentionCount(
        on tag: LogTag, _ range: ClosedRange<UInt64>, above stand: UInt64, in space: SpaceNumber
    ) throws(StoreError) -> Int {
        let statement = statements.entries.mentionCount
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(ordered: tag.value))
        statement.bind(3, Int64(clamping: range.lowerBound))
        statement.bind(4, Int64(clamping: range.upperBound))
        statement.bind(5, Int64(clamping: stand))
        defer { statement.reset() }
        return try statement.step("counting mentions") ? Int(statement.integer(0)) : 0
    }

    /// At most `limit` entries that are mentions and on, of all spaces, the highest first.
    public func mentions(before: OrderKey?, limit: Int) throws(StoreError) -> [Entry] {
        let statement = statements.entries.mentions
        statement.bind(1, Int64(limit))
        // Nothing stands as high as that.
        statement.bind(2, before.map { Int64(clamping: $0.stand) } ?? .max)
        statement.bind(3, Int64(ordered: before?.tag.value ?? .max))
        statement.bind(4, before.map { Int64(clamping: $0.sequence) } ?? .max)
        return try foundEntries(statement).map { entry in
            var entry = entry
            entry.object = .operation(entry.order.tag, entry.order.sequence)
            return entry
        }
    }

    /// Entries about whatever they are about, each with its space.
    func foundEntries(_ statement: Statement) throws(StoreError) -> [Entry] {
        defer { statement.reset() }
        var found: [Entry] = []
        while try statement.step("reading entries") {
            found.append(try entry(statement, .space, SpaceNumber(statement.integer(8))))
        }
        return found
    }

    private func entries(
        _ statement: Statement, _ object: EntryObject, _ space: SpaceNumber
    ) throws(StoreError) -> [Entry] {
        defer { statement.reset() }
        var found: [Entry] = []
        while try statement.step("reading entries") {
            found.append(try entry(statement, object, space))
        }
        // By operation is by arrival; where that differs from the order, the order counts.
        return found.count < 2 ? found : found.sorted { $0.precedes($1) }
    }

    private func bind(_ object: EntryObject, in space: SpaceNumber, _ statement: Statement) {
        statement.bind(1, space.rawValue)
        switch object {
        case .space:
            // No operation has this place.
            statement.bind(2, 0)
            statement.bind(3, -1)
        case .operation(let tag, let sequence):
            statement.bind(2, Int64(ordered: tag.value))
            statement.bind(3, Int64(clamping: sequence))
        }
    }

    private func bind(_ entry: Entry, _ statement: Statement) {
        bind(entry.object, in: entry.space, statement)
        statement.bind(4, Int64(entry.field.rawValue))
        statement.bind(5, Int64(ordered: entry.element))
        statement.bind(6, entry.operation.rawValue)
    }

    private func entry(
        _ row: Statement, _ object: EntryObject, _ space: SpaceNumber
    ) throws(StoreError) -> Entry {
        guard let id = OperationID(row.bytes(7)), let log = records.log(LogNumber(row.integer(5)))
        else { throw Self.damaged("reading entries") }
        let order = OrderKey(
            stand: UInt64(bitPattern: row.integer(3)), tag: log.tag,
            sequence: UInt64(bitPattern: row.integer(6)), id: id)
        return Entry(
            space: space, object: object,
            field: EntryField(rawValue: UInt16(truncatingIfNeeded: row.integer(0))),
            element: UInt64(ordered: row.integer(1)),
            operation: OperationNumber(row.integer(2)), order: order, isOn: row.integer(4) != 0)
    }

    // MARK: Marks

    /// Keeps a mark in place of the one of the same kind, actor and log.
    public func put(_ mark: Mark) throws(StoreError) {
        writes()
        let actor = try number(of: mark.actor)
        let statement = statements.putMark
        bind(mark.kind, mark.tag, mark.space, statement)
        statement.bind(4, actor)
        statement.bind(5, Int64(clamping: mark.said))
        statement.bind(6, copying: Self.bytes(mark))
        try statement.run("storing a mark")
    }

    /// The mark of one actor on one log, or nil.
    public func mark(
        _ kind: MarkKind, of actor: Digest, on tag: LogTag, in space: SpaceNumber
    ) throws(StoreError) -> Mark? {
        guard let number = actors.numbers[actor] else { return nil }
        let statement = statements.mark
        bind(kind, tag, space, statement)
        statement.bind(4, number)
        defer { statement.reset() }
        guard try statement.step("reading a mark") else { return nil }
        let (places, check) = try Self.places(statement.bytes(1))
        return Mark(
            space: space, kind: kind, actor: actor, tag: tag, places: places,
            said: UInt64(bitPattern: statement.integer(0)), check: check)
    }

    /// The places as counts, of which none but the first is 0; with a check behind them, a 0 and the check.
    private static func bytes(_ mark: Mark) -> [UInt8] {
        var writer = ByteWriter(capacity: 32)
        for count in mark.places.counts { writer.number(count) }
        if let check = mark.check, !mark.places.isEmpty {
            writer.number(0)
            writer.check(check)
        }
        return writer.bytes
    }

    private static func places(
        _ bytes: UnsafeRawBufferPointer
    ) throws(StoreError) -> (PlaceSet, Check?) {
        var reader = ByteReader(Array(bytes))
        var counts: [UInt64] = []
        var check: Check?
        do {
            while check == nil, reader.remaining > 0 {
                let count = try reader.number()
                if count == 0, !counts.isEmpty {
                    check = try reader.check()
                } else {
                    counts.append(count)
                }
            }
        } catch {
            throw damaged("reading a mark")
        }
        guard reader.remaining == 0, let places = PlaceSet(counts: counts) else {
            throw damaged("reading a mark")
        }
        return (places, check)
    }

    private func bind(
        _ kind: MarkKind, _ tag: LogTag, _ space: SpaceNumber, _ statement: Statement
    ) {
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(kind.rawValue))
        statement.bind(3, Int64(ordered: tag.value))
    }

    /// All marks of this kind on the logs of a space, ascending by (tag, actor).
    public func marks(_ kind: MarkKind, in space: SpaceNumber) throws(StoreError) -> [Mark] {
        let statement = statements.marks
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(kind.rawValue))
        defer { statement.reset() }
        var found: [Mark] = []
        while try statement.step("reading marks") {
            guard let actor = actors.name(statement.integer(1)) else {
                throw Self.damaged("reading marks")
            }
            let (places, check) = try Self.places(statement.bytes(3))
            found.append(
                Mark(
                    space: space, kind: kind, actor: actor,
                    tag: LogTag(UInt64(ordered: statement.integer(0))), places: places,
                    said: UInt64(bitPattern: statement.integer(2)), check: check))
        }
        return found.sorted { ($0.tag, $0.actor) < ($1.tag, $1.actor) }
    }

    /// Drops all messages, entries and marks of a space but the acknowledged marks.
    public func clearViews(of space: SpaceNumber) throws(StoreError) {
        writes()
        try writeTallies()
        tallies.forget()
        for statement in statements.clearing {
            statement.bind(1, space.rawValue)
            try statement.run("clearing views")
        }
    }
}

extension Entry {
    fileprivate func precedes(_ other: Entry) -> Bool {
        if field != other.field { return field < other.field }
        if element != other.element { return element < other.element }
        return order < other.order
    }
}
