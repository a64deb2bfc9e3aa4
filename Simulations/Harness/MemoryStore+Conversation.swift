public import ParleyConversation
public import ParleyLedger
public import ParleyNodeCore
public import ParleyWire

extension MemoryStore {
    /// Keeps a message. Its place in the timeline is `row.order`.
    public func insert(_ row: MessageRow) throws(StoreError) {
        try writes("storing a message")
        let old = contents.messages[row.space]?[row.order]
        let oldPlace = contents.messagePlaces[row.log]?[row.order.sequence]
        change {
            $0.messages[row.space, default: SortedMap()][row.order] = row
            $0.messagePlaces[row.log, default: SortedMap()][row.order.sequence] = row.order
        } back: {
            $0.messages[row.space]?[row.order] = old
            $0.messagePlaces[row.log]?[row.order.sequence] = oldPlace
        }
    }

    /// Replaces the flags of a message that is kept.
    public func update(_ row: MessageRow) throws(StoreError) {
        try writes("updating a message")
        guard let old = contents.messages[row.space]?[row.order] else { return }
        var new = old
        new.flags = row.flags
        change {
            $0.messages[row.space]?[row.order] = new
        } back: {
            $0.messages[row.space]?[row.order] = old
        }
    }

    /// Drops a message from its place.
    public func remove(_ row: MessageRow) throws(StoreError) {
        try writes("dropping a message")
        guard let old = contents.messages[row.space]?[row.order] else { return }
        change {
            $0.messages[row.space]?[row.order] = nil
            $0.messagePlaces[old.log]?[row.order.sequence] = nil
        } back: {
            $0.messages[row.space]?[row.order] = old
            $0.messagePlaces[old.log]?[row.order.sequence] = old.order
        }
    }

    /// The message that stands at this place, or nil.
    public func message(
        _ order: OrderKey, in space: SpaceNumber
    ) throws(StoreError) -> MessageRow? {
        try called("reading a message")
        return contents.messages[space]?[order]
    }

    /// At most `limit` messages below `before` (or the newest), newest first.
    public func messages(
        in space: SpaceNumber, before: OrderKey?, limit: Int
    ) throws(StoreError) -> [MessageRow] {
        try called("reading messages")
        guard let messages = contents.messages[space] else { return [] }
        let end = before.map(messages.lowerBound) ?? messages.count
        return messages.values[max(0, end - limit)..<end].reversed()
    }

