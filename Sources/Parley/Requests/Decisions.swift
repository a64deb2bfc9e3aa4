import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Proposes something to be decided in a conversation: of itself, from a message, or from the result of a poll
/// that was closed.
public struct ProposeDecision: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "proposeDecision", RequestScope.write,
        "Proposes a decision in a conversation, by itself or from a message or a poll."
    )
    /// An example of the request.
    public static let example = ProposeDecision(
        conversation: "trip", title: "we take the train", tags: ["travel"])

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The title, of at most 1,024 bytes; nil for the result of a poll, if there is one.
    public var title: String?
    /// The text, of at most 8,192 bytes.
    public var text: String?
    /// Its tags: at most 16, of 64 bytes each.
    public var tags: [String]?
    /// The message that it is made from.
    public var source: MessageReference?
    /// The poll that it is made from, which must be closed; it stays as it is.
    public var poll: MessageReference?

    /// A request with these parameters.
    public init(
        conversation: String, title: String? = nil, text: String? = nil, tags: [String]? = nil,
        source: MessageReference? = nil, poll: MessageReference? = nil
    ) {
        self.conversation = conversation
        self.title = title
        self.text = text
        self.tags = tags
        self.source = source
        self.poll = poll
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DecisionView {
        guard source == nil || poll == nil else {
            throw NodeError(
                "two-sources",
                "A decision can come from a message or from a poll, not from both.")
        }
        let (space, number, said) = try await node.read {
            views -> (SpaceID, OperationNumber?, String) in
            let space = try views.writable(conversation)
            let message = try source.map { try views.message($0) }
            guard let poll else { return (space.id, message, title ?? "") }
            let number = try views.number(poll, or: .unknownPoll)
            try views.requireClosed(poll: number)
            return (space.id, number, try title ?? views.result(ofPoll: number))
        }
        let proposal = DecisionProposal(title: said, text: text ?? "", tags: tags ?? [])
        return try await node.decision(.propose(space, proposal, from: number))
    }
}

/// Approves of a decision, or takes that back.
public struct ApproveDecision: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "approveDecision", RequestScope.write,
        "Approves a decision, or takes that back."
    )
    /// An example of the request.
    public static let example = ApproveDecision(decision: 12, on: true)

    /// The decision: its number or its identifier.
    public var decision: MessageReference
    /// Whether this person approves.
    public var on: Bool

    /// A request with these parameters.
    public init(decision: MessageReference, on: Bool) {
        self.decision = decision
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DecisionView {
        let number = try await node.number(ofDecision: decision)
        return try await node.decision(.approve(number, on), about: number)
    }
}

/// Says how a decision stands. Who proposed it may, and in a group an admin; of several who do so the last
/// holds.
public struct SettleDecision: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "settleDecision", RequestScope.write,
        "Sets the state of a decision."
    )
    /// An example of the request.
    public static let example = SettleDecision(decision: 12, state: "accepted")

    /// The decision: its number or its identifier.
    public var decision: MessageReference
    /// `accepted`, `rejected`, `superseded`, or `proposed` to open it again.
    public var state: String
    /// Which decision of the same conversation takes its place; with `superseded` alone.
    public var successor: MessageReference?

    /// A request with these parameters.
    public init(
        decision: MessageReference, state: String, successor: MessageReference? = nil
    ) {
        self.decision = decision
        self.state = state
        self.successor = successor
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DecisionView {
        let states = DecisionState.allCases
        guard let wanted = states.first(where: { "\($0)" == state }),
            (successor != nil) == (wanted == .superseded)
        else {
            throw NodeError(
                "bad-state",
                "A decision is proposed, accepted, rejected, or superseded by another.",
                hint: "The decision that replaces it is given with “superseded”, and only there.")
        }
        let number = try await node.number(ofDecision: decision)
        var other: OperationNumber?
        if let successor { other = try await node.number(ofDecision: successor) }
        return try await node.decision(.settle(number, wanted, by: other), about: number)
    }
}

/// Takes a decision back for everyone, with all approvals.
public struct DeleteDecision: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deleteDecision", RequestScope.write,
        "Deletes a decision for everyone, with all approvals."
    )
    /// An example of the request.
    public static let example = DeleteDecision(decision: 12)

    /// The decision: its number or its identifier.
    public var decision: MessageReference

    /// A request with these parameters.
    public init(decision: MessageReference) { self.decision = decision }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let number = try await node.number(ofDecision: decision)
        _ = try await node.write(.withdraw(number), about: number)
        return NoReply()
    }
}

