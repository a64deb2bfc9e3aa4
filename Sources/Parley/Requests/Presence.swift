import ParleyNodeCore
import ParleySignalling

/// Lets others know that the person types, or has stopped: to be said again at each key.
public struct SetTyping: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setTyping", RequestScope.write,
        "Lets others know that the person is typing, or has stopped: call it again at each key."
    )
    /// An example of the request.
    public static let example = SetTyping(conversation: "trip", on: true)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// Whether the person types.
    public var on: Bool

    /// A request with these parameters.
    public init(conversation: String, on: Bool) {
        self.conversation = conversation
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        _ = try await node.running.perform(.types(try await node.space(conversation), on))
        return NoReply()
    }
}

/// The presence of others, and what others may see.
public struct ListPresences: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "presences", RequestScope.read,
        "Who is online, and what others may see of the person's presence."
    )
    /// An example of the request.
    public static let example = ListPresences()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> PresenceReport {
        try await node.read { try $0.presences() }
    }
}

/// Whether the person is at this device. A node begins with `offline`.
public struct SetPresence: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setPresence", RequestScope.write,
        "Sets whether the person is online at this device."
    )
    /// An example of the request.
    public static let example = SetPresence(presence: "away")

    /// `online`, `away` or `offline`.
    public var presence: String

    /// A request with these parameters.
    public init(presence: String) {
        self.presence = presence
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        guard let word = Presence(word: presence) else {
            throw NodeError(
                "bad-presence", "“\(presence)” is not a presence.",
                hint: "Choose online, away or offline.")
        }
        _ = try await node.running.perform(.setPresence(word))
        return NoReply()
    }
}

/// Sets what a person, or everybody without a setting of their own, may see of this person's
/// presence.
public struct SetPrivacy: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setPrivacy", RequestScope.write,
        "Sets what a person, or everybody without a setting of their own, may see of when one is "
            + "online."
    )
    /// An example of the request.
    public static let example = SetPrivacy(told: "now", person: "ben")

    /// `everything`, `now` (not when one was there last) or `nothing`.
    public var told: String
    /// The person; nil for everybody without a setting of their own.
    public var person: String?

    /// A request with these parameters.
    public init(told: String, person: String? = nil) {
        self.told = told
        self.person = person
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> PresenceReport {
        guard let privacy = PresenceBook.Privacy(word: told) else {
            throw NodeError(
                "bad-privacy", "“\(told)” is not something that others can be shown.",
                hint: "Choose everything, now (not when you were last online) or nothing.")
        }
        let id = try await node.read { views in try person.map { try views.person($0) } }
        _ = try await node.running.perform(.setPrivacy(privacy, for: id))
        return try await node.perform(ListPresences())
    }
}
