import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// What the members of a conversation do together.
/// Source: `Protocol/03-operations.md`, "Polls".
extension NodeCore {
    /// How often a poll that is open until a time is looked at, at least, in milliseconds: clocks are set.
    static let pollPauseMax: UInt64 = 60_000
    /// … and where nothing may be written yet.
    static let pollRetry: UInt64 = 600_000
    /// Where it is kept when the first of them is over.
    private static let pollKey = Array("polls".utf8)

    mutating func together(_ command: TogetherCommand, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        switch command {
        case .ask(let space, let question): return try ask(question, in: space, &turn)
        case .vote(let number, let choices): return try vote(choices, in: number, &turn)
        case .close(let number): return try close(number, &turn)
        case .begin(let space, let item, let source):
            return try begin(item, from: source, in: space, &turn)
        case .change(let number, let changes): return try change(changes, of: number, &turn)
        case .note(let space, let title, let text):
            return try begin(title, text, in: space, &turn)
        case .edit(let number, let edits, let version):
            return try edit(number, at: version, &turn) { _ in edits }
        case .write(let number, let text, let version):
            return try edit(number, at: version, &turn) { Self.edits(from: $0, to: text) }
        case .retitle(let number, let title): return try retitle(number, title, &turn)
        case .propose(let space, let proposal, let source):
            return try propose(proposal, from: source, in: space, &turn)
        case .approve(let number, let isOn): return try approve(isOn, of: number, &turn)
        case .settle(let number, let state, let other):
            return try settle(number, state, by: other, &turn)
        case .withdraw(let number): return try withdraw(number, &turn)
        }
    }

