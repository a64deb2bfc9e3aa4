import ParleyConversation
public import ParleyLedger
public import ParleyWire

/// Where a message stands, for a search that narrows by time, conversation and author before it
/// opens anything.
public struct MessagePlace: Equatable, Sendable {
    /// The operation that wrote it.
    public var operation: Int64
    /// The conversation.
    public var space: SpaceNumber
    /// What its place in the conversation goes by, in Unix milliseconds: another time than the one it
    /// shows where a clock was wrong.
    public var time: UInt64
    /// The time that it shows, in Unix milliseconds; nil where that was not asked for.
    public var shownTime: UInt64?
    /// The log that it was written in.
    public var tag: LogTag
}

/// How far the messages were shown, in the order in which they lie in the store.
public struct MessageCursor: Equatable, Sendable {
    fileprivate var space: Int64
    fileprivate var stand: Int64
    fileprivate var tag: Int64
    fileprivate var sequence: Int64

    /// Before all of them.
    public static let start = MessageCursor(space: -1, stand: 0, tag: 0, sequence: 0)
}

extension SQLiteStore {
    /// Shows messages of all conversations to the closure, at most so many, in no order that
    /// counts.
    ///
    /// - Parameter isDated: whether the times that they show are asked for, too. These stand in the
    ///   operations, so that costs a look at each.
    /// - Returns: where to continue; nil if there are no more.
    public func eachMessagePlace(
        after cursor: MessageCursor, limit: Int, isDated: Bool = false,
        _ body: (MessagePlace) -> Void
    ) throws(StoreError) -> MessageCursor? {
        let statement = try connection.prepare(
            isDated ? SearchSQL.datedMessagesFrom : SearchSQL.messagesFrom)
        statement.bind(1, cursor.space)
        statement.bind(2, cursor.stand)
        statement.bind(3, cursor.tag)
        statement.bind(4, cursor.sequence)
        statement.bind(5, Int64(limit))
        defer { statement.reset() }
        var last = cursor
        var count = 0
        while try statement.step("reading messages") {
            last = MessageCursor(
                space: statement.integer(1), stand: statement.integer(2),
                tag: statement.integer(3), sequence: statement.integer(4))
            count += 1
            var place = MessagePlace(
                operation: statement.integer(0), space: SpaceNumber(last.space),
                time: UInt64(bitPattern: last.stand) >> 16,
                tag: LogTag(UInt64(ordered: last.tag)))
            if isDated { place.shownTime = try Self.shownTime(statement, of: place) }
            body(place)
        }
        return count == limit ? last : nil
    }

    /// When the message of a row of `SearchSQL.datedMessagesFrom` says that it was written.
    private static func shownTime(
        _ row: Statement, of place: MessagePlace
    ) throws(StoreError) -> UInt64 {
        let flags = MessageRow.Flags(rawValue: UInt8(truncatingIfNeeded: row.integer(5)))
        // An imported one stands where its own time puts it.
        if flags.contains(.imported) { return place.time }
        // A row that does not read is damage, whatever is wrong with it.
        guard let header = try? OperationHeader(head: row.array(6)) else {
            throw damaged("reading messages")
        }
        return header.wallClock
    }

    /// Where the messages of the next operations stand, of at most so many. One whose text has not
    /// arrived is left out.
    ///
    /// - Returns: the last operation that was looked at, and the messages.
    public func messagePlaces(
        after operation: Int64, limit: Int
    ) throws(StoreError) -> (through: Int64, places: [MessagePlace]) {
        let pending = try pendingTexts(after: operation, Self.noModel, limit: limit)
        var places: [MessagePlace] = []
        for text in pending.texts where text.text.message == nil {
            guard let stored = try self.operation(text.number), let log = try log(stored.log)
            else { continue }
            let order = stored.messagePlace(in: log)
            places.append(
                MessagePlace(
                    operation: text.number.rawValue, space: log.space, time: order.stand >> 16,
                    shownTime: text.text.author == nil
                        ? stored.operation.header.wallClock : order.stand >> 16,
                    tag: order.tag))
        }
        return (pending.through, places)
    }
}

extension SQLiteStore {
    /// Where the message stands that is so many behind this one; nil where there are not so many.
    public func messageOrder(
        after order: OrderKey, in space: SpaceNumber, count: Int
    ) throws(StoreError) -> OrderKey? {
        let statement = try connection.prepare(SearchSQL.messagesAfter)
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(clamping: order.stand))
        statement.bind(3, Int64(ordered: order.tag.value))
        statement.bind(4, Int64(clamping: order.sequence))
        statement.bind(5, Int64(count - 1))
        defer { statement.reset() }
        guard try statement.step("reading messages"), let id = OperationID(statement.bytes(3))
        else { return nil }
        return OrderKey(
            stand: UInt64(bitPattern: statement.integer(0)),
            tag: LogTag(UInt64(ordered: statement.integer(1))),
            sequence: UInt64(bitPattern: statement.integer(2)), id: id)
    }
}

extension SQLiteStore {
    /// The last operation that was stored.
    public var lastOperation: OperationNumber { OperationNumber(nextOperation - 1) }

    /// How many messages of a conversation stand above one.
    public func messageCount(
        before order: OrderKey, in space: SpaceNumber
    ) throws(StoreError) -> Int {
        try messageCount(SearchSQL.messageCountBefore, order, space)
    }

    /// How many messages of a conversation stand below one.
    public func messageCount(
        after order: OrderKey, in space: SpaceNumber
    ) throws(StoreError) -> Int {
        try messageCount(SearchSQL.messageCountAfter, order, space)
    }

    private func messageCount(
        _ sql: String, _ order: OrderKey, _ space: SpaceNumber
    ) throws(StoreError) -> Int {
        let statement = try connection.prepare(sql)
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(clamping: order.stand))
        statement.bind(3, Int64(ordered: order.tag.value))
        statement.bind(4, Int64(clamping: order.sequence))
        defer { statement.reset() }
        return try statement.step("counting messages") ? Int(statement.integer(0)) : 0
    }
}
