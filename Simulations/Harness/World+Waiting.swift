import ParleyConversation
public import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
public import ParleyWire

extension World {
    /// How long the world has lasted.
    public var elapsed: Duration { .milliseconds(Int64(clamping: now)) }

    /// Lets time pass; none where the duration is below 0.
    public func run(for duration: Duration) { run(for: duration.milliseconds) }

    /// Lets time pass until something holds.
    ///
    /// - Parameters:
    ///   - limit: how long it may take.
    ///   - step: how often it is looked at.
    ///   - isDone: whether it holds now.
    /// - Returns: how long it took.
    /// - Throws: ``WorldError`` with ``WorldError/Reason/tooLate``, and whatever `isDone` throws.
    @discardableResult
    public func runUntil(
        within limit: Duration, every step: Duration = .seconds(1), _ isDone: () throws -> Bool
    ) throws -> Duration {
        try throwMistake()
        let begun = elapsed
        while try !observe(isDone) {
            guard elapsed < begun + limit else {
                throw error(
                    .tooLate,
                    "what was waited for did not come about within \(limit.spoken)"
                        + (trouble.map { "; " + $0 } ?? ""))
            }
            run(for: max(step, .milliseconds(1)))
        }
        return elapsed - begun
    }

    /// Lets time pass until all nodes hold and show the same, and still do 10 s later: receipts
    /// for the last message are messages of their own.
    ///
    /// - Parameter limit: how long it may take. After a long cut nodes dial again within 5 min,
    ///   so 15 min are plenty wherever the ways are fast enough for what is missing.
    /// - Returns: how long it took.
    /// - Throws: ``WorldError`` with ``WorldError/Reason/stillDifferent``, which names the first
    ///   difference and what still is broken.
    @discardableResult
    public func runUntilEqual(within limit: Duration) throws -> Duration {
        try throwMistake()
        let begun = elapsed
        var last: Difference?
        while elapsed <= begun + limit {
            if let found = try firstDifference() {
                last = found
                run(for: 1_000)
                continue
            }
            let took = elapsed - begun
            run(for: 10_000)
            guard let found = try firstDifference() else { return took }
            last = found
        }
        guard let last else { return .zero }
        throw error(
            .stillDifferent,
            "\(last.pair) still differ after \(limit.spoken): \(last.detail)"
                + (trouble.map { "; " + $0 } ?? ""))
    }

    /// Whether all members of each conversation hold and show the same now.
    public var isEqual: Bool { get throws { try firstDifference() == nil } }

    /// The first difference between two members of a conversation, or nil where all are equal.
    public var difference: String? {
        get throws { try firstDifference().map { "\($0.pair) differ: \($0.detail)" } }
    }
}

/// Two members of a conversation who are not equal in it.
struct Difference {
    /// "ann and cara".
    let pair: String
    /// What each has.
    let detail: String
}

/// What each node shows at one moment: each is compared with many, and digested once.
final class DigestsOfNow {
    private var known: [[SpaceID: Digest?]] = []

    func digest(of space: SpaceID, at node: SimulatedNode) throws -> Digest? {
        while known.count <= node.index { known.append([:]) }
        if let digest = known[node.index][space] { return digest }
        let digest = try node.digest(of: space)
        known[node.index][space] = .some(digest)
        return digest
    }
}

extension World {
    /// Where nothing has changed since it was last looked for, it is what it was: a world may be waited
    /// for a day.
    func firstDifference() throws -> Difference? {
        let state = WorldState(of: self)
        if let known = knownDifference, known.state == state, state.isKnown {
            return known.difference
        }
        knownDifference = nil
        let difference = try observe { try differenceOfNow() }
        knownDifference = (state, difference)
        return difference
    }

    /// Compares what is held first: what is shown costs far more to compare.
    private func differenceOfNow() throws -> Difference? {
        let digests = DigestsOfNow()
        for isShown in [false, true] {
            for node in honestNodes {
                if let found = try difference(at: node, isShown: isShown, digests) {
                    return found
                }
            }
        }
        return nil
    }

    private func difference(
        at node: SimulatedNode, isShown: Bool, _ digests: DigestsOfNow
    ) throws -> Difference? {
        // A person's devices share a space of their own.
        for space in try node.store.spaces() {
            // Who is out knows no more than that, and is equal to nobody.
            guard let roster = try node.roster(of: space), try node.belongs(to: space) else {
                continue
            }
            for other in honestNodes where other !== node {
                guard roster.takesPart(other.identity.device), try !other.knowsThatItIsRevoked(),
                    try !node.isDown || isIn(space.id, node, by: other),
                    try mayHear(of: space.id, other, in: roster),
                    try mayTell(of: space.id, other, to: node)
                else { continue }
                let detail =
                    isShown
                    ? try shownDifference(node, other, space, digests)
                    : try heldDifference(node, other, space) ?? lackedFile(at: node, besides: other)
                guard let detail, try comes(from: other, to: node, in: space) else { continue }
                return Difference(pair: "\(node.name) and \(other.name)", detail: detail)
            }
        }
        return nil
    }

