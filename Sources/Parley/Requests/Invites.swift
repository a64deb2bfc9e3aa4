import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage

/// A link that lets so many other persons become contacts.
public struct CreateInvite: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "invite", RequestScope.write,
        "Creates a link that lets this many other people become contacts."
    )
    /// An example of the request.
    public static let example = CreateInvite(uses: 3, hours: 168)

    /// How many persons may take it; 1 where nil.
    public var uses: Int?
    /// For how many hours, 1 to 720.
    public var hours: Int

    /// A request with these parameters.
    public init(uses: Int? = nil, hours: Int) {
        self.uses = uses
        self.hours = hours
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> InviteView {
        guard (1...24 * 30).contains(hours) else {
            throw NodeError("bad-hours", "An invite can last from 1 to 720 hours.")
        }
        var random = SystemRandom()
        let secret = random.bytes(Invite.secretByteCount)
        let now = SystemClock.now.wall
        let expires = now + UInt64(hours) * 3_600_000
        _ = try await node.running.perform(
            .createInvite(secret: secret, expires: expires, uses: uses ?? 1))
        // A connected relay has the card in a moment, and the person is told so.
        return try await node.settled { views in
            let open = try OpenInvite.all(at: now, views.store)
            guard let invite = open.first(where: { $0.secret == secret }) else {
                throw NodeError(.unknownInvite)
            }
            let isUnderway = views.core.relayStates.contains {
                $0.relay == invite.relay && $0.isConnected
            }
            var view = try views.view(invite)
            view.clockWarning = try views.clockWarning()
            return (view, invite.shown != nil || !isUnderway)
        }
    }
}

/// Invites that somebody may still take: those that make contacts, the newest first, and those into
/// groups whose admin one is.
public struct ListInvites: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "invites", RequestScope.read,
        "Invites that can still be used: those that make contacts, the newest first, and those "
            + "into groups of which the person is an admin."
    )
    /// An example of the request.
    public static let example = ListInvites()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [InviteView] {
        try await node.read { try $0.invites(at: SystemClock.now.wall) }.map { node.told($0) }
    }
}

/// Ends an invite, named by its `id` or the start of that.
public struct RevokeInvite: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "revokeInvite", RequestScope.write,
        "Revokes an invite, named by its id or the start of that."
    )
    /// An example of the request.
    public static let example = RevokeInvite(id: "0123456789abcdef")

    /// The `id` of the invite, or the start of that.
    public var id: String

    /// A request with these parameters.
    public init(id: String) {
        self.id = id
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let revocation = try await node.read {
            try $0.revocation(of: id, at: SystemClock.now.wall)
        }
        _ = try await node.write(revocation)
        return NoReply()
    }
}

/// Takes an invite link; the two nodes meet as soon as they can reach each other.
public struct AcceptInvite: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "accept", RequestScope.write,
        "Accepts an invite link; the two nodes meet as soon as they can reach each other."
    )
    /// An example of the request.
    public static let example = AcceptInvite(link: "parley:1:QUJD", alias: "ben")

    /// The link.
    public var link: String
    /// What one calls the person; nil for the name on their card.
    public var alias: String?

    /// A request with these parameters.
    public init(link: String, alias: String? = nil) {
        self.link = link
        self.alias = alias
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ContactView {
        let invite: Invite
        do {
            invite = try Invite(link: link)
        } catch {
            throw NodeError(
                "bad-link", "That is not an invite link, or part of it is missing.", not: link,
                prefix: "parley:1:", hint: "An invite begins with `parley:1:` and is one long word."
            )
        }
        _ = try await node.running.perform(.acceptInvite(invite, alias: alias ?? ""))
        return try await node.settled { views in
            let view = try views.contact(view: invite.person)
            return (view, view.isWritable || view.state == "refused")
        }
    }
}

extension Node {
    /// How long an answer waits for what is in progress.
    private static let patience: Duration = .seconds(2)
    private static let lookInterval: Duration = .milliseconds(20)

    /// The value once it has settled, or its state after a while; at once if the node does not run,
    /// because nothing changes then.
    func settled<R: Sendable>(
        _ body: @Sendable (Views) throws -> (value: R, isSettled: Bool)
    ) async throws -> R {
        let end = ContinuousClock.now + Self.patience
        while true {
            let (value, isSettled) = try await read(body)
            if isSettled || !network.isRunning || network.isOffline || ContinuousClock.now >= end {
                return value
            }
            try await Task.sleep(for: Self.lookInterval)
        }
    }
}
