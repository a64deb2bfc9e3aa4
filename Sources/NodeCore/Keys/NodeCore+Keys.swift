import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// Aging keys: renewed in time, and erased as soon as nothing can be sealed to them that this
/// device still has to read.
/// Source: `Protocol/09-epochs.md`, "Erasing".
extension NodeCore {
    /// Keys are looked at so often, in milliseconds.
    static let keysInterval: UInt64 = 3_600_000
    /// And those of a space at least this long after it was first heard of, in milliseconds: many
    /// machines are not on for an hour.
    static let upkeepDelay: UInt64 = 300_000
    static let day: UInt64 = 24 * 3_600_000
    /// How long a prekey is published, and how long a leaf stays if nobody writes.
    static let keyLifetime: UInt64 = 7 * day
    /// How long an epoch is kept after a newer one arrived.
    static let keptLifetime: UInt64 = 30 * day
    /// How long a prekey is kept after its replacement: a peer that was away for months has an old
    /// card, and uses it for new messages.
    static let prekeyKeptLifetime: UInt64 = 180 * day
    /// So many of the newest are kept however old they are: a clock that jumps makes all others old
    /// at once, and nobody else would know yet what took their place.
    static let keptKeyCountMin = 4
    /// More prekeys are not kept, however young they are: a store that is rolled back again and
    /// again makes many.
    public static let prekeyCountMax = 64
    /// How long a leaf is kept after the next one was published, even for peers that have not seen
    /// that.
    static let leafGrace: UInt64 = 14 * day
    /// An epoch is replaced once this device has written this many operations of content in it.
    static let epochOperationCountMax: UInt64 = 1_000
    /// In spaces of at most so many devices an epoch is replaced with an answer.
    static let smallDeviceCountMax = 8

    /// Looks at all keys, and again after a while.
    mutating func tendKeys(_ turn: inout some Turn) throws(StoreError) {
        let isBeginning = !peers.walks.isUnderway(.keys)
        let spaces = peers.walks.nextPortion(for: .keys, of: try turn.store.spaces())
        let isThrough = !peers.walks.isUnderway(.keys)
        timers.set(.keys, in: isThrough ? Self.keysInterval : SpaceWalks.interval, &turn)
        guard try mayWrite(turn.store) else { return }
        var didDrop = false
        if isBeginning {
            // An invite that another device of the person's changed the card of, or a put that failed.
            courier.relayUpkeep.note(.showInviteCards)
            try beginConversations(&turn)
            try renewPrekey(&turn)
            try renewWriters(&turn)
            didDrop = try dropPrekeys(at: turn.now, turn.store)
            courier.letterKeys = nil
        }
        for space in spaces {
            didDrop = try tend(space, &turn) || didDrop
        }
        if didDrop { forget(&turn) }
    }

    /// Looks at the keys of one space, before the next look at all of them.
    mutating func tendKeys(of number: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        guard try mayWrite(turn.store), let space = try turn.store.space(number) else { return }
        if try tend(space, &turn) { forget(&turn) }
    }

    /// - Returns: whether something was erased.
    private mutating func tend(_ space: SpaceRecord, _ turn: inout some Turn) throws(StoreError)
        -> Bool
    {
        var didDrop = false
        if !ownHistory.hasGap(in: space.number), try belongs(to: space, turn.store) {
            try openEpochs(in: space, &turn)
            try writeFaults(in: space, &turn)
            try renewLeaf(in: space, &turn)
            didDrop = try dropLeaves(in: space, at: turn.now, turn.store)
        }
        return try dropEpochs(in: space, at: turn.now, turn.store) || didDrop
    }

    private func forget(_ turn: inout some Turn) {
        turn.emit(.commitFully)
        turn.emit(.forgetKeys)
    }

    // MARK: Prekeys

    /// The prekeys of a person's devices, as their card names them.
    func prekeys(of person: PersonID, _ store: some Store) throws(StoreError)
        -> [PrekeyCertificate]
    {
        let card = try CardReader.kept(of: person, store)
        return card?.parts.compactMap(\.prekeys.last) ?? []
    }

    /// Makes a prekey if there is none or the last one is old, and names it in the card.
    mutating func renewPrekey(_ turn: inout some Turn) throws(StoreError) {
        let last = try CardReader.own(of: identity, turn.store)?.parts.first?.prekeys.last
        // A clock that was set back must not leave a prekey standing for years.
        let today = WallTime(clamping: turn.now.wall)
        if let last, today < last.notAfter,
            last.notBefore.excess(over: today) <= Self.keyLifetime
        {
            return
        }
        try drawPrekey(&turn)
    }