    /// How many messages, that are not deleted, the log holds with places in the range.
    public func messageCount(
        in log: LogNumber, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> Int {
        try called("counting messages")
        guard let places = contents.messagePlaces[log],
            let record = contents.logs.element(
                log.rawValue), let messages = contents.messages[record.space]
        else { return 0 }
        var count = 0
        var place = places.lowerBound(range.lowerBound)
        while place < places.count, places.keys[place] <= range.upperBound {
            let row = messages[places.values[place]]
            if let row, !row.flags.contains(.deleted) { count += 1 }
            place += 1
        }
        return count
    }

    /// Keeps an entry; one with the same object, field, element and operation is replaced.
    public func put(_ entry: Entry) throws(StoreError) {
        try writes("storing an entry")
        var list = held(like: entry)
        list.removeAll { $0.operation == entry.operation }
        let place = list.firstIndex { entry.order < $0.order } ?? list.count
        list.insert(entry, at: place)
        replace(list, like: entry)
    }

    /// Drops the entry with this object, field, element and operation.
    public func remove(_ entry: Entry) throws(StoreError) {
        try writes("dropping an entry")
        let list = held(like: entry)
        let left = list.filter { $0.operation != entry.operation }
        if left.count < list.count { replace(left, like: entry) }
    }

    private func held(like entry: Entry) -> [Entry] {
        contents.entries[entry.space]?[entry.object]?[entry.field]?[entry.element] ?? []
    }

    private func replace(_ list: [Entry], like entry: Entry) {
        func set(_ list: [Entry], _ contents: inout Contents) {
            contents.entries[entry.space, default: [:]][entry.object, default: [:]][
                entry.field, default: [:]][entry.element] = list.isEmpty ? nil : list
        }
        let old = held(like: entry)
        change {
            set(list, &$0)
        } back: {
            set(old, &$0)
        }
    }

    /// The entries about an object, of one field or of all, ascending by (field, element, order).
    public func entries(
        about object: EntryObject, in space: SpaceNumber, field: EntryField?
    ) throws(StoreError) -> [Entry] {
        try called("reading entries")
        let fields = contents.entries[space]?[object] ?? [:]
        let shelves = field.map { [fields[$0] ?? [:]] } ?? Array(fields.values)
        // They are sorted here: the order of the loop cannot be seen.
        let found = shelves.flatMap { $0.values.joined() }.sorted { $0.precedes($1) }
        return handedOut(found)
    }

    /// The entries about an object of one field and element, ascending by order.
    public func entries(
        about object: EntryObject, in space: SpaceNumber, field: EntryField, element: UInt64
    ) throws(StoreError) -> [Entry] {
        try called("reading entries")
        return handedOut(contents.entries[space]?[object]?[field]?[element] ?? [])
    }

    /// Whether there is an entry about an object of a field.
    public func hasEntry(
        about object: EntryObject, in space: SpaceNumber, field: EntryField
    ) throws(StoreError) -> Bool {
        try called("looking for an entry")
        return contents.entries[space]?[object]?[field]?.values.contains { !$0.isEmpty } ?? false
    }

    /// Whether there is an entry about an object of a field and element.
    public func hasEntry(
        about object: EntryObject, in space: SpaceNumber, field: EntryField, element: UInt64
    ) throws(StoreError) -> Bool {
        try called("looking for an entry")
        return contents.entries[space]?[object]?[field]?[element]?.isEmpty == false
    }

    /// Keeps a mark in place of the one of the same kind, actor and log.
    public func put(_ mark: Mark) throws(StoreError) {
        try writes("storing a mark")
        let key = MarkKey(kind: mark.kind.rawValue, tag: mark.tag, actor: mark.actor)
        let old = contents.marks[mark.space]?[key]
        change {
            $0.marks[mark.space, default: SortedMap()][key] = mark
        } back: {
            $0.marks[mark.space]?[key] = old
        }
    }

    /// The mark of one actor on one log, or nil.
    public func mark(
        _ kind: MarkKind, of actor: Digest, on tag: LogTag, in space: SpaceNumber
    ) throws(StoreError) -> Mark? {
        try called("reading a mark")
        return contents.marks[space]?[MarkKey(kind: kind.rawValue, tag: tag, actor: actor)]
    }

    /// All marks of this kind on the logs of a space, ascending by (tag, actor).
    public func marks(_ kind: MarkKind, in space: SpaceNumber) throws(StoreError) -> [Mark] {
        try called("reading marks")
        return contents.marks[space]?.values.filter { $0.kind == kind } ?? []
    }

    /// Drops all messages, entries and marks of a space but the acknowledged marks.
    public func clearViews(of space: SpaceNumber) throws(StoreError) {
        try writes("clearing views")
        let messages = contents.messages[space]
        let entries = contents.entries[space]
        let logs = logNumbers(of: space)
        let places = logs.map { contents.messagePlaces[$0] }
        let marks = contents.marks[space]
        change { contents in
            contents.messages[space] = nil
            contents.entries[space] = nil
            for log in logs { contents.messagePlaces[log] = nil }
            for key in marks?.keys ?? [] where key.kind != MarkKind.acknowledged.rawValue {
                contents.marks[space]?[key] = nil
            }
        } back: { contents in
            contents.messages[space] = messages
            contents.entries[space] = entries
            contents.marks[space] = marks
            for (log, places) in zip(logs, places) { contents.messagePlaces[log] = places }
        }
    }

    private func logNumbers(of space: SpaceNumber) -> [LogNumber] {
        (contents.logOrder[space]?.values ?? []).sorted()
    }
}

extension Entry {
    fileprivate func precedes(_ other: Entry) -> Bool {
        if field != other.field { return field < other.field }
        if element != other.element { return element < other.element }
        return order < other.order
    }
}

extension MemoryStore {
    /// The value under this key, or nil.
    public func value(_ table: ValueTable, _ key: [UInt8]) throws(StoreError) -> [UInt8]? {
        try called("reading a value")
        return contents.values[table]?[ByteKey(bytes: key)]
    }

    /// Keeps a value under this key, or drops it where it is nil.
    public func setValue(
        _ value: [UInt8]?, _ table: ValueTable, _ key: [UInt8]
    ) throws(StoreError) {
        try writes("storing a value")
        let key = ByteKey(bytes: key)
        let old = contents.values[table]?[key]
        change {
            $0.values[table, default: SortedMap()][key] = value
        } back: {
            $0.values[table]?[key] = old
        }
    }

    /// All of a table, ascending by key.
    public func values(
        _ table: ValueTable
    ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
        try called("reading values")
        guard let values = contents.values[table] else { return [] }
        return zip(values.keys, values.values).map { (key: $0.bytes, value: $1) }
    }
}
