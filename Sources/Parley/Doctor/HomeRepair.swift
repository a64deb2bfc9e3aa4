import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// Saves what can be read of a damaged database into a new one.
///
/// For each log the parts are kept that can be read, follow and are signed: others fill the gaps
/// between them. Lane 0 has no gaps, and of what depends on it only that is kept whose names are
/// all held. Everything derived from operations is recomputed. If something of this device's own
/// may be missing, the database gets another name: then the node recovers its own past from others
/// before it writes.
struct HomeRepair {
    private let store: SQLiteStore
    private let identity: NodeIdentity
    private var lost: [LogNumber: Int] = [:]
    private var isOwnLost: Bool
    /// Whether something is lost that only devices of this person know.
    private var isSettingLost = false
    /// Spaces whose members nobody can determine any more.
    private var removed: [DoctorReport.Loss] = []
    /// Whether somebody else wrote in what is lost.
    private var hasOthers = false
    private var note = RepairNote()

    /// Repairs a home that no process has open.
    ///
    /// - Returns: what was lost and repaired.
    static func run(
        _ home: Home, _ unlock: Unlock, _ progress: RescueProgress
    ) throws -> DoctorReport {
        // The store is released before its file takes the place of the old one.
        var report = try rescued(home, unlock, progress)
        let old = try home.takeRescued()
        report.mended.insert(
            "What can be read was saved into a new database; the old one is kept as \(old) for "
                + "\(Home.asideDayMax) days.", at: 0)
        return report
    }

    /// What a repair would lose. It is computed and discarded: nothing in the home is changed.
    static func foretell(_ home: Home, _ unlock: Unlock) throws -> [DoctorReport.Loss] {
        do {
            let report = try rescued(home, unlock, isTrial: true) { _, _ in }
            try home.discardRescued()
            return report.losses
        } catch {
            // The content may be the work of anyone who can write to the home.
            if case .locked = (error as? HomeError)?.code { throw error }
            // The next one removes leftovers as well.
            try? home.discardRescued()
            throw error
        }
    }

    private static func rescued(
        _ home: Home, _ unlock: Unlock, isTrial: Bool = false, _ progress: RescueProgress
    ) throws -> DoctorReport {
        let (store, rescue): (SQLiteStore, RescueReport)
        do throws(HomeError) {
            (store, rescue) = try SQLiteStore.rescue(
                home: home, unlock: unlock, progress: progress)
        } catch {
            guard error.code == .databaseDamaged else { throw error }
            throw NodeError.unreadable(home, error)
        }
        if rescue.lacksNotes { try NodeKeys.restoreIdentity(in: store) }
        guard let keys = try NodeKeys(in: store) else {
            // While the store has the lock. The next repair removes leftovers.
            try? home.discardRescued()
            throw NodeError.noKeys(home)
        }
        var repair = HomeRepair(store, keys.identity, rescue)
        let report = try repair.run(rescue, isTrial: isTrial)
        try store.close()
        return report
    }

    private init(_ store: SQLiteStore, _ identity: NodeIdentity, _ rescue: RescueReport) {
        self.store = store
        self.identity = identity
        isOwnLost = rescue.mayLackOwn
    }

    private mutating func run(_ rescue: RescueReport, isTrial: Bool) throws -> DoctorReport {
        for space in try store.spaces() {
            do {
                try store.transact(.full) { try mend(space) }
            } catch let error as StoreError where error.code == .corrupt {
                // Part of it can be copied, and not be understood: the others are kept.
                try store.transact(.full) { try remove(space) }
            }
        }
        try noteLostLogs(rescue.lostLogs)
        if rescue.lacksNotes {
            try store.transact(.full) { try CardReader.restore(in: store) }
        }
        var core = NodeCore(identity: identity)
        try core.look(in: store)
        let views = Views(store: store, core: core, rosters: RosterCache())
        var report = DoctorReport(checks: [])
        report.losses =
            views.losses(absent: note) { lost[$0.number] ?? 0 } + conditioned(removed)
        // What follows concerns the guard, which is beside the database that it guards.
        if isTrial { return report }
        try keepNote()
        report.mended = rescue.losses.map { "\($0)." }
        if !isOwnLost, rescue.lacksNotes || rescue.lacksName {
            isOwnLost = try !views.isOwnWhole() || !store.fitsGuard(mayAdopt: rescue.lacksName)
        }
        if isOwnLost {
            try store.transact(.full) { try store.forgetName() }
            let isAlone =
                try isOnlyDevice && isSettingLost
                || report.losses.contains(where: \.isBeyondOthers) || !hasOthers && views.isAlone()
            report.advice.append(isAlone ? DoctorReport.alone : DoctorReport.rejoin)
        }
        report.mended.append(
            "Views were rebuilt; the search indexes fill in the background.")
        return report
    }

