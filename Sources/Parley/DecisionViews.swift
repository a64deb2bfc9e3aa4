import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// A decision as it stands.
public struct DecisionView: Codable, Equatable, Sendable {
    /// Its number here, which holds on this node alone.
    public var number: Int64
    /// Its name everywhere.
    public var id: String
    /// Its conversation, in hex.
    public var conversation: String
    /// The name of that.
    public var place: String
    /// The name of the person who proposed it.
    public var author: String
    /// Whether that is this person.
    public var isOwn: Bool
    /// When it was proposed, by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// `ahead` if that time has not come yet by this device's clock; else nil.
    public var timeDoubt: String? = nil
    /// The title.
    public var title: String
    /// The text.
    public var text: String
    /// Its tags.
    public var tags: [String]
    /// `proposed`, `accepted`, `rejected` or `superseded`; or `untaken` (an own one, which nobody accepts
    /// because this person was out, or a reader, before it arrived).
    public var state: String
    /// Who settled it; nil if nobody did yet.
    public var settledBy: String?
    /// Which decision takes its place, by its `id`.
    public var successor: String?
    /// What that one says; nil where it is not here, or was taken back.
    public var successorTitle: String?
    /// The names of those who approve.
    public var approvers: [String]
    /// Whether this person approves.
    public var isApproved: Bool
    /// The message that it was made from, by its `id`, where that is here and was not deleted.
    public var source: String?
    /// The poll that it was made from, by its `id`, where that was not taken back.
    public var poll: String?
    /// Whether one may settle it and take it back.
    public var maySettle: Bool
    /// What this person did about it that is not delivered.
    public var waiting: [MessageView.Waiting] = []
    /// Whether this person blocked its author, so that nothing is shown of what they chose.
    public var isHidden = false
    /// The message right below it, by its `id`; nil if it is below all.
    public var below: String? = nil
    /// Its place among everything right above the same message: greater, as text, means further
    /// below. The same for everybody who holds the same.
    public var order: String = ""
}

/// Decisions, the one that stands last first.
public struct DecisionList: Codable, Equatable, Sendable {
    /// A page ends before it would have so many bytes of text, unless it has one decision.
    static let byteCountMax = 256 << 10
    /// The one that stands last first.
    public var decisions: [DecisionView]
    /// The value of `from` for the next page; nil if there is none.
    public var next: String?
}

extension Views {
    /// A decision in its present state; nil if it no longer exists.
    func decision(_ number: OperationNumber) throws -> DecisionView? {
        guard let stored = try store.operation(number), stored.operation.header.kind == .decision,
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let roster = try roster(of: space)
        else { return nil }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        let decision = try Overview.decision(
            reference, in: space.number, roster: roster, store: store)
        if let decision { return try view(decision, in: space, roster) }
        return try untaken(.decision, in: space, roster)
            .first { $0.word.operation.number == number }
            .flatMap { try view(untaken: $0, in: space, roster) }
    }

    /// An own decision that nobody accepts.
    private func view(
        untaken word: UndeliveredWord, in space: SpaceRecord, _ roster: Roster
    ) throws -> DecisionView? {
        guard let decision = word.word.decision(proposedBy: ownPerson) else { return nil }
        var view = try view(decision, in: space, roster)
        (view.state, view.maySettle) = ("untaken", false)
        return view
    }

    /// A decision, and where a list has it.
    private typealias Listed = (entry: ParleyConversation.Entry, view: DecisionView?)

    /// The own ones that nobody accepts, in a conversation or in all, that a list has below a place or at all,
    /// the one that stands last first.
    private func untakenDecisions(
        in only: SpaceRecord?, below last: ParleyConversation.Entry?,
        except unaccepted: Set<SpaceID>
    ) throws -> [Listed] {
        var found: [Listed] = []
        for space in try only.map({ [$0] }) ?? store.spaces()
        where space.kind != .own && !unaccepted.contains(space.id) {
            guard let roster = try roster(of: space) else { continue }
            for word in try untaken(.decision, in: space, roster) {
                let entry = Entry(
                    space: space.number, object: .space, field: .decision,
                    operation: word.word.operation.number, order: word.word.order)
                if let last, entry.listPlace >= last.listPlace { continue }
                found.append((entry, try view(untaken: word, in: space, roster)))
            }
        }
        return found.sorted { $0.entry.listPlace > $1.entry.listPlace }
    }

