import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Pages of a timeline. Each fits a line of the local API, whatever its messages hold.
extension Views {
    /// The page that ends below a cursor, or at the newest message.
    func page(of space: SpaceRecord, before: String?, limit: Int) throws -> MessagePage {
        let order = try before.flatMap { try Cursor.order($0, in: space, of: self) }
        return try page(of: space, before: order, limit: limit)
    }

    /// The page that begins with the message that so many others stand above; the newest page where there
    /// are not so many.
    func page(of space: SpaceRecord, from first: Int, limit: Int) throws -> MessagePage {
        // Above all messages: before any time, log and place.
        let zeros = OperationID(filling: { _ in })
        let start = OrderKey(stand: 0, tag: LogTag(0), sequence: 0, id: zeros)
        let end = try store.messageOrder(after: start, in: space.number, count: first + limit + 1)
        var count = limit
        if end == nil {
            count = try store.messageCount(after: start, in: space.number) - first
            if count < 1 { return try page(of: space, before: OrderKey?.none, limit: limit) }
        }
        return try page(of: space, before: end, limit: min(limit, count), keepsOldest: true)
    }

    /// The page that begins at the first message of others that is not read; the newest page where
    /// all are.
    func unreadPage(of space: SpaceRecord, limit: Int) throws -> MessagePage {
        guard let roster = try roster(of: space),
            let first = try Overview.firstUnread(
                of: space, roster: roster, ownPerson: ownPerson,
                ownSpace: core.ownSpace?.number, in: store)
        else { return try page(of: space, before: OrderKey?.none, limit: limit) }
        let end = try store.messageOrder(after: first, in: space.number, count: limit)
        // Where not so many follow, the page begins above, where they end.
        let count =
            end == nil ? 1 + (try store.messageCount(after: first, in: space.number)) : limit
        return try page(of: space, before: end, limit: min(limit, count), keepsOldest: true)
    }

    /// The page that ends below a place, or at the newest message.
    func page(
        of space: SpaceRecord, before end: OrderKey?, limit: Int, keepsOldest: Bool = false
    ) throws -> MessagePage {
        guard let roster = try roster(of: space) else { throw NodeError(.unknownConversation) }
        let found = try timeline(of: space, roster).page(before: end, limit: limit, in: store)
        var shown: [(order: OrderKey, view: MessageView)] = []
        var byteCount = 0
        for message in keepsOldest ? found.reversed() : found {
            let view = try self.view(message, in: space, roster)
            byteCount += view.lineByteCount
            if !shown.isEmpty, byteCount > MessagePage.byteCountMax { break }
            shown.append((message.order, view))
        }
        if !keepsOldest { shown.reverse() }
        let above =
            try shown.first.map { try store.messageCount(before: $0.order, in: space.number) } ?? 0
        let below =
            try shown.last.map { try store.messageCount(after: $0.order, in: space.number) } ?? 0
        return MessagePage(
            messages: shown.map(\.view) + (below == 0 ? try besides(in: space, roster) : []),
            cursor: above > 0 ? shown.first.map(\.view.id) : nil,
            aboveCount: above, belowCount: below, last: store.lastOperation.rawValue)
    }

    /// Earlier texts of a message and the one that is shown, oldest first.
    func history(of number: OperationNumber, from first: Int, limit: Int) throws -> HistoryPage {
        guard let stored = try store.operation(number),
            let log = try store.log(stored.log), let space = try store.space(log.space),
            space.kind != .own, let roster = try roster(of: space),
            let found = try timeline(of: space, roster).versions(
                of: stored.number, from: max(0, first), limit: limit, in: store)
        else { throw NodeError(.unknownMessage) }
        let end = max(0, first) + found.texts.count
        var versions = found.texts.map { HistoryPage.Version(text: $0.text, time: $0.time) }
        if end >= found.count,
            let message = try timeline(of: space, roster).message(number, in: store)
        {
            try addUntaken(about: message, in: space, roster, to: &versions)
        }
        return HistoryPage(
            versions: versions, count: found.count, next: end < found.count ? end : nil)
    }
}

/// Where a page ends, as text that programs pass back and do not look into: the name of the message
/// right below it.
enum Cursor {
    /// Below every message.
    private static let end = "end"

    /// - Parameter order: the place of the message right below the page; nil if there is none.
    static func text(
        _ order: OrderKey?, in space: SpaceNumber, of views: Views
    ) throws -> String {
        guard let order else { return end }
        let message = OperationReference(
            tag: order.tag, sequence: order.sequence, check: order.id.check)
        return try views.identifier(message, in: space)
    }

    static func order(
        _ text: String, in space: SpaceRecord, of views: Views
    ) throws -> OrderKey? {
        if text == end { return nil }
        guard MessageReference(text).isWellFormed,
            let stored = try views.store.operation(views.message(MessageReference(text))),
            let log = try views.store.log(stored.log), log.space == space.number
        else {
            throw NodeError(
                "bad-cursor", "“\(text)” is not a cursor.",
                hint: "Use the `cursor` of an earlier page as it is.")
        }
        return stored.messagePlace(in: log)
    }
}
