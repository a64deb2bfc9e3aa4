import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// Epochs: made with every change of a roster, opened when they come, and chosen among when
/// envelopes are sealed.
/// Source: `Protocol/09-epochs.md`.
extension NodeCore {
    /// Seeds of one author's epochs that are kept before a chain was made of them.
    static let seedCountMax = 64
    /// The longest wait of a writer after another member's roster change: meanwhile somebody else
    /// may make the epoch.
    static let mintDelayMax: UInt64 = 3_000
    /// Faults about one person's epochs are written no more often.
    static let faultInterval: UInt64 = 3_600_000

    // MARK: Making

    /// Makes an epoch for the roster of now, in the transaction at hand.
    @discardableResult
    mutating func mint(in space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) -> Bool {
        try prepare(space, turn.store)
        guard !ownHistory.hasGap(in: space.number),
            let roster = rosters.judges[space.number]?.roster,
            belongs(to: roster), try mayWrite(turn.store)
        else { return false }
        let recipients = rosters.judges[space.number]?.leaves(besides: identity.device) ?? []
        guard recipients.count < Limits.deviceCountMax else { return false }
        let hedge = try hedge(&turn)
        let (device, id) = (identity.device, space.id)
        var minted: MintedEpoch?
        let applied = try writeControl(.epoch, in: space, &turn) { next, turn in
            let place = EpochPlace(
                space: id, author: device, sequence: next.sequence, previous: next.previous,
                dependencies: next.dependencies)
            // A leaf that nothing can be sealed to is none for anybody, so there is none here.
            minted = try? EpochBody.mint(
                at: place, roster: roster.digest, recipients: recipients, hedge: hedge,
                using: &turn.random)
            return minted?.body.bytes
        }
        guard let minted, let operation = applied.last?.operation else { return false }
        try turn.store.setSecret(
            TimedLeaf(minted.leaf, time: turn.now.wall).secret, .leaf, minted.leaf.publicKey.bytes,
            in: space.number)
        try keep(minted.seed, of: operation.id, in: space, at: turn.now, turn.store)
        epochs[space.number, default: EpochProgress()].isStale = true
        epochs[space.number]?.outworn = nil
        return true
    }

    /// Writes one operation of lane 0 whose payload depends on its place.
    mutating func writeControl<T: Turn>(
        _ kind: OperationKind, in space: SpaceRecord, _ turn: inout T,
        payload: (NextPlace, inout T) -> [UInt8]?
    ) throws(StoreError) -> [AppliedOperation] {
        guard try hasControlRoom(in: space, besides: 1, turn.store) else { return [] }
        return try write(in: space, &turn) { author, turn throws(StoreError) in
            try author.append(kind, to: turn.store) { payload($0, &turn) }
        }
    }

    func mayWrite(_ store: some Store) throws(StoreError) -> Bool {
        if identity.isRevoked { return false }
        return try !isHeldUp(store)
    }

    /// Whether new operations of this device would be a second history, or already are.
    func isHeldUp(_ store: some Store) throws(StoreError) -> Bool {
        if rejoin != nil { return true }
        return try hasOwnFork(store)
    }

    /// A secret of this device alone that is mixed into every seed.
    private func hedge(_ turn: inout some Turn) throws(StoreError) -> Secret {
        if let hedge = try turn.store.secret(.hedge, [], in: nil) { return hedge }
        let hedge = Secret.random(using: &turn.random)
        try turn.store.setSecret(hedge, .hedge, [], in: nil)
        return hedge
    }

    private mutating func keep(
        _ seed: EpochSeed, of epoch: OperationID, in space: SpaceRecord, at now: Instant,
        _ store: some Store
    ) throws(StoreError) {
        let kept = KeptEpoch(
            keys: seed.keys, openedAt: now.wall, ownEnd: try ownContentEnd(in: space, store))
        courier.relayUpkeep.noteMailboxes(of: space.number)
        courier.outbox.note(space.number)
        try store.setSecret(kept.secret, .epochKeys, epoch.bytes, in: space.number)
        try store.setSecret(seed.secret, .seed, epoch.bytes, in: space.number)
    }

