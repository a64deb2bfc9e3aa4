import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire

/// Comparing what two nodes show.
extension World {
    /// In what two nodes that hold the same of a space show another, or nil.
    func shownDifference(
        _ node: SimulatedNode, _ other: SimulatedNode, _ space: SpaceRecord,
        _ digests: DigestsOfNow
    ) throws -> String? {
        guard let record = try other.store.space(space.id) else { return nil }
        let logs = try node.store.logs(in: space.number)
        let otherLogs = try other.store.logs(in: record.number)
        let floors = floors(of: logs).merging(floors(of: otherLogs), uniquingKeysWith: max)
            .merging(Self.partings(of: logs, otherLogs)) { $1 }
        // Below a floor, and in a log that is stuck, each may hold what it had got before; and
        // receipts that a relay lost nobody is reminded of.
        if try !floors.isEmpty || logs.contains(where: { $0.bound != nil })
            || needsRelay(node.index, other.index)
                && receipts(of: space, at: node) != receipts(of: record, at: other)
        {
            let touched = try Self.touched(below: floors, at: node, in: space.number)
                .union(Self.touched(below: floors, at: other, in: record.number))
                .union(Self.touched(aboveForksAt: node, in: space.number))
                .union(Self.touched(aboveForksAt: other, in: record.number))
            let misplaced = try Self.misplaced(
                at: node, in: space.number, from: other, in: record.number
            ).union(
                Self.misplaced(at: other, in: record.number, from: node, in: space.number)
            ).union(Self.holes(in: logs + otherLogs))
            let hanging = try Self.hanging(
                below: floors, besides: misplaced, at: node, in: space.number
            ).union(
                Self.hanging(
                    below: floors, besides: misplaced, at: other, in: record.number))
            let moved = try Self.touched(
                by: hanging, at: node, in: space.number, thatStandsElsewhereAt: other,
                in: record.number)
            func lines(besides excused: Set<LogTip>) throws -> (left: [String], right: [String]) {
                (
                    try honestLines(of: node, space.id, above: floors, hanging, besides: excused),
                    try honestLines(of: other, space.id, above: floors, hanging, besides: excused)
                )
            }
            let told = touched.union(moved)
            var (left, right) = try lines(besides: told)
            if left != right {
                // What nobody gives to who holds it without its payload they show without it.
                let unserved = try unservedBodies(of: node, in: space.id)
                    .union(unservedBodies(of: other, in: space.id))
                if !unserved.isEmpty { (left, right) = try lines(besides: told.union(unserved)) }
            }
            if try left != right && deletesAlike(node, other, in: space.id) {
                let differing =
                    left.first { !right.contains($0) } ?? right.first { !left.contains($0) }
                return "they show another of what honest members wrote in \(label(of: space.id)): "
                    + (differing.map { "one alone has \($0)" } ?? "they order it otherwise")
            }
            // Payloads may be on their way of what a person wrote one of whose devices lies.
            guard HeldLog.all(of: logs) == HeldLog.all(of: otherLogs) else { return nil }
        }
        guard try digests.digest(of: space.id, at: node) != digests.digest(of: space.id, at: other),
            try !mayShowAnother(node, other, in: space.id, isSettled: true)
        else { return nil }
        return "they hold the same of \(label(of: space.id)) and show another"
    }

    private func receipts(
        of space: SpaceRecord, at node: SimulatedNode
    ) throws(StoreError) -> [LogTag: [Span]] {
        let logs = try node.store.logs(in: space.number).filter { $0.lane == .receipts }
        return Dictionary(uniqueKeysWithValues: logs.map { ($0.tag, $0.spans) })
    }

    /// The last places of holes. What lies above one stands as if nothing were below, and so elsewhere
    /// than where the hole is none.
    private static func holes(in logs: [LogRecord]) -> Set<LogTip> {
        Set(
            logs.compactMap { log in
                log.agreed.gap.map { LogTip(tag: log.tag, sequence: $0.upperBound) }
            })
    }

    /// Floors of logs that go further at one of two nodes. Nobody can bring the other the rest, and that may
    /// touch whatever its author knew.
    private static func partings(of logs: [LogRecord], _ others: [LogRecord]) -> [LogTag: UInt64] {
        let ends = Dictionary(uniqueKeysWithValues: others.map { ($0.tag, $0.spans.last?.last) })
        var floors: [LogTag: UInt64] = [:]
        for log in logs {
            guard let last = log.spans.last?.last, let other = ends[log.tag] ?? nil else {
                continue
            }
            if last != other { floors[log.tag] = .max }
        }
        return floors
    }

