import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Stars a message for this person, on all of their devices, or unstars it. Nobody else hears of
/// it.
public struct StarMessage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "star", RequestScope.write,
        "Stars a message for oneself, on all of one's devices, or removes the star."
    )
    /// An example of the request.
    public static let example = StarMessage(message: 12, on: true)

    /// The message.
    public var message: MessageReference
    /// Whether it is marked.
    public var on: Bool

    /// A request with these parameters.
    public init(message: MessageReference, on: Bool) {
        self.message = message
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessageView {
        let number = try await node.read { try $0.message(message) }
        _ = try await node.running.perform(.star(number, isOn: on))
        return try await node.read { views in
            guard let view = try views.message(number) else { throw NodeError(.unknownMessage) }
            return view
        }
    }
}

/// The messages that one marked, the one that was marked last first. Those that were deleted since are
/// left out, and those that are not here.
public struct ListStars: NodeRequest {
    /// The most that are returned at once.
    public static let limitMax = 100
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "stars", RequestScope.read,
        "The messages that the person starred, the last starred first."
    )
    /// An example of the request.
    public static let example = ListStars(limit: 50)

    /// How many, from 1 to 100.
    public var limit: Int
    /// Where to continue: ``StarPage/next`` of the page before; nil for the first page.
    public var from: Int?

    /// A request with these parameters.
    public init(limit: Int, from: Int? = nil) {
        self.limit = limit
        self.from = from
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> StarPage {
        try await node.read { try $0.stars(limit: limit, from: from ?? 0) }
    }
}

/// Messages that one marked.
public struct StarPage: Codable, Equatable, Sendable {
    /// One of them.
    public struct Entry: Codable, Equatable, Sendable {
        /// The name of its conversation.
        public var title: String
        /// The message.
        public var message: MessageView
    }
    /// The one that was marked last first.
    public var stars: [Entry]
    /// The value of `from` for the next page; nil if there is none.
    public var next: Int?
    /// How many are marked in all that are not on this device, and so in no page.
    public var absentCount = 0
}

extension Views {
    fileprivate func stars(limit: Int, from first: Int) throws -> StarPage {
        guard let own = core.ownSpace else { return StarPage(stars: []) }
        let all = try Overview.stars(ownSpace: own.number, in: store).reversed()
        var (page, byteCount) = (StarPage(stars: []), 0)
        for (place, star) in all.enumerated().dropFirst(max(0, first)) {
            guard let entry = try entry(for: star) else { continue }
            byteCount += entry.message.lineByteCount
            if page.stars.count == min(max(1, limit), ListStars.limitMax)
                || byteCount > MessagePage.byteCountMax && !page.stars.isEmpty
            {
                page.next = place
                break
            }
            page.stars.append(entry)
        }
        page.absentCount = try all.count { try operation(of: $0) == nil }
        return page
    }

    /// The starred message; nil if it is not on this device.
    private func operation(of star: Star) throws -> StoredOperation? {
        guard let space = try store.space(star.space),
            let log = try store.log(star.message.tag, in: space.number),
            let stored = try store.operation(at: star.message.sequence, in: log.number),
            stored.id.check == star.message.check
        else { return nil }
        return stored
    }

    /// Nil if there is nothing to show.
    private func entry(for star: Star) throws -> StarPage.Entry? {
        guard let space = try store.space(star.space), let roster = try roster(of: space),
            let stored = try operation(of: star),
            let message = try message(stored.number), !message.isDeleted
        else { return nil }
        return StarPage.Entry(title: try title(of: space, roster), message: message)
    }

    /// Whether this person marked a message.
    func isStarred(_ message: OperationReference, in space: SpaceID) throws -> Bool {
        guard let own = core.ownSpace else { return false }
        return try Overview.isStarred(message, in: space, ownSpace: own.number, store: store)
    }
}
