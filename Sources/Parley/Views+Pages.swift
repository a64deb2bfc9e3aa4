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
        guard let roster = try roster(of: space) else { throw NodeError(.unknownConversation) }
        let untaken = try untakenMessages(in: space, roster)
        let places = try untaken.enumerated().map {
            try $0.offset + store.messageCount(before: $0.element.order, in: space.number)
        }
        // Of those that stand above, so many are in no timeline.
        let skipped = places.count { $0 < first }
        let first = first - skipped
        let start = Self.top
        let end = try store.messageOrder(after: start, in: space.number, count: first + limit + 1)
        var count = limit
        if end == nil {
            count = try store.messageCount(after: start, in: space.number) - first
            if count < 1 { return try page(of: space, before: OrderKey?.none, limit: limit) }
        }
        return try page(
            of: space, before: end, limit: min(limit, count), keepsOldest: true,
            untakenFrom: skipped)
    }

    /// Above all messages: before any time, log and place.
    private static let top = OrderKey(
        stand: 0, tag: LogTag(0), sequence: 0, id: OperationID(filling: { _ in }))

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
        let untaken = try untakenMessages(in: space, roster)
        return try page(
            of: space, before: end, limit: min(limit, count), keepsOldest: true,
            untakenFrom: untaken.count { $0.order < first })
    }

    /// A message, where it stands.
    private typealias Row = (order: OrderKey, view: MessageView)

    /// The page that ends below a place, or at the newest message.
    ///
    /// - Parameter untakenFrom: how many messages that nobody takes stand above it; nil where it begins
    ///   with what follows the message above it.
    func page(
        of space: SpaceRecord, before end: OrderKey?, limit: Int, keepsOldest: Bool = false,
        untakenFrom: Int? = nil
    ) throws -> MessagePage {
        guard let roster = try roster(of: space) else { throw NodeError(.unknownConversation) }
        let found = try timeline(of: space, roster).page(before: end, limit: limit, in: store)
        var shown: [Row] = []
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
        let lowest = shown.last?.order ?? end.map { _ in Self.top }
        let below = try lowest.map { try store.messageCount(after: $0, in: space.number) } ?? 0
        let page = MessagePage(
            messages: shown.map(\.view), cursor: nil, aboveCount: above, belowCount: below,
            last: store.lastOperation.rawValue)
        var whole = try self.page(
            page, of: shown, before: end,
            with: untakenMessages(in: space, roster), from: untakenFrom, in: space)
        whole.cursor = whole.aboveCount > 0 ? shown.first?.view.id : nil
        if below == 0 { whole.messages += try kept(in: space, roster) }
        return whole
    }

    /// The page with what nobody takes where that was written: what stands between two messages comes with the
    /// upper one.
    private func page(
        _ page: MessagePage, of shown: [Row], before end: OrderKey?,
        with untaken: [UntakenMessage], from first: Int?, in space: SpaceRecord
    ) throws -> MessagePage {
        // Almost always there is none.
        if untaken.isEmpty { return page }
        let lower = page.aboveCount > 0 ? shown.first?.order : nil
        var upper = page.belowCount > 0 ? end : nil
        if page.belowCount > 0, let last = shown.last?.order {
            upper = try store.messageOrder(after: last, in: space.number, count: 1)
        }
        let next = upper.map { upper in untaken.count { $0.order < upper } } ?? untaken.count
        let start = first ?? lower.map { lower in untaken.count { $0.order < lower } } ?? 0
        var byteCount = 0
        let added = untaken[min(start, next)..<next].reversed().prefix {
            byteCount += $0.view.lineByteCount
            return byteCount <= MessagePage.byteCountMax / 2
        }
        let rows = shown + added.map { Row($0.order, $0.view) }
        var whole = page
        whole.messages = rows.sorted { $0.order < $1.order }.map(\.view)
        whole.aboveCount += next - added.count
        whole.belowCount += untaken.count - next
        return whole
    }

    /// Earlier texts of a message and the one that is shown, oldest first.
    func history(of number: OperationNumber, from first: Int, limit: Int) throws -> HistoryPage {
        guard let stored = try store.operation(number),
            let log = try store.log(stored.log), let space = try store.space(log.space),
            space.kind != .own, let roster = try roster(of: space),
            let found = try timeline(of: space, roster).versions(
                of: stored.number, from: max(0, first), limit: limit, in: store)
        else { throw NodeError(.unknownMessage) }
        let author = roster.person(of: log.device)
        if let author, try hides(author, in: space) { throw NodeError.hidden }
        // The words wait here until others have them, and are shown to nobody.
        if try isDeletedForOneself(stored) { throw NodeError(.deleted) }
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