    /// With what must come first, where nobody knows any more who the contacts are.
    private func conditioned(_ losses: [DoctorReport.Loss]) -> [DoctorReport.Loss] {
        isOnlyDevice && isSettingLost ? losses.map(\.afterContacts) : losses
    }

    private var isOnlyDevice: Bool { identity.log.devices.count <= 1 }

    /// Something of this log is lost.
    private mutating func lose(_ count: Int, of log: LogRecord) throws {
        lost[log.number, default: 0] += count
        guard log.device == identity.device else { return }
        isOwnLost = true
        if try store.space(log.space)?.kind == .own { isSettingLost = true }
    }

    /// Records logs of which nothing is left: those named by remaining rows, and own ones that the
    /// guard remembers.
    private mutating func noteLostLogs(_ logs: [LostLog]) throws {
        var ends: [LogID: UInt64] = [:]
        // A guard that cannot be read tells nothing.
        for head in (try? store.readGuard()) ?? [] { ends[head.log] = head.sequence }
        for space in try store.spaces() {
            let held = Set(try store.logs(in: space.number).map(\.id))
            let own = Lane.allCases.map {
                OperationHash.log(space: space.id, device: identity.device, lane: $0)
            }
            var places = ends.filter { own.contains($0.key) }
            for log in logs where log.space == space.number {
                places[log.id] = max(places[log.id] ?? 0, log.places.upperBound)
            }
            for (log, last) in places.sorted(by: { $0.key < $1.key }) where !held.contains(log) {
                note.add(log, through: last, of: space)
                guard own.contains(log) else { continue }
                isOwnLost = true
                if space.kind == .own { isSettingLost = true }
            }
        }
    }

    /// Keeps the valid part of a space, and recomputes what follows from it.
    private mutating func mend(_ space: SpaceRecord) throws {
        // Acknowledgements from links are not copied.
        try NodeCore.forgetWords(of: space, by: identity.device, in: store)
        let held = try store.logs(in: space.number)
        for log in held {
            let sound = SoundPart(log, in: store)
            if !sound.isWhole {
                try keep(sound, of: log)
            } else if try store.strayCount(in: log) > 0 {
                // A row in a place that is not its own is in the way of what belongs there, and may not open.
                try store.keepOnly(sound.spans, of: log.number)
            }
        }
        try closeControl(of: space)
        try signOwn(of: space)
        if try beginning(of: space) == nil {
            try letGo(of: space, with: held)
            try store.removeSpace(space.number)
        } else if try !StoredSpace.fold(space, for: identity.person, in: store) {
            // Nobody can say yet who is in it: what is missing comes from others.
            isOwnLost = true
        }
        try note.add(held, of: space, in: store)
    }

    /// Records losses where later checks find them, if nothing else shows them any more.
    private mutating func keepNote() throws {
        note.removed = removed
        let note = note
        try store.transact(.full) { try note.keep(in: store) }
    }

    /// Signs what this device wrote and kept if the signature over it is lost: unsigned operations
    /// go into no backup, and to nobody else.
    private func signOwn(of space: SpaceRecord) throws {
        for log in try store.logs(in: space.number) where log.device == identity.device {
            for span in log.spans
            where try store.heads(in: log.number, span.last...span.last).isEmpty {
                let head = OperationHash.sign(
                    log: log.id, sequence: span.last, operation: span.tip, with: identity.key)
                try store.addHead(head, in: log.number)
            }
        }
    }

    /// Drops a space of which nothing can be restored.
    private mutating func remove(_ space: SpaceRecord) throws {
        let held = try store.logs(in: space.number)
        try letGo(of: space, with: held)
        for log in held { try store.keepOnly([], of: log.number) }
        try store.removeSpace(space.number)
    }

