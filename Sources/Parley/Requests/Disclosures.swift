import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Whether others are let know something of what one does.
public enum DisclosureWord: String, Codable, CaseIterable, Sendable {
    /// They are.
    case on
    /// They are not.
    case off
    /// As in all conversations without a setting of their own; of all of them, on.
    case usual

    /// Reads a word.
    ///
    /// - Throws: ``NodeError`` with the code `bad-privacy` if it is none of these.
    public init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        guard let known = DisclosureWord(rawValue: word) else {
            throw NodeError(
                "bad-privacy", "“\(word)” is not a choice.", hint: "Choose on, off or usual.")
        }
        self = known
    }

    /// The same below the node's door: nil for what holds otherwise.
    var isTold: Bool? { self == .usual ? nil : self == .on }
}

/// What others are let know: of all conversations, and of those that have a setting of their own.
public struct DisclosureReport: Codable, Equatable, Sendable {
    /// One conversation with a setting of its own.
    public struct Entry: Codable, Equatable, Sendable {
        /// The conversation, in hex.
        public var conversation: String
        /// Its name.
        public var name: String
        /// Whether others there are told what one has read; nil for as in all others.
        public var receipts: Bool?
        /// Whether others there are told that one types; nil for as in all others.
        public var typing: Bool?
    }

    /// Whether others are told what one has read, and one sees what they have read.
    public var receipts: Bool
    /// Whether others are told that one types, and one sees that they do.
    public var typing: Bool
    /// Conversations with a setting of their own, by name.
    public var conversations: [Entry]
}

/// Whether others are told what the person has read, and that they type.
public struct GetDisclosures: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "disclosures", RequestScope.read,
        "Whether others are told what the person has read, and that they type."
    )
    /// An example of the request.
    public static let example = GetDisclosures()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> DisclosureReport {
        try await node.read { try $0.disclosures() }
    }
}

/// Sets whether others are told what the person has read, and that they type: in one conversation, or in all
/// without a setting of their own. Whoever tells nothing is shown nothing of it by others either.
public struct SetDisclosures: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setDisclosures", RequestScope.write,
        "Sets whether others are told what the person has read, and that they type; what is nil stays."
    )
    /// An example of the request.
    public static let example = SetDisclosures(conversation: "trip", receipts: .off)

    /// The conversation: its name, its identifier or a start of that; nil for all without a setting of their
    /// own.
    public var conversation: String?
    /// Whether others are told what one has read.
    public var receipts: DisclosureWord?
    /// Whether others are told that one types.
    public var typing: DisclosureWord?

    /// A request with these parameters.
    public init(
        conversation: String? = nil, receipts: DisclosureWord? = nil, typing: DisclosureWord? = nil
    ) {
        self.conversation = conversation
        self.receipts = receipts
        self.typing = typing
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DisclosureReport {
        let space = try await node.read { views in
            try conversation.map { try views.conversation($0).id }
        }
        for (what, word) in [(Disclosure.reading, receipts), (Disclosure.typing, typing)] {
            guard let word else { continue }
            _ = try await node.running.perform(
                .setDisclosure(what, isTold: word.isTold, in: space))
        }
        return try await node.perform(GetDisclosures())
    }
}

extension Views {
    /// Whether others in a conversation are let know something, and so whether it is shown of them.
    func discloses(_ what: Disclosure, in space: SpaceID) throws -> Bool {
        try what.isTold(in: space, ownSpace: core.ownSpace?.number, store)
    }

    func disclosures() throws -> DisclosureReport {
        var entries: [DisclosureReport.Entry] = []
        guard let own = core.ownSpace?.number else {
            return DisclosureReport(receipts: true, typing: true, conversations: [])
        }
        func said(_ what: Disclosure, _ space: SpaceID?) throws -> Bool? {
            try Overview.disclosureSet(what, in: space, ownSpace: own, store)
        }
        for space in try store.spaces() where space.kind != .own {
            let (reading, typing) = (try said(.reading, space.id), try said(.typing, space.id))
            guard reading != nil || typing != nil, let roster = try roster(of: space) else {
                continue
            }
            entries.append(
                .init(
                    conversation: space.id.description, name: try title(of: space, roster),
                    receipts: reading, typing: typing))
        }
        let unsaid = try store.value(.profile, NodeCore.recoveredKey) == nil
        return DisclosureReport(
            receipts: try said(.reading, nil) ?? unsaid, typing: try said(.typing, nil) ?? unsaid,
            conversations: entries.sorted {
                ($0.name, $0.conversation) < ($1.name, $1.conversation)
            })
    }
}
