import ParleyConversation
public import ParleyLedger
import ParleyNodeCore
import ParleyRoster
public import ParleyWire

/// The place of an operation in a space.
struct BodyPlace: Hashable {
    let tag: LogTag
    let sequence: UInt64
}

/// A member can serve what others wrote without its payloads, and everything verifies. Who was
/// served so holds less than others with the same spans, until somebody brings the rest.
extension World {
    /// Whether two who hold the same operations of a space may show another: one of them lacks
    /// payloads that nobody took back.
    ///
    /// Without liars nobody may, unless a deletion took the payload along that does not count any
    /// more: its author was removed, or made a reader, before they had heard of it.
    ///
    /// - Parameter isSettled: whether both had the time to ask others: then nobody may lack what an
    ///   honest member has to whom they are linked, or who is heard of through relays.
    public func mayShowAnother(
        _ one: SimulatedNode, _ other: SimulatedNode, in space: SpaceID, isSettled: Bool
    ) throws -> Bool {
        if try !deletesAlike(one, other, in: space) { return true }
        // Who holds the same judges alike: what either takes for taken back, neither lacks.
        let takenBack = try one.takenBack(in: space).union(other.takenBack(in: space))
        let named = try honestNodes.reduce(into: Set<BodyPlace>()) {
            try $0.formUnion($1.deletions(in: space).map(\.target))
            // Whoever deletes something for themselves passes it on without its words.
            try $0.formUnion($1.ownDeletions(in: space))
        }
        let hasLiars = honestNodes.count < nodes.count
        func missing(_ node: SimulatedNode) throws -> Set<BodyPlace> {
            let erased = try node.erasedBodies(in: space).filter {
                !takenBack.contains($0.value) && (hasLiars || named.contains($0.value))
            }
            return Set(erased.keys)
        }
        let (left, right) = (try missing(one), try missing(other))
        if left == right { return false }
        guard isSettled else { return true }
        for (node, missing) in [(one, left.subtracting(right)), (other, right.subtracting(left))] {
            let friends = try bringers(of: space, to: node)
            if try missing.contains(where: { try isServed($0, in: space, to: node, by: friends) }) {
                return false
            }
        }
        return true
    }

    /// Whether two nodes deleted the same of a conversation for themselves: only then do they show the same.
    func deletesAlike(
        _ one: SimulatedNode, _ other: SimulatedNode, in space: SpaceID
    ) throws -> Bool {
        try one.ownDeletions(in: space) == other.ownDeletions(in: space)
    }

    private func isServed(
        _ place: BodyPlace, in space: SpaceID, to node: SimulatedNode, by friends: [SimulatedNode]
    ) throws -> Bool {
        try friends.contains { try $0.serves(bodyAt: place, in: space, to: node.identity.device) }
    }

    /// What a node holds without its payload, which nobody took back and nobody gives to it, with what that
    /// is about: who was let in again has a later horizon than what they hold.
    func unservedBodies(of node: SimulatedNode, in space: SpaceID) throws -> Set<LogTip> {
        guard honestNodes.count < nodes.count, let record = try node.store.space(space) else {
            return []
        }
        let takenBack = try node.takenBack(in: space)
        let missing = try node.erasedBodies(in: space).filter { !takenBack.contains($0.value) }.keys
        if missing.isEmpty { return [] }
        let friends = try bringers(of: space, to: node)
        var found: Set<LogTip> = []
        for place in missing {
            guard try !isServed(place, in: space, to: node, by: friends),
                let log = try node.store.log(place.tag, in: record.number),
                let stored = try node.store.operation(at: place.sequence, in: log.number)
            else { continue }
            found.insert(LogTip(tag: place.tag, sequence: place.sequence))
            found.formUnion(
                stored.operation.header.references.map {
                    LogTip(tag: $0.tag, sequence: $0.sequence)
                })
        }
        return found
    }

    /// Of these places of a space one whose payload a node lacks and an honest member gives to it, whom it had
    /// the time to ask.
    public func withheld(
        _ places: [LogTip], in space: SpaceID, from node: SimulatedNode
    ) throws -> LogTip? {
        if places.isEmpty { return nil }
        let friends = try bringers(of: space, to: node)
        return try places.first {
            let place = BodyPlace(tag: $0.tag, sequence: $0.sequence)
            return try isServed(place, in: space, to: node, by: friends)
        }
    }

