import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire

/// Sets after how many seconds messages of a conversation disappear that are written from then on.
public struct SetMessageLifetime: NodeRequest {
    /// Seconds of one, at most: a year.
    public static let secondsMax = Limits.lifetimeSecondsMax
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setMessageLifetime", RequestScope.write,
        "Sets after how many seconds new messages of a conversation disappear; 0 for never."
    )
    /// An example of the request.
    public static let example = SetMessageLifetime(conversation: "trip", seconds: 86_400)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// After how many seconds they disappear, at most 31,536,000; 0 for never.
    public var seconds: UInt64

    /// A request with these parameters.
    public init(conversation: String, seconds: UInt64) {
        self.conversation = conversation
        self.seconds = seconds
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let space = try await node.space(conversation)
        _ = try await node.write(.setLifetime(space, seconds: seconds))
        return NoReply()
    }
}

/// After how long messages disappear in conversations that the person begins.
public struct UsualLifetime: Codable, Equatable, Sendable {
    /// In seconds after they were read; nil if they stay.
    public var seconds: UInt64?
}

/// After how long messages disappear in conversations that the person begins from now on.
public struct GetUsualLifetime: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "usualLifetime", RequestScope.read,
        "After how many seconds messages disappear in conversations that the person begins."
    )
    /// An example of the request.
    public static let example = GetUsualLifetime()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> UsualLifetime {
        try await node.read { views in
            UsualLifetime(
                seconds: try Overview.usualLifetime(
                    ownSpace: views.core.ownSpace?.number, in: views.store))
        }
    }
}

/// Sets after how long messages disappear in groups that the person creates, and in conversations of two
/// that they begin, from then on. Those that exist stay as they are.
public struct SetUsualLifetime: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setUsualLifetime", RequestScope.write,
        "Sets after how many seconds messages disappear in conversations begun later; 0 for never."
    )
    /// An example of the request.
    public static let example = SetUsualLifetime(seconds: 2_419_200)

    /// After how many seconds they disappear, at most 31,536,000; 0 for never.
    public var seconds: UInt64

    /// A request with these parameters.
    public init(seconds: UInt64) { self.seconds = seconds }

    /// Answers the request.
    public func perform(on node: Node) async throws -> UsualLifetime {
        _ = try await node.running.perform(.setUsualLifetime(seconds: seconds))
        return try await node.perform(GetUsualLifetime())
    }
}

extension Views {
    /// Of a message that disappears: how long it stays, in seconds, and until when, in Unix milliseconds by
    /// this device's clock, if its time runs.
    func disappearance(of message: Message) throws -> (lifetime: UInt64?, due: UInt64?) {
        guard let lifetime = message.lifetime else { return (nil, nil) }
        return (lifetime, try NodeCore.disappearance(of: message.number, in: store))
    }

    /// Whether an operation is a message that has disappeared here.
    func hasDisappeared(_ stored: StoredOperation) -> Bool {
        stored.operation.header.kind == .disappearingText && stored.operation.isErased
    }
}
