import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// What one frame of operations changed.
private struct Ingested {
    var changes: [ViewChange] = []
    /// Logs that grew.
    var grown: Set<LogTag> = []
    /// Something did not join what is held: the peer is asked for what lies between.
    var isDisconnected = false
    /// When it happens, on the monotonic clock.
    let now: UInt64
    /// Whether what has waited long enough is applied without its causes.
    var endsWaiting = false

    init(at now: Instant) { self.now = now.monotonic }
}

extension NodeCore {
    /// Delivery receipts are off in larger spaces: their number would grow with its square.
    static let receiptMemberCountMax = 64
    /// Receipts go out so long after the first message that they cover.
    static let receiptDelay: UInt64 = 100
    /// Logs that grew through others are announced after so long.
    static let announceDelay: UInt64 = 100

    mutating func ingest(
        _ operations: Operations, from id: LinkID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links[id] else { return }
        var runs = operations.runs[...]
        if try store.space(operations.space) == nil {
            guard let genesis = runs.first,
                try adopt(operations.space, from: genesis, link: link, id, store)
            else {
                if !runs.isEmpty { try count(.foreignSpace, store) }
                return
            }
            effects.append(.linksChanged)
        }
        guard let space = try store.space(operations.space),
            let roster = try roster(of: space, store), roster.contains(link.peer.device)
        else {
            try count(.foreignSpace, store)
            return
        }
        let context = try context(of: space, roster: roster, store)
        var ingested = Ingested(at: now)
        while let run = runs.popFirst() {
            guard roster.contains(run.device) else {
                try count(.foreignOperations, store)
                continue
            }
            guard try ingest(run, in: space, context, from: id, store, &ingested, &effects) else {
                return
            }
        }
        try admitWaiting(in: space, context, store, &ingested)
        try settle(ingested, in: space, roster, from: id, at: now, store, &effects)
    }

    /// Verifies one run and applies what is new. Returns whether the link goes on.
    private mutating func ingest(
        _ run: Run, in space: SpaceRecord, _ context: MergeContext, from id: LinkID,
        _ store: some Store, _ ingested: inout Ingested, _ effects: inout [Effect]
    ) throws(StoreError) -> Bool {
        let tag = LogTag(OperationHash.log(space: space.id, device: run.device, lane: run.lane))
        let log = try store.log(tag, in: space.number)
        let pieces: [VerifiedRun]
        do {
            pieces = try OperationVerifier.verify(
                run, in: space.id, held: log?.spans ?? [], fork: log?.fork)
        } catch .forked(let place) {
            if let log { suspectFork(of: log, at: place, through: run.last, on: id, &effects) }
            return true
        } catch {
            return try refused(error, from: id, store, &ingested, &effects)
        }
        if let log, pieces.isEmpty, hasMissingBodies {
            ingested.changes += try restore(run, in: log, context, store)
        }
        links[id]?.session?.peerHolds(tag, through: run.last, in: space.number)
        for piece in pieces {
            let waiter = WaitingRoom.Waiter(run: piece, since: ingested.now)
            try apply(waiter, in: space, context, store, &ingested)
        }
        if !pieces.isEmpty {
            links[id]?.unacknowledged[space.number, default: []].insert(tag)
        }
        return true
    }

    private mutating func refused(
        _ rejection: RunRejection, from id: LinkID, _ store: some Store,
        _ ingested: inout Ingested, _ effects: inout [Effect]
    ) throws(StoreError) -> Bool {
        switch rejection {
        case .unproven:
            try breach(.unproven, .unprovenOperations, on: id, store, &effects)
            return false
        case .unsigned:
            try count(.unsignedOperations, store)
        case .anchorMissing, .wouldLeaveGap:
            try count(.unconnectedOperations, store)
            ingested.isDisconnected = true
        case .forked:
            break
        }
        return true
    }

    /// Stores and merges as many operations of a run as have their causes; the rest waits.
    private mutating func apply(
        _ waiter: WaitingRoom.Waiter, in space: SpaceRecord, _ context: MergeContext,
        _ store: some Store, _ ingested: inout Ingested
    ) throws(StoreError) {
        let run = waiter.run
        let isOverdue = ingested.endsWaiting && waiter.isOverdue(at: ingested.now)
        var ready = run.operations.count
        if !run.isBackfill, !isOverdue {
            for (index, operation) in run.operations.enumerated() {
                guard
                    try Causality.isReady(
                        operation.operation.header, in: space.number, store: store)
                else {
                    ready = index
                    break
                }
            }
        }
        if let rest = run.droppingFirst(ready) {
            waiting.add(rest, in: space.number, since: waiter.since)
        }
        guard let applicable = run.prefix(ready) else { return }
        try keep(applicable, in: space, context, store, &ingested)
    }

    private mutating func keep(
        _ run: VerifiedRun, in space: SpaceRecord, _ context: MergeContext, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) {
        let tag = LogTag(run.log)
        var log: LogRecord
        if let known = try store.log(tag, in: space.number) {
            log = known
        } else {
            log = try store.addLog(run.log, device: run.device, lane: run.lane, in: space.number)
        }
        let numbers = try store.insert(run.operations, in: log.number)
        log.hold(run)
        try store.update(log)
        for head in run.heads { try store.addHead(head, in: log.number) }
        for (operation, number) in zip(run.operations, numbers) {
            try Causality.cover(
                operation.operation.header, lane: run.lane, in: space.number, store: store)
            let applied = AppliedOperation(
                number: number, log: log, operation: operation, isBackfill: run.isBackfill)
            ingested.changes += try Merge.apply(applied, context, in: store)
            if operation.operation.isErased { try lacksBody(applied, in: space, store) }
        }
        ingested.grown.insert(tag)
    }

