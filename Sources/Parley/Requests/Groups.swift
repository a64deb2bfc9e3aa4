import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// A group: its members and settings.
public struct GetGroup: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "group", RequestScope.read,
        "A group: its members and its settings."
    )
    /// An example of the request.
    public static let example = GetGroup(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) {
        self.conversation = conversation
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> GroupView {
        try await node.read { try $0.group(conversation) }
    }
}

/// Takes a contact into a group.
public struct AddGroupMember: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "addMember", RequestScope.write,
        "Invites a contact to a group."
    )
    /// An example of the request.
    public static let example = AddGroupMember(conversation: "trip", person: "cleo", role: .member)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The person: a name, an alias or a start of the identifier.
    public var person: String
    /// What the person may do.
    public var role: MemberRole

    /// A request with these parameters.
    public init(conversation: String, person: String, role: MemberRole) {
        self.conversation = conversation
        self.person = person
        self.role = role
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> GroupView {
        let (space, id) = try await node.find(conversation, person)
        return try await node.change(.addMember(space, id, role.role), in: space)
    }
}

/// Removes a person from a group: they get nothing written from then on.
public struct RemoveGroupMember: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "removeMember", RequestScope.write,
        "Removes a person from a group: they get nothing of what is written from then on."
    )
    /// An example of the request.
    public static let example = RemoveGroupMember(conversation: "trip", person: "cleo")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The person: a name, an alias or a start of the identifier.
    public var person: String

    /// A request with these parameters.
    public init(conversation: String, person: String) {
        self.conversation = conversation
        self.person = person
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> GroupView {
        let (space, id) = try await node.find(conversation, person, isInIt: true)
        return try await node.change(.removeMember(space, id), of: id, in: space)
    }
}

/// Lets a person do more or less in a group.
public struct SetMemberRole: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setRole", RequestScope.write,
        "Changes the role of a person in a group."
    )
    /// An example of the request.
    public static let example = SetMemberRole(conversation: "trip", person: "cleo", role: .admin)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The person: a name, an alias or a start of the identifier.
    public var person: String
    /// What the person may do.
    public var role: MemberRole

    /// A request with these parameters.
    public init(conversation: String, person: String, role: MemberRole) {
        self.conversation = conversation
        self.person = person
        self.role = role
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> GroupView {
        let (space, id) = try await node.find(conversation, person, isInIt: true)
        return try await node.change(.setRole(space, id, role.role), of: id, in: space)
    }
}

/// Leaves a group; its messages stay here to read. Refused if no owner would be left who takes
/// part, unless it is wanted anyway.
public struct LeaveGroup: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "leave", RequestScope.write,
        "Leaves a group; what was written stays readable here."
    )
    /// An example of the request.
    public static let example = LeaveGroup(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// Whether it is wanted where no owner would be left, or what was written may be lost; false where nil.
    public var anyway: Bool?

    /// How often, and after what pause, it is looked whether the last messages have been delivered.
    private static let (lookCount, pause) = (12, Duration.milliseconds(250))

    /// A request with these parameters.
    public init(conversation: String, anyway: Bool? = nil) {
        self.conversation = conversation
        self.anyway = anyway
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let anyway = anyway ?? false
        let space = try await node.read { views in
            let record = try views.conversation(conversation)
            // A revoked device is told that, and nothing that it could not do.
            if !anyway, !views.core.node.isRevoked { try Self.requireOwner(in: record, views) }
            return record.id
        }
        if !anyway { try await awaitDelivery(on: node) }
        _ = try await node.write(.leave(space, anyway: anyway))
        return NoReply()
    }

    /// Says of a last owner as well that others lack something of theirs: with `anyway` both is accepted.
    private static func requireOwner(in record: SpaceRecord, _ views: Views) throws {
        do {
            try views.requireOwner(after: views.ownPerson, in: record)
        } catch let error as NodeError {
            guard try views.loss(byLeaving: record) != nil else { throw error }
            throw NodeError(
                error.code, error.message + " Besides, nobody there has all that you wrote.",
                hint: error.hint)
        }
    }

    /// Waits a moment until somebody has the person's last messages: nobody takes them of a former member.
    private func awaitDelivery(on node: Node) async throws {
        for look in 1...Self.lookCount {
            let loss = try await node.read { views in
                try views.loss(byLeaving: views.conversation(conversation))
            }
            guard let loss else { return }
            if look == Self.lookCount { throw loss }
            try await Task.sleep(for: Self.pause)
        }
    }
}

