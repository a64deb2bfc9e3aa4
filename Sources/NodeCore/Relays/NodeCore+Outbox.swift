import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// What this device wrote, in transit to devices that are not linked: sealed in the transaction
/// before it leaves.
/// Source: `Protocol/06-relay.md`, "Outbox".
extension NodeCore {
    /// Bytes of operations that an envelope is filled up to.
    static let parcelByteCount = 40 << 10
    /// Envelopes that are on their way to one relay.
    static let putCountMax = 64
    /// Linked devices have this long to acknowledge before an envelope is made for them, in
    /// milliseconds.
    static let linkedPatience: UInt64 = 5_000
    /// What nobody acknowledged is put again after this long, before relays delete it.
    static let putAgainTime: UInt64 = 25 * day
    /// Spaces with more logs send through relays only what they write, not how far they are.
    static let toldLogCountMax = 64
    /// Lane 0 goes into the mailboxes of so many epochs before the current one, too.
    static let formerEpochCountMax = 2

    /// The readers of a relay, and the devices whose cards name it.
    struct Readers {
        var devices: [DeviceID] = []
        var names: [(person: PersonID, mailbox: CardMailbox)] = []
    }

    /// Puts on relays what linked devices had time enough to acknowledge and did not.
    mutating func postUnacknowledged(_ turn: inout some Turn) throws(StoreError) {
        for number in courier.outbox.takeUnacknowledged() {
            try post(number, besidesLinks: true, &turn)
        }
    }

    /// Uploads own operations that peers lack to the relays those peers read. A former member also
    /// uploads the part of its log that still counts, so that its Leave reaches the others. Of content they
    /// take nothing more once they know that (`Protocol/08-roster.md`, "What it does not give").
    ///
    /// - Parameter besidesLinks: also for linked devices that have not acknowledged everything.
    mutating func post(_ number: SpaceNumber, besidesLinks: Bool = false, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard rejoin == nil, let space = try turn.store.space(number),
            let roster = try roster(of: space, turn.store),
            belongs(to: roster) || roster.isFormer(identity.device), try !isShut(space, turn.store)
        else { return }
        // A person who has not accepted is told of the space, and nobody waits for them.
        let others = roster.participatingDevices.map(\.device).filter { $0 != identity.device }
        let invited = roster.invited.flatMap { roster.devicesEver(of: $0) }
        guard !others.isEmpty || !invited.isEmpty else { return }
        let linked = devicesLinked(in: number)
        if !besidesLinks, !linked.isEmpty {
            courier.outbox.awaitAcknowledgement(in: number)
            timers.set(.outbox, in: Self.linkedPatience, &turn)
        }
        var absent = others.filter { !linked.contains($0) }
        guard besidesLinks || !absent.isEmpty || !invited.isEmpty else { return }
        let acknowledged = try acknowledgedEnds(in: space, turn.store)
        if besidesLinks {
            let own = try ownTips(in: space, turn.store)
            absent = others.filter { device in
                !linked.contains(device)
                    || own.contains { acknowledged[device]?[$0.key] ?? 0 < $0.value }
            }
        }
        let guests = invited.filter { device in
            !peers.links.values.contains {
                $0.peer.device == device && $0.session?.knows(number) == true
            }
        }
        let readers = try readers(absent + guests, in: roster, turn.store)
        guard !readers.isEmpty else { return }
        for relay in readers.keys.sorted() {
            guard let reading = readers[relay] else { continue }
            for (person, mailbox) in reading.names {
                _ = try note(mailbox, namedBy: person, at: turn.now, turn.store)
            }
            guard let line = courier.lines[relay], line.phase == .open else {
                call(relay, &turn)
                continue
            }
            // First what others wrote: it may contain the epoch that is to be used.
            guard line.isDrained, !line.pace.isBusy(at: turn.now.monotonic) else { continue }
            let participants = reading.devices.filter { !guests.contains($0) }
            if !participants.isEmpty {
                try post(
                    space, to: relay, read: participants, acknowledged, belongs(to: roster), &turn)
            }
            guard belongs(to: roster) else { continue }
            try welcome(reading.devices, to: space, through: relay, roster, acknowledged, &turn)
        }
    }

