import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I45: a message that disappears is gone from an honest node once its time is over, and not before: the words
/// of somebody else not before this person has read them, one's own not before a device of somebody else
/// holds them. And whoever has not read it has it in the end, if an honest member still does.
///
/// Looked at about once a virtual minute, as nodes do, and counted by the clock of each; where that is set, its
/// node's counting begins anew. What once ran goes on: somebody may be hidden, or alone in a group, for a while
/// only, and between two looks.
/// Source: `Protocol/03-operations.md`, "Disappearing messages".
final class DisappearedInTime: Checker {
    static let invariant = "I45"
    /// So much longer may a message stay than its author said, in milliseconds.
    private static let patience: UInt64 = 240_000
    /// Until so long after they were written words are asked for, less an hour.
    private static let lookback: UInt64 = 30 * 86_400_000 - 3_600_000
    private(set) var checkCount = 0

    /// Whether the time of a message runs.
    private enum Standing { case waits, mayRun, runs }

    /// What one device holds of messages that disappear.
    private struct Watch {
        var rowCount = 0
        var skew: Int64 = 0
        /// Those that have their words, with when their time was first seen to run.
        var pending: [OperationNumber: UInt64?] = [:]
        /// Those that came without their words.
        var wordless: [OperationNumber] = []
    }