    /// Whether what any honest member of a space has comes to a node: one that keeps somebody away, or
    /// is kept away, may wait for ever.
    public func hearsEverybody(_ node: SimulatedNode, in space: SpaceRecord) throws -> Bool {
        try honestNodes.allSatisfy { other in
            guard other !== node,
                try node.roster(of: space)?.takesPart(other.identity.device) == true
            else { return true }
            return try comes(from: other, to: node, in: space)
        }
    }

    /// Whether what one node has of a space comes to another, as far as the latter knows who is in.
    public func comes(
        from one: SimulatedNode, to other: SimulatedNode, in space: SpaceRecord
    ) throws -> Bool {
        guard let roster = try other.roster(of: space) else { return false }
        return try hears(of: one, other, in: roster, through: { try !isOut($0, of: space.id) })
    }

    /// Whether who knows that they are out of a space can still tell somebody so: who is no contact is
    /// turned away on a link, and letters go to those whom they took for members. Others may tell it.
    private func mayTell(
        of space: SpaceID, _ one: SimulatedNode, to other: SimulatedNode
    ) throws -> Bool {
        guard try isOut(one, of: space) else { return true }
        if other.core.linkedPeers.contains(where: { $0.device == one.identity.device }) {
            return true
        }
        return try !relays.isEmpty && isIn(space, other, by: one)
    }

    /// Whether a node knows that it is out of a space, or has not accepted to be in it again: it passes
    /// nothing on, whatever those who have not heard of it believe.
    private func isOut(_ node: SimulatedNode, of space: SpaceID) throws -> Bool {
        guard let record = try node.store.space(space), let roster = try node.roster(of: record)
        else { return false }
        return !roster.takesPart(node.identity.device)
    }

    /// Whether what one of two members of a space has comes to the other, directly or through other
    /// honest members: nothing passes between those of whom one has blocked the other, nor between
    /// devices of one person of which one knows that the other is revoked.
    ///
    /// - Parameter mayCarry: whether another member may hold what is to be passed on.
    private func hears(
        of one: SimulatedNode, _ other: SimulatedNode, in roster: Roster,
        through mayCarry: (SimulatedNode) throws -> Bool = { _ in true }
    ) throws -> Bool {
        var found = [one]
        var rest = try honestNodes.filter {
            try $0 !== one && roster.takesPart($0.identity.device) && ($0 === other || mayCarry($0))
        }
        var place = 0
        while place < found.count {
            let near = found[place]
            let linked = try rest.filter {
                try !near.shuts(out: $0) && !$0.shuts(out: near) && canMeet(near, $0)
            }
            if linked.contains(where: { $0 === other }) { return true }
            rest.removeAll { node in linked.contains { $0 === node } }
            found += linked
            place += 1
        }
        return false
    }

    /// Whether somebody can bring a node a space that it has not heard of: it takes that from
    /// contacts and from its person's devices alone, of these from none that it knows to be revoked.
    /// Whose link broke right as they were let in, and by whom alone they were known, nobody can reach.
    private func mayHear(
        of space: SpaceID, _ node: SimulatedNode, in roster: Roster
    ) throws -> Bool {
        if try node.store.space(space) != nil { return true }
        return try honestNodes.contains { other in
            guard other !== node, roster.takesPart(other.identity.device),
                try other.store.space(space) != nil,
                try !relays.isEmpty || other.knowsWay(to: node) || node.knowsWay(to: other)
            else { return false }
            let person = other.identity.person
            guard person == node.identity.person else { return try node.accepts(person) }
            return try !node.knows(thatRevoked: other.identity.device)
        }
    }

    /// Whether a node is in a space by what another one knows: who was down could not be told.
    private func isIn(
        _ space: SpaceID, _ node: SimulatedNode, by other: SimulatedNode
    ) throws -> Bool {
        guard let record = try other.store.space(space), let roster = try other.roster(of: record)
        else { return true }
        return roster.takesPart(node.identity.device)
    }

    /// Whether a log of a node has a hole that somebody can fill who may: what an author alone holds
    /// that went away before it was fetched, nobody brings, nor what those alone hold of whom one has
    /// blocked the other, or who are revoked. Who may not have it themselves, for it lies below where the
    /// log begins for them, passes nothing of it on. What touches neither end of the hole would leave two,
    /// and is not taken (`Protocol/03-operations.md`, "Proof").
    private func isFillable(
        _ log: LogRecord, of space: SpaceID, at reader: SimulatedNode
    ) throws -> Bool {
        guard let gap = log.gap else { return false }
        return try canBring(gap, of: log, in: space, to: reader)
    }

