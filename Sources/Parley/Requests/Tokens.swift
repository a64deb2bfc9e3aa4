import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire

/// A token, without its secret.
public struct TokenView: Codable, Equatable, Sendable {
    /// Its name.
    public var name: String
    /// Its scope.
    public var scope: RequestScope
    /// The one conversation that it is for, in hex; nil for everything.
    public var conversation: String?
    /// When it was made, or given a new secret, in Unix milliseconds.
    public var created: UInt64
}

/// A token that was just made.
public struct FreshToken: Codable, Equatable, Sendable {
    /// The secret that a program shows. It is not stored and cannot be shown again.
    public var token: String
    /// The token.
    public var view: TokenView
}

/// Creates a token with which programs may send requests to this node over HTTP. Its secret is
/// returned only this once.
public struct CreateToken: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "newToken", RequestScope.admin,
        "Creates a token with which programs may use the node over HTTP; its secret is shown this "
            + "once."
    )
    /// An example of the request.
    public static let example = CreateToken(called: "lights", allows: .write, conversation: "home")

    /// Its name: letters, digits, dots, hyphens and underscores.
    public var called: String
    /// Its scope.
    public var allows: RequestScope
    /// The one conversation that it is for: its name, its identifier or a start of that; nil for
    /// everything.
    public var conversation: String?

    /// A request with these parameters.
    public init(called: String, allows: RequestScope, conversation: String? = nil) {
        self.called = called
        self.allows = allows
        self.conversation = conversation
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> FreshToken {
        let space = try await node.read { views in
            try conversation.map { try views.conversation($0).id.description }
        }
        return FreshToken(
            try node.accessTokens.create(
                called, allows, conversation: space, at: SystemClock.now.wall))
    }
}

/// The tokens that there are, by name.
public struct ListTokens: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "tokens", RequestScope.admin,
        "All tokens, by name, without their secrets."
    )
    /// An example of the request.
    public static let example = ListTokens()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [TokenView] {
        try node.accessTokens.list().map(TokenView.init)
    }
}

/// Gives a token another secret; the old one ends at once, and everything that uses it.
public struct RotateToken: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "rotateToken", RequestScope.admin,
        "Gives a token a new secret, shown this once; the old one ends at once."
    )
    /// An example of the request.
    public static let example = RotateToken(called: "lights")

    /// Its name.
    public var called: String

    /// A request with these parameters.
    public init(called: String) { self.called = called }

    /// Answers the request.
    public func perform(on node: Node) async throws -> FreshToken {
        FreshToken(try node.accessTokens.rotate(called, at: SystemClock.now.wall))
    }
}

/// Revokes a token at once, and ends everything that uses it.
public struct RevokeToken: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "revokeToken", RequestScope.admin,
        "Revokes a token at once, with everything that uses it."
    )
    /// An example of the request.
    public static let example = RevokeToken(called: "lights")

    /// Its name.
    public var called: String

    /// A request with these parameters.
    public init(called: String) { self.called = called }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        try node.accessTokens.revoke(called)
        return NoReply()
    }
}

/// Which conversation each of these messages is of.
public struct LocateMessages: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "locate", RequestScope.read,
        "The conversation of each of these messages."
    )
    /// An example of the request.
    public static let example = LocateMessages(messages: [12])
    /// So many messages are located at once, at most.
    public static let messageCountMax = 1_000

    /// The messages.
    public var messages: [MessageReference]

    /// A request with these parameters.
    public init(messages: [MessageReference]) { self.messages = messages }

    /// Answers it: conversations in hex, in the order of the messages.
    public func perform(on node: Node) async throws -> [String] {
        guard messages.count <= Self.messageCountMax else {
            throw NodeError(
                "too-many", "At most \(Self.messageCountMax) messages can be located at once.")
        }
        return try await node.read { views in
            try messages.map { reference in
                let number = try views.message(reference) as OperationNumber
                guard let space = try views.conversation(of: number) else {
                    throw NodeError(.unknownMessage)
                }
                return space.id.description
            }
        }
    }
}

extension TokenView {
    init(_ entry: AccessTokens.Entry) {
        self.init(
            name: entry.name, scope: entry.scope, conversation: entry.conversation,
            created: entry.created)
    }
}

extension FreshToken {
    fileprivate init(_ made: (token: String, entry: AccessTokens.Entry)) {
        self.init(token: made.token, view: TokenView(made.entry))
    }
}