    /// Where own logs end that are acknowledged on links.
    func ownTips(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [LogTag: UInt64] {
        var ends: [LogTag: UInt64] = [:]
        for log in try store.agreedLogs(in: space.number)
        where log.device == identity.device && log.lane != .receipts && log.end > 0 {
            ends[log.tag] = log.end
        }
        return ends
    }

    /// The relays that devices read: those on their cards; for those that name none, the own ones.
    func readers(
        _ devices: [DeviceID], in roster: Roster, _ store: some Store
    ) throws(StoreError) -> [NoiseKey: Readers] {
        var found: [NoiseKey: Readers] = [:]
        var own: [CardMailbox] = []
        if let card = try store.value(.card, identity.person.bytes) {
            own = CardReader.mailboxes(in: card)[identity.device] ?? []
        }
        var cards: [PersonID: [DeviceID: [CardMailbox]]] = [:]
        for device in devices {
            guard let person = roster.person(of: device) else { continue }
            if cards[person] == nil {
                cards[person] =
                    try store.value(.card, person.bytes).map(CardReader.mailboxes) ?? [:]
            }
            var read = cards[person]?[device] ?? own
            // Where none of them answers, the device may have gone to one that is used here, too.
            if !read.contains(where: { courier.lines[$0.relay]?.pace.failureCount ?? 0 == 0 }) {
                read += own.filter { mailbox in !read.contains { $0.relay == mailbox.relay } }
            }
            for mailbox in read {
                found[mailbox.relay, default: Readers()].devices.append(device)
                let namer = own.contains(mailbox) ? identity.person : person
                found[mailbox.relay]?.names.append((namer, mailbox))
            }
        }
        return found
    }

    /// The place after the last of those that a device said it holds of own logs from the first that
    /// is for it, by device and log. What has no words here that could be given is passed over.
    func acknowledgedEnds(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [DeviceID: [LogTag: UInt64]] {
        var ends: [DeviceID: [LogTag: UInt64]] = [:]
        let roster = rosters.judges[space.number]?.roster
        for kind in [MarkKind.acknowledged, .delivered] {
            for mark in try store.marks(kind, in: space.number) {
                let device = DeviceID(reinterpreting: mark.actor)
                let known = ends[device]?[mark.tag] ?? 0
                // A receipt begins where the log does for its author: nobody was given what is
                // below.
                let floor = roster?.horizon(of: device).place(of: identity.device, .content)
                let first = floor.map { $0.sequence + 1 } ?? 0
                var end = mark.places.end(from: first)
                while let last = mark.places.last, max(end, first) < last,
                    let log = try store.log(mark.tag, in: space.number),
                    try store.operation(at: max(end, first), in: log.number)?.operation.isErased
                        == true
                {
                    let next = max(end, first) + 1
                    end = max(next, mark.places.end(from: next))
                }
                ends[device, default: [:]][mark.tag] = max(known, end)
            }
        }
        return ends
    }

    /// Puts new operations on one relay: into a mailbox of the current epoch or, for a former
    /// member, into one of the last epoch it had.
    private mutating func post(
        _ space: SpaceRecord, to relay: NoiseKey, read devices: [DeviceID],
        _ acknowledged: [DeviceID: [LogTag: UInt64]], _ belongs: Bool, _ turn: inout some Turn
    ) throws(StoreError) {
        let own = try turn.store.agreedLogs(in: space.number).filter {
            $0.device == identity.device && $0.end > 0
        }
        var due: [(log: LogRecord, first: UInt64)] = []
        // From a known former member only lane 0 is accepted: that goes last then.
        let ordered = own.sorted { belongs ? $0.lane < $1.lane : $1.lane < $0.lane }
        for log in ordered {
            let held = devices.map { acknowledged[$0]?[log.tag] ?? 0 }.min() ?? 0
            let first = try firstDue(
                log, above: held, of: space, at: relay, at: turn.now, turn.store)
            if first < log.end { due.append((log, first)) }
        }
        guard !due.isEmpty else { return }
        let chosen =
            belongs
            ? try currentEpoch(of: space, in: turn.store)?.id : try lastEpoch(of: space, turn.store)
        guard let epoch = chosen else {
            return timers.set(
                .epoch(space.number), in: turn.random.next() % Self.mintDelayMax, &turn)
        }
        let awaitsAnswer = try awaitsAnswer(in: space, turn.store)
        let isUnpaid = try isUnpaid(epoch, of: space, on: relay, turn.store)
        if awaitsAnswer || isUnpaid {
            return try postByLetter(
                due.map { ($0.log, $0.first) }, of: space, to: devices, on: relay, &turn)
        }
        try put(due, of: space, epoch, to: relay, tellsProgress: belongs, &turn)
    }

    /// The first place of a log that is still to be put to a relay.
    ///
    /// - Parameter held: everybody who reads there has everything below this place.
    private func firstDue(
        _ log: LogRecord, above held: UInt64, of space: SpaceRecord, at relay: NoiseKey,
        at now: Instant, _ store: some Store
    ) throws(StoreError) -> UInt64 {
        let key = Outbox.key(relay, space.id, log.tag)
        let roster = rosters.judges[space.number]?.roster
        let underway = courier.lines[relay]?.underway[space.number]?[log.tag] ?? 0
        let first = lowestShared(log, above: max(held, underway), of: space)
        guard let entry = try store.value(.outbox, key).flatMap(Outbox.Entry.init) else {
            return first
        }
        // Nobody tells a former member what they hold now.
        guard held < entry.end, belongs(to: roster), now.wall > entry.since + Self.putAgainTime
        else {
            return max(first, entry.end)
        }
        try store.setValue(nil, .outbox, key)
        return first
    }

    /// The first place of a log, from this one on, that may go into a mailbox that all read: what
    /// lies below the horizon of any of them goes into none.
    func lowestShared(
        _ log: LogRecord, above held: UInt64, of space: SpaceRecord
    ) -> UInt64 {
        var first = max(held, log.base)
        for device in rosters.judges[space.number]?.roster.devices ?? [] {
            if let place = device.horizon.place(of: log.device, log.lane) {
                first = max(first, place.sequence + 1)
            }
        }
        return first
    }

    /// A relay has something on its disk.
    mutating func stored(
        _ places: Range<UInt64>, of tag: LogTag, in number: SpaceNumber, by relay: NoiseKey,
        _ turn: inout some Turn
    ) throws(StoreError) {
        // Something before it was refused: it is put again with that, so that nothing is left out.
        guard courier.lines[relay]?.underway[number]?[tag] ?? 0 >= places.upperBound,
            let space = try turn.store.space(number)
        else { return }
        let key = Outbox.key(relay, space.id, tag)
        var entry = Outbox.Entry(
            first: places.lowerBound, end: places.upperBound, since: turn.now.wall)
        if let known = try turn.store.value(.outbox, key).flatMap(Outbox.Entry.init),
            known.end >= places.lowerBound
        {
            entry.first = min(known.first, entry.first)
            entry.end = max(known.end, entry.end)
            entry.since = known.end == known.first ? turn.now.wall : known.since
        }
        try turn.store.setValue(entry.bytes, .outbox, key)
        if courier.lines[relay]?.underway[number]?[tag] ?? 0 <= entry.end {
            courier.lines[relay]?.underway[number]?[tag] = nil
        }
        turn.emit(.changed([.receipts(number)]))
        // There is room for the next.
        courier.outbox.note(number)
        try restartReminders(of: number, &turn)
    }
}
