public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// A decision as a screen shows it.
public struct Decision: Equatable, Sendable {
    /// Its row here: how commands of this node name it.
    public var number: OperationNumber
    /// How operations of the space name it.
    public var reference: OperationReference
    /// Where it stands.
    public var order: OrderKey
    /// Who proposed it.
    public var author: PersonID
    /// When that was by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// The message or the poll that it was made from.
    public var source: OperationReference?
    /// What was proposed.
    public var proposal: DecisionProposal
    /// How it stands, and what takes its place.
    public var settling: Settling
    /// Who said so; nil where nobody settled it yet.
    public var settledBy: PersonID?
    /// Who approves of it, ascending.
    public var approvers: [PersonID]
}

extension Overview {
    /// The decisions of a conversation, the oldest first; of more than ``Limits/decisionCountMax`` the last.
    public static func decisions(
        in space: SpaceNumber, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> [Decision] {
        let entries = try store.entries(about: .space, in: space, field: .decision)
            .sorted { $0.order < $1.order }
        var decisions: [Decision] = []
        for entry in entries.suffix(Limits.decisionCountMax) {
            if let decision = try decision(entry, roster: roster, store: store) {
                decisions.append(decision)
            }
        }
        return decisions
    }

    /// What an operation proposed to be decided; nil where it is nothing of that, does not count or was taken
    /// back.
    public static func decision(
        _ decision: OperationReference, in space: SpaceNumber, roster: Roster,
        store: some MergeStore
    ) throws(StoreError) -> Decision? {
        let entries = try store.entries(
            about: .space, in: space, field: .decision, element: store.locator(decision.subject))
        guard let entry = entries.first else { return nil }
        return try self.decision(entry, roster: roster, store: store)
    }

    /// The decision of an entry of the field ``EntryField/decision``.
    public static func decision(
        _ entry: Entry, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> Decision? {
        let space = entry.space
        guard let stored = try store.operation(entry.operation),
            let proposal = stored.operation.payload.flatMap(DecisionProposal.init(payload:)),
            let author = try person(writing: entry.order.tag, in: space, roster, store)
        else { return nil }
        let reference = entry.order.reference
        let word = try settling(of: reference, in: space, store)
        return Decision(
            number: entry.operation, reference: reference, order: entry.order, author: author,
            time: stored.operation.header.wallClock,
            source: stored.operation.header.references.first, proposal: proposal,
            settling: word?.settling ?? Settling(.proposed),
            settledBy: try word.flatMap { word throws(StoreError) in
                try person(writing: word.by, in: space, roster, store)
            }, approvers: try approvers(of: reference, in: space, roster, store))
    }

    private static func settling(
        of decision: OperationReference, in space: SpaceNumber, _ store: some MergeStore
    ) throws(StoreError) -> (settling: Settling, by: LogTag)? {
        let entries = try store.entries(
            about: .operation(decision.tag, decision.sequence), in: space, field: .settling,
            element: store.locator(SettlingRule.subject(decision.check)))
        guard let entry = entries.first, let stored = try store.operation(entry.operation),
            let settling = Settling(stored.operation)
        else { return nil }
        return (settling, entry.order.tag)
    }

    private static func approvers(
        of decision: OperationReference, in space: SpaceNumber, _ roster: Roster,
        _ store: some MergeStore
    ) throws(StoreError) -> [PersonID] {
        var approvers: [PersonID] = []
        let entries = try store.entries(
            about: .operation(decision.tag, decision.sequence), in: space, field: .approval)
        for entry in entries where entry.isOn {
            guard let person = try person(writing: entry.order.tag, in: space, roster, store),
                // What is about another branch of the log has another element.
                try store.locator(ApprovalRule.subject(decision.check, person)) == entry.element
            else { continue }
            approvers.append(person)
        }
        return approvers.sorted()
    }

    /// Whether one decision would take its own place, by way of others, if this one took it.
    public static func isCircle(
        _ decision: OperationReference, by successor: OperationReference, in space: SpaceNumber,
        store: some MergeStore
    ) throws(StoreError) -> Bool {
        var (next, seen): (OperationReference?, Set<OperationReference>) = (successor, [])
        while let place = next, seen.insert(place).inserted {
            if place == decision { return true }
            next = try settling(of: place, in: space, store)?.settling.successor
        }
        return false
    }
}
