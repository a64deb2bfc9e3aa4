import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Asks a conversation something, with answers to choose from.
public struct AskPoll: NodeRequest {
    /// So many answers can be chosen from.
    public static let optionCountMax = Limits.pollOptionCountMax
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "askPoll", RequestScope.write,
        "Asks a conversation a question, with answers to choose from."
    )
    /// An example of the request.
    public static let example = AskPoll(
        conversation: "trip", question: "when do we go?", options: ["Friday", "Saturday"],
        multiple: true, hours: 48)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The question, of at most 1,024 bytes.
    public var question: String
    /// From 2 to 20 answers, of at most 256 bytes each.
    public var options: [String]
    /// Whether a person may choose several; one where it is absent.
    public var multiple: Bool?
    /// For how many hours people are asked, 1 to 8,760; nil for until somebody closes it.
    public var hours: Int?

    /// A request with these parameters.
    public init(
        conversation: String, question: String, options: [String], multiple: Bool? = nil,
        hours: Int? = nil
    ) {
        self.conversation = conversation
        self.question = question
        self.options = options
        self.multiple = multiple
        self.hours = hours
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> PollView {
        guard (1...24 * 365).contains(hours ?? 1) else {
            throw NodeError("bad-hours", "A poll can be open for 1 to 8760 hours.")
        }
        let space = try await node.read { try $0.writable(conversation).id }
        let until = hours.map { SystemClock.now.wall + UInt64($0) * 3_600_000 }
        let question = PollQuestion(
            question: question, options: options, isMultiple: multiple ?? false, until: until)
        return try await node.poll(.ask(space, question))
    }
}

/// Chooses answers of a poll, in place of those that one chose before.
public struct AnswerPoll: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "answerPoll", RequestScope.write,
        "Chooses answers of a poll, in place of those that the person chose before."
    )
    /// An example of the request.
    public static let example = AnswerPoll(poll: 12, choices: [1, 3])

    /// The poll: its number or its identifier.
    public var poll: MessageReference
    /// Which answers, from 1; none takes back what one chose.
    public var choices: [Int]

    /// A request with these parameters.
    public init(poll: MessageReference, choices: [Int]) {
        self.poll = poll
        self.choices = choices
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> PollView {
        let number = try await node.number(ofPoll: poll)
        let options = try await node.shown(number).options
        guard choices.allSatisfy({ (1...options.count).contains($0) }) else {
            throw Self.noSuchOption(options)
        }
        return try await node.poll(
            .vote(number, PollChoices(choices.map { $0 - 1 })), about: number)
    }
}

extension AnswerPoll {
    /// So many characters of each answer are repeated where none was meant.
    private static let repeatedCharacterCountMax = 40

    private static func noSuchOption(_ options: [PollView.Option]) -> NodeError {
        var error = NodeError(together: .noSuchOption(count: options.count))
        let all = options.enumerated().map { place, option in
            let isLong = option.text.count > repeatedCharacterCountMax
            return "\(place + 1) \(option.text.prefix(repeatedCharacterCountMax))"
                + (isLong ? "…" : "")
        }
        error.hint = "They are: \(all.joined(separator: "; "))."
        return error
    }
}

/// Closes a poll: the present votes, as this node knows them, are final.
public struct ClosePoll: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "closePoll", RequestScope.write,
        "Closes a poll: the answers that this node knows now are its permanent result."
    )
    /// An example of the request.
    public static let example = ClosePoll(poll: 12)

    /// The poll: its number or its identifier.
    public var poll: MessageReference

    /// A request with these parameters.
    public init(poll: MessageReference) { self.poll = poll }

    /// Answers the request.
    public func perform(on node: Node) async throws -> PollView {
        let number = try await node.number(ofPoll: poll)
        return try await node.poll(.close(number), about: number)
    }
}

/// Takes a poll back for everyone, with all answers.
public struct DeletePoll: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deletePoll", RequestScope.write,
        "Deletes a poll for everyone, with all answers."
    )
    /// An example of the request.
    public static let example = DeletePoll(poll: 12)

    /// The poll: its number or its identifier.
    public var poll: MessageReference

    /// A request with these parameters.
    public init(poll: MessageReference) { self.poll = poll }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let number = try await node.number(ofPoll: poll)
        _ = try await node.write(.withdraw(number), about: number)
        return NoReply()
    }
}

/// A poll as it stands.
public struct GetPoll: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "poll", RequestScope.read,
        "A poll with its answers and who chose them."
    )
    /// An example of the request.
    public static let example = GetPoll(poll: 12)

    /// The poll: its number or its identifier.
    public var poll: MessageReference

    /// A request with these parameters.
    public init(poll: MessageReference) { self.poll = poll }

    /// Answers the request.
    public func perform(on node: Node) async throws -> PollView {
        try await node.shown(try await node.number(ofPoll: poll))
    }
}

/// The polls of a conversation, or of all, the one that was asked last first; of each conversation at most
/// 256.
public struct ListPolls: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "polls", RequestScope.read,
        "The polls of a conversation, or of all, newest first."
    )
    /// An example of the request.
    public static let example = ListPolls(conversation: "trip", toAnswer: true)

    /// The conversation; nil for all.
    public var conversation: String?
    /// Whether to return only open polls that this person may answer and has not.
    public var toAnswer: Bool?

    /// A request with these parameters.
    public init(conversation: String? = nil, toAnswer: Bool? = nil) {
        self.conversation = conversation
        self.toAnswer = toAnswer
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [PollView] {
        let polls = try await node.read { try $0.polls(in: conversation) }
        guard toAnswer == true else { return polls }
        return polls.filter {
            $0.state == "open" && !$0.isAnswered && $0.mayAnswer && !$0.isHidden
        }
    }
}

extension Node {
    fileprivate func number(ofPoll poll: MessageReference) async throws -> OperationNumber {
        do {
            return try await read { try $0.message(poll, in: .shared) }
        } catch let error as NodeError where error.code == "unknown-message" {
            throw NodeError(together: .unknownPoll)
        }
    }

    /// Has something done, and tells the poll as it is then.
    fileprivate func poll(
        _ command: TogetherCommand, about number: OperationNumber? = nil
    ) async throws -> PollView {
        guard case .messages(let numbers) = try await write(command, about: number),
            let number = numbers.first
        else { throw NodeError(together: .unknownPoll) }
        return try await shown(number)
    }

    fileprivate func shown(_ number: OperationNumber) async throws -> PollView {
        guard let view = try await read({ try $0.poll(number) }) else {
            throw NodeError(together: .unknownPoll)
        }
        return view
    }
}
