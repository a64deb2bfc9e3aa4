public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// A poll as a screen shows it.
public struct Poll: Equatable, Sendable {
    /// The options that somebody chose.
    public struct Ballot: Equatable, Sendable {
        /// Who.
        public var person: PersonID
        /// What; never nothing.
        public var choices: PollChoices
    }

    /// That it was ended.
    public struct Closing: Equatable, Sendable {
        /// Who ended it.
        public var person: PersonID
        /// When, by the voter's clock, in Unix milliseconds.
        public var time: UInt64
    }

    /// Its row here: how commands of this node name it.
    public var number: OperationNumber
    /// How operations of the space name it.
    public var reference: OperationReference
    /// Where it stands.
    public var order: OrderKey
    /// The person who asks.
    public var author: PersonID
    /// When it was asked by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// The question.
    public var question: PollQuestion
    /// What counts, one of each person, ascending by person.
    public var ballots: [Ballot]
    /// Who chose otherwise than what counts, ascending: too late, or too late for who ended it.
    public var uncounted: [PersonID]
    /// That it was ended; nil where it is open.
    public var closing: Closing?
}

extension Overview {
    /// The polls of a conversation, the oldest first; of more than ``Limits/pollCountMax`` the last.
    public static func polls(
        in space: SpaceNumber, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> [Poll] {
        let entries = try store.entries(about: .space, in: space, field: .poll)
            .sorted { $0.order < $1.order }
        var polls: [Poll] = []
        for entry in entries.suffix(Limits.pollCountMax) {
            if let poll = try poll(entry, in: space, roster, store) { polls.append(poll) }
        }
        return polls
    }

    /// The poll that an operation began; nil if it began none, does not count or was withdrawn.
    public static func poll(
        _ poll: OperationReference, in space: SpaceNumber, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> Poll? {
        let entries = try store.entries(
            about: .space, in: space, field: .poll, element: store.locator(poll.subject))
        guard let entry = entries.first else { return nil }
        return try self.poll(entry, in: space, roster, store)
    }

    private static func poll(
        _ entry: Entry, in space: SpaceNumber, _ roster: Roster, _ store: some MergeStore
    ) throws(StoreError) -> Poll? {
        guard let stored = try store.operation(entry.operation),
            let question = stored.operation.payload.flatMap(PollQuestion.init(payload:)),
            let author = try person(writing: entry.order.tag, in: space, roster, store)
        else { return nil }
        var poll = Poll(
            number: entry.operation, reference: entry.order.reference, order: entry.order,
            author: author, time: stored.operation.header.wallClock, question: question,
            ballots: [], uncounted: [])
        let box = try BallotBox(of: poll, in: space, roster, store)
        let last = try box.lastChoices(store)
        guard let close = try close(of: poll.reference, in: space, store),
            let closer = try person(writing: close.entry.order.tag, in: space, roster, store)
        else {
            poll.ballots = Poll.ballots(last)
            return poll
        }
        poll.closing = Poll.Closing(person: closer, time: close.time)
        let counted = try box.choices(namedBy: close.close, store)
        poll.ballots = Poll.ballots(counted)
        let none = PollChoices([])
        poll.uncounted = Set(last.keys).union(counted.keys).filter {
            last[$0] ?? none != counted[$0] ?? none
        }.sorted()
        return poll
    }

    private static func close(
        of poll: OperationReference, in space: SpaceNumber, _ store: some MergeStore
    ) throws(StoreError) -> (entry: Entry, close: PollClose, time: UInt64)? {
        let entries = try store.entries(
            about: .operation(poll.tag, poll.sequence), in: space, field: .pollClose,
            element: Target.element(of: poll.check, in: store))
        guard let entry = entries.first, let stored = try store.operation(entry.operation),
            let close = stored.operation.payload.flatMap(PollClose.init(payload:))
        else { return nil }
        return (entry, close, stored.operation.header.wallClock)
    }

    /// The close that counts the present votes of an open poll.
    public static func close(
        counting poll: OperationReference, in space: SpaceNumber, roster: Roster,
        store: some MergeStore
    ) throws(StoreError) -> PollClose? {
        guard let shown = try self.poll(poll, in: space, roster: roster, store: store) else {
            return nil
        }
        let box = try BallotBox(of: shown, in: space, roster, store)
        return PollClose(
            try box.lastVotes(store).values.filter { $0.choices.mask != 0 }.map(\.self))
    }

    /// The open polls of a log that ask until a time, and until when.
    public static func openPolls(
        of log: LogTag, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> [(poll: OperationReference, until: UInt64)] {
        var polls: [(poll: OperationReference, until: UInt64)] = []
        for entry in try store.entries(about: .space, in: space, field: .poll)
        where entry.order.tag == log {
            guard let stored = try store.operation(entry.operation),
                let until = stored.operation.payload.flatMap(PollQuestion.init(payload:))?.until,
                try close(of: entry.order.reference, in: space, store) == nil
            else { continue }
            polls.append((entry.order.reference, until))
        }
        return polls
    }

    /// How many votes of a log in a poll may count.
    public static func voteCount(
        of log: LogTag, in poll: OperationReference, _ space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> Int {
        try store.entries(
            about: .operation(poll.tag, poll.sequence), in: space, field: .vote,
            element: VoteRule.element(of: poll.check, by: log, in: store)
        ).count
    }

    static func person(
        writing tag: LogTag, in space: SpaceNumber, _ roster: Roster, _ store: some MergeStore
    ) throws(StoreError) -> PersonID? {
        try store.log(tag, in: space).flatMap { roster.person(of: $0.device) }
    }
}

extension Poll {
    fileprivate static func ballots(_ choices: [PersonID: PollChoices]) -> [Ballot] {
        choices.sorted { $0.key < $1.key }.filter { $0.value.mask != 0 }.map {
            Ballot(person: $0.key, choices: $0.value)
        }
    }
}

/// The votes in one poll that may count.
private struct BallotBox {
    private let poll: Poll
    private let space: SpaceNumber
    /// By the person, each person's in order, the last first.
    private var votes: [PersonID: [Entry]] = [:]
    /// The logs that are named or voted.
    private let roster: Roster

    init(
        of poll: Poll, in space: SpaceNumber, _ roster: Roster, _ store: some MergeStore
    ) throws(StoreError) {
        (self.poll, self.space, self.roster) = (poll, space, roster)
        let object = EntryObject.operation(poll.reference.tag, poll.reference.sequence)
        var persons: [LogTag: PersonID] = [:]
        for entry in try store.entries(about: object, in: space, field: .vote) {
            let tag = entry.order.tag
            if persons[tag] == nil {
                persons[tag] = try Overview.person(writing: tag, in: space, roster, store)
            }
            if let person = persons[tag] { votes[person, default: []].append(entry) }
        }
        for person in votes.keys.sorted() { votes[person]?.sort { $0.order > $1.order } }
    }

    /// The last vote of each person, also where it chooses nothing, or what cannot be chosen.
    func lastVotes(
        _ store: some MergeStore
    ) throws(StoreError) -> [PersonID: PollClose.Vote] {
        var last: [PersonID: PollClose.Vote] = [:]
        for person in votes.keys.sorted() {
            for entry in votes[person] ?? [] {
                guard let choices = try choices(in: entry, store) else { continue }
                last[person] = PollClose.Vote(operation: entry.order.reference, choices: choices)
                break
            }
        }
        return last
    }

    func lastChoices(_ store: some MergeStore) throws(StoreError) -> [PersonID: PollChoices] {
        try lastVotes(store).mapValues(\.choices)
    }

    /// What the votes choose that a close names. Of a log that is forked at or below one nodes may hold
    /// different branches: there the close's word holds.
    func choices(
        namedBy close: PollClose, _ store: some MergeStore
    ) throws(StoreError) -> [PersonID: PollChoices] {
        var counted: [PersonID: PollChoices] = [:]
        for vote in close.votes {
            guard let log = try store.log(vote.operation.tag, in: space), log.lane == .shared,
                let person = roster.person(of: log.device), counted[person] == nil
            else { continue }
            if let fork = log.fork, fork.sequence <= vote.operation.sequence {
                counted[person] = vote.choices.fit(poll.question) ? vote.choices : PollChoices([])
                continue
            }
            guard
                let entry = votes[person]?.first(where: {
                    $0.order.reference == vote.operation
                })
            else { continue }
            counted[person] = try choices(in: entry, store)
        }
        return counted
    }

    /// The options that a vote chooses: none if they cannot be chosen. Nil if it is about a poll on
    /// another branch of a log.
    private func choices(
        in entry: Entry, _ store: some MergeStore
    ) throws(StoreError) -> PollChoices? {
        guard let operation = try store.operation(entry.operation)?.operation,
            operation.header.references.first?.check == poll.reference.check,
            let choices = operation.payload.flatMap(PollChoices.init(payload:))
        else { return nil }
        return choices.fit(poll.question) ? choices : PollChoices([])
    }
}