    private mutating func ask(
        _ question: PollQuestion, in id: SpaceID, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        if let refusal = Self.refusal(question, at: turn.now.wall) { return .failure(refusal) }
        if let refusal = try refusal(sharingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        let applied = try write([question.draft()], in: space, &turn)
        try schedulePolls(&turn)
        return .success(.messages(applied.filter { $0.isKind(.poll) }.map(\.number)))
    }

    private mutating func vote(
        _ choices: PollChoices, in number: OperationNumber, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let (space, poll) = try poll(number, turn.store) else {
            return .failure(.together(.unknownPoll))
        }
        if let refusal = try refusal(sharingIn: space, turn.store) { return .failure(refusal) }
        let question = poll.question
        guard poll.closing == nil, turn.now.wall < question.until ?? .max else {
            return .failure(.together(.closed))
        }
        guard choices.places.allSatisfy({ $0 < question.options.count }) else {
            return .failure(.together(.noSuchOption(count: question.options.count)))
        }
        guard choices.fit(question) else { return .failure(.together(.oneAnswer)) }
        let own = poll.ballots.first { $0.person == identity.person }?.choices ?? PollChoices([])
        // An unchanged vote is not repeated: votes are counted.
        if own == choices { return .success(.messages([number])) }
        let log = LogTag(
            OperationHash.log(space: space.id, device: identity.device, lane: .shared))
        guard
            try Overview.voteCount(of: log, in: poll.reference, space.number, store: turn.store)
                < Limits.voteCountMax
        else { return .failure(.together(.tooManyVotes(limit: Limits.voteCountMax))) }
        _ = try write([choices.draft(in: poll.reference)], in: space, &turn)
        return .success(.messages([number]))
    }

    private mutating func close(
        _ number: OperationNumber, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let (space, poll) = try poll(number, turn.store) else {
            return .failure(.together(.unknownPoll))
        }
        if let refusal = try refusal(ending: poll.author, in: space, turn.store) {
            return .failure(refusal)
        }
        guard poll.closing == nil else { return .failure(.together(.closed)) }
        try writeClose(of: poll.reference, in: space, &turn)
        return .success(.messages([number]))
    }

    private mutating func writeClose(
        of poll: OperationReference, in space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let roster = try roster(of: space, turn.store),
            let close = try Overview.close(
                counting: poll, in: space.number, roster: roster, store: turn.store)
        else { return }
        _ = try write([close.draft(of: poll)], in: space, &turn)
    }

    private mutating func withdraw(
        _ number: OperationNumber, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let (space, poll) = try poll(number, turn.store) {
            return try withdraw(poll.reference, begunBy: poll.author, number, in: space, &turn)
        }
        if let (space, item) = try item(number, turn.store) {
            return try withdraw(item.reference, begunBy: item.author, number, in: space, &turn)
        }
        if let (space, decision) = try decision(number, turn.store) {
            return try withdraw(
                decision.reference, begunBy: decision.author, number, in: space, &turn)
        }
        guard let (space, note) = try note(number, turn.store) else {
            return .failure(.together(.unknownPoll))
        }
        return try withdraw(note.reference, begunBy: note.author, number, in: space, &turn)
    }

    private mutating func withdraw(
        _ thing: OperationReference, begunBy person: PersonID, _ number: OperationNumber,
        in space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let refusal = try refusal(ending: person, in: space, turn.store) {
            return .failure(refusal)
        }
        _ = try write([Withdrawal.draft(of: thing)], in: space, &turn)
        return .success(.messages([number]))
    }

    mutating func poll(
        _ number: OperationNumber, _ store: some Store
    ) throws(StoreError) -> (SpaceRecord, Poll)? {
        guard let (space, roster, reference) = try begun(number, as: .poll, store) else {
            return nil
        }
        return try Overview.poll(reference, in: space.number, roster: roster, store: store).map {
            (space, $0)
        }
    }

    /// The operation of this kind with a number, by how operations name it, and where it is.
    mutating func begun(
        _ number: OperationNumber, as kind: OperationKind, _ store: some Store
    ) throws(StoreError) -> (SpaceRecord, Roster, OperationReference)? {
        guard let stored = try store.operation(number), stored.operation.header.kind == kind,
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let roster = try roster(of: space, store)
        else { return nil }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        return (space, roster, reference)
    }

    // MARK: Open until a time

    /// Sees to it that polls are closed in time that this device opened until then. No other device does:
    /// two that are apart would close it with different results, of which one would then be taken back.
    mutating func schedulePolls(_ turn: inout some Turn) throws(StoreError) {
        var first: UInt64?
        for (_, _, until) in try ownOpenPolls(at: turn.now.wall, turn.store) {
            first = min(first ?? until, until)
        }
        // Noted for a start, which must not look at every space.
        guard let first else { return try turn.store.setValue(nil, .profile, Self.pollKey) }
        try turn.store.setNumber(first, .profile, Self.pollKey)
        schedulePolls(for: first, &turn)
    }

    /// Continues after a restart.
    mutating func resumePolls(_ turn: inout some Turn) throws(StoreError) {
        guard let first = try turn.store.number(.profile, Self.pollKey) else { return }
        schedulePolls(for: first, &turn)
    }

    private mutating func schedulePolls(for first: UInt64, _ turn: inout some Turn) {
        let wait = min(first - min(first, turn.now.wall), Self.pollPauseMax)
        timers.move(.polls, to: turn.now.monotonic + max(wait, 1), &turn)
    }

    /// Closes the polls of this device of which the time is over by its own clock.
    mutating func closeDuePolls(_ turn: inout some Turn) throws(StoreError) {
        var isHeldUp = try !mayWrite(turn.store)
        for (space, poll, until) in try ownOpenPolls(at: turn.now.wall, turn.store)
        where until <= turn.now.wall {
            if isHeldUp { break }
            guard try refusal(sharingIn: space, turn.store) == nil else {
                isHeldUp = true
                continue
            }
            try writeClose(of: poll, in: space, &turn)
        }
        guard isHeldUp else { return try schedulePolls(&turn) }
        timers.move(.polls, to: turn.now.monotonic + Self.pollRetry, &turn)
    }

    private func ownOpenPolls(
        at wall: UInt64, _ store: some Store
    ) throws(StoreError) -> [(SpaceRecord, OperationReference, until: UInt64)] {
        var polls: [(SpaceRecord, OperationReference, until: UInt64)] = []
        for space in try store.spaces() where space.kind != .own {
            let log = LogTag(
                OperationHash.log(space: space.id, device: identity.device, lane: .shared))
            let open = try Overview.openPolls(of: log, in: space.number, store: store)
            // Most spaces have none, and a roster that is not known yet takes long to read.
            if open.isEmpty { continue }
            // A former member or reader closes nothing any more.
            let roster = try knownRoster(of: space, store)
            guard belongs(to: roster), roster?.member(identity.person)?.role ?? .reader >= .member
            else { continue }
            for (poll, until) in open {
                if until <= wall, try hasClosed(poll, in: space, store) { continue }
                polls.append((space, poll, until))
            }
        }
        return polls
    }

    /// Whether this device has written the close of its own poll. If that does not count, for
    /// example because its person became a reader, repeating it would change nothing.
    private func hasClosed(
        _ poll: OperationReference, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let log = try store.log(poll.tag, in: space.number) else { return false }
        var hasClosed = false
        try store.eachOperation(of: log, in: poll.sequence..<log.end) { stored throws(StoreError) in
            let header = stored.operation.header
            hasClosed = header.kind == .pollClose && header.references.first == poll
            return !hasClosed
        }
        return hasClosed
    }

    // MARK: What is refused before anything is written

    private static func refusal(_ question: PollQuestion, at wall: UInt64) -> CommandRefusal? {
        if VisibleName.isBlank(question.question) { return .empty }
        let count = question.question.utf8.count
        guard count <= Limits.pollQuestionByteCountMax else {
            return .tooLong(byteCount: count, limit: Limits.pollQuestionByteCountMax)
        }
        for option in question.options {
            if VisibleName.isBlank(option) { return .empty }
            guard option.utf8.count <= Limits.nameByteCountMax else {
                return .tooLong(byteCount: option.utf8.count, limit: Limits.nameByteCountMax)
            }
        }
        guard (2...Limits.pollOptionCountMax).contains(question.options.count),
            Set(question.options).count == question.options.count
        else { return .together(.badOptions(limit: Limits.pollOptionCountMax)) }
        guard let until = question.until else { return nil }
        return (wall + 1..<Limits.wallClockMax).contains(until) ? nil : .together(.alreadyOver)
    }

    /// Why nothing may be written there now that has to stand right above what is shown, or nil.
    func refusal(
        sharingIn space: SpaceRecord, doing act: GroupAct? = nil, _ store: some Store
    ) throws(StoreError) -> CommandRefusal? {
        if let refusal = try refusal(writingIn: space, doing: act, store) { return refusal }
        return ownHistory.hasGap(in: space.number) ? .awaitsOwn : nil
    }

    /// The same of what ends something that a person began: they may, and in a group an admin.
    mutating func refusal(
        ending person: PersonID, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> CommandRefusal? {
        if let refusal = try refusal(sharingIn: space, store) { return refusal }
        let own = try roster(of: space, store)?.member(identity.person)
        let isAdmin = space.kind == .group && own.map { $0.role >= .admin } ?? false
        return person == identity.person || isAdmin
            ? nil : .notAuthor(orAdmin: space.kind == .group)
    }
}