    private func ownContentEnd(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> UInt64 {
        let log = OperationHash.log(space: space.id, device: identity.device, lane: .content)
        return try store.log(LogTag(log), in: space.number)?.end ?? 0
    }

    // MARK: Opening

    /// Opens what epochs came since the last look.
    ///
    /// - Parameter isDeclining: whether they are opened to tell the members that the person
    ///   declines.
    mutating func openEpochs(
        in space: SpaceRecord, isDeclining: Bool = false, _ turn: inout some Turn
    ) throws(StoreError) {
        try prepare(space, turn.store)
        guard let judge = rosters.judges[space.number],
            belongs(to: judge.roster) || isDeclining && isListed(in: judge.roster)
        else { return }
        var progress = epochs[space.number] ?? EpochProgress()
        defer { epochs[space.number] = progress }
        progress.isStale = true
        let all = judge.graph.epochs
        let start = progress.start(in: all)
        let fresh = all[start...].filter { $0.isSound && $0.author != identity.device }
        var opened = fresh.isEmpty ? [:] : try keptEpochs(in: space, turn.store)
        for epoch in fresh {
            guard opened[epoch.id] == nil, !isSuperseded(epoch, opened, judge, at: turn.now),
                // After a clock ran ahead it would be opened with steps that were used.
                try turn.store.value(.droppedEpoch, space.number.key + epoch.id.bytes) == nil
            else { continue }
            switch try open(epoch, in: space, turn.store) {
            case .seed(let seed):
                try keep(seed, of: epoch.id, in: space, at: turn.now, turn.store)
                opened[epoch.id] = turn.now.wall
                try dropSeeds(of: epoch.author, all, in: space, turn.store)
            case .unopenable: progress.unopenable[epoch.id] = epoch.author
            case .payloadLost: continue
            }
        }
        progress.end(in: all)
        // It may have been dropped while another roster held.
        if let best = judge.graph.newest(of: fitting(judge)), best.author != identity.device,
            try turn.store.secret(.epochKeys, best.id.bytes, in: space.number) == nil
        {
            progress.unopenable[best.id] = best.author
        }
        if progress.unopenable.keys.contains(where: { mayFault($0, judge, progress, at: turn.now) })
        {
            timers.set(.epoch(space.number), in: Self.mintDelayMax, &turn)
        }
    }

    private enum Opened {
        case seed(EpochSeed)
        case unopenable
        case payloadLost
    }

    private func open(
        _ epoch: ControlEpoch, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Opened {
        guard let log = try store.log(epoch.place.tag, in: space.number),
            let stored = try store.operation(at: epoch.place.sequence, in: log.number),
            let payload = stored.operation.payload,
            // The graph has read it before: it is an epoch.
            let body = try? EpochBody(bytes: payload)
        else { return .payloadLost }
        var previous = OperationID(reinterpreting: log.id)
        if epoch.place.sequence > 0 {
            let before = try store.operation(at: epoch.place.sequence - 1, in: log.number)
            guard let before else { return .payloadLost }
            previous = before.id
        }
        let place = EpochPlace(
            space: space.id, author: epoch.author, sequence: epoch.place.sequence,
            previous: previous, dependencies: stored.operation.header.dependencies)
        guard let leaf = try leaf(for: body, in: space, store) else { return .unopenable }
        do {
            return .seed(try body.open(at: place, as: identity.device, with: leaf))
        } catch { return .unopenable }
    }

    /// The private half of whatever key of this device the epoch is sealed to.
    private func leaf(
        for body: EpochBody, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> PrivateLeaf? {
        let own = try store.secrets(.leaf, in: space.number) + store.secrets(.prekey, in: nil)
        for (name, secret) in own {
            guard let key = LeafKey(name), body.entry(for: key, of: identity.device) != nil else {
                continue
            }
            return TimedLeaf(secret)?.leaf
        }
        return nil
    }

    /// Keeps no more seeds of one author than a flood of epochs may cost; the oldest go.
    private func dropSeeds(
        of author: DeviceID, _ all: [ControlEpoch], in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        let held = Set(try store.secrets(.seed, in: space.number).map(\.name))
        let own = all.filter { $0.author == author && held.contains($0.id.bytes) }
        guard own.count > Self.seedCountMax else { return }
        for epoch in own.prefix(own.count - Self.seedCountMax) {
            try store.setSecret(nil, .seed, epoch.id.bytes, in: space.number)
            try store.setSecret(nil, .epochKeys, epoch.id.bytes, in: space.number)
        }
    }

    /// When each epoch that is held was opened.
    func keptEpochs(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [OperationID: UInt64] {
        var opened: [OperationID: UInt64] = [:]
        for (name, secret) in try store.secrets(.epochKeys, in: space.number) {
            guard let id = OperationID(name), let kept = KeptEpoch(secret) else { continue }
            opened[id] = kept.openedAt
        }
        return opened
    }

    // MARK: Choosing

    /// The epoch that this device seals envelopes under; nil where one must be made first.
    ///
    /// It is for exactly the present roster, its author is in it, this device can open it and has
    /// not moved on from it, and nobody in the roster said that they cannot open it. Of several,
    /// one that the author of no other had seen; among these the one with the greatest clock, then
    /// the smallest name.
    public mutating func currentEpoch(
        of space: SpaceRecord, in store: some Store
    ) throws(StoreError) -> CurrentEpoch? {
        try prepare(space, store)
        guard let judge = rosters.judges[space.number] else { return nil }
        if let progress = epochs[space.number], !progress.isStale { return progress.current }
        var progress = epochs[space.number] ?? EpochProgress()
        progress.current = try chosenEpoch(judge, in: space, store)
        progress.isStale = false
        epochs[space.number] = progress
        return progress.current
    }

    private func chosenEpoch(
        _ judge: Judge, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> CurrentEpoch? {
        let all = fitting(judge)
        func isFaulted(_ epoch: ControlEpoch) -> Bool {
            judge.graph.faults(on: epoch.id).contains(where: judge.roster.contains)
        }
        // Most often the first is it. Where it is not, others are looked at only if their keys are held.
        if let best = judge.graph.newest(of: all), !isFaulted(best),
            let found = try opened(best, isFaulted: false, in: space, store)
        {
            return found
        }
        let kept = try keptEpochs(in: space, store)
        let held = all.filter { kept[$0.id] != nil }
        let sound = judge.graph.newest(of: held.filter { !isFaulted($0) })
        guard let epoch = sound ?? judge.graph.newest(of: held) else { return nil }
        return try opened(epoch, isFaulted: sound == nil, in: space, store)
    }

    private func opened(
        _ epoch: ControlEpoch, isFaulted: Bool, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> CurrentEpoch? {
        try store.secret(.epochKeys, epoch.id.bytes, in: space.number).flatMap(KeptEpoch.init).map {
            CurrentEpoch(
                id: epoch.id, author: epoch.author, madeAt: epoch.wallClock,
                openedAt: $0.openedAt, isFaulted: isFaulted, ownEnd: $0.ownEnd)
        }
    }

    /// The epochs that this device may use while the roster is that of now, causes before effects.
    private func fitting(_ judge: Judge) -> [ControlEpoch] {
        judge.graph.epochs.filter {
            judge.takes($0) && !judge.graph.hasLeft($0.id, identity.device)
        }
    }

    /// Whether an epoch for the present roster was made here recently: repeated faults must not
    /// cause endless new epochs.
    private func mintedLately(
        in space: SpaceRecord, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let judge = rosters.judges[space.number] else { return false }
        let opened = try keptEpochs(in: space, store)
        return judge.graph.epochs.contains { epoch in
            guard epoch.author == identity.device, epoch.rosterDigest == judge.roster.digest,
                let time = opened[epoch.id]
            else { return false }
            return now.wall < time + Self.faultInterval
        }
    }

    /// Whether this device should make another epoch before it continues in this one.
    private func isSpent(
        _ epoch: CurrentEpoch, in space: SpaceRecord, ownEnd: UInt64, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        if epoch.isFaulted { return try !mintedLately(in: space, at: now, store) }
        return try isOutworn(epoch, in: space, ownEnd: ownEnd, at: now, store)
    }

    /// Sees to it that there is an epoch when this device writes: after a while, for somebody else
    /// may make it first.
    mutating func considerEpoch(
        after applied: [AppliedOperation], in space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let log = applied.last(where: { $0.log.lane == .content })?.log else { return }
        let current = try currentEpoch(of: space, in: turn.store)
        if let current {
            guard try isSpent(current, in: space, ownEnd: log.end, at: turn.now, turn.store) else {
                return
            }
            epochs[space.number, default: EpochProgress()].outworn = current.id
        }
        timers.set(.epoch(space.number), in: turn.random.next() % Self.mintDelayMax, &turn)
    }

    /// Reports epochs that cannot be opened, and makes one if there is none for the present roster.
    mutating func mintIfNeeded(_ number: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        guard let space = try turn.store.space(number), try belongs(to: space, turn.store),
            !ownHistory.hasGap(in: number), try mayWrite(turn.store)
        else { return }
        try writeFaults(in: space, &turn)
        let current = try currentEpoch(of: space, in: turn.store)
        guard current == nil || current?.id == epochs[number]?.outworn,
            let roster = rosters.judges[number]?.roster.digest
        else { return }
        let wait = max(
            epochs[number]?.wait(for: roster, at: turn.now.monotonic) ?? 0,
            try pause(beforeEpochIn: space, at: turn.now, turn.store))
        guard wait == 0 else { return timers.set(.epoch(number), in: wait, &turn) }
        guard try mint(in: space, &turn) else { return }
        let made = try currentEpoch(of: space, in: turn.store)
        epochs[number]?.minted(
            for: roster, isUsed: made != nil && made?.id != current?.id, at: turn.now.monotonic)
    }

    /// How long to wait with the next epoch because the control log is long.
    private func pause(
        beforeEpochIn space: SpaceRecord, at now: Instant, _ store: some Store
    ) throws(StoreError) -> UInt64 {
        let interval = ControlPace.epochInterval(at: try ownControlEnd(in: space, store))
        guard interval > 0, let judge = rosters.judges[space.number] else { return 0 }
        let opened = try keptEpochs(in: space, store)
        let own = judge.graph.epochs.filter { $0.author == identity.device }
        let last = own.compactMap { opened[$0.id] }.max() ?? 0
        return interval - min(interval, now.wall - min(now.wall, last))
    }

    // MARK: Faults

    /// Whether others should hear that this device cannot open an epoch: while it might be used,
    /// once, and not too often about one author.
    private func mayFault(
        _ epoch: OperationID, _ judge: Judge, _ progress: EpochProgress, at now: Instant
    ) -> Bool {
        guard let author = progress.unopenable[epoch], judge.roster.contains(author),
            let person = judge.roster.person(of: author),
            let known = judge.graph.epochs.first(where: { $0.id == epoch }),
            known.rosterDigest == judge.roster.digest,
            !judge.graph.faults(on: epoch).contains(identity.device)
        else { return false }
        return progress.faults.allows(about: person, at: now.monotonic)
    }

    mutating func writeFaults(in space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) {
        guard peers.confirmations.isConfirmed(space.number) else { return }
        for epoch in (epochs[space.number]?.unopenable ?? [:]).keys.sorted() {
            guard let judge = rosters.judges[space.number], let progress = epochs[space.number],
                mayFault(epoch, judge, progress, at: turn.now)
            else { continue }
            let end = try ownControlEnd(in: space, turn.store)
            guard ControlPace.hasRoomForFault(at: end) else { return }
            _ = try writeControl(.fault, in: space, &turn) { _, _ in epoch.bytes }
            if let person = progress.unopenable[epoch].flatMap(judge.roster.person) {
                epochs[space.number]?.faults.note(about: person, at: turn.now.monotonic)
            }
            epochs[space.number]?.isStale = true
        }
    }
}

extension Judge {
    /// Whether an epoch is one for the roster of now.
    func takes(_ epoch: ControlEpoch) -> Bool {
        epoch.isSound && epoch.rosterDigest == roster.digest && roster.contains(epoch.author)
    }
}
