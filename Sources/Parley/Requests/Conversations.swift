import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// All conversations, newest first.
public struct ListConversations: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "conversations", RequestScope.read,
        "All conversations, newest first."
    )
    /// An example of the request.
    public static let example = ListConversations()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [ConversationView] {
        try await node.read { try $0.conversations() }
    }
}

/// The conversation that an argument means.
public struct GetConversation: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "conversation", RequestScope.read,
        "The conversation that an argument means."
    )
    /// An example of the request.
    public static let example = GetConversation(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) {
        self.conversation = conversation
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ConversationView {
        try await node.read { try $0.view(of: $0.conversation(conversation)) }
    }
}

/// A new group of these contacts.
public struct CreateConversation: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "newConversation", RequestScope.write,
        "Creates a group and invites these contacts."
    )
    /// An example of the request.
    public static let example = CreateConversation(name: "trip", members: ["ben"])

    /// Its name.
    public var name: String
    /// The invited contacts; nobody for private notes.
    public var members: [String]

    /// A request with these parameters.
    public init(name: String, members: [String]) {
        self.name = name
        self.members = members
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ConversationView {
        let persons = try await node.read { views in try members.map { try views.person($0) } }
        let reply = try await node.running.perform(.createGroup(name: name, members: persons))
        return try await node.read { views in
            guard case .space(let number) = reply, let space = try views.store.space(number) else {
                throw NodeError(.unknownConversation)
            }
            return try views.view(of: space)
        }
    }
}

/// Names a conversation.
public struct RenameConversation: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "rename", RequestScope.write,
        "Names a conversation."
    )
    /// An example of the request.
    public static let example = RenameConversation(conversation: "trip", name: "farm")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// Its name from now on.
    public var name: String

    /// A request with these parameters.
    public init(conversation: String, name: String) {
        self.conversation = conversation
        self.name = name
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        _ = try await node.write(.rename(try await node.space(conversation), name))
        return NoReply()
    }
}

/// Sets the description of a group, as its owners and admins may; an empty text removes it.
public struct DescribeGroup: NodeRequest {
    /// Bytes of one, at most.
    public static let byteCountMax = Limits.groupDescriptionByteCountMax
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "describeGroup", RequestScope.write,
        "Sets the description of a group; an empty text removes it."
    )
    /// An example of the request.
    public static let example = DescribeGroup(conversation: "trip", text: "who brings what")

    /// The group: its name, its identifier or a start of that.
    public var conversation: String
    /// The text, of at most 2,048 bytes; empty for none.
    public var text: String

    /// A request with these parameters.
    public init(conversation: String, text: String) {
        self.conversation = conversation
        self.text = text
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        _ = try await node.write(.describe(try await node.space(conversation), text))
        return NoReply()
    }
}

/// Mutes a conversation, for good or for some time, or unmutes it.
public struct MuteConversation: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "mute", RequestScope.write,
        "Mutes a conversation, for good or for some time, or unmutes it."
    )
    /// An example of the request.
    public static let example = MuteConversation(conversation: "trip", on: true)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// Whether it is silenced.
    public var on: Bool
    /// For how many hours, 1 to 8,760; nil for until one ends it.
    public var hours: Int?

    /// A request with these parameters.
    public init(conversation: String, on: Bool, hours: Int? = nil) {
        self.conversation = conversation
        self.on = on
        self.hours = hours
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        guard (1...24 * 365).contains(hours ?? 1) else {
            throw NodeError("bad-hours", "A conversation can be muted for 1 to 8760 hours.")
        }
        let until = hours.map { SystemClock.now.wall + UInt64($0) * 3_600_000 }
        let space = try await node.space(conversation)
        _ = try await node.running.perform(.mute(space, isOn: on, until: until))
        return NoReply()
    }
}

/// Deletes a conversation from this device, for good: one that the person is not in here, or one
/// with a person who is no contact.
public struct DeleteConversation: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deleteConversation", RequestScope.write,
        "Deletes a conversation from this device, for good: one that the person is not in, or one "
            + "with somebody who is not a contact."
    )
    /// An example of the request.
    public static let example = DeleteConversation(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) {
        self.conversation = conversation
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DeletedConversationView {
        let (space, name) = try await node.read { try $0.deletable(conversation) }
        do {
            _ = try await node.performFreeing(.deleteConversation(space))
        } catch let error as NodeError where error.code == "still-member" {
            throw try await node.read { try $0.stillIn(space) } ?? error
        }
        try await node.read { $0.rosters.forget(space) }
        return DeletedConversationView(conversation: space.description, name: name)
    }
}

/// What each conversation looks like here, in one hash each.
public struct ListDigests: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "digests", RequestScope.read,
        "What each conversation looks like here, in one hash each."
    )
    /// An example of the request.
    public static let example = ListDigests()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [DigestView] {
        try await node.read { try $0.digests() }
    }
}

extension Node {
    /// The identifier of the conversation that an argument means.
    func space(_ argument: String) async throws -> SpaceID {
        try await read { try $0.conversation(argument).id }
    }
}
