import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Stores operations that are proven and have their causes, and lets them count.
extension NodeCore {
    /// Stores a run, all of whose causes are held or not to be waited for.
    mutating func keep(
        _ taken: VerifiedRun, in space: SpaceRecord, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) {
        try prepare(space, store)
        guard var judge = rosters.judges[space.number] else { return }
        let tag = LogTag(taken.log)
        var log: LogRecord
        if let known = try store.log(tag, in: space.number) {
            // Both may have waited, and the other one came first.
            guard known.id == taken.log else { return try count(.collidingLog, store) }
            log = known
        } else {
            log = try store.addLog(
                taken.log, device: taken.device, lane: taken.lane, in: space.number)
            log.limit = judge.roster.limit(of: log)
        }
        let (run, settledEnd) = try taken.placed(in: log, by: judge.placing, store)
        var walk = try ViewWalk(at: run.first, in: log, store)
        let numbers = try store.insert(run.operations, in: log.number)
        if log.spans.isEmpty, log.lane.carriesAuthority {
            log.coveredEnd = max(log.coveredEnd, try Causality.namedEnd(of: log, store: store))
        }
        log.hold(run)
        log.order.settledEnd = settledEnd
        ingested.isUnplaced = ingested.isUnplaced || log.unsettles(by: run)
        try store.update(log)
        for head in run.heads { try store.addHead(head, in: log.number) }
        let context = try context(of: space, roster: judge.roster, store)
        // Taken out, so that it is not copied when it is changed.
        rosters.judges[space.number] = nil
        defer { rosters.judges[space.number] = judge }
        for (operation, number) in zip(run.operations, numbers) {
            try Causality.cover(
                operation.operation.header, at: operation.sequence, in: log, store: store)
            if run.lane == .control { judge.add(operation, by: run.device) }
            let applied = AppliedOperation(
                number: number, log: log, operation: operation, isBackfill: run.isBackfill)
            let view = try walk.step(operation, in: log, judge, store)
            ingested.changes += try merging(applied, context, store) { () throws(StoreError) in
                try Merge.apply(applied, under: view, context, judging: &judge, in: store)
            }
        }
        try noteMissingBodies(
            of: run.operations.filter(\.operation.isErased), in: log, space, store)
        if run.lane == .control {
            for person in judge.takeNewPersons() {
                try store.noteNaming(of: person, in: space.number, isShared: nil)
            }
        }
        // Above a gap that these operations closed, up to the next gap, it is known what was seen.
        if log.lane.carriesAuthority, let whole = log.wholeThrough, whole > run.last,
            run.first >= log.base,
            try walk.settle(run.last + 1...whole, in: log, &judge, store)
        {
            ingested.isMisjudged = true
        }
        ingested.note(run)
    }

    /// The version of the merge rules. It grows with each rule that interprets what earlier versions only
    /// carried, or stores it elsewhere:
    /// 1 before there were mentions, threads, descriptions, profiles, polls and items, 2 before contact
    /// requests were stored in a separate entry, 3 before there were notes and decisions, 5 before there were
    /// pictures of groups and receipts distinguished branches, 6 before messages could disappear, 7 before groups had
    /// rules, 8 before a person could delete a message for themselves and report one, 9 before drafts were ended by
    /// name.
    static let viewGeneration: UInt64 = 10

    /// Recomputes all spaces if an earlier version computed them: it carried what it did not know,
    /// and showed nothing of that.
    mutating func foldAnew(_ turn: inout some Turn) throws(StoreError) {
        let key = Array("views".utf8)
        guard try turn.store.number(.profile, key) ?? 0 < Self.viewGeneration else { return }
        // What the person says in the own space has its effect in the others.
        let spaces = try turn.store.spaces()
        ownSpace = spaces.first { $0.kind == .own }
        for space in spaces where space.kind == .own { try refold(space, &turn) }
        for space in spaces where space.kind != .own { try refold(space, &turn) }
        try turn.store.setNumber(Self.viewGeneration, .profile, key)
    }