    /// Makes a prekey, and names it alone in the card.
    mutating func drawPrekey(_ turn: inout some Turn) throws(StoreError) {
        let part = try CardReader.own(of: identity, turn.store)?.parts.first
        let last = part?.prekeys.last
        // A device that was linked showed its first with its request.
        let heldCount = UInt32(clamping: try turn.store.secrets(.prekey, in: nil).count)
        let count = last?.number ?? heldCount
        let prekey = Prekey(
            number: count &+ 1, of: identity.key, at: turn.now.wall, using: &turn.random)
        try prekey.keep(in: turn.store)
        courier.letterKeys = nil
        // The newest alone is of use to others.
        try publishCard(
            addresses: part?.addresses ?? [],
            prekeys: [prekey.certificate], at: turn.now, turn.store)
        turn.emit(.commitFully)
        for id in peers.links.keys.sorted() where peers.links[id]?.session != nil {
            try introduce(on: id, invite: nil, &turn)
        }
    }

    private func dropPrekeys(
        at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        let own = try prekeys(of: identity.person, store)
        let newest = own.last { $0.device == identity.device }?.key.bytes
        let former = try store.secrets(.prekey, in: nil).compactMap { name, secret in
            TimedLeaf(secret).map { (name: name, time: $0.time) }
        }.filter { $0.name != newest }.sorted { $0.time < $1.time }
        let oldCount = former.dropLast(Self.keptKeyCountMin - 1).count {
            now.wall > $0.time + min(Self.prekeyKeptLifetime, .max - $0.time)
        }
        let over = former.prefix(max(oldCount, former.count - (Self.prekeyCountMax - 1)))
        for prekey in over { try store.setSecret(nil, .prekey, prekey.name, in: nil) }
        return !over.isEmpty
    }

    // MARK: Leaves

