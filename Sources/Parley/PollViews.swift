import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// A poll as it stands.
public struct PollView: Codable, Equatable, Sendable {
    /// An answer to choose.
    public struct Option: Codable, Equatable, Sendable {
        /// The text.
        public var text: String
        /// How many chose it.
        public var count: Int
        /// Who they are.
        public var names: [String]
        /// Whether one chose it oneself.
        public var isOwn: Bool
    }

    /// Its number here, which holds on this node alone.
    public var number: Int64
    /// Its name everywhere.
    public var id: String
    /// Its conversation, in hex.
    public var conversation: String
    /// The name of that.
    public var title: String
    /// The name of the person who asks.
    public var author: String
    /// The person who asks, in hex.
    public var person: String
    /// Whether that is this person.
    public var isOwn: Bool
    /// When it was asked, by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// `ahead` if that time has not come yet by this device's clock; else nil.
    public var timeDoubt: String? = nil
    /// The question.
    public var question: String
    /// The answers to choose from, in their order.
    public var options: [Option]
    /// Whether a person may choose several.
    public var isMultiple: Bool
    /// Until when people are asked, in Unix milliseconds; nil for until somebody closes it.
    public var until: UInt64?
    /// `open`, `over` (its time is, by this device's clock, and the device that asked has not
    /// closed it yet), `closed` (the result is final), or `untaken` (an own one, which nobody
    /// accepts because this person was out, or a reader, before it arrived).
    public var state: String
    /// Who closed it.
    public var closedBy: String?
    /// How many persons have answered, and count.
    public var voterCount: Int
    /// The places, from 1, of the options that most chose: several where they are tied, none where nobody
    /// answered.
    public var leading: [Int] = []
    /// Who chose otherwise than what counts: too late, or too late for who closed it.
    public var uncounted: [String]
    /// Whether this person has answered, even too late.
    public var isAnswered: Bool
    /// Whether one may answer it: it is open, and one is no reader and has not left.
    public var mayAnswer = true
    /// What this person did about it that is not delivered.
    public var waiting: [MessageView.Waiting] = []
    /// Whether this person blocked its author, so that nothing is shown of what they chose.
    public var isHidden = false
    /// Whether one may close it: it is not closed, and one asked it, or is an admin of the group.
    public var mayClose: Bool
    /// The message right below it, by its `id`; nil if it is below all.
    public var below: String? = nil
    /// Its place among everything right above the same message: greater, as text, means further
    /// below. The same for everybody who holds the same.
    public var order: String = ""
}

extension PollView {
    /// The places, from 1, of the options that most chose.
    static func leading(_ options: [Option]) -> [Int] {
        let best = options.map(\.count).max() ?? 0
        return best == 0 ? [] : options.indices.filter { options[$0].count == best }.map { $0 + 1 }
    }
}

extension Views {
    /// A poll in its present state; nil if it no longer exists.
    func poll(_ number: OperationNumber) throws -> PollView? {
        guard let stored = try store.operation(number), stored.operation.header.kind == .poll,
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let roster = try roster(of: space)
        else { return nil }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        let poll = try Overview.poll(reference, in: space.number, roster: roster, store: store)
        if let poll { return try view(poll, in: space, roster) }
        return try untaken(.poll, in: space, roster).first { $0.word.operation.number == number }
            .flatMap { try view(untaken: $0, in: space, roster) }
    }

    /// The polls of a conversation, or of all, the one that was asked last first.
    func polls(in argument: String?) throws -> [PollView] {
        let unaccepted = try unaccepted()
        let spaces = try argument.map { [try conversation($0)] } ?? store.spaces()
        var found: [(view: PollView, time: UInt64, order: OrderKey)] = []
        for space in spaces where space.kind != .own && !unaccepted.contains(space.id) {
            guard let roster = try roster(of: space) else { continue }
            var polls: [(view: PollView, order: OrderKey)] = []
            for poll in try Overview.polls(in: space.number, roster: roster, store: store) {
                polls.append((try view(poll, in: space, roster), poll.order))
            }
            for word in try untaken(.poll, in: space, roster) {
                guard let view = try view(untaken: word, in: space, roster) else { continue }
                polls.append((view, word.word.order))
            }
            // In one conversation the order alone says which was asked last.
            var next = UInt64.max
            for (view, order) in polls.sorted(by: { $0.order > $1.order }) {
                let number = OperationNumber(view.number)
                next = min(next, try listTime(of: number, order, written: view.time))
                found.append((view, next, order))
            }
        }
        return found.sorted { ($0.time, $0.order) > ($1.time, $1.order) }.map(\.view)
    }

    /// An own poll that nobody accepts.
    private func view(
        untaken word: UndeliveredWord, in space: SpaceRecord, _ roster: Roster
    ) throws -> PollView? {
        guard let poll = word.word.poll(askedBy: ownPerson) else { return nil }
        var view = try view(poll, in: space, roster)
        (view.state, view.mayAnswer, view.mayClose, view.below) = ("untaken", false, false, nil)
        return view
    }