    /// Recomputes a space: some of what it holds counts no longer, or again.
    mutating func refold(_ space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) {
        try prepare(space, turn.store)
        guard var judge = rosters.judges.removeValue(forKey: space.number) else { return }
        defer { rosters.judges[space.number] = judge }
        let context = try context(of: space, roster: judge.roster, turn.store)
        var bodyless: [LogTag: (log: LogRecord, operations: [VerifiedOperation])] = [:]
        var disappearing: [OperationNumber] = []
        try Merge.rebuild(context, judging: &judge, in: turn.store) { applied throws(StoreError) in
            let (header, reference) = (
                applied.operation.operation.header, applied.orderKey.reference
            )
            let isDeleted = try context.ownDeletions?.takeAlong(
                header, reference, in: turn.store)
            if isDeleted == true || applied.isKind(.disappearingText) {
                disappearing.append(applied.number)
            }
            guard applied.operation.operation.isErased else { return }
            let tag = applied.log.tag
            bodyless[tag, default: (applied.log, [])].operations.append(applied.operation)
        }
        // A deletion that counts no more has taken its message along: others may have it still.
        for (_, lacking) in bodyless.sorted(by: { $0.key < $1.key }) {
            try noteMissingBodies(of: lacking.operations, in: lacking.log, space, turn.store)
        }
        // A repair, or an earlier version of the program, left them without a note.
        for number in disappearing { try noteDisappearing(number, in: space.number, &turn) }
        turn.emit(.changed([.refolded(space.number)]))
    }
}

extension LogRecord {
    /// Whether a newly held part of this log was named before, or lies in a gap: then operations
    /// may have to move. What is above gaps is placed by the clocks of lane 0.
    fileprivate func unsettles(by run: VerifiedRun) -> Bool {
        guard lane.carriesAuthority else { return lane == .control }
        return run.isBackfill || run.first < coveredEnd
    }
}

/// Finds out, operation by operation, what of lane 0 a log had seen, and keeps where that changes.
struct ViewWalk {
    private var view: LogView?
    /// Whether everything below is held, so that it is known what was seen.
    private var isSettled: Bool
    private let carriesAuthority: Bool

    /// A walk that begins at a place.
    init(
        at first: UInt64, in log: LogRecord, _ store: some LogStore
    ) throws(StoreError) {
        carriesAuthority = log.lane.carriesAuthority
        let whole = log.wholeThrough.map { $0 + 1 } ?? log.base
        isSettled = first <= whole
        guard carriesAuthority, first > 0, isSettled else { return }
        view = try store.view(at: first - 1, in: log.number)
        // Below the present start of the log it may lie above a gap that nobody fills: only the row
        // of a held place, or of one that told where the log began, continues here.
        guard first < log.base else { return }
        let goesOn = view?.first == first - 1 || log.holds(first - 1)
        guard goesOn, view?.isSettled == true else {
            (view, isSettled) = (nil, false)
            return
        }
    }

    /// The row that holds for the next operation.
    mutating func step(
        _ operation: VerifiedOperation, in log: LogRecord, _ judge: Judge, _ store: some LogStore
    ) throws(StoreError) -> LogView? {
        guard carriesAuthority else { return nil }
        try beginWhereTold(operation.sequence, in: log, judge, store)
        let header = operation.operation.header
        let causes = try Self.controlCauses(of: header, in: log.space, store)
        guard isSettled else {
            let authority = header.authority ?? 0
            if view == nil || !causes.isEmpty || view?.claimed != authority {
                let row = LogView(
                    first: operation.sequence,
                    tips: causes.sorted(),
                    claimed: authority)
                view = row
                try store.setView(row, in: log.number)
            }
            return view
        }
        guard !causes.isEmpty, let tips = judge.tips(view?.tips ?? [], naming: causes) else {
            return view
        }
        let row = LogView(first: operation.sequence, tips: tips)
        if tips != view?.tips { try store.setView(row, in: log.number) }
        view = row
        return view
    }

    /// From a floor on, what was told of the log applies, whatever is held right below the floor: also where
    /// the log begins earlier by now.
    private mutating func beginWhereTold(
        _ place: UInt64, in log: LogRecord, _ judge: Judge, _ store: some LogStore
    ) throws(StoreError) {
        guard !isSettled || place <= log.base, place > 0,
            let row = try store.view(at: place, in: log.number), row.isSettled,
            row.first == place || row.first + 1 == place && row.endsHere
        else { return }
        let tips = isSettled ? judge.tips(view?.tips ?? [], naming: row.tips) : nil
        view = LogView(first: place, tips: tips ?? row.tips)
        isSettled = true
    }