/// Changes what newcomers are given and after how many hours keys are replaced; nil leaves a
/// setting as it is.
public struct ChangeGroupSettings: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "changeSettings", RequestScope.write,
        "Changes what newcomers get and after how many hours keys are replaced; what is nil stays."
    )
    /// An example of the request.
    public static let example = ChangeGroupSettings(
        conversation: "trip", history: "30d", rotationHours: 24)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// What newcomers are given: `none`, `all`, or days as `30d`.
    public var history: String?
    /// After how many hours keys are replaced.
    public var rotationHours: Int?

    /// A request with these parameters.
    public init(conversation: String, history: String? = nil, rotationHours: Int? = nil) {
        self.conversation = conversation
        self.history = history
        self.rotationHours = rotationHours
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> GroupView {
        let space = try await node.read { try $0.conversation(conversation).id }
        var settings = SpaceSettings()
        if let history {
            guard let policy = HistoryPolicy(word: history) else {
                throw NodeError(
                    "bad-history", "“\(history)” is not a rule for history.",
                    hint: "Use `none`, `all`, or days such as `30d`.")
            }
            settings.history = policy
        }
        if let rotationHours {
            guard (1...24 * 3650).contains(rotationHours) else {
                throw NodeError("bad-rotation", "Keys can be replaced after 1 to 87600 hours.")
            }
            settings.rotationHours = UInt32(rotationHours)
        }
        return try await node.change(.changeSettings(space, settings), in: space)
    }
}

extension Node {
    fileprivate func find(
        _ conversation: String, _ person: String, isInIt: Bool = false
    ) async throws -> (SpaceID, PersonID) {
        try await read { views in
            let record = try views.conversation(conversation)
            let space = record.id
            do {
                return (
                    space,
                    try isInIt ? views.member(person, of: record) : views.person(person)
                )
            } catch let error as NodeError where error.code == "unknown-person" {
                // A person other than this one is unknown, as reported.
                guard (try? views.person(person, among: [views.ownPerson])) != nil else {
                    throw error
                }
                let hasOwner = try views.hasOwner(record, besides: views.ownPerson)
                throw NodeError(
                    "yourself", "That is yourself.",
                    hint:
                        "`parley group leave \(space.short)` takes you out of that group; "
                        + (hasOwner
                            ? "only another owner can change your role there."
                            : "nobody can change your role there: it has no other owner."))
            }
        }
    }

    /// Changes a person's role in a group; a caller who may not is told who decides it.
    fileprivate func change(
        _ command: Command, of person: PersonID, in space: SpaceID
    ) async throws -> GroupView {
        do {
            return try await change(command, in: space)
        } catch let error as NodeError where error.code == "outranked" {
            throw try await read { try $0.outranked(by: person, in: space) } ?? error
        }
    }

    fileprivate func change(_ command: Command, in space: SpaceID) async throws -> GroupView {
        _ = try await write(command)
        return try await read { views in
            guard let record = try views.store.space(space) else {
                throw NodeError(.unknownConversation)
            }
            return try views.group(record)
        }
    }
}

/// A role in a group, by its word.
public enum MemberRole: String, Codable, CaseIterable, Sendable {
    /// Reads.
    case reader
    /// Reads and writes.
    case member
    /// Names the group, and adds, invites and removes members and readers.
    case admin
    /// Everything.
    case owner

    /// Reads a word.
    ///
    /// - Throws: ``NodeError`` with the code `bad-role` if it is none of these.
    public init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        guard let role = MemberRole(rawValue: word) else {
            throw NodeError(
                "bad-role",
                "“\(word)” is not a role.", hint: "Roles are reader, member, admin and owner.")
        }
        self = role
    }

    /// The same below the node's door.
    var role: Role {
        switch self {
        case .reader: .reader
        case .member: .member
        case .admin: .admin
        case .owner: .owner
        }
    }
}