    /// The honest members whom a node asks for what it lacks of a space: on links, and by letter those
    /// whom it meets through relays alone.
    private func bringers(of space: SpaceID, to node: SimulatedNode) throws -> [SimulatedNode] {
        let linked = wires(of: node.index).map {
            nodes[$0.near.node == node.index ? $0.far.node : $0.near.node]
        }
        guard let record = try node.store.space(space), let roster = try node.roster(of: record)
        else { return linked.filter(\.isHonest) }
        // Who is out asks for nothing more.
        guard roster.takesPart(node.identity.device) else { return [] }
        return try honestNodes.filter { other in
            // Nobody asks who is out, though they may not know that they are, and would answer.
            guard other !== node, roster.takesPart(other.identity.device) else { return false }
            if linked.contains(where: { $0 === other }) { return true }
            return try needsRelay(node.index, other.index) && !other.isDown
                && comes(from: other, to: node, in: record)
        }
    }
}

extension SimulatedNode {
    /// Where texts and edits of a space are held without their payload, each with what a deletion
    /// names that takes it along. What stands behind a cut nobody is shown, nor serves.
    func erasedBodies(in space: SpaceID) throws -> [BodyPlace: BodyPlace] {
        guard let record = try store.space(space) else { return [:] }
        var erased: [BodyPlace: BodyPlace] = [:]
        for log in try store.logs(in: record.number) {
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max)
            where stored.operation.isErased && !log.isBehindCut(stored.sequence) {
                let header = stored.operation.header
                // Its time is over where it came from, or another took its place: nobody wants it.
                if [.disappearingText, .passingPreference].contains(header.kind) { continue }
                let place = BodyPlace(tag: log.tag, sequence: stored.sequence)
                let target = header.kind == .edit ? header.references.first : nil
                erased[place] =
                    target.map { BodyPlace(tag: $0.tag, sequence: $0.sequence) } ?? place
            }
        }
        return erased
    }

    /// What its person deleted of a conversation for themselves.
    func ownDeletions(in space: SpaceID) throws -> Set<BodyPlace> {
        // The core of a node that is down knows no space.
        guard let own = try store.spaces().first(where: { $0.kind == .own }) else { return [] }
        var found: Set<BodyPlace> = []
        for log in try store.logs(in: own.number) where log.lane == .shared {
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max)
            where stored.operation.header.kind == .ownDeletion {
                guard let said = stored.operation.payload.flatMap(OwnDeletion.init),
                    said.space == space
                else { continue }
                found.insert(BodyPlace(tag: said.message.tag, sequence: said.message.sequence))
            }
        }
        return found
    }

    /// The deletions that are held of a space, with what each names.
    func deletions(
        in space: SpaceID
    ) throws -> [(log: LogRecord, operation: VerifiedOperation, target: BodyPlace)] {
        guard let record = try store.space(space) else { return [] }
        var found: [(log: LogRecord, operation: VerifiedOperation, target: BodyPlace)] = []
        for log in try store.logs(in: record.number) where log.lane == .content {
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                let header = stored.operation.header
                guard header.kind == .delete, let target = header.references.first else { continue }
                found.append(
                    (
                        log, VerifiedOperation(stored: stored, tag: log.tag),
                        BodyPlace(tag: target.tag, sequence: target.sequence)
                    ))
            }
        }
        return found
    }

    /// What deletions name that count: by who wrote it, or who was an admin of the group.
    func takenBack(in space: SpaceID) throws -> Set<BodyPlace> {
        guard let record = try store.space(space) else { return [] }
        var judge = try RosterReader.judge(of: record, in: store)
        var found: Set<BodyPlace> = []
        for (log, operation, target) in try deletions(in: space) {
            let view = try store.view(at: operation.sequence, in: log.number)
            guard case .effective(let author) = judge.standing(of: operation, in: log, under: view),
                author.role >= .member,
                let named = try store.log(target.tag, in: record.number)
            else { continue }
            if judge.roster.person(of: named.device) == author.person
                || record.kind == .group && author.role >= .admin
            {
                found.insert(target)
            }
        }
        return found
    }

    /// Whether it holds a payload and gives it to a device: who is out is given none, and below a horizon
    /// nobody serves what whoever came back may hold without it.
    fileprivate func serves(
        bodyAt place: BodyPlace, in space: SpaceID, to device: DeviceID
    ) throws -> Bool {
        guard let record = try store.space(space), let roster = try roster(of: record),
            roster.takesPart(device),
            let log = try store.log(place.tag, in: record.number),
            let stored = try store.operation(at: place.sequence, in: log.number)
        else { return false }
        let horizon = roster.device(device)?.horizon.place(of: log.device, log.lane)
        return !stored.operation.isErased && horizon.map { $0.sequence < place.sequence } ?? true
    }
}

extension LogRecord {
    fileprivate func isBehindCut(_ sequence: UInt64) -> Bool {
        limit.map { $0.sequence <= sequence } ?? false
    }
}
