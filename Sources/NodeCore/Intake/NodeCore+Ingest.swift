import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// What one frame of operations changed.
struct Ingested {
    var changes: [ViewChange] = []
    /// Logs that grew.
    var grown: Set<LogTag> = []
    /// Whether payloads came of what was held without them.
    private(set) var isRestored = false
    /// Something did not join what is held: the peer is asked for what lies between.
    var isDisconnected = false
    /// An operation above a gap turned out to be judged differently.
    var isMisjudged = false
    /// Whether something that is held may stand elsewhere than it does.
    var isUnplaced = false
    /// Runs that were stored, and the operations in them.
    var keptCount = 0
    var keptOperationCount = 0
    /// About how many bytes of lane 0 were stored, and for how many of these their effect was
    /// processed.
    var keptControl = (byteCount: UInt64(0), heardByteCount: UInt64(0))
    /// Whether something of lane 0 was stored that does not count yet.
    var hasUnheardControl: Bool { keptControl.byteCount > keptControl.heardByteCount }
    /// When it happens, on the monotonic clock.
    let now: UInt64
    /// Whether what has waited long enough is applied without its causes.
    var endsWaiting = false
    /// Proofs that delivered operations are of another branch than what is held.
    var proofs: [ForkProof] = []
    /// Whether the causes of what is applied are still to be read.
    var isAhead = false
    /// The places from which nobody serves the logs of former members; set once it was computed.
    var closedLogs: [LogTag: UInt64]?

    /// Grows with what is new, and with what is learned of something that was held.
    var newsCount: Int { keptOperationCount + changes.count }

    init(at now: Instant) { self.now = now.monotonic }

    /// Notes what payloads changed that came of what was held without them.
    mutating func noteRestored(_ changes: [ViewChange]) {
        self.changes += changes
        isRestored = isRestored || !changes.isEmpty
    }

    /// Logs of which what was stored may have released waiting runs; nil where any run may be released: lane 0
    /// decides about everything, and what is read ahead waits for nothing.
    var releasing: Set<LogTag>? {
        keptControl.byteCount > 0 || isAhead || endsWaiting ? nil : grown
    }

    /// Records a run that was stored.
    mutating func note(_ run: VerifiedRun) {
        grown.insert(LogTag(run.log))
        keptCount += 1
        keptOperationCount += run.operations.count
        guard run.lane == .control else { return }
        keptControl.byteCount += UInt64(run.operations.reduce(0) { $0 + $1.operation.byteCount })
    }
}

extension NodeCore {
    /// Receipts go out this long after the first message that they cover.
    static let receiptDelay: UInt64 = 100
    /// Logs that grew through others are announced after this long.
    static let announceDelay: UInt64 = 100

    mutating func ingest(_ operations: Operations, from id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let peer = peers.links[id]?.peer else { return }
        try ingest(operations, by: Bringer(peer, link: id), &turn)
    }