    /// Where this device published its leaves of a space, in order.
    private func publications(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [(leaf: LeafKey, place: LogTip, time: UInt64)] {
        let id = OperationHash.log(space: space.id, device: identity.device, lane: .control)
        guard let log = try store.log(LogTag(id), in: space.number), log.end > 0 else { return [] }
        var found: [(leaf: LeafKey, place: LogTip, time: UInt64)] = []
        for stored in try store.operations(in: log.number, 0...log.end - 1, limit: .max) {
            guard let payload = stored.operation.payload else { continue }
            let leaf: LeafKey?
            switch stored.operation.header.kind {
            // An invalid epoch publishes nothing; this device wrote it and knows better.
            case .epoch: leaf = (try? EpochBody(bytes: payload))?.newLeaf
            case .leafUpdate: leaf = LeafKey(payload)
            // Kinds are numbers, not an enumeration of ours.
            default: leaf = nil
            }
            guard let leaf else { continue }
            found.append(
                (
                    leaf, LogTip(tag: log.tag, sequence: stored.sequence),
                    stored.operation.header.wallClock
                ))
        }
        return found
    }

    /// Publishes a new leaf if the last one is old, or says that it has seen what others wrote.
    mutating func renewLeaf(in space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) {
        guard peers.confirmations.isConfirmed(space.number) else { return }
        let last = try publications(in: space, turn.store).last?.time
        let first = try keptEpochs(in: space, turn.store).values.min()
        let since = last ?? first ?? turn.now.wall
        if turn.now.wall >= since + Self.keyLifetime {
            let leaf = PrivateLeaf.generate(using: &turn.random)
            try turn.store.setSecret(
                TimedLeaf(leaf, time: turn.now.wall).secret, .leaf, leaf.publicKey.bytes,
                in: space.number)
            _ = try writeControl(.leafUpdate, in: space, &turn) { _, _ in
                leaf.publicKey.bytes
            }
            return
        }
        guard try owesAcknowledgement(in: space, at: turn.now, turn.store) else { return }
        let draft = Draft(
            kind: .acknowledgement, lane: .control, payload: nil, isErasable: false)
        _ = try write([draft], in: space, &turn)
    }

    /// Whether others wrote more in lane 0 than that they had seen something, and this device has
    /// said nothing there for a day.
    private func owesAcknowledgement(
        in space: SpaceRecord, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let graph = rosters.judges[space.number]?.graph else { return false }
        let own = LogTag(
            OperationHash.log(space: space.id, device: identity.device, lane: .control))
        var ownLast: LogTip?
        if let log = try store.log(own, in: space.number), log.end > 0 {
            let last = try store.operation(at: log.end - 1, in: log.number)
            guard let last,
                WallTime(clamping: now.wall).excess(
                    over: WallTime(clamping: last.operation.header.wallClock)) >= Self.day
            else {
                return false
            }
            ownLast = LogTip(tag: own, sequence: log.end - 1)
        }
        for log in try store.agreedLogs(in: space.number)
        where log.lane == .control && log.tag != own {
            guard let place = try lastStatement(of: log, store) else { continue }
            if ownLast.map({ !graph.isInPast(place, of: $0) }) ?? true { return true }
        }
        return false
    }

    /// The last operation of a log of lane 0 that says more than what its author had seen.
    private func lastStatement(
        of log: LogRecord, _ store: some Store
    ) throws(StoreError) -> LogTip? {
        var sequence = log.end
        while sequence > 0 {
            sequence -= 1
            let stored = try store.operation(at: sequence, in: log.number)
            switch stored?.operation.header.kind {
            case .acknowledgement?, .merge?, nil: continue
            // Kinds are numbers, not an enumeration of ours.
            default: return LogTip(tag: log.tag, sequence: sequence)
            }
        }
        return nil
    }

    /// Erases leaves that nobody can seal to any more: everybody who ever was in the space has seen
    /// the next one. Members who are gone, or silent for long, are not waited for.
    private mutating func dropLeaves(
        in space: SpaceRecord, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        let held = try store.secrets(.leaf, in: space.number).map(\.name)
        guard held.count > 1, let judge = rosters.judges[space.number] else { return false }
        let published = try publications(in: space, store)
        let witnesses = try witnesses(judge, in: space, at: now, store)
        var didDrop = false
        for (leaf, next) in zip(published, published.dropFirst())
        where held.contains(leaf.leaf.bytes) {
            let isOver = now.wall > next.time + Self.leafGrace
            guard isOver || witnesses.allSatisfy({ judge.graph.hasSeen($0, next.place) }) else {
                continue
            }
            try store.setSecret(nil, .leaf, leaf.leaf.bytes, in: space.number)
            didDrop = true
        }
        return didDrop
    }

    /// Who is waited for before a leaf is erased: everybody who ever was in the space; removed
    /// members only for a while, because what they sealed before they knew may be in transit.
    private func witnesses(
        _ judge: Judge, in space: SpaceRecord, at now: Instant, _ store: some Store
    ) throws(StoreError) -> [DeviceID] {
        var waitedFor: [DeviceID] = []
        for device in judge.graph.devicesEver where device != identity.device {
            let key = space.id.bytes + device.bytes
            if judge.roster.contains(device) {
                try store.setValue(nil, .departure, key)
                waitedFor.append(device)
                continue
            }
            let noticed = try store.number(.departure, key)
            if noticed == nil { try store.setNumber(now.wall, .departure, key) }
            if now.wall <= (noticed ?? now.wall) + Self.leafGrace { waitedFor.append(device) }
        }
        return waitedFor
    }

    // MARK: Epochs

    /// Whether this device should replace an epoch before it writes more in it.
    func isOutworn(
        _ epoch: CurrentEpoch, in space: SpaceRecord, ownEnd: UInt64, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let roster = rosters.judges[space.number]?.roster else { return false }
        let age = now.wall - min(now.wall, epoch.openedAt)
        let hours = roster.settings.rotationHours.map { UInt64($0) * 3_600_000 }
        if age >= min(hours ?? Self.keyLifetime, Self.keyLifetime) { return true }
        if ownEnd - min(ownEnd, epoch.ownEnd) >= Self.epochOperationCountMax { return true }
        let answerAge = ControlPace.answerAge(at: try ownControlEnd(in: space, store))
        guard let answerAge, age >= answerAge, roster.devices.count <= Self.smallDeviceCountMax
        else { return false }
        // An answer: the message before the own one is another person's.
        let newest = try store.messages(in: space.number, before: nil, limit: 2)
        guard let before = newest.last, newest.count == 2 else { return false }
        return try store.log(before.log)?.device != identity.device
    }

    /// Whether a newer epoch has been in use long enough that this one is of no use.
    func isSuperseded(
        _ epoch: ControlEpoch, _ opened: [OperationID: UInt64], _ judge: Judge, at now: Instant
    ) -> Bool {
        let isUsed = judge.takes(epoch)
        return judge.graph.epochs.contains { newer in
            guard let time = opened[newer.id], judge.graph.isNewer(newer, than: epoch),
                // A clock that runs ahead makes an epoch of a former roster look newer.
                !isUsed || judge.takes(newer)
            else { return false }
            return now.wall > time + Self.keptLifetime
        }
    }

    private mutating func dropEpochs(
        in space: SpaceRecord, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        let opened = try keptEpochs(in: space, store)
        try prepare(space, store)
        guard !opened.isEmpty, let judge = rosters.judges[space.number] else { return false }
        let all = judge.graph.epochs
        let known = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        var didDrop = try dropChains(judge.graph, opened, in: space, at: now, store)
        // What their chains sealed before is gone: they open what is still to come.
        let newest = Set(try newestEpochs(of: space, store).prefix(Self.keptKeyCountMin).map(\.id))
        for (id, time) in opened.sorted(by: { $0.key < $1.key }) where !newest.contains(id) {
            let isOver =
                known[id].map { isSuperseded($0, opened, judge, at: now) }
                ?? (now.wall > time + Self.keptLifetime)
            guard isOver else { continue }
            try store.setSecret(nil, .epochKeys, id.bytes, in: space.number)
            try store.setValue([], .droppedEpoch, space.number.key + id.bytes)
            try store.setSecret(nil, .seed, id.bytes, in: space.number)
            for (name, _) in try store.secrets(.chain, in: space.number)
            where name.prefix(32).elementsEqual(id.bytes) {
                try store.setSecret(nil, .chain, name, in: space.number)
            }
            didDrop = true
        }
        return didDrop
    }
}