/// A decision as it stands.
public struct GetDecision: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "decision", RequestScope.read,
        "A decision with its state and its approvals."
    )
    /// An example of the request.
    public static let example = GetDecision(decision: 12)

    /// The decision: its number or its identifier.
    public var decision: MessageReference

    /// A request with these parameters.
    public init(decision: MessageReference) { self.decision = decision }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DecisionView {
        try await node.shownDecision(try await node.number(ofDecision: decision))
    }
}

/// The decisions of a conversation, or of all, the one that stands last first. Where conditions are given, 2,000
/// are looked at for one page: it may have fewer than were asked for, or none, and others follow all the same.
public struct ListDecisions: NodeRequest {
    /// The most that are returned at once.
    public static let limitMax = 200
    /// So many are looked at for one page.
    private static let lookCountMax = 2_000
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "decisions", RequestScope.read,
        "The decisions of a conversation, or of all, the last one first."
    )
    /// An example of the request.
    public static let example = ListDecisions(
        conversation: "trip", state: "accepted", tag: "travel", limit: 50)

    /// The conversation; nil for all.
    public var conversation: String?
    /// Those alone that stand so: `proposed`, `accepted`, `rejected`, `superseded` or `untaken`.
    public var state: String?
    /// Those alone that have this tag, in capitals or not.
    public var tag: String?
    /// Those alone that were proposed from this moment on, in Unix milliseconds.
    public var since: UInt64?
    /// Those alone that were proposed before this moment, in Unix milliseconds.
    public var before: UInt64?
    /// How many, from 1 to 200.
    public var limit: Int
    /// Where to continue: ``DecisionList/next`` of the page before; nil for the first page.
    public var from: String?

    /// A request with these parameters.
    public init(
        conversation: String? = nil, state: String? = nil, tag: String? = nil,
        since: UInt64? = nil, before: UInt64? = nil, limit: Int = 50, from: String? = nil
    ) {
        self.conversation = conversation
        self.state = state
        self.tag = tag
        self.since = since
        self.before = before
        self.limit = limit
        self.from = from
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DecisionList {
        let wanted = tag?.lowercased()
        return try await node.read { views in
            try views.decisions(
                in: conversation, limit: min(max(1, limit), Self.limitMax), from: from,
                lookingAt: Self.lookCountMax
            ) { decision in
                state ?? decision.state == decision.state
                    && decision.time >= since ?? 0 && decision.time < before ?? .max
                    && (wanted.map { tag in decision.tags.contains { $0.lowercased() == tag } }
                        ?? true)
            }
        }
    }
}

extension Views {
    /// The operation in lane 4 that a reference names.
    fileprivate func number(
        _ reference: MessageReference, or objection: TogetherCommand.Objection
    ) throws -> OperationNumber {
        do {
            return try message(reference, in: .shared)
        } catch let error as NodeError where error.code == "unknown-message" {
            throw NodeError(together: objection)
        }
    }

    /// Refuses a poll without a result, and says who may close it and how.
    fileprivate func requireClosed(poll number: OperationNumber) throws {
        guard let poll = try poll(number), ["open", "over"].contains(poll.state) else { return }
        var error = NodeError(together: .open)
        error.hint = poll.mayClose ? "`parley poll close \(number.rawValue)` closes it." : nil
        throw error
    }

    /// The result of a poll, as the words of a decision.
    fileprivate func result(ofPoll number: OperationNumber) throws -> String {
        guard let poll = try poll(number) else { throw NodeError(together: .unknownPoll) }
        let best = poll.options.map(\.count).max() ?? 0
        let chosen = poll.options.filter { $0.count == best && best > 0 }.map(\.text)
        guard chosen.count == 1 || poll.state != "closed" else {
            throw NodeError(
                "no-result", "That poll did not choose one answer.",
                hint:
                    "Give a title that says what is decided: `parley decision propose … \"…\" "
                    + "--from-poll …`")
        }
        return "\(poll.question) \(chosen.joined(separator: ", "))"
    }
}

extension Node {
    fileprivate func number(
        ofDecision decision: MessageReference
    ) async throws -> OperationNumber {
        try await read { try $0.number(decision, or: .unknownDecision) }
    }

    /// Has something done, and tells the decision as it is then.
    fileprivate func decision(
        _ command: TogetherCommand, about known: OperationNumber? = nil
    ) async throws -> DecisionView {
        guard case .messages(let numbers) = try await write(command, about: known),
            let number = numbers.first
        else { throw NodeError(together: .unknownDecision) }
        return try await shownDecision(number)
    }

    fileprivate func shownDecision(_ number: OperationNumber) async throws -> DecisionView {
        guard let view = try await read({ try $0.decision(number) }) else {
            throw NodeError(together: .unknownDecision)
        }
        return view
    }
}