    /// Applies what waited for causes that have come, until nothing moves any more.
    private mutating func admitWaiting(
        in space: SpaceRecord, _ context: MergeContext, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) {
        while waiting.holds(space.number) {
            let before = ingested.grown.count + ingested.changes.count
            for var waiter in waiting.take(space.number) {
                let run = waiter.run
                guard let log = try store.log(LogTag(run.log), in: space.number) else {
                    try apply(waiter, in: space, context, store, &ingested)
                    continue
                }
                // While it waited, some of it may have come another way, or proved a branch that
                // nobody takes any more.
                let known = log.end > run.first ? Int(min(log.end - run.first, 1 << 30)) : 0
                guard let rest = run.droppingFirst(known)?.below(log.fork), log.canHold(rest)
                else { continue }
                waiter.run = rest
                try apply(waiter, in: space, context, store, &ingested)
            }
            if ingested.grown.count + ingested.changes.count == before { return }
        }
    }

    /// Applies what waited, where something else than operations let it go on.
    ///
    /// - Parameter id: the link that brought what let it go on, if one did.
    mutating func admit(
        in space: SpaceRecord, _ roster: Roster, from id: LinkID?, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        let context = try context(of: space, roster: roster, store)
        var ingested = Ingested(at: now)
        ingested.endsWaiting = id == nil
        try admitWaiting(in: space, context, store, &ingested)
        try settle(ingested, in: space, roster, from: id, at: now, store, &effects)
    }

    /// Ends the wait of those who waited long enough. No merge rule needs causes first, so who waits
    /// only keeps a screen in order; and whoever names what one member invented would wait for ever.
    mutating func endWaiting(
        at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        for number in waiting.overdueSpaces(at: now.monotonic) {
            guard let space = try store.space(number), let roster = try roster(of: space, store)
            else { continue }
            try admit(in: space, roster, from: nil, at: now, store, &effects)
        }
        watchWaiting(at: now, &effects)
    }

    private mutating func watchWaiting(at now: Instant, _ effects: inout [Effect]) {
        guard let due = waiting.nextDue else { return }
        set(.waiting, in: due - min(due, now.monotonic), at: now, &effects)
    }

    private mutating func settle(
        _ ingested: Ingested, in space: SpaceRecord, _ roster: Roster, from id: LinkID?,
        at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        if !ingested.changes.isEmpty { effects.append(.changed(ingested.changes)) }
        if !ingested.grown.isEmpty {
            try grew(ingested.grown, in: space, isOwn: false, from: id, at: now, store, &effects)
            if roster.members.count <= Self.receiptMemberCountMax, space.kind != .own {
                unreceipted.insert(space.number)
                set(.receipts, in: Self.receiptDelay, at: now, &effects)
            }
            sources[space.number]?.lastProgress = now.monotonic
            sources[space.number]?.fruitlessCount = 0
            try finishRejoin(store)
        }
        askForBodies(at: now, &effects)
        watchWaiting(at: now, &effects)
        // What waited long enough came on no link, and can leave a hole like anything that did.
        let able = links.keys.sorted().first { links[$0]?.session?.shares(space.number) == true }
        guard let id = id ?? able else { return }
        if ingested.isDisconnected {
            try wasDisconnected(space.number, link: id, at: now, store, &effects)
        }
        try fillHoles(of: space.number, from: id, at: now, store, &effects)
        try missHoles(of: space.number, from: id, at: now, store, &effects)
    }

    /// Passes on that logs grew: at once where they are this node's own, else as a short notice.
    mutating func grew(
        _ tags: Set<LogTag>, in space: SpaceRecord, isOwn: Bool, from source: LinkID?,
        at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        var mustAnnounce = false
        for id in links.keys.sorted() where id != source {
            for tag in tags { links[id]?.session?.grew(tag, in: space.number, isOwn: isOwn) }
            mustAnnounce = mustAnnounce || links[id]?.session?.hasAnnouncements == true
        }
        if mustAnnounce { set(.announce, in: Self.announceDelay, at: now, &effects) }
    }

    /// Takes in a space that a contact introduces and that this node belongs to.
    private mutating func adopt(
        _ id: SpaceID, from run: Run, link: CoreLink, _ linkID: LinkID, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard run.lane == .control, run.first == 0,
            link.adoptedCount < Self.introducedCountMax,
            // What proves nothing makes no space, whatever is wrong with it.
            let piece = try? OperationVerifier.verify(run, in: id, held: []).first,
            let first = piece.operations.first,
            // As above.
            let roster = try? Genesis.roster(from: first, by: run.device, in: id),
            // Under their own names: a founder could claim a device for somebody else.
            roster.member(with: identity.device)?.person == identity.person,
            roster.member(with: link.peer.device)?.person == link.peer.person
        else { return false }
        links[linkID]?.adoptedCount += 1
        let space = try store.addSpace(id, kind: roster.kind)
        rosters[space.number] = roster
        if roster.kind == .own, ownSpace == nil { ownSpace = space }
        for linkID in links.keys.sorted() {
            guard let peer = links[linkID]?.peer, roster.contains(peer.device) else { continue }
            _ = try links[linkID]?.session?.share(space, store: store)
            try links[linkID]?.session?.assumeMissing(space.number, store: store)
        }
        return true
    }
}
