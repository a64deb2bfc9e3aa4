import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// Which mailboxes are read, and how far.
/// Source: `Protocol/06-relay.md`, "Reading".
extension NodeCore {
    /// Of each space the mailboxes of so many epochs are read, the newest.
    static let readEpochCountMax = 16
    /// Mailboxes that are read on one connection; of more the newest.
    static let readMailboxCountMax = 1_000
    /// Mailboxes of days before today that are looked into.
    static let readDayCountMax: UInt64 = 31

    /// Subscribes to the mailboxes that are not read on this connection yet, and requests what they
    /// hold.
    ///
    /// - Parameter spaces: those that are looked at; all of them where it is nil.
    mutating func watchMailboxes(
        of spaces: Set<SpaceNumber>? = nil, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let line = courier.lines[relay], line.phase == .open, line.isReading else { return }
        let own = try ownRelays(turn.store)
        if own.contains(where: { $0.relay == relay }) {
            let keys = try inboxKeys(on: relay, &turn)
            // Every day: a mailbox that nobody opens is deleted.
            if line.inboxDay != line.day {
                courier.lines[relay]?.inboxDay = line.day
                courier.lines[relay]?.inbox = keys.inbox
                let opening = Opening(
                    key: keys.owner,
                    writers: try writerNames(on: relay, &turn), use: .inbox)
                self.open(keys.inbox, opening, on: relay, &turn)
            }
            if line.mailboxes[keys.inbox] == nil {
                try watch(
                    keys.inbox, .inbox, keys.owner, day: .greatest, isLive: true, on: relay, &turn)
            }
        }
        guard let spaces else {
            courier.lines[relay]?.walk = MailboxWalk()
            return try lookForMailboxes(on: relay, &turn)
        }
        let records = try spaces.sorted().map { number throws(StoreError) in
            try turn.store.space(number)
        }
        let drops = try dropDays(of: records.compactMap { $0 }, on: relay, turn.store)
        try watch(drops, on: relay, &turn)
    }

    /// Continues the walk over all spaces for mailboxes to read: a node with very many spaces
    /// examines some at a time, and reads the most useful ones once it has seen all.
    mutating func lookForMailboxes(on relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        guard let line = courier.lines[relay], line.isReading, var walk = line.walk else {
            courier.lines[relay]?.walk = nil
            return
        }
        let spaces = try turn.store.spaces()
        let rest = spaces[spaces.firstPlace(above: walk.last)...]
        let portion = rest.prefix(SpaceWalks.portionCountMax)
        walk.drops += try dropDays(of: Array(portion), on: relay, turn.store)
        if portion.count < rest.count {
            if walk.drops.count > 4 * Self.readMailboxCountMax {
                walk.drops = DropDay.newest(walk.drops, on: line.day)
            }
            walk.last = portion.last?.number.rawValue ?? .max
            courier.lines[relay]?.walk = walk
            return timers.hasten(.backlog, in: 1, &turn)
        }
        courier.lines[relay]?.walk = nil
        // Keys of past epochs and days are erased.
        if !line.dropKeys.isEmpty {
            let wanted = Set(walk.drops.map(\.watched))
            courier.lines[relay]?.dropKeys = line.dropKeys.filter { wanted.contains($0.key) }
        }
        try watch(walk.drops, on: relay, &turn)
    }

    /// Watches those of these mailboxes that are not watched yet, as many as there is room for.
    private mutating func watch(_ drops: [DropDay], on relay: NoiseKey, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let line = courier.lines[relay] else { return }
        // Names of mailboxes are keys that are derived: only of those that are not watched yet.
        let watched = Set(line.mailboxes.values.compactMap(WatchedDay.init))
        let unread = DropDay.newest(drops, on: line.day).filter { !watched.contains($0.watched) }
        let room = roomForMailboxes(unread.count, on: relay, &turn)
        for drop in unread.suffix(room) {
            let (mailbox, key) = dropMailbox(drop.watched, of: drop.keys, on: relay)
            try watch(
                mailbox, .drop(drop.space, drop.watched.epoch), key, day: drop.watched.day,
                isLive: drop.isLive, on: relay, &turn)
        }
        try noteDrained(relay, &turn)
    }