    /// Records what of lane 0 a log had seen at the last place that is not for this device, as told
    /// by the admission: with that place, or, if it is held and has a separate row, with the next.
    static func note(
        _ place: LogPlace, of log: LogRecord, _ tips: [LogTip], _ store: some LogStore
    ) throws(StoreError) {
        let isHeld = log.holds(place.sequence)
        try store.setView(
            LogView(
                first: isHeld ? place.sequence + 1 : place.sequence, tips: tips, endsHere: !isHeld),
            in: log.number)
    }

    /// A gap was closed: it is known now what was seen at these places above it.
    ///
    /// - Returns: whether something there was judged otherwise than it is.
    func settle(
        _ places: ClosedRange<UInt64>, in log: LogRecord, _ judge: inout Judge,
        _ store: some LogStore
    ) throws(StoreError) -> Bool {
        var tips = view?.tips ?? []
        var isMisjudged = false
        for row in try store.views(in: log.number, places) {
            guard let claimed = row.claimed else {
                // The log once began here, and the admission told what it had seen. Now the log
                // itself does.
                try Self.again(through: log, judge, store)
                return true
            }
            let wasKnown = judge.view(row)?.authority == claimed
            let before = tips
            tips = judge.tips(tips, naming: row.tips) ?? tips
            let settled = LogView(first: row.first, tips: tips)
            let isRight = judge.view(settled)?.authority == claimed
            isMisjudged = isMisjudged || isRight != wasKnown
            if tips == before {
                try store.removeView(at: row.first, in: log.number)
            } else {
                try store.setView(settled, in: log.number)
            }
        }
        return isMisjudged
    }

    /// Recomputes what of lane 0 nobody has named, and what each log had seen: where a fork is
    /// proven, less counts than before.
    static func again(
        through space: SpaceRecord, _ judge: Judge, _ store: some LogStore
    ) throws(StoreError) {
        for var log in try store.logs(in: space.number) {
            if log.lane == .control {
                log.controlCoveredEnd = judge.graph.coveredEnd(of: log.tag)
                try store.update(log)
            } else if log.lane.carriesAuthority {
                try again(through: log, judge, store)
            }
        }
    }

    /// The same in one log: if it begins elsewhere, and if a claim can be checked now.
    static func again(
        through log: LogRecord, _ judge: Judge, _ store: some LogStore
    ) throws(StoreError) {
        var isAboveClaim = false
        for var row in try store.views(in: log.number, 0...UInt64.max) {
            try store.removeView(at: row.first, in: log.number)
            // The log itself does not tell what it had seen where it begins here, or began before.
            // Above a claim nothing else is known.
            let next = row.first + 1
            let isTold =
                isAboveClaim || next == log.base || row.first == log.base
                || !log.holds(row.first)
            isAboveClaim = !row.isSettled
            guard row.isSettled, isTold else { continue }
            row.tips = judge.tips([], naming: row.tips) ?? []
            try store.setView(row, in: log.number)
        }
        for span in log.spans {
            var part = span
            while part.first <= span.last {
                part.last = part.first < log.base ? min(span.last, log.base - 1) : span.last
                var walk = try ViewWalk(at: part.first, in: log, store)
                _ = try store.eachOperation(of: log, part) { stored throws(StoreError) in
                    _ = try walk.step(
                        VerifiedOperation(stored: stored, tag: log.tag), in: log, judge, store)
                    return true
                }
                part.first = part.last + 1
            }
        }
    }

    /// What an operation of content names of lane 0.
    static func controlCauses(
        of header: OperationHeader, in space: SpaceNumber, _ store: some LogStore
    ) throws(StoreError) -> [LogTip] {
        var causes: [LogTip] = []
        for cause in header.dependencies
        where try store.log(cause.tag, in: space)?.lane == .control { causes.append(LogTip(cause)) }
        return causes
    }
}
