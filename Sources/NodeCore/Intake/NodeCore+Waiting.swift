import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Runs that wait for their causes, and what follows once these have arrived.
extension NodeCore {
    /// Applies what waited for causes that have come, until nothing moves any more.
    ///
    /// - Parameter logs: which alone may have released something; nil where anything may. What waits may be
    ///   much, and is looked at for little: only what names a log that grew.
    mutating func admitWaiting(
        in space: SpaceRecord, releasedBy logs: Set<LogTag>?, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) {
        try prepare(space, store)
        var grownInAll = ingested.grown
        defer { ingested.grown = grownInAll }
        var logs = logs
        while intake.waiting.holds(space.number) {
            let before = ingested.changes.count + ingested.keptCount
            let controlBefore = ingested.keptControl.byteCount
            ingested.grown = []
            for waiter in intake.waiting.take(space.number, awaiting: logs) {
                try admit(waiter, in: space, store, &ingested)
            }
            let grown = ingested.grown
            grownInAll.formUnion(grown)
            if grown.isEmpty, ingested.changes.count + ingested.keptCount == before { return }
            // Lane 0 decides of everything.
            logs = ingested.keptControl.byteCount > controlBefore ? nil : grown
        }
    }

    /// Applies what waited, as far as it is still lacked.
    private mutating func admit(
        _ waiter: WaitingRoom.Waiter, in space: SpaceRecord, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) {
        var waiter = waiter
        let run = waiter.run
        let limit = rosters.judges[space.number]?.roster.limit(
            of: run.device, lane: run.lane, run.log)
        guard let log = try store.log(LogTag(run.log), in: space.number) else {
            guard let rest = run.below(limit) else { return }
            waiter.run = rest
            return try apply(waiter, in: space, store, &ingested)
        }
        // While it waited, some of it may have arrived another way, or proved to be of a
        // branch that nobody accepts; and newer operations may have arrived first.
        for part in log.lacking(run) {
            guard let rest = part.below(log.intakeEnd)?.below(limit),
                try store.log(log.tag, in: space.number)?.canHold(rest) == true
            else { continue }
            waiter.run = rest
            try apply(waiter, in: space, store, &ingested)
        }
    }

    /// Applies what was stored of lane 0, and what that admits from the waiting room, until nothing
    /// changes any more. A member admitted by one roster has written what the next is made of: the
    /// Accept of a member admitted by others' words above a fork is waiting.
    mutating func followKept(
        _ ingested: inout Ingested, in space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        repeat {
            let kept = ingested.keptControl
            try noteGrown(space, by: kept.byteCount - kept.heardByteCount, turn.store)
            ingested.keptControl.heardByteCount = kept.byteCount
            try follow(space, &turn)
            ingested.closedLogs = nil
            try openEpochs(in: space, &turn)
            try admitWaiting(
                in: space, releasedBy: ingested.releasing, turn.store, &ingested)
        } while ingested.hasUnheardControl
    }

    /// Applies what waited, if something other than operations released it.
    ///
    /// - Parameter id: the link that brought what released it, if one did.
    mutating func admit(in space: SpaceRecord, from id: LinkID?, _ turn: inout some Turn)
        throws(StoreError)
    {
        var ingested = Ingested(at: turn.now)
        ingested.endsWaiting = id == nil
        try admitWaiting(in: space, releasedBy: nil, turn.store, &ingested)
        try followKept(&ingested, in: space, &turn)
        try settle(ingested, in: space, from: id, &turn)
    }

    /// Ends the wait of runs that waited long enough. No merge rule needs causes first, so waiting
    /// only preserves the order on a screen; and an operation that names what one member invented
    /// would wait forever.
    mutating func endWaiting(_ turn: inout some Turn) throws(StoreError) {
        for number in intake.waiting.overdueSpaces(at: turn.now.monotonic) {
            guard let space = try turn.store.space(number) else {
                _ = intake.waiting.take(number)
                continue
            }
            try admit(in: space, from: nil, &turn)
        }
        watchWaiting(&turn)
    }

    /// The least time between checks of waiting runs, in milliseconds: keeping an overdue run
    /// waiting costs no more than that.
    private static let waitingCheckMin: UInt64 = 1_000

    mutating func watchWaiting(_ turn: inout some Turn) {
        guard let due = intake.waiting.nextDue else { return }
        let wait = max(Self.waitingCheckMin, due - min(due, turn.now.monotonic))
        timers.set(.waiting, in: wait, &turn)
    }
}
