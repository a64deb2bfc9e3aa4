import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Asks a conversation something, with answers to choose from.
    public static let poll = OperationKind(rawValue: 96)
    /// Chooses answers of a poll.
    public static let vote = OperationKind(rawValue: 97)
}

extension EntryField {
    /// Polls, one entry for each.
    static let poll = EntryField(rawValue: 60)
    /// The votes in a poll that may count, an entry for each.
    static let vote = EntryField(rawValue: 61)
}

/// The payload of a poll: the question and its options.
public struct PollQuestion: Equatable, Sendable {
    /// The question.
    public var question: String
    /// The answers to choose from.
    public var options: [String]
    /// Whether a person may choose several.
    public var isMultiple: Bool
    /// Until when people are asked to answer, in Unix milliseconds; nil for until it is closed. The device
    /// that asked closes the poll then, and each other goes by its own clock.
    public var until: UInt64?

    /// A question with these fields.
    public init(question: String, options: [String], isMultiple: Bool, until: UInt64? = nil) {
        self.question = question
        self.options = options
        self.isMultiple = isMultiple
        self.until = until
    }

    package init?(payload: [UInt8]) {
        guard let poll = Payload.decode(PayloadPoll.self, payload), !poll.question.isEmpty,
            poll.question.utf8.count <= Limits.pollQuestionByteCountMax,
            (2...Limits.pollOptionCountMax).contains(poll.options.count),
            poll.options.allSatisfy({ (1...Limits.nameByteCountMax).contains($0.utf8.count) }),
            poll.until < Limits.wallClockMax
        else { return nil }
        self.init(
            question: poll.question, options: poll.options, isMultiple: poll.multiple,
            until: poll.until == 0 ? nil : poll.until)
    }

    /// The operation that asks this.
    public func draft() -> Draft {
        var poll = PayloadPoll()
        poll.question = question
        poll.options = options
        poll.multiple = isMultiple
        poll.until = until ?? 0
        return Draft(kind: .poll, lane: .shared, payload: Payload.encode(poll))
    }
}

/// The options that somebody chooses.
public struct PollChoices: Equatable, Sendable {
    /// A bit for each option, the first the lowest.
    public let mask: UInt32

    /// The options at these places, from 0; those that no poll has are left out.
    public init(_ places: some Sequence<Int>) {
        mask = places.reduce(0) { mask, place in
            (0..<Limits.pollOptionCountMax).contains(place) ? mask | 1 << UInt32(place) : mask
        }
    }

    init?(mask: UInt32) {
        guard mask < 1 << UInt32(Limits.pollOptionCountMax) else { return nil }
        self.mask = mask
    }

    package init?(payload: [UInt8]) {
        guard let vote = Payload.decode(PayloadVote.self, payload),
            vote.choices.count <= Limits.pollOptionCountMax,
            vote.choices.allSatisfy({ $0 < Limits.pollOptionCountMax }),
            zip(vote.choices, vote.choices.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.init(vote.choices.map { Int($0) })
    }

    /// The places of the options, from 0, ascending.
    public var places: [Int] {
        (0..<Limits.pollOptionCountMax).filter { mask & 1 << UInt32($0) != 0 }
    }

    /// Whether they can be chosen in a poll. Choosing nothing is possible: it takes back an earlier
    /// choice.
    public func fit(_ question: PollQuestion) -> Bool {
        mask < 1 << UInt32(question.options.count)
            && (question.isMultiple || mask.nonzeroBitCount <= 1)
    }

    /// The operation that chooses them in a poll.
    public func draft(in poll: OperationReference) -> Draft {
        var vote = PayloadVote()
        // A payload has at least one byte, also where nothing is chosen.
        vote.version = 1
        vote.choices = places.map { UInt32($0) }
        return Draft(
            kind: .vote, lane: .shared, references: [poll], payload: Payload.encode(vote))
    }
}

extension OperationReference {
    /// What entries tell operations apart by: also two at one place of a forked log.
    var subject: [UInt8] {
        var writer = ByteWriter(capacity: 32)
        writer.uint64(tag.value)
        writer.uint64(sequence)
        writer.check(check)
        return writer.bytes
    }
}

/// A poll is an entry of its conversation until it is taken back.
enum PollRule: MergeRule {
    static let kind = OperationKind.poll
    static let lane = Lane.shared
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        try Withdrawal.keep(
            applied, as: .poll, isReadable: { PollQuestion(payload: $0) != nil }, context, in: store
        )
    }
}

/// Of the votes of a log in a poll the first ``Limits/voteCountMax`` by place may count: a later one can be
/// none that a close names, so no vote that a result rests on is ever dropped. Which of them count is
/// found where the poll is read: a close that comes later may name any of them.
enum VoteRule: MergeRule {
    static let kind = OperationKind.vote
    static let lane = Lane.shared
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let operation = applied.operation
        guard let poll = operation.operation.header.references.first,
            try Target.starter(of: poll, context, in: store) != nil
        else { return [] }
        let object = EntryObject.operation(poll.tag, poll.sequence)
        if try Withdrawal.erases(applied, about: poll, context, in: store) { return [] }
        guard operation.operation.payload.flatMap(PollChoices.init(payload:)) != nil else {
            return []
        }
        let entry = Entry(
            space: context.space.number, object: object, field: .vote,
            element: try element(of: poll.check, by: operation.tag, in: store),
            operation: applied.number, order: operation.orderKey)
        let kept = try LastWriter.rivals(of: entry, in: store)
        if kept.count >= Limits.voteCountMax {
            guard let last = kept.max(by: { $0.order.sequence < $1.order.sequence }),
                entry.order.sequence < last.order.sequence
            else { return [] }
            try store.remove(last)
        }
        try store.put(entry)
        return try Target.together(poll, context, in: store)
    }

    /// Tells the votes of one log in the poll with this check from all others.
    static func element(
        of check: Check, by tag: LogTag, in store: some MergeStore
    ) throws(StoreError) -> UInt64 {
        var writer = ByteWriter(capacity: 24)
        writer.check(check)
        writer.uint64(tag.value)
        return try store.locator(writer.bytes)
    }
}

extension Target {
    /// The person who began a shared item, or nil if nobody did who was ever in the space.
    static func starter(
        of target: OperationReference, lane: Lane = .shared, _ context: MergeContext,
        in store: some MergeStore
    ) throws(StoreError) -> PersonID? {
        let person = try author(of: target, lane: lane, context, in: store)
        let log = try store.log(target.tag, in: context.space.number)
        // A message is nothing that these rules are about.
        return log?.lane == lane ? person : nil
    }

    /// What screens must draw again of a poll.
    static func together(
        _ target: OperationReference, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let log = try store.log(target.tag, in: context.space.number),
            let stored = try store.operation(at: target.sequence, in: log.number)
        else { return [] }
        return [.together(context.space.number, stored.number)]
    }
}