    /// Accepts what a peer delivers, on a link or through a relay.
    mutating func ingest(_ operations: Operations, by peer: Bringer, _ turn: inout some Turn)
        throws(StoreError)
    {
        if try turn.store.space(operations.space) == nil {
            // Logs come in the order of their names: it need not be the first.
            let genesis = operations.runs.first {
                $0.lane == .control && $0.operations.first?.header.kind == .genesis
            }
            guard let genesis else {
                if !operations.runs.isEmpty { try count(.foreignSpace, turn.store) }
                return
            }
            let refusal = try adopt(
                operations.space, from: genesis, by: peer, at: turn.now, turn.store)
            if let refusal { return try count(refusal, turn.store) }
            turn.emit(.linksChanged)
            // Its author may not have known all of this person's devices.
            watchDevices(&turn)
        }
        guard let space = try turn.store.space(operations.space),
            try mayBring(operations, peer, to: space, at: turn.now, turn.store)
        else { return try turnAway(operations, by: peer, turn.store) }
        var ingested = Ingested(at: turn.now)
        ingested.isAhead = peer.isAhead
        guard try mayGrow(space, from: peer.person, on: peer.link, turn.store) else {
            try count(.invitation, turn.store)
            return try declineRest(of: space, on: peer.link, &turn)
        }
        // Lane 0 first: the rest is judged by it. After a run that is not genuine nothing more is
        // accepted, and what was kept before has its effect like anything else.
        var isGenuine = true
        for run in operations.runs where run.lane == .control && isGenuine {
            isGenuine = try ingest(run, in: space, by: peer, &ingested, &turn)
        }
        if operations.runs.contains(where: { $0.lane == .control }) {
            try admitWaiting(in: space, releasedBy: ingested.releasing, turn.store, &ingested)
            try followKept(&ingested, in: space, &turn)
        }
        let roster = rosters.judges[space.number]?.roster
        for run in operations.runs where run.lane != .control && isGenuine {
            guard mayBringMore(peer, roster), roster?.person(of: run.device) != nil else {
                try count(.foreignOperations, turn.store)
                continue
            }
            isGenuine = try ingest(run, in: space, by: peer, &ingested, &turn)
        }
        try admitWaiting(in: space, releasedBy: ingested.releasing, turn.store, &ingested)
        if ingested.hasUnheardControl {
            try followKept(&ingested, in: space, &turn)
        }
        try settle(ingested, in: space, from: isGenuine ? peer.link : nil, &turn)
        for proof in ingested.proofs {
            try learned(proof, by: peer, &turn)
        }
        guard isGenuine, peer.link == nil, !peer.isAhead else { return }
        try noteSuspectedGap(
            in: space, reportedBy: peer.device, isDisconnected: ingested.isDisconnected, &turn)
    }

    /// Counts operations from a peer that may not deliver them. From one that was in the space only what is
    /// lost by that counts: what it wrote is not accepted once it is known to be out, which is nobody's fault.
    private mutating func turnAway(
        _ operations: Operations, by peer: Bringer, _ store: some Store
    ) throws(StoreError) {
        guard let space = try store.space(operations.space),
            try roster(of: space, store)?.person(of: peer.device) == peer.person
        else { return try count(.foreignSpace, store) }
        // What was brought ahead comes again in its turn.
        if peer.isAhead { return }
        for run in operations.runs where run.lane != .control {
            let name = OperationHash.log(space: space.id, device: run.device, lane: run.lane)
            let end = try store.log(LogTag(name), in: space.number)?.end ?? 0
            if run.last >= end { return try count(.foreignOperations, store) }
        }
    }

    /// Whether more than lane 0 is accepted from a peer. It is not from a person who has not
    /// accepted: one who keeps writing and serves nobody would leave gaps that nothing fills,
    /// different ones at each member.
    private func mayBringMore(_ peer: Bringer, _ roster: Roster?) -> Bool {
        belongs(to: roster) && roster?.takesPart(peer.device) == true
    }

    /// Verifies one run and applies what is new. Returns whether the link continues.
    private mutating func ingest(
        _ run: Run, in space: SpaceRecord, by peer: Bringer, _ ingested: inout Ingested,
        _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        let name = OperationHash.log(space: space.id, device: run.device, lane: run.lane)
        let tag = LogTag(name)
        var log = try turn.store.log(tag, in: space.number)
        // Logs are named by half of a hash: with enough generated keys, two get one name.
        if let log, log.id != name {
            try count(.collidingLog, turn.store)
            return true
        }
        let limit = rosters.judges[space.number]?.roster.limit(of: run.device, lane: run.lane, name)
        var pieces: [VerifiedRun]
        do {
            pieces = try Self.verify(run, in: space.id, against: log, limit: limit)
        } catch .forked(let place) {
            guard let log else { return true }
            pieces = try otherBranch(run, insteadOf: log, in: space, turn.store)
            if pieces.isEmpty {
                intake.yield.vainCount += run.operations.count
                if let id = peer.link {
                    suspectFork(of: log, at: place, through: run.last, on: id, &turn)
                } else if let proof = try ForkProof.found(
                    in: run, against: log, of: space.id, store: turn.store)
                {
                    ingested.proofs.append(proof)
                }
                return true
            }
        } catch {
            if error != .anchorMissing { intake.yield.vainCount += run.operations.count }
            return try refused(error, from: peer.link, &ingested, &turn)
        }
        if pieces.isEmpty, let log {
            pieces = try otherBranch(run, insteadOf: log, in: space, turn.store)
        }
        let before = log
        log = try turn.store.log(tag, in: space.number)
        // What was dropped for another branch is no longer shown.
        if let before, let log, log.end < before.end { ingested.isMisjudged = true }
        let newsBefore = ingested.newsCount
        if let log, pieces.isEmpty, intake.bodyRequests.hasMissing {
            ingested.noteRestored(try restoreBodies(from: run, in: log, space, &turn))
        }
        if let id = peer.link {
            peers.links[id]?.session?.peerHolds(tag, through: run.last, in: space.number)
        }
        try apply(pieces, to: log, in: space, by: peer, &ingested, &turn)
        intake.yield.newsCount += ingested.newsCount - newsBefore
        // Who sends its own once more was not told, or did not hear, that it is safe here.
        if let id = peer.link, !pieces.isEmpty || run.device == peer.device {
            peers.links[id]?.unacknowledged[space.number, default: []].insert(tag)
        }
        return true
    }

