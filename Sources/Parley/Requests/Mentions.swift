import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// The messages that mention this person, in all conversations: unread ones first, and within each
/// part the newest first. Listing them marks nothing as read. Muted conversations are included: a
/// mention does not get lost among other messages.
public struct ListMentions: NodeRequest {
    /// The most that are returned at once.
    public static let limitMax = 100
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "mentions", RequestScope.read,
        "The messages that mention the person, of all conversations: unread ones first."
    )
    /// An example of the request.
    public static let example = ListMentions(limit: 50)

    /// How many, from 1 to 100.
    public var limit: Int
    /// Where to continue: ``MentionPage/next`` of the page before; nil for the first page.
    public var from: String?

    /// A request with these parameters.
    public init(limit: Int, from: String? = nil) {
        self.limit = limit
        self.from = from
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MentionPage {
        try await node.read { try $0.mentions(limit: limit, from: from.map(MentionCursor.init)) }
    }
}

/// Messages that mention one.
public struct MentionPage: Codable, Equatable, Sendable {
    /// One of them.
    public struct Entry: Codable, Equatable, Sendable {
        /// The name of its conversation.
        public var title: String
        /// The message.
        public var message: MessageView
        /// Whether one has not read where it says so.
        public var isUnread: Bool
    }
    /// Those that are not read first, and of each part the newest first.
    public var mentions: [Entry]
    /// How many are not read, in all conversations.
    public var unreadCount: Int
    /// The value of `from` for the next page; nil if there is none.
    public var next: String?

    fileprivate func hasRoom(for entry: Entry, limit: Int) -> Bool {
        let byteCount = (mentions + [entry]).reduce(0) { $0 + $1.message.lineByteCount }
        return mentions.isEmpty
            || mentions.count < min(limit, ListMentions.limitMax)
                && byteCount <= MessagePage.byteCountMax
    }
}

/// Where a page of mentions ends, as text that programs pass back and do not look into.
private struct MentionCursor {
    /// Whether unread ones continue.
    var isUnread: Bool
    /// The last that was shown; nil before the first.
    var last: OrderKey?

    init(isUnread: Bool, last: OrderKey? = nil) {
        self.isUnread = isUnread
        self.last = last
    }

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, ["new", "old"].contains(parts[0]),
            let stand = UInt64(parts[1], radix: 16), let tag = UInt64(parts[2], radix: 16),
            let sequence = UInt64(parts[3]), stand < Limits.clockMax, sequence < Limits.placeMax
        else {
            throw NodeError(
                "bad-cursor", "“\(text)” is not a cursor.",
                hint: "Use the `next` of an earlier page as it is.")
        }
        isUnread = parts[0] == "new"
        // No two mentions stand at one place, so the rest of its name decides nothing.
        last = OrderKey(
            stand: stand, tag: LogTag(tag), sequence: sequence, id: OperationID { _ in })
    }

    var text: String {
        let part = isUnread ? "new" : "old"
        guard let last else { return "\(part).0.0.0" }
        return "\(part).\(String(last.stand, radix: 16)).\(last.tag).\(last.sequence)"
    }
}

extension Views {
    /// So many are looked at together.
    private static let mentionCountAtOnce = 200

    fileprivate func mentions(limit: Int, from cursor: MentionCursor?) throws -> MentionPage {
        var places: [SpaceNumber: UnreadPlaces] = [:]
        var unreadCount = 0
        for space in try store.spaces() where space.kind != .own {
            guard let roster = try roster(of: space) else { continue }
            let unread = try UnreadPlaces(
                of: space, roster: roster, ownPerson: ownPerson,
                ownSpace: core.ownSpace?.number, in: store)
            unreadCount += try unread.mentionCount(of: space, in: store)
            places[space.number] = unread
        }
        var page = MentionPage(mentions: [], unreadCount: unreadCount)
        // Where nothing is unread, nothing is looked for.
        if cursor?.isUnread != false, unreadCount > 0,
            try !add(true, after: cursor?.last, to: &page, limit, places)
        {
            return page
        }
        let last = cursor?.isUnread == false ? cursor?.last : nil
        _ = try add(false, after: last, to: &page, limit, places)
        return page
    }

    /// Adds those that are not read, or the others. Returns whether all fit.
    private func add(
        _ isUnread: Bool, after start: OrderKey?, to page: inout MentionPage, _ limit: Int,
        _ places: [SpaceNumber: UnreadPlaces]
    ) throws -> Bool {
        var last = start
        let begin = page.mentions.count
        var (times, latest) = ([UInt64](), [SpaceNumber: UInt64]())
        defer { Self.sort(&page.mentions, from: begin, by: times) }
        var left = isUnread && start == nil ? page.unreadCount : Int.max
        while left > 0 {
            let found = try store.mentions(before: last, limit: Self.mentionCountAtOnce)
            for mention in found where left > 0 {
                if let unread = places[mention.space],
                    unread.contains(mention.order) == isUnread
                {
                    left -= 1
                    if let entry = try entry(for: mention, isUnread) {
                        guard page.hasRoom(for: entry, limit: limit) else {
                            page.next = MentionCursor(isUnread: isUnread, last: last).text
                            return false
                        }
                        page.mentions.append(entry)
                        // In one conversation the order alone says which is newer.
                        let number = OperationNumber(entry.message.number)
                        let time = min(
                            latest[mention.space] ?? .max,
                            try listTime(of: number, mention.order, written: entry.message.time))
                        latest[mention.space] = time
                        times.append(time)
                    }
                }
                last = mention.order
            }
            if found.count < Self.mentionCountAtOnce { break }
        }
        return true
    }

    /// The newest first, also across conversations: orders of different ones are not compared.
    private static func sort(
        _ mentions: inout [MentionPage.Entry], from begin: Int, by times: [UInt64]
    ) {
        let places = times.indices.sorted { (times[$0], $1) > (times[$1], $0) }
        mentions[begin...] = places.map { mentions[begin + $0] }[...]
    }

    /// Nil if there is nothing to show.
    private func entry(for mention: ParleyConversation.Entry, _ isUnread: Bool) throws
        -> MentionPage.Entry?
    {
        guard let stored = try Overview.message(of: mention, in: store),
            let message = try message(stored.number), !message.isDeleted, !message.isHidden,
            let space = try store.space(mention.space), let roster = try roster(of: space)
        else { return nil }
        return MentionPage.Entry(
            title: try title(of: space, roster), message: message, isUnread: isUnread)
    }

    /// A text as it is to be written into a conversation, and the persons it mentions.
    func resolvingMentions(
        _ text: String, in space: SpaceRecord
    ) throws -> (text: String, mentions: Mentions) {
        // Most texts mention nobody.
        guard text.contains("@"), let roster = try roster(of: space) else {
            return (text, Mentions())
        }
        let candidates = try roster.members.map { member in
            let person = member.person
            let announced = [try CardReader.name(of: person, store), member.name].first {
                !VisibleName.isBlank($0)
            }
            let publicName = announced.map(VisibleName.shownPerson) ?? person.short
            return MentionResolver.Candidate(
                person: person, names: [try bareName(of: person, in: roster), publicName],
                publicName: publicName)
        }
        return try MentionResolver(among: candidates).resolve(text)
    }

    /// The mentions of a message, as screens show them.
    func mentions(_ mentions: Mentions, _ roster: Roster) throws -> [MessageView.Mention] {
        try mentions.persons.map { mention in
            MessageView.Mention(
                person: mention.person.description,
                name: try name(of: mention.person, in: roster),
                start: mention.place?.lowerBound, length: mention.place?.count)
        }
    }
}