    private var watches: [DeviceID: Watch] = [:]
    /// The messages whose time ran for a moment at least; a node may count on whatever comes later.
    private var begun: [DeviceID: Set<OperationID>] = [:]

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest, !step.isLost else { return }
        try noteNewRows(of: step.node)
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        watches[node.identity.device] = nil
    }

    func wasSetBack(_ node: SimulatedNode) { watches[node.identity.device] = nil }

    func looked(at world: World) throws {
        for node in world.honestNodes where !node.isDown {
            try noteNewRows(of: node)
            var watch = watches[node.identity.device] ?? Watch(skew: node.clock.skew)
            if watch.skew != node.clock.skew {
                watch.skew = node.clock.skew
                let now = world.wall(of: node)
                watch.pending = watch.pending.mapValues { $0 == nil ? nil : now }
            }
            try look(at: node, &watch, at: world.wall(of: node))
            watches[node.identity.device] = watch
        }
    }

    func settled(_ world: World) throws {
        try looked(at: world)
        for node in world.honestNodes where !node.isDown {
            for (space, logs) in try node.eachSpace() where space.kind != .own {
                var lacking: [LogTip] = []
                for log in logs where log.lane == .content {
                    lacking += try self.lacking(log, space, node, at: world.wall(of: node))
                }
                checkCount += lacking.count
                guard let place = try world.withheld(lacking, in: space.id, from: node) else {
                    continue
                }
                throw violation(
                    "\(node.name) lacks the words at \(place.tag)/\(place.sequence), which nobody there "
                        + "has read and another has")
            }
        }
    }

    /// The places of a log whose words disappear, are not here, and whose time does not run for this person.
    private func lacking(
        _ log: LogRecord, _ space: SpaceRecord, _ node: SimulatedNode, at now: UInt64
    ) throws -> [LogTip] {
        try node.store.operations(in: log.number, log.base...UInt64.max, limit: .max)
            .filter { stored in
                let header = stored.operation.header
                return header.kind.rawValue == 69 && stored.operation.isErased
                    && log.bound.map { stored.sequence < $0.sequence } ?? true
                    && now < min(header.wallClock, stored.stand.value >> 16) + Self.lookback
                    && begun[node.identity.device]?.contains(stored.id) != true
            }
            .filter { try standing(of: $0, log, space, node) == .waits }
            .map { LogTip(tag: log.tag, sequence: $0.sequence) }
    }

    private func look(at node: SimulatedNode, _ watch: inout Watch, at now: UInt64) throws {
        for (number, since) in watch.pending.sorted(by: { $0.key < $1.key }) {
            guard let stored = try node.store.operation(number),
                let log = try node.store.log(stored.log),
                let space = try node.store.space(log.space)
            else {
                // The whole conversation is gone.
                watch.pending[number] = nil
                continue
            }
            checkCount += 1
            let standing = try standing(of: stored, log, space, node)
            if stored.operation.isErased {
                watch.pending[number] = nil
                let mayHaveBegun = begun[node.identity.device]?.contains(stored.id) == true
                guard since == nil, standing == .waits, !mayHaveBegun else { continue }
                throw violation(
                    "\(node.name) lost the words at \(log.tag)/\(stored.sequence) before anybody read "
                        + "them")
            }
            guard standing == .runs else { continue }
            let since = (since ?? nil) ?? now
            watch.pending.updateValue(since, forKey: number)
            let lifetime = stored.operation.payload.flatMap(TextMessage.init)?.lifetime ?? 0
            guard now > since + lifetime * 1_000 + Self.patience else { continue }
            throw violation(
                "\(node.name) keeps the words at \(log.tag)/\(stored.sequence), whose time is over")
        }
    }

    /// Watches the messages that came since the last time, and looks whose time may run for now: who is blocked
    /// and who is in a group changes both ways. What was deleted is gone at once, and whoever deleted it may
    /// turn out later to have been out of the group.
    private func noteNewRows(of node: SimulatedNode) throws {
        let (device, count) = (node.identity.device, node.store.operationCount)
        var watch = watches[device] ?? Watch(skew: node.clock.skew)
        guard watch.rowCount != count else { return }
        var (looksAtAll, new) = (false, [OperationNumber]())
        for row in stride(from: watch.rowCount, to: count, by: 1) {
            let number = OperationNumber(Int64(row + 1))
            guard let stored = try node.store.operation(number) else { continue }
            let kind = stored.operation.header.kind
            if kind == .contact { looksAtAll = true }
            if try node.store.log(stored.log)?.lane == .control { looksAtAll = true }
            if kind == .delete, let message = try target(of: stored, on: node) {
                begun[device, default: []].insert(message)
            }
            guard kind.rawValue == 69 else { continue }
            if stored.operation.isErased {
                watch.wordless.append(number)
            } else {
                watch.pending.updateValue(nil, forKey: number)
            }
            new.append(number)
        }
        watch.rowCount = count
        watches[device] = watch
        for number in looksAtAll ? watch.pending.keys.sorted() + watch.wordless : new {
            guard let stored = try node.store.operation(number),
                let log = try node.store.log(stored.log),
                let space = try node.store.space(log.space),
                try standing(of: stored, log, space, node) != .waits
            else { continue }
            begun[device, default: []].insert(stored.id)
        }
    }

    /// The message that a deletion names, where it is here.
    private func target(
        of deletion: StoredOperation, on node: SimulatedNode
    ) throws -> OperationID? {
        guard let reference = deletion.operation.header.references.first,
            let own = try node.store.log(deletion.log),
            let log = try node.store.log(reference.tag, in: own.space)
        else { return nil }
        return try node.store.operation(at: reference.sequence, in: log.number)?.id
    }

    /// Whether its time runs: by receipts of this person's devices, or of others'. Of whose words it is not
    /// known who has them, of forks and cuts and of what was deleted, it may.
    private func standing(
        of stored: StoredOperation, _ log: LogRecord, _ space: SpaceRecord, _ node: SimulatedNode
    ) throws -> Standing {
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        guard let roster = try node.roster(of: space), let author = roster.person(of: log.device),
            try !Overview.isDeleted(reference, in: space.number, store: node.store)
        else { return .mayRun }
        let person = node.identity.person
        if author == person { return try ownStanding(of: stored, log, roster, node) }
        if try Overview.isHidden(
            author, in: space, ownSpace: node.core.ownSpace?.number, node.store)
        {
            return .runs
        }
        // It goes at once.
        if try Overview.isDeletedForOneself(
            stored, ownSpace: node.core.ownSpace?.number, in: node.store)
        {
            return .mayRun
        }
        let isQuiet = try node.readQuietly(in: space.id).contains {
            $0.tag == log.tag && $0.places.contains(stored.sequence)
        }
        let isRead = try marks(.read, of: stored, log, roster, node).contains {
            $0.person == person
        }
        return isQuiet || isRead ? .runs : .waits
    }

    /// The same of this person's own words: somebody else has them, or nobody is to.
    private func ownStanding(
        of stored: StoredOperation, _ log: LogRecord, _ roster: Roster, _ node: SimulatedNode
    ) throws -> Standing {
        let others = roster.participants.filter { $0.person != node.identity.person }
        func isAbove(_ horizon: Horizon) -> Bool {
            horizon.place(of: log.device, log.lane).map { stored.sequence > $0.sequence } ?? true
        }
        let isPlain = log.fork == nil && log.limit == nil
        for kind in [MarkKind.read, .delivered, .acknowledged] {
            for mark in try marks(kind, of: stored, log, roster, node)
            where mark.person != node.identity.person {
                // A newcomer acknowledges what they are not given.
                guard kind != .acknowledged || isAbove(roster.horizon(of: mark.device)) else {
                    continue
                }
                return isPlain ? .runs : .mayRun
            }
        }
        if others.isEmpty {
            return roster.awaited(by: node.identity.person).isEmpty ? .runs : .mayRun
        }
        // Whoever came later is not given it.
        return others.flatMap(\.devices).contains { isAbove($0.horizon) } ? .waits : .runs
    }

    /// Who has told this of a message.
    private func marks(
        _ kind: MarkKind, of stored: StoredOperation, _ log: LogRecord, _ roster: Roster,
        _ node: SimulatedNode
    ) throws -> [(person: PersonID, device: DeviceID)] {
        try node.store.marks(kind, in: log.space).compactMap { mark in
            let device = DeviceID(reinterpreting: mark.actor)
            guard mark.tag == log.tag, mark.places.contains(stored.sequence) else { return nil }
            return roster.person(of: device).map { ($0, device) }
        }
    }
}