    /// The days of epochs of these spaces whose mailboxes are of use.
    private mutating func dropDays(
        of spaces: [SpaceRecord], on relay: NoiseKey, _ store: some Store
    ) throws(StoreError) -> [DropDay] {
        guard let today = courier.lines[relay]?.day else { return [] }
        let record = try store.value(.relay, relay.bytes).flatMap(RelayRecord.init)
        // The oldest day that was not read to its end.
        let since = min(record?.day ?? today, today)
        let first = max(since.previous, today.lowered(by: Self.readDayCountMax))
        var drops: [DropDay] = []
        for space in spaces {
            guard try belongs(to: space, store) else { continue }
            guard try !isShut(space, store) else {
                courier.lines[relay]?.shut.insert(space.number)
                continue
            }
            // What was written while nobody read may be older than everything that was read.
            let wasShut = courier.lines[relay]?.shut.remove(space.number) != nil
            let first = wasShut ? today.lowered(by: Self.readDayCountMax) : first
            for (place, epoch) in try newestEpochs(of: space, store).enumerated() {
                let opened = RelayDay(at: epoch.kept.openedAt)
                // A clock that was ahead of the relay's says nothing of when it came.
                let start = opened > today ? first : max(first, opened.previous)
                for day in start.through(today.next) {
                    drops.append(
                        DropDay(
                            watched: WatchedDay(epoch: epoch.id, day: day), age: place,
                            space: space.number, keys: epoch.kept.keys,
                            isLive: day.next >= today))
                }
            }
        }
        return drops
    }

    /// The mailbox of a day with its key. It is derived once for all connections to a relay: one that
    /// fails again and again would cost a thousand keys each time.
    private mutating func dropMailbox(
        _ day: WatchedDay, of keys: EpochKeys, on relay: NoiseKey
    ) -> (id: MailboxID, key: DeviceSigningKey) {
        if let known = courier.lines[relay]?.dropKeys[day] {
            return (MailboxID(drop: known.device), known)
        }
        let (mailbox, key) = keys.drop(at: relay, ofDay: day.day)
        if courier.lines[relay]?.dropKeys.count ?? 0 >= Self.readMailboxCountMax {
            courier.lines[relay]?.dropKeys = [:]
        }
        courier.lines[relay]?.dropKeys[day] = key
        return (mailbox, key)
    }

    /// For how many more mailboxes there is room on a connection, at most for as many as wanted: of
    /// those from before yesterday that were read to their end, the oldest make room.
    private mutating func roomForMailboxes(
        _ wanted: Int, on relay: NoiseKey, _ turn: inout some Turn
    ) -> Int {
        guard let line = courier.lines[relay] else { return 0 }
        let free = max(0, Self.readMailboxCountMax - line.mailboxes.count)
        guard free < wanted else { return wanted }
        let done = line.mailboxes.filter {
            $0.value.isRead && $0.value.day < line.day.previous
        }
        .sorted { ($0.value.day, $0.key) < ($1.value.day, $1.key) }
        .prefix(wanted - free)
        for (mailbox, open) in done {
            courier.lines[relay]?.mailboxes[mailbox] = nil
            // It may have been subscribed to when its day was today.
            ask(.unsubscribe, of: mailbox, as: open.key, on: relay, for: .whatever, &turn)
        }
        return free + done.count
    }