    private mutating func letGo(of space: SpaceRecord, with logs: [LogRecord]) throws {
        isOwnLost = true
        if space.kind == .own { isSettingLost = true }
        removed.append(try loss(of: space, with: logs))
    }

    /// What is lost with a space whose beginning is lost: everything.
    private mutating func loss(
        of space: SpaceRecord, with logs: [LogRecord]
    ) throws -> DoctorReport.Loss {
        func count(_ logs: [LogRecord]) -> Int { logs.reduce(0) { $0 + $1.heldCount } }
        var loss = DoctorReport.Loss(
            conversation: space.id.description,
            name: space.nameWithoutBeginning,
            operationCount: count(logs),
            ownCount: count(logs.filter { $0.device == identity.device }), sources: [])
        if !isOnlyDevice { loss.sources.append("another device of yours") }
        let own = Set(identity.log.devices.map(\.device))
        if space.kind != .own, logs.contains(where: { !own.contains($0.device) }) {
            loss.sources.append("others who wrote in it")
            hasOthers = true
        }
        // Who is in it stood at its beginning: whoever is known may be, and have it.
        let isAnybodyKnown = try store.values(.card).contains { $0.key != identity.person.bytes }
        if space.kind != .own, loss.sources.isEmpty, isAnybodyKnown {
            loss.condition = DoctorReport.Loss.mayBeWithMembers
            hasOthers = true
        }
        return loss
    }

    private mutating func keep(_ sound: SoundPart, of log: LogRecord) throws {
        try lose(sound.lostCount, of: log)
        try store.keepOnly(sound.spans, withoutHeads: sound.falseHeads, of: log.number)
    }

    private mutating func cut(_ log: LogRecord, from point: LogPoint) throws {
        let kept = log.below(point)
        try lose(log.heldCount - kept.heldCount, of: log)
        try store.keepOnly(kept.spans, of: log.number)
    }

    // MARK: Lane 0

    /// Cuts logs below what names something of lane 0 that is not held any more.
    private mutating func closeControl(of space: SpaceRecord) throws {
        // Each round takes something away.
        while try closeOnce(space, .control) {}
        for lane in Lane.allCases where lane != .control && lane.isCausal {
            _ = try closeOnce(space, lane)
        }
    }

    private mutating func closeOnce(_ space: SpaceRecord, _ lane: Lane) throws -> Bool {
        var hasCut = false
        for log in try store.logs(in: space.number) where log.lane == lane {
            guard let place = try firstOpen(log, in: space) else { continue }
            try cut(log, from: signedEnd(of: log, below: place))
            hasCut = true
        }
        return hasCut
    }

    /// The first operation that names something of lane 0 that is not held.
    private func firstOpen(_ log: LogRecord, in space: SpaceRecord) throws -> UInt64? {
        var found: UInt64?
        for span in log.spans where found == nil {
            _ = try store.eachOperation(of: log, span) { stored throws(StoreError) in
                let header = stored.operation.header
                for name in header.dependencies + header.references
                where try isOpen(name, log.lane, in: space) { found = stored.sequence }
                return found == nil
            }
        }
        return found
    }

    private func isOpen(
        _ name: OperationReference, _ lane: Lane, in space: SpaceRecord
    ) throws(StoreError) -> Bool {
        guard let log = try store.log(name.tag, in: space.number) else { return lane == .control }
        return log.lane == .control && name.sequence >= log.base && !log.holds(name.sequence)
    }

    /// The last place below which a signature vouches for all.
    private func signedEnd(of log: LogRecord, below place: UInt64) throws -> LogPoint {
        for span in log.spans.reversed() where span.first < place {
            let heads = try store.heads(
                in: log.number, span.first...min(span.last, place - 1))
            if let head = heads.last,
                let stored = try store.header(at: head.sequence, in: log.number)
            {
                return LogPoint(sequence: head.sequence + 1, anchor: stored.id)
            }
        }
        return LogPoint(sequence: 0, anchor: OperationID(reinterpreting: log.id))
    }

    /// The operation that begins a space; without it nothing says who is in it.
    private func beginning(of space: SpaceRecord) throws -> StoredHeader? {
        for log in try store.logs(in: space.number) where log.lane == .control {
            if let first = try store.header(at: 0, in: log.number), first.header.kind == .genesis {
                return first
            }
        }
        return nil
    }
}
