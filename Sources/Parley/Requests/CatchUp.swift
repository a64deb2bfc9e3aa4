import Foundation
import ParleyAssistant
import ParleyLedger
import ParleyRoster
import ParleyStorage
import ParleyWire

/// What one has not read: of each conversation what waits for oneself, what may have been decided, and a few
/// sentences of what was said. The most urgent conversation comes first. Nothing is marked as read. Of
/// each the newest 5,000 messages are looked at. Polls and action items are no messages: those that wait for
/// the person are counted.
public struct CatchUp: NodeRequest {
    /// Conversations that are looked into at once.
    public static let conversationCountMax = 20
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "catchUp", RequestScope.read,
        "What the person has not read, in a few sentences of each conversation: the most urgent "
            + "first."
    )
    /// An example of the request.
    public static let example = CatchUp(count: 3)

    /// The conversation; nil for all.
    public var conversation: String?
    /// How many sentences of what was said, of each conversation, from 1 to 50.
    public var count: Int
    /// The time zone in which “tomorrow” is understood, as `Europe/Madrid`; nil for the node's.
    public var zone: String?

    /// A request with these parameters.
    public init(conversation: String? = nil, count: Int = 3, zone: String? = nil) {
        self.conversation = conversation
        self.count = count
        self.zone = zone
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> CatchUpView {
        guard (1...Summarize.countMax).contains(count) else {
            throw NodeError(
                "bad-limit", "A summary can have from 1 to \(Summarize.countMax) sentences.")
        }
        let zone = try AssistantRequests.zone(zone)
        let unread = try await node.read { try $0.unread(in: conversation) }
        let first = unread.prefix(Self.conversationCountMax)
        var parts: [(rank: Int, part: CatchUpView.Part)] = []
        for one in first {
            let said = try await node.said(
                in: one.space.number, SaidFilter(isUnread: true), zone: zone)
            let part = try await part(one, said, on: node)
            parts.append((part.rank, part))
        }
        // Those of one rank stay as the list of conversations has them.
        let sorted = parts.enumerated().sorted {
            ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset)
        }
        let polls = try await node.perform(ListPolls(conversation: conversation, toAnswer: true))
        let items = try await node.perform(ListItems(conversation: conversation, mine: true))
        return CatchUpView(
            parts: sorted.map(\.element.part), leftCount: unread.count - first.count,
            pollCount: polls.count, itemCount: items.count { $0.doneBy == nil })
    }

    /// Lines that wait for this person, of one conversation, at most.
    private static let urgentCountMax = 10

    private func part(
        _ one: UnreadConversation, _ unread: SaidMessages, on node: Node
    ) async throws -> CatchUpView.Part {
        let analysis = Analysis(unread.messages, people: unread.people)
        let isDirect = one.view.kind == "direct"
        let own = try await node.read { $0.ownPerson.description }
        let urgent = analysis.urgent(
            for: own, isDirect: isDirect, count: Self.urgentCountMax)
        let decisions = analysis.decisions(count: count)
        let said = analysis.points(count: count, isMissed: true)
        let isShort = urgent.isEmpty && decisions.isEmpty && said.isEmpty
        let points = isShort ? analysis.newest(count: count) : said
        return try await node.read { views in
            let all = urgent.map(\.sentence) + decisions.map(\.sentence) + points
            let lines = try views.lines(of: all, in: one.space.number)
            // Each line once, where it matters most.
            var shown = Set(urgent.map(\.sentence.key))
            let decided = decisions.map(\.sentence.key).filter { shown.insert($0).inserted }
            let rest = points.map(\.key).filter { shown.insert($0).inserted }
            return CatchUpView.Part(
                conversation: one.space.id.description, title: one.view.name, isDirect: isDirect,
                unreadCount: one.view.unread,
                urgent: urgent.compactMap { line in
                    lines[line.sentence.key].map {
                        CatchUpView.Urgent(line: $0, reason: line.reason.rawValue)
                    }
                },
                decisions: decided.compactMap { lines[$0] }, points: rest.compactMap { lines[$0] },
                looked: unread.looked)
        }
    }
}

/// A conversation with unread messages.
struct UnreadConversation: Sendable {
    var space: SpaceRecord
    var view: ConversationView
}

extension CatchUpView.Part {
    /// The lower, the more urgent.
    fileprivate var rank: Int {
        if urgent.contains(where: { $0.reason == "mention" }) { return 0 }
        if isDirect { return 1 }
        return urgent.isEmpty ? 3 : 2
    }
}

extension Views {
    /// Conversations with unread messages, as their list has them. One that is muted is named where it
    /// mentions this person.
    fileprivate func unread(in argument: String?) throws -> [UnreadConversation] {
        if let argument {
            let space = try conversation(argument)
            return [UnreadConversation(space: space, view: try view(of: space))]
        }
        return try conversations().compactMap { view in
            guard view.unread > 0, !view.isMuted || view.unreadMentions > 0 else { return nil }
            return UnreadConversation(space: try conversation(view.id), view: view)
        }
    }
}