    private func floors(of logs: [LogRecord]) -> [LogTag: UInt64] {
        var floors: [LogTag: UInt64] = [:]
        for log in logs {
            // A hole that is left here is one that nobody can fill.
            let floor = log.agreed.gap.map { $0.upperBound + 1 } ?? log.base
            if floor > 0 { floors[log.tag] = floor }
        }
        for log in logs where stuckLogs.contains(log.tag) { floors[log.tag] = .max }
        return floors
    }

    /// What somebody edited, deleted or reacted to below a floor: not everybody is told.
    private static func touched(
        below floors: [LogTag: UInt64], at node: SimulatedNode, in space: SpaceNumber
    ) throws -> Set<LogTip> {
        var touched: Set<LogTip> = []
        for log in try node.store.logs(in: space) {
            guard let floor = floors[log.tag], floor > 0 else { continue }
            for stored in try node.store.operations(in: log.number, 0...(floor - 1), limit: .max) {
                touched.formUnion(stored.operation.header.references.map(LogTip.init))
            }
        }
        return touched
    }

    /// What somebody edited, deleted or reacted to where their histories differ: each holds one of these,
    /// and what a deletion of it took along is gone there alone.
    private static func touched(
        aboveForksAt node: SimulatedNode, in space: SpaceNumber
    ) throws -> Set<LogTip> {
        var touched: Set<LogTip> = []
        for log in try node.store.logs(in: space) {
            guard let fork = log.proven else { continue }
            let places = fork.sequence...UInt64.max
            for stored in try node.store.operations(in: log.number, places, limit: .max) {
                touched.formUnion(stored.operation.header.references.map(LogTip.init))
            }
        }
        return touched
    }

    /// What somebody edited, deleted or reacted to with what stands elsewhere at another node, and may: which
    /// of two words of a person is the later one follows from where they stand.
    private static func touched(
        by hanging: Set<LogTip>, at node: SimulatedNode, in space: SpaceNumber,
        thatStandsElsewhereAt other: SimulatedNode, in record: SpaceNumber
    ) throws -> Set<LogTip> {
        var touched: Set<LogTip> = []
        for log in try node.store.logs(in: space) {
            guard let held = try other.store.log(log.tag, in: record) else { continue }
            let places = 0...UInt64.max
            var stands: [UInt64: Stand] = [:]
            for stored in try other.store.headers(in: held.number, places, limit: .max) {
                stands[stored.sequence] = stored.stand
            }
            for stored in try node.store.headers(in: log.number, places, limit: .max)
            where hanging.contains(LogTip(tag: log.tag, sequence: stored.sequence)) {
                guard let stand = stands[stored.sequence], stand != stored.stand else { continue }
                touched.formUnion(stored.header.references.map(LogTip.init))
            }
        }
        return touched
    }

    /// What honest members wrote, edited and reacted with, as one node shows it, from these places on;
    /// of some messages only that they are there, and of those that hang on what lies below not where.
    private func honestLines(
        of node: SimulatedNode, _ space: SpaceID, above floors: [LogTag: UInt64],
        _ hanging: Set<LogTip>, besides touched: Set<LogTip>
    ) throws -> [String] {
        // One device that lies is enough: what it edits differs as well.
        let honest = Set(honestNodes.map(\.identity.person))
            .subtracting(nodes.filter { !$0.isHonest }.map(\.identity.person))
        return try node.messages(in: space, limit: .max).filter {
            honest.contains($0.author) && $0.order.sequence >= floors[$0.order.tag] ?? 0
                && $0.lifetime == nil
        }.map {
            let place = LogTip(tag: $0.order.tag, sequence: $0.order.sequence)
            let stand = hanging.contains(place) ? "" : " at \($0.order.stand)"
            if touched.contains(place) { return "\($0.reference)\(stand)" }
            // Without the liars', which decide with whom an emoji begins as well.
            let reactions = $0.reactions.compactMap { reaction -> String? in
                let persons = reaction.persons.filter(honest.contains)
                return persons.isEmpty ? nil : "\(reaction.emoji) \(persons)"
            }.sorted()
            return "\($0.reference)\(stand) \($0.text ?? "-") \($0.history) \(reactions)"
        }.sorted()
    }
}
