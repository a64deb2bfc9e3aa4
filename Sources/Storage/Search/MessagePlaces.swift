public import ParleyLedger
public import ParleyWire

/// Where a message stands, for a search that narrows by time, conversation and author before it
/// opens anything.
public struct MessagePlace: Equatable, Sendable {
    /// The operation that wrote it.
    public var operation: Int64
    /// The conversation.
    public var space: SpaceNumber
    /// When, in Unix milliseconds.
    public var time: UInt64
    /// The log that it was written in.
    public var tag: LogTag
}

extension SQLiteStore {
    /// Shows every message of every conversation to the closure, in no order that counts.
    public func eachMessagePlace(_ body: (MessagePlace) -> Void) throws(StoreError) {
        let statement = try connection.prepare(SearchSQL.messagesAll)
        defer { statement.reset() }
        while try statement.step("reading messages") {
            body(
                MessagePlace(
                    operation: statement.integer(0), space: SpaceNumber(statement.integer(1)),
                    time: UInt64(bitPattern: statement.integer(2)) >> 16,
                    tag: LogTag(UInt64(ordered: statement.integer(3)))))
        }
    }
}

extension SQLiteStore {
    /// Where the message stands that is so many behind this one; nil where there are not so many.
    public func messageOrder(
        after order: OrderKey, in space: SpaceNumber, count: Int
    ) throws(StoreError) -> OrderKey? {
        let statement = try connection.prepare(SearchSQL.messagesAfter)
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(clamping: order.clock))
        statement.bind(3, Int64(ordered: order.tag.value))
        statement.bind(4, Int64(clamping: order.sequence))
        statement.bind(5, Int64(count - 1))
        defer { statement.reset() }
        guard try statement.step("reading messages"), let id = OperationID(statement.bytes(3))
        else { return nil }
        return OrderKey(
            clock: UInt64(bitPattern: statement.integer(0)),
            tag: LogTag(UInt64(ordered: statement.integer(1))),
            sequence: UInt64(bitPattern: statement.integer(2)), id: id)
    }
}