    /// Applies the pieces of a run that are new to a log.
    private mutating func apply(
        _ pieces: [VerifiedRun], to log: LogRecord?, in space: SpaceRecord, by peer: Bringer,
        _ ingested: inout Ingested, _ turn: inout some Turn
    ) throws(StoreError) {
        for piece in pieces {
            if let id = peer.link, !piece.isBackfill {
                try suspectForks(namedBy: piece, in: space, on: id, &turn)
            }
            // Lane 0 has no gaps: its meaning depends on everything before.
            if piece.lane == .control, piece.first != log?.end ?? 0 {
                try count(.unconnectedOperations, turn.store)
                ingested.isDisconnected = true
                if let id = peer.link {
                    let size = piece.operations.reduce(0) { $0 + $1.operation.byteCount }
                    peers.links[id]?.unconnected[space.number, default: 0] += UInt64(size)
                }
                continue
            }
            let waiter = WaitingRoom.Waiter(run: piece, since: ingested.now)
            try apply(waiter, in: space, turn.store, &ingested)
        }
    }

    /// The new part of a run, below the log's limit.
    ///
    /// Floors and limits are claims of the member who admitted or removed somebody. If they do not
    /// match what others hold, no peer has broken a rule.
    static func verify(
        _ run: Run, in space: SpaceID, against log: LogRecord?, limit: LogPoint?
    ) throws(RunRejection) -> [VerifiedRun] {
        let held = log?.spans ?? []
        var pieces: [VerifiedRun]
        do {
            pieces = try OperationVerifier.verify(
                run, in: space, held: held, bound: log?.intakeEnd, floor: log?.floor)
        } catch {
            if error == .unproven, log?.floor != nil || limit != nil { throw .unsigned }
            // What ends right below the limit needs no signature: the cut vouches for it.
            guard error == .unsigned, let limit,
                log?.lacksVouched == true || limit.sequence < log?.fork?.sequence ?? .max
            else { throw error }
            do {
                pieces = try OperationVerifier.verify(
                    run, in: space, held: held, bound: limit, floor: log?.floor)
            } catch { throw .unsigned }
        }
        return pieces.compactMap { $0.below(limit) }
    }

    private mutating func refused(
        _ rejection: RunRejection, from id: LinkID?, _ ingested: inout Ingested,
        _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        switch rejection {
        case .unproven:
            guard let id else {
                try count(.unprovenOperations, turn.store)
                return false
            }
            try breach(.unproven, .unprovenOperations, on: id, &turn)
            return false
        case .unsigned:
            try count(.unsignedOperations, turn.store)
        case .anchorMissing, .wouldLeaveGap:
            try count(.unconnectedOperations, turn.store)
            ingested.isDisconnected = true
        case .forked:
            break
        }
        return true
    }

