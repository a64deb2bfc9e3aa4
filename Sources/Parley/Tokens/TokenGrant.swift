public import ParleyWire

/// What the holder of a token may do.
public struct TokenGrant: Equatable, Sendable {
    /// What the token is called.
    public let name: String
    /// Its scope; each includes the earlier ones.
    public let scope: RequestScope
    /// The one conversation that it is for, in hex; nil where it is for everything.
    public let conversation: String?
    /// The stored digest, which distinguishes it from other tokens with the same name.
    public let digest: Digest
    /// Whether it is that of the page in a browser, which besides its scope may make the requests
    /// listed for it.
    public var isOfPage = false

    /// Whether it allows this scope.
    public func allows(_ wanted: RequestScope) -> Bool {
        let scopes = RequestScope.allCases
        guard let own = scopes.firstIndex(of: scope), let other = scopes.firstIndex(of: wanted)
        else { return false }
        return other <= own
    }

    /// Whether its holder may be told a change: everything, or what members of its conversation see.
    public func allows(_ change: ChangeView) -> Bool {
        guard let conversation else { return true }
        return change.isTold(in: conversation)
    }

    /// What its holder may see of a reply. With a token of one conversation that is what its members
    /// see, and not what the person noted about it; an open link, by which anybody becomes a contact,
    /// is for who might make one.
    public func shown<Reply>(_ reply: Reply) -> Reply {
        if conversation != nil, let view = reply as? ConversationView {
            return view.asMembersSee as? Reply ?? reply
        }
        if !allows(.write), let invites = reply as? [InviteView] {
            let closed = invites.map { invite in
                var invite = invite
                invite.link = ""
                return invite
            }
            return closed as? Reply ?? reply
        }
        return reply
    }
}

extension ChangeView {
    /// What is told of one conversation to programs that are for it alone: whatever its members do in it.
    /// Kinds that are not listed are the person's own, as a reminder of one of its messages is.
    private static let kindsOfConversation: Set<String> = [
        "message", "mention", "conversation", "receipts", "members", "refolded", "poll", "item",
        "note", "decision", "typing",
    ]

    /// Whether a program that is for one conversation is told this. That something was missed is told
    /// to all, and nothing else about it.
    public func isTold(in conversation: String) -> Bool {
        if missed != nil { return true }
        return self.conversation == conversation && Self.kindsOfConversation.contains(kind)
    }
}

extension ConversationView {
    /// Without what the person wrote and did not send, their settings for it, and other conversations.
    fileprivate var asMembersSee: ConversationView {
        var view = self
        (view.draft, view.mutedUntil) = (nil, nil)
        (view.isMuted, view.isArchived) = (false, false)
        (view.isKeptFirst, view.isMarkedUnread) = (false, false)
        (view.twin, view.heldOn) = (nil, nil)
        view.resembles = []
        return view
    }
}

extension TokenGrant {
    /// The request as it may be made with this token: one for a conversation names that by its
    /// identifier, and messages of no other.
    ///
    /// - Parameters:
    ///   - request: as it was asked.
    ///   - node: asked what the request means.
    /// - Throws: ``NodeError`` with the code `forbidden` where it may not be made.
    public func admit<R: NodeRequest>(_ request: R, on node: any NodeService) async throws -> R {
        try check(R.self)
        var request = request
        if var sending = request as? SendMessages, let once = sending.once {
            // Two programs may call different things the same; no name of a token has a colon.
            sending.once = "\(name):\(once)"
            request = sending as? R ?? request
        }
        if var forgetting = request as? ForgetOnce {
            // As above.
            forgetting.once = "\(name):\(forgetting.once)"
            request = forgetting as? R ?? request
        }
        if isOfPage, var linking = request as? StartPairing {
            // A device outlives every session: the person says so where the page is not.
            linking.waits = true
            request = linking as? R ?? request
        }
        guard let conversation else { return request }
        guard let own = request as? any ConversationRequest,
            let confined = try await own.confined(to: conversation, on: node) as? R
        else { throw NodeError.beyondConversation(R.name) }
        return confined
    }

    /// Throws if the holder of this token may not handle the media of calls: that reveals
    /// addresses, and passwords of servers, as to a program for media, which only the owner sets.
    public func checkSeat() throws {
        guard isOfPage || allows(.admin) else { throw NodeError.beyondScope(.admin, of: self) }
    }

    /// Throws where no request of this type may be made with this token.
    public func check<R: NodeRequest>(_ type: R.Type) throws {
        guard allows(R.scope) || (isOfPage && R.self is any PageRequest.Type) else {
            throw isOfPage ? NodeError.beyondPage(R.name) : .beyondScope(R.scope, of: self)
        }
        guard conversation == nil || R.self is any ConversationRequest.Type else {
            throw NodeError.beyondConversation(R.name)
        }
    }
}

extension NodeError {
    /// The code for what a token does not allow.
    public static let forbiddenCode = "forbidden"

    /// A token allows less than this.
    public static func beyondScope(_ scope: RequestScope, of grant: TokenGrant) -> NodeError {
        NodeError(
            forbiddenCode, "This needs a token with the scope \(scope.rawValue).",
            hint: "`parley token new NAME --scope \(scope.rawValue)` creates one.")
    }

    /// The page in a browser is not let do this.
    static func beyondPage(_ method: String) -> NodeError {
        NodeError(
            forbiddenCode, "The page may not use “\(method)”.",
            hint: "Use the command line for that.")
    }

    /// A token is for one conversation, and this is not about one.
    static func beyondConversation(_ method: String) -> NodeError {
        NodeError(
            forbiddenCode, "A token for one conversation may not use “\(method)”.",
            hint: "`parley token new NAME --scope read` creates one for all conversations.")
    }

    /// A token is for another conversation.
    static let otherConversation = NodeError(
        forbiddenCode, "This token is for another conversation.")
}