    /// The epochs of a space with useful mailboxes: those that a member may use now, first the one
    /// used when everything is known; then the others, the newest first.
    func newestEpochs(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [ReadableEpoch] {
        var found: [ReadableEpoch] = []
        for (name, secret) in try store.secrets(.epochKeys, in: space.number) {
            guard let id = OperationID(name), let kept = KeptEpoch(secret) else { continue }
            found.append(ReadableEpoch(id: id, kept: kept))
        }
        var ranks: [OperationID: Int] = [:]
        if let judge = rosters.judges[space.number] {
            // By what names what: clocks go wrong, and a device whose clock was set back would take
            // epochs from before that for newer than all that come.
            let held = Set(found.map(\.id))
            let known = judge.graph.epochs.filter { held.contains($0.id) }
            // As many as there are members may be made at once, and all use one of them in the end.
            let heads = judge.graph.heads(of: known.filter(judge.takes))
            for (rank, epoch) in (known + heads.reversed()).enumerated() { ranks[epoch.id] = rank }
        }
        found.sort { (ranks[$1.id] ?? -1, $0.id) < (ranks[$0.id] ?? -1, $1.id) }
        return Array(found.prefix(Self.readEpochCountMax))
    }

    /// The epoch under which a device that is out of a space reports what it has not reported yet:
    /// the members still read there.
    func lastEpoch(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> OperationID? {
        try newestEpochs(of: space, store).first {
            rosters.judges[space.number]?.graph.hasLeft($0.id, identity.device) == false
        }?.id
    }

    private mutating func watch(
        _ mailbox: MailboxID, _ use: MailboxUse, _ key: DeviceSigningKey, day: RelayDay,
        isLive: Bool, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        let cursor = try turn.store.number(.cursor, relay.bytes + mailbox.bytes) ?? 0
        courier.lines[relay]?.mailboxes[mailbox] = OpenMailbox(
            use: use, key: key, day: day, cursor: cursor)
        courier.lines[relay]?.queues[use.space, default: []].append(mailbox)
        if isLive {
            courier.lines[relay]?.mailboxes[mailbox]?.isLive = true
            ask(.subscribe, of: mailbox, as: key, on: relay, for: .subscribe(mailbox), &turn)
        }
        look(into: mailbox, on: relay, &turn)
    }

    /// All that lay at a relay was taken: now this device's own may go up.
    mutating func noteDrained(_ relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        guard let line = courier.lines[relay], line.isOpenAndDrained else { return }
        restartBodyRequests(&turn)
        turn.emit(.linksChanged)
        courier.outbox.noteAll()
        shelves.noteDue()
        guard line.isReading, line.queues.isEmpty,
            var record = try turn.store.value(.relay, relay.bytes).flatMap(RelayRecord.init),
            record.day != line.day
        else { return }
        record.day = line.day
        try turn.store.setValue(record.bytes, .relay, relay.bytes)
        try dropCursors(of: relay, line, turn.store)
    }

    /// Forgets how far mailboxes were read whose time is over.
    private func dropCursors(
        of relay: NoiseKey, _ line: RelayLine, _ store: some Store
    ) throws(StoreError) {
        for (key, _) in try store.values(.cursor) where key.starts(with: relay.bytes) {
            guard let mailbox = MailboxID(key.dropFirst(32)), line.mailboxes[mailbox] == nil else {
                continue
            }
            try store.setValue(nil, .cursor, key)
        }
    }
}

/// A useful mailbox, with the means to read it.
struct DropDay: Sendable {
    let watched: WatchedDay
    /// How many epochs of the space are newer.
    let age: Int
    let space: SpaceNumber
    let keys: EpochKeys
    /// Whether new envelopes are to be pushed.
    let isLive: Bool

    /// The most useful of these mailboxes, as many as are read on one connection, the oldest day
    /// first: later envelopes depend on earlier ones. Tomorrow's is the first to be left out.
    static func newest(_ drops: [DropDay], on today: RelayDay) -> [DropDay] {
        let sorted = drops.sorted {
            ($0.watched.day, $1.age, $0.space) < ($1.watched.day, $0.age, $1.space)
        }
        guard sorted.count > NodeCore.readMailboxCountMax else { return sorted }
        let come = sorted.filter { $0.watched.day <= today }
            .suffix(NodeCore.readMailboxCountMax)
        let later = sorted.filter { $0.watched.day > today }
        return come + later.suffix(NodeCore.readMailboxCountMax - come.count)
    }
}

/// A look at all spaces for mailboxes to read.
struct MailboxWalk: Sendable {
    /// The number of the last space that was looked at.
    var last = Int64.min
    /// What was found.
    var drops: [DropDay] = []
}

/// A day of an epoch, which has a mailbox of its own.
struct WatchedDay: Hashable, Sendable {
    let epoch: OperationID
    let day: RelayDay

    init(epoch: OperationID, day: RelayDay) {
        self.epoch = epoch
        self.day = day
    }

    /// That of an open mailbox; nil for an inbox, which is of no epoch.
    init?(_ mailbox: OpenMailbox) {
        guard case .drop(_, let epoch) = mailbox.use else { return nil }
        self.init(epoch: epoch, day: mailbox.day)
    }
}

/// An epoch whose keys are held.
struct ReadableEpoch {
    let id: OperationID
    let kept: KeptEpoch
}