    /// A page of the decisions of a conversation or of all that these conditions let pass.
    ///
    /// - Parameters:
    ///   - lookCount: so many are looked at for one page, at most.
    ///   - passes: told of each decision.
    func decisions(
        in argument: String?, limit: Int, from cursor: String?, lookingAt lookCount: Int,
        where passes: (DecisionView) -> Bool
    ) throws -> DecisionList {
        let space = try argument.map { try conversation($0) }
        let unaccepted = try unaccepted()
        var (list, byteCount, looked) = (DecisionList(decisions: []), 0, 0)
        var last = try cursor.map { try EntryCursor.entry($0, of: .decision) }
        var untaken = try untakenDecisions(in: space, below: last, except: unaccepted)[...]
        while looked < lookCount {
            let count = min(limit, lookCount - looked)
            let found = try store.decisions(in: space?.number, before: last, limit: count)
            let isEnd = found.count < count
            let above = untaken.prefix {
                isEnd || found.last.map(\.listPlace) ?? (0, 0) < $0.entry.listPlace
            }
            untaken = untaken.dropFirst(above.count)
            let listed = found.map { Listed($0, nil) } + above
            for (entry, own) in listed.sorted(by: { $0.entry.listPlace > $1.entry.listPlace }) {
                if let view = try own ?? view(entry, except: unaccepted), passes(view) {
                    byteCount += view.title.utf8.count + view.text.utf8.count
                    if list.decisions.count == limit
                        || byteCount > DecisionList.byteCountMax && !list.decisions.isEmpty
                    {
                        list.next = last.map(EntryCursor.text)
                        return list
                    }
                    list.decisions.append(view)
                }
                last = entry
            }
            if isEnd { return list }
            looked += found.count
        }
        list.next = last.map(EntryCursor.text)
        return list
    }

    /// Nil if there is nothing to show.
    private func view(
        _ entry: ParleyConversation.Entry, except unaccepted: Set<SpaceID>
    ) throws -> DecisionView? {
        guard let space = try store.space(entry.space), space.kind != .own,
            !unaccepted.contains(space.id), let roster = try roster(of: space),
            let decision = try Overview.decision(entry, roster: roster, store: store)
        else { return nil }
        return try view(decision, in: space, roster)
    }

    private func view(
        _ decision: Decision, in space: SpaceRecord, _ roster: Roster
    ) throws -> DecisionView {
        let view = try wholeView(decision, in: space, roster)
        return try hides(decision.author, in: space) ? view.withoutContent() : view
    }

    private func wholeView(
        _ decision: Decision, in space: SpaceRecord, _ roster: Roster
    ) throws -> DecisionView {
        let isAdmin =
            space.kind == .group && roster.member(ownPerson).map { $0.role >= .admin } ?? false
        let mayWrite = roster.member(ownPerson).map { $0.role >= .member } ?? false
        let successor = decision.settling.successor
        let (source, poll) = try source(of: decision, in: space, roster)
        return DecisionView(
            number: decision.number.rawValue,
            id: try identifier(decision.reference, in: space.number),
            conversation: space.id.description, place: try title(of: space, roster),
            author: try name(of: decision.author, in: roster),
            isOwn: decision.author == ownPerson, time: decision.time,
            timeDoubt: Self.doubt(about: decision.time), title: decision.proposal.title,
            text: decision.proposal.text,
            tags: decision.proposal.tags, state: "\(decision.settling.state)",
            settledBy: try decision.settledBy.map { try name(of: $0, in: roster) },
            successor: try successor.map { try identifier($0, in: space.number) },
            successorTitle: try successor.flatMap {
                let found = try Overview.decision(
                    $0, in: space.number, roster: roster, store: store)
                return try found.flatMap {
                    try hides($0.author, in: space) ? nil : $0.proposal.title
                }
            },
            approvers: try decision.approvers.map { try name(of: $0, in: roster) }.sorted(),
            isApproved: decision.approvers.contains(ownPerson), source: source, poll: poll,
            maySettle: mayWrite && (decision.author == ownPerson || isAdmin),
            waiting: try marks(on: decision.reference, in: space, roster),
            below: try message(below: decision.order, in: space.number),
            order: decision.order.text)
    }

    /// The message or the poll that a decision was made from, as far as it can be shown.
    private func source(
        of decision: Decision, in space: SpaceRecord, _ roster: Roster
    ) throws -> (message: String?, poll: String?) {
        guard let source = decision.source else { return (nil, nil) }
        if let message = try self.source(source, in: space) { return (message, nil) }
        let poll = try Overview.poll(source, in: space.number, roster: roster, store: store)
        return (nil, try poll.map { try identifier($0.reference, in: space.number) })
    }
}

extension ParleyConversation.Entry {
    /// Where a list of all conversations has it: as stores do.
    fileprivate var listPlace: (UInt64, Int64) { (order.stand, operation.rawValue) }
}