    private func view(_ poll: Poll, in space: SpaceRecord, _ roster: Roster) throws -> PollView {
        let view = try wholeView(poll, in: space, roster)
        return try hides(poll.author, in: space) ? view.withoutContent() : view
    }

    private func wholeView(
        _ poll: Poll, in space: SpaceRecord, _ roster: Roster
    ) throws -> PollView {
        let own = poll.ballots.first { $0.person == ownPerson }?.choices.places ?? []
        let options = try poll.question.options.enumerated().map { place, text in
            let persons = poll.ballots.filter { $0.choices.places.contains(place) }.map(\.person)
            return PollView.Option(
                text: text, count: persons.count,
                names: try persons.map { try name(of: $0, in: roster) }.sorted(),
                isOwn: own.contains(place))
        }
        let isAdmin =
            space.kind == .group && roster.member(ownPerson).map { $0.role >= .admin } ?? false
        let mayWrite = roster.member(ownPerson).map { $0.role >= .member } ?? false
        let isOver = poll.question.until.map { $0 <= SystemClock.now.wall } ?? false
        return PollView(
            number: poll.number.rawValue, id: try identifier(poll.reference, in: space.number),
            conversation: space.id.description, title: try title(of: space, roster),
            author: try name(of: poll.author, in: roster), person: poll.author.description,
            isOwn: poll.author == ownPerson, time: poll.time,
            timeDoubt: Self.doubt(about: poll.time), question: poll.question.question,
            options: options, isMultiple: poll.question.isMultiple, until: poll.question.until,
            state: poll.closing != nil ? "closed" : isOver ? "over" : "open",
            closedBy: try poll.closing.map { try name(of: $0.person, in: roster) },
            voterCount: poll.ballots.count, leading: PollView.leading(options),
            uncounted: try poll.uncounted.map { try name(of: $0, in: roster) }.sorted(),
            isAnswered: !own.isEmpty || poll.uncounted.contains(ownPerson),
            mayAnswer: mayWrite && poll.closing == nil && !isOver,
            waiting: try marks(on: poll.reference, in: space, roster),
            mayClose: mayWrite && poll.closing == nil && (poll.author == ownPerson || isAdmin),
            below: try message(below: poll.order, in: space.number), order: poll.order.text)
    }
}

extension NodeError {
    /// The message about shared work that could not be done.
    init(together objection: TogetherCommand.Objection) {
        let list = "`parley poll list` shows them."
        switch objection {
        case .unknownPoll: self.init("unknown-poll", "There is no such poll.", hint: list)
        case .unknownItem:
            self.init(
                "unknown-item", "There is no such action item.",
                hint: "`parley action list --all` shows them.")
        case .unknownNote:
            self.init(
                "unknown-note", "There is no such note.", hint: "`parley note list` shows them.")
        case .noSuchPlace:
            self.init(
                "no-such-place", "The note has no such version, or its text has no such position.",
                hint: "`parley note history NOTE` lists its versions.")
        case .noteFull(let limit):
            self.init(
                "note-full", "Everything ever written in a note can be at most \(limit).",
                hint: "Create another note with what is still useful.")
        case .unknownDecision:
            self.init(
                "unknown-decision", "There is no such decision.",
                hint: "`parley decision list` shows them.")
        case .open:
            self.init("open", "That poll is still open: it has no result yet.")
        case .circle:
            self.init("circle", "A decision cannot replace itself.")
        case .tooManyTags(let limit):
            self.init("too-many-tags", "A decision can have at most \(limit) tags.")
        case .unknownReminder:
            self.init(
                "unknown-reminder", "There is no such reminder.",
                hint: "`parley reminders list --all` shows them.")
        case .tooManyReminders(let limit):
            self.init(
                "too-many-reminders", "There are \(limit) reminders already.",
                hint: "`parley reminders delete` deletes those that you no longer need.")
        case .unknownScheduled: self = .unknownScheduled
        case .tooManyScheduled(let limit): self = .tooManyScheduled(limit)
        case .tooManyAssignees(let limit):
            self.init("too-many-assignees", "An action item can have at most \(limit) people.")
        case .badDay:
            self.init("bad-day", "That is not a day.", hint: "Write it like 2026-12-01.")
        case .badOptions(let limit):
            self.init(
                "bad-options", "A poll must have from 2 to \(limit) different answers.",
                hint: "For example: `parley poll new trip \"When?\" Friday Saturday`")
        case .noSuchOption(let count):
            self.init("no-such-option", "That poll has the answers 1 to \(count).")
        case .oneAnswer:
            self.init("one-answer", "In that poll, everybody can choose only one answer.")
        case .closed: self.init("closed", "That poll is closed.")
        case .tooManyVotes(let limit):
            self.init(
                "too-many-votes",
                "You have changed your answer \(limit) times; no more changes count.",
                hint: "Your last choice counts.")
        case .alreadyOver: self.init("already-over", "That time is already past.")
        }
    }
}
