import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// Everyone known, by name.
public struct ListContacts: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "contacts", RequestScope.read,
        "All people that the node knows, by name."
    )
    /// An example of the request.
    public static let example = ListContacts()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [ContactView] {
        try await node.read { try $0.contacts() }
    }
}

/// The person's own card as text: anybody who has it can send a contact request. It contains no
/// secret.
public struct GetCard: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "card", RequestScope.read,
        "The person's own card as text: whoever has it can send a contact request."
    )
    /// An example of the request.
    public static let example = GetCard()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> CardView {
        try await node.read { views in
            guard let bytes = try views.store.value(.card, views.ownPerson.bytes) else {
                throw NodeError("damaged", "This node has no card of its own.")
            }
            return CardView(text: CardText(card: bytes).text)
        }
    }
}

/// Sends a contact request to the owner of this card; or to a person about whom nothing is noted
/// any more, by their name.
public struct RequestContact: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "requestContact", RequestScope.write,
        "Sends a contact request to the person whose card this is; or, by name, to somebody of "
            + "whom it is no longer known whether they are a contact."
    )
    /// An example of the request.
    public static let example = RequestContact(card: "parley:c1:QUJD", alias: "ben")

    /// The card as text, or a name.
    public var card: String
    /// What one calls the person; nil for the name on their card.
    public var alias: String?

    /// A request with these parameters.
    public init(card: String, alias: String? = nil) {
        self.card = card
        self.alias = alias
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ContactView {
        let kept = try await node.read { try $0.keptCard(of: card) }
        guard let bytes = kept ?? CardText(card)?.card, let person = CardReader.person(of: bytes)
        else {
            throw NodeError(
                "bad-card", "That is not a card, or part of it is missing.", not: card,
                prefix: "parley:c1:",
                hint: "A card begins with `parley:c1:`; they see theirs with “parley contact card”."
            )
        }
        _ = try await node.running.perform(.requestContact(card: bytes, alias: alias ?? ""))
        return try await node.read { try $0.contact(view: person) }
    }
}

/// Accepts, declines, blocks or unblocks a person.
public struct AnswerContact: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "decide", RequestScope.write,
        "Accepts, declines, blocks or unblocks a person."
    )
    /// An example of the request.
    public static let example = AnswerContact(person: "ben", decision: .accept)

    /// The person: a name, an alias or a start of the identifier.
    public var person: String
    /// The decision.
    public var decision: ContactDecision

    /// A request with these parameters.
    public init(person: String, decision: ContactDecision) {
        self.person = person
        self.decision = decision
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ContactView {
        let id = try await node.read { try $0.person(person) }
        let answer: ContactAnswer =
            switch decision {
            case .accept: .accept
            case .decline: .decline
            case .block: .block
            case .unblock: .unblock
            }
        _ = try await node.running.perform(.answerContact(id, answer))
        return try await node.read { try $0.contact(view: id) }
    }
}

/// Calls a person so; by the name on their card where it is nil.
public struct SetAlias: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setAlias", RequestScope.write,
        "Sets one's own name for a person; nil restores the name on their card."
    )
    /// An example of the request.
    public static let example = SetAlias(person: "ben", alias: "benny")

    /// The person: a name, an alias or a start of the identifier.
    public var person: String
    /// What one calls the person.
    public var alias: String?

    /// A request with these parameters.
    public init(person: String, alias: String? = nil) {
        self.person = person
        self.alias = alias
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ContactView {
        let id = try await node.read { try $0.person(person) }
        _ = try await node.running.perform(.setAlias(id, alias ?? ""))
        return try await node.read { try $0.contact(view: id) }
    }
}

/// The safety number shared with a person.
public struct GetSafetyNumber: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "safetyNumber", RequestScope.read,
        "The safety number shared with a person."
    )
    /// An example of the request.
    public static let example = GetSafetyNumber(person: "ben")

    /// The person: a name, an alias or a start of the identifier.
    public var person: String

    /// A request with these parameters.
    public init(person: String) {
        self.person = person
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> SafetyNumberView {
        try await node.read { try $0.safetyNumber(of: $0.person(person)) }
    }
}

/// Compares the code that a person's own screen shows with what is known here, and records that
/// they are equal. If they are not it throws `mismatch`, and nothing is recorded.
public struct VerifyContact: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "verify", RequestScope.write,
        "Compares the code that a person's own screen shows with what is known here, and records "
            + "that they are equal."
    )
    /// An example of the request.
    public static let example = VerifyContact(person: "ben", code: "parley:v1:QUJD")

    /// The person: a name, an alias or a start of the identifier.
    public var person: String
    /// The code, as their screen shows it.
    public var code: String

    /// A request with these parameters.
    public init(person: String, code: String) {
        self.person = person
        self.code = code
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> SafetyNumberView {
        let id = try await node.read { views in
            let id = try views.person(person)
            try views.compare(code, with: id)
            return id
        }
        _ = try await node.running.perform(.markVerified(id))
        return try await node.read { try $0.safetyNumber(of: id) }
    }
}

/// Notes that the safety numbers were compared and are equal.
public struct MarkVerified: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "markVerified", RequestScope.write,
        "Records that the safety numbers were compared and are equal."
    )
    /// An example of the request.
    public static let example = MarkVerified(person: "ben")

    /// The person: a name, an alias or a start of the identifier.
    public var person: String

    /// A request with these parameters.
    public init(person: String) {
        self.person = person
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let id = try await node.read { try $0.person(person) }
        _ = try await node.running.perform(.markVerified(id))
        return NoReply()
    }
}