    /// Stores and merges as many operations of a run as have their causes; the rest waits.
    mutating func apply(
        _ waiter: WaitingRoom.Waiter, in space: SpaceRecord, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) {
        let run = waiter.run
        let isOverdue = ingested.endsWaiting && waiter.isOverdue(at: ingested.now)
        var ready = run.operations.count
        var waitsForControl = false
        for (index, operation) in run.operations.enumerated() {
            var missing = try missing(
                operation.operation.header, run, in: space, store, &ingested)
            if run.isBackfill || isOverdue || ingested.isAhead, run.lane != .control {
                missing.remove(.content)
            }
            if isOverdue { missing.remove(.authority) }
            if missing == .unknown,
                try awaitLogs(of: operation.operation.header, in: run.log, space, store)
            {
                missing = []
            }
            guard !missing.isEmpty else { continue }
            ready = index
            waitsForControl = missing.contains(.control)
            break
        }
        // Lane 0 may never come: what no signature is over could be proven to nobody else.
        if waitsForControl, run.lane != .control { ready = run.signedCount(ofFirst: ready) }
        // A run that was to fill a gap from its top waits as a whole if it does not reach up to
        // there: another stretch of the log would never be joined.
        if ready < run.operations.count, let part = run.prefix(ready),
            try store.log(LogTag(run.log), in: space.number)?.canHold(part) == false
        {
            ready = 0
        }
        if let rest = run.droppingFirst(ready) {
            intake.waiting.add(
                WaitingRoom.Waiter(
                    // What there was no room for waits as long again.
                    run: rest, since: isOverdue ? ingested.now : waiter.since,
                    waitsForControl: waitsForControl),
                in: space.number)
        }
        guard let applicable = run.prefix(ready) else { return }
        try keep(applicable, in: space, store, &ingested)
    }

    mutating func settle(
        _ ingested: Ingested, in space: SpaceRecord, from id: LinkID?, _ turn: inout some Turn
    ) throws(StoreError) {
        let chosen = try Self.chooseBranches(in: space, among: ingested.grown, turn.store)
        if !chosen.isEmpty { _ = try placeAnew(space, turn.store) }
        if ingested.isMisjudged || !chosen.isEmpty { try refold(space, &turn) }
        if ingested.isUnplaced { try placeAgain(space.number, &turn) }
        if !ingested.changes.isEmpty { turn.emit(.changed(ingested.changes)) }
        if !ingested.grown.isEmpty {
            if !courier.lines.isEmpty { try restartReminders(of: space.number, &turn) }
            try grew(ingested.grown, in: space, isOwn: false, from: id, &turn)
        }
        let roster = rosters.judges[space.number]?.roster
        if ingested.isRestored || !ingested.grown.isEmpty, belongs(to: roster), space.kind != .own,
            roster?.members.count ?? 0 <= Receipts.deliveryMemberCountMax
        {
            intake.unreceipted.insert(space.number)
            timers.set(.receipts, in: Self.receiptDelay, &turn)
        }
        if !ingested.grown.isEmpty {
            intake.sources[space.number]?.lastProgress = turn.now.monotonic
            intake.sources[space.number]?.fruitlessCount = 0
            try learnedMore(of: space.number, &turn)
            try finishRecovery(turn.store)
        }
        scheduleBodyRequests(&turn)
        watchWaiting(&turn)
        // What waited long enough came on no link, and can leave a hole like anything that did.
        let able = peers.links.keys.sorted().first {
            peers.links[$0]?.session?.shares(space.number) == true
        }
        guard let id = id ?? able else { return }
        if ingested.isDisconnected {
            try noteDisconnected(space.number, link: id, &turn)
        }
        try fillHoles(of: space.number, from: id, &turn)
        try missHoles(of: space.number, from: id, &turn)
        try endSource(of: space.number, on: id, &turn)
    }

    /// Passes on that logs grew: at once where they are this node's own, else as a short notice.
    mutating func grew(
        _ tags: Set<LogTag>, in space: SpaceRecord, isOwn: Bool, from source: LinkID?,
        _ turn: inout some Turn
    ) throws(StoreError) {
        if isOwn { courier.outbox.note(space.number) }
        var mustAnnounce = false
        for id in peers.links.keys.sorted() where id != source {
            for tag in tags { peers.links[id]?.session?.grew(tag, in: space.number, isOwn: isOwn) }
            mustAnnounce = mustAnnounce || peers.links[id]?.session?.hasAnnouncements == true
        }
        if mustAnnounce { timers.set(.announce, in: Self.announceDelay, &turn) }
    }
}
