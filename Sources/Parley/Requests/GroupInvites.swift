import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// A link by which so many persons may come into a group.
public struct CreateGroupInvite: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "inviteToGroup", RequestScope.write,
        "Creates a link with which this many people may join a group."
    )
    /// An example of the request.
    public static let example = CreateGroupInvite(
        conversation: "trip", role: .member, uses: 3, hours: 168)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The role of newcomers: `member` or `reader`.
    public var role: MemberRole
    /// How many persons may take it.
    public var uses: Int
    /// For how many hours, 1 to 720.
    public var hours: Int

    /// A request with these parameters.
    public init(conversation: String, role: MemberRole, uses: Int, hours: Int) {
        self.conversation = conversation
        self.role = role
        self.uses = uses
        self.hours = hours
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> GroupLinkView {
        guard (1...24 * 30).contains(hours) else {
            throw NodeError("bad-hours", "An invite can last from 1 to 720 hours.")
        }
        guard let count = UInt32(exactly: uses) else {
            throw NodeError(.tooManyUses(limit: Int(GroupInvite.useCountMax)))
        }
        let space = try await node.space(conversation)
        var random = SystemRandom()
        let secret = random.bytes(32)
        let expires = SystemClock.now.wall + UInt64(hours) * 3_600_000
        let reply = try await node.write(
            .createGroupInvite(
                space, secret: secret, role: role.role, uses: count, expires: expires))
        return try await node.read { views in
            guard case .operation(let invite) = reply, let record = try views.store.space(space),
                let roster = try views.roster(of: record),
                let live = roster.invites.first(where: { $0.operation == invite }),
                let card = try views.store.value(.card, views.ownPerson.bytes)
            else { throw NodeError(.unknownInvite) }
            let link = GroupLink(
                space: space, invite: invite, secret: secret, expires: expires,
                name: try views.view(of: record).name, card: card)
            return GroupLinkView(
                link: link.link, invite: try views.view(live, roster),
                clockWarning: try views.clockWarning())
        }
    }
}

/// Takes a link into a group; one is in as soon as a device of its maker is reached.
public struct JoinGroup: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "joinGroup", RequestScope.write,
        "Joins a group with a link; the person is in as soon as a device of its maker is reached."
    )
    /// An example of the request.
    public static let example = JoinGroup(link: "parley:g1:QUJD")

    /// The link.
    public var link: String

    /// A request with these parameters.
    public init(link: String) {
        self.link = link
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> JoinView {
        let found: GroupLink
        do {
            found = try GroupLink(link: link)
        } catch {
            throw NodeError(
                "bad-link", "That is not a link into a group, or part of it is missing.", not: link,
                prefix: "parley:g1:",
                hint: "Such a link begins with `parley:g1:` and is one long word.")
        }
        let isIn = try await node.read { try $0.view(joining: found).isMember }
        guard !isIn else {
            throw NodeError("already-a-member", "You are already in “\(found.name)”.")
        }
        _ = try await node.running.perform(.joinGroup(found))
        return try await node.settled { views in
            let view = try views.view(joining: found)
            return (view, view.isMember || view.isRefused)
        }
    }
}

/// Groups that one wants to come into and is not in yet.
public struct ListJoins: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "joins", RequestScope.read,
        "Groups that the person asked to join and is not in yet."
    )
    /// An example of the request.
    public static let example = ListJoins()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [JoinView] {
        try await node.read { try $0.joins() }
    }
}

/// Wants no more to come into a group by a link that its maker has not taken yet.
public struct WithdrawJoin: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "withdrawJoin", RequestScope.write,
        "Withdraws a request to join a group, if the maker of the link has not accepted it yet."
    )
    /// An example of the request.
    public static let example = WithdrawJoin(conversation: "trip")

    /// The group: its name when the link was made, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) {
        self.conversation = conversation
    }

    /// Answers it: how it stood.
    public func perform(on node: Node) async throws -> JoinView {
        let (space, view) = try await node.read { try $0.join(into: conversation) }
        _ = try await node.write(.withdrawJoin(space))
        return view
    }
}