    /// Whether somebody holds an end of these places of a log who can bring it to a node: themselves, or by
    /// those to whom all of it is given. Whose log has a hole already takes them from the lower end alone.
    private func canBring(
        _ gap: ClosedRange<UInt64>, of log: LogRecord, in space: SpaceID, to reader: SimulatedNode,
        fromBelow: Bool = false
    ) throws -> Bool {
        try honestNodes.contains { node in
            guard let record = try node.store.space(space),
                let roster = try node.roster(of: record),
                roster.takesPart(node.identity.device) || log.lane == .control,
                let held = try node.store.log(log.tag, in: record.number)?.agreed,
                held.holds(gap.lowerBound) || (!fromBelow && held.holds(gap.upperBound))
            else { return false }
            // Others may know of it by the cards of its person's other devices, and link to it no more.
            if try node.identity.person != reader.identity.person && isRevoked(node) {
                return false
            }
            return try hears(of: node, reader, in: roster) { carrier in
                guard let space = try carrier.store.space(space) else { return false }
                let log = try carrier.store.log(log.tag, in: space.number)
                return (log?.base ?? 0) <= gap.lowerBound
            }
        }
    }

    private func heldDifference(
        _ node: SimulatedNode, _ other: SimulatedNode, _ space: SpaceRecord
    ) throws -> String? {
        let place = space.kind == .own ? "their own space" : label(of: space.id)
        guard let record = try other.store.space(space.id) else {
            return "\(other.name) has not heard of \(place)"
        }
        let roster = try node.roster(of: space)
        for log in try node.store.logs(in: space.number) where !stuckLogs.contains(log.tag) {
            // Of a device that was let in by what is void nothing counts, and of its forks nobody is told.
            if roster?.person(of: log.device) == nil, log.agreed.end == 0 { continue }
            let what = "\(place), \(log.lane) log of \(owner(of: log.device))"
            // What a liar wrote where its histories differ may differ as well, once that is proven
            // to both.
            if try isFillable(log.agreed, of: space.id, at: node) {
                return "\(node.name) has holes in \(what)"
            }
            let held = try other.store.log(log.tag, in: record.number)
            guard held?.fork == log.fork else { return "not both know the fork of \(what)" }
            if let held, try isFillable(held.agreed, of: space.id, at: other) {
                return "\(other.name) has holes in \(what)"
            }
            // A newcomer's log begins later and ends alike.
            let (left, right) = (log.agreed, held?.agreed)
            if left.end == right?.end ?? 0, left.end == 0 || left.tip == right?.tip { continue }
            // Nobody is reminded of receipts: those that a relay loses come with the next word.
            if log.lane == .receipts, needsRelay(node.index, other.index) { continue }
            // Whoever left may have told a newcomer how far they had come, and nobody what they wrote.
            let longer = left.end > right?.end ?? 0 ? left : right
            if longer?.base == longer?.end, roster?.contains(log.device) == false { continue }
            // What those alone hold whom one keeps away comes by a third who may have it, or not at all.
            let (shorter, reader) = left.end > right?.end ?? 0 ? (right, other) : (left, node)
            let end = shorter?.end ?? 0
            if let longer, longer.end > end,
                try !canBring(
                    end...longer.end - 1, of: longer, in: space.id, to: reader,
                    fromBelow: shorter?.gap != nil)
            {
                continue
            }
            return "\(what) has \(left.end) operations at \(node.name) and \(right?.end ?? 0)"
                + " at \(other.name)"
        }
        return nil
    }
}

extension SimulatedNode {
    /// Whether another is a contact of its person.
    fileprivate func accepts(_ person: PersonID) throws(StoreError) -> Bool {
        guard let own = try store.spaces().first(where: { $0.kind == .own }) else { return false }
        return try Overview.contact(person, ownSpace: own.number, in: store)?.isAccepted == true
    }

    /// Whether it knows an address of another.
    fileprivate func knowsWay(to other: SimulatedNode) throws(StoreError) -> Bool {
        try part(of: other)?.addresses.isEmpty == false
    }

    /// Whether it links to another no more: a device of a blocked person, or its person's revoked one.
    fileprivate func shuts(out other: SimulatedNode) throws(StoreError) -> Bool {
        let person = other.identity.person
        if person == identity.person { return try knows(thatRevoked: other.identity.device) }
        return try keepsAway(person)
    }

    /// Whether it has blocked somebody.
    public func keepsAway(_ person: PersonID) throws(StoreError) -> Bool {
        guard let own = try store.spaces().first(where: { $0.kind == .own }) else { return false }
        return try Overview.contact(person, ownSpace: own.number, in: store)?.isBlocked == true
    }
}
