import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// Reading mailboxes: in the order in which they were filled, the cursor kept with what came.
/// Source: `Protocol/06-relay.md`, "Reading".
extension NodeCore {
    /// Of each space the mailboxes of so many epochs are read, the newest.
    static let readEpochCountMax = 16
    /// Of these, so many are still written to: what comes there is told at once.
    static let subscribedEpochCountMax = 4
    /// Mailboxes that are read on one connection; of more the newest.
    static let readMailboxCountMax = 1_000
    /// Mailboxes of days before today that are looked into.
    static let readDayCountMax: UInt32 = 31

    /// Subscribes to the mailboxes that are not read on this connection yet, and asks for what they
    /// hold.
    ///
    /// - Parameter spaces: those that are looked at; all of them where it is nil.
    mutating func watchMailboxes(
        of spaces: Set<SpaceNumber>? = nil, on relay: NoiseKey, at now: Instant,
        _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let line = lines[relay], line.phase == .open, line.isReading else { return }
        let record = try store.value(.relay, relay.bytes).flatMap(RelayRecord.init)
        let since = min(record?.day ?? line.day, line.day)
        let oldest = max(since, Self.readDayCountMax) - 1
        let first = max(oldest, line.day - min(line.day, Self.readDayCountMax))
        let own = try ownRelays(store)
        if own.contains(where: { $0.relay == relay }) {
            let keys = try inboxKeys(on: relay, store, &random)
            // Every day: a mailbox that nobody opens is let go of.
            if line.inboxDay != line.day {
                lines[relay]?.inboxDay = line.day
                ask(
                    .open(writer: MailboxID(key: keys.writer.device), ticket: nil),
                    of: keys.inbox, as: keys.owner, on: relay, for: .whatever, at: now, &effects)
            }
            if line.mailboxes[keys.inbox] == nil {
                try watch(
                    keys.inbox, .inbox, keys.owner, isLive: true, on: relay, at: now, store,
                    &effects)
            }
        }
        // The oldest day first: what comes later hangs on what came before.
        var drops:
            [(
                day: UInt32, space: SpaceNumber, epoch: OperationID, keys: EpochKeys, isLive: Bool
            )] = []
        for space in try store.spaces() where spaces?.contains(space.number) ?? true {
            guard belongs(to: try roster(of: space, store)) else { continue }
            for (place, (epoch, kept)) in try newestEpochs(of: space, store).enumerated() {
                let opened = UInt32(clamping: kept.openedAt / Self.day)
                let start = min(max(first, opened - min(opened, 1)), line.day)
                for day in start...(line.day + 1) {
                    let isLive = place < Self.subscribedEpochCountMax && day + 1 >= line.day
                    drops.append((day, space.number, epoch, kept.keys, isLive))
                }
            }
        }
        drops.sort { ($0.day, $0.space, $0.epoch) < ($1.day, $1.space, $1.epoch) }
        for drop in drops.suffix(Self.readMailboxCountMax) {
            let (mailbox, key) = drop.keys.mailbox(ofDay: drop.day)
            guard lines[relay]?.mailboxes[mailbox] == nil else { continue }
            try watch(
                mailbox, .drop(drop.space, drop.epoch), key, isLive: drop.isLive, on: relay,
                at: now, store, &effects)
        }
        try noteDrained(relay, store, &effects)
    }

    /// The epochs of a space whose mailboxes are of use, the newest first.
    func newestEpochs(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [(epoch: OperationID, kept: KeptEpoch)] {
        var found: [(epoch: OperationID, kept: KeptEpoch)] = []
        for (name, secret) in try store.secrets(.epochKeys, in: space.number) {
            guard let id = OperationID(name), let kept = KeptEpoch(secret) else { continue }
            found.append((id, kept))
        }
        found.sort { ($1.kept.openedAt, $0.epoch) < ($0.kept.openedAt, $1.epoch) }
        return Array(found.prefix(Self.readEpochCountMax))
    }

    private mutating func watch(
        _ mailbox: MailboxID, _ use: MailboxUse, _ key: DeviceSigningKey, isLive: Bool,
        on relay: NoiseKey, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        let cursor = try store.number(.cursor, relay.bytes + mailbox.bytes) ?? 0
        lines[relay]?.mailboxes[mailbox] = OpenMailbox(
            use: use, key: key, cursor: cursor)
        if isLive {
            ask(.subscribe, of: mailbox, as: key, on: relay, for: .whatever, at: now, &effects)
        }
        askPage(of: mailbox, on: relay, at: now, &effects)
    }

    mutating func askPage(
        of mailbox: MailboxID, on relay: NoiseKey, at now: Instant, _ effects: inout [Effect]
    ) {
        guard let open = lines[relay]?.mailboxes[mailbox] else { return }
        lines[relay]?.mailboxes[mailbox]?.hasMore = false
        ask(
            .get(RelayRange(after: open.cursor)), of: mailbox, as: open.key, on: relay,
            for: .page(mailbox), at: now, &effects)
    }

    /// A page of a mailbox came.
    mutating func read(
        _ entries: [RelayEntry], of mailbox: MailboxID, on relay: NoiseKey, hasMore: Bool,
        newest: UInt64, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let open = lines[relay]?.mailboxes[mailbox] else { return }
        // It was set back without the relay's having noticed.
        if newest < open.cursor, entries.isEmpty, newest > 0 {
            lines[relay]?.mailboxes[mailbox]?.cursor = 0
            return askPage(of: mailbox, on: relay, at: now, &effects)
        }
        try take(entries, of: mailbox, on: relay, at: now, store, &random, &effects)
        let mustGoOn = lines[relay]?.mailboxes[mailbox]?.hasMore == true
        if mustGoOn || (hasMore && !entries.isEmpty) {
            return askPage(of: mailbox, on: relay, at: now, &effects)
        }
        lines[relay]?.mailboxes[mailbox]?.isRead = true
        try noteDrained(relay, store, &effects)
    }

    /// All that lay at a relay was taken: now this device's own may go up.
    private mutating func noteDrained(
        _ relay: NoiseKey, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let line = lines[relay], line.phase == .open, line.isDrained else { return }
        effects.append(.linksChanged)
        try dueEverywhere(store)
        guard line.isReading,
            var record = try store.value(.relay, relay.bytes).flatMap(RelayRecord.init),
            record.day != line.day
        else { return }
        record.day = line.day
        try store.setValue(record.bytes, .relay, relay.bytes)
        try dropCursors(of: relay, line, store)
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

    /// Takes envelopes of a mailbox in their turn, and moves its cursor behind them.
    mutating func take(
        _ entries: [RelayEntry], of mailbox: MailboxID, on relay: NoiseKey, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let open = lines[relay]?.mailboxes[mailbox] else { return }
        var last = open.cursor
        for entry in entries.sorted(by: { $0.counter < $1.counter }) where entry.counter > last {
            last = entry.counter
            switch open.use {
            case .inbox:
                try openLetter(entry.envelope, in: mailbox, at: now, store, &random, &effects)
            case .drop(let space, let epoch):
                try openEnvelope(
                    entry.envelope, in: mailbox, of: space, epoch, at: now, store, &random,
                    &effects)
            }
        }
        guard last > open.cursor else { return }
        lines[relay]?.mailboxes[mailbox]?.cursor = last
        try store.setNumber(last, .cursor, relay.bytes + mailbox.bytes)
        try noteCounter(last, of: relay, store)
        guard open.use == .inbox else { return }
        // Deleted there only once it is safe here.
        effects.append(.commitFully)
        ask(
            .acknowledge(upTo: last), of: mailbox, as: open.key, on: relay, for: .whatever,
            at: now, &effects)
    }

    // MARK: Opening

    private mutating func openEnvelope(
        _ bytes: [UInt8], in mailbox: MailboxID, of number: SpaceNumber, _ epoch: OperationID,
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let space = try store.space(number), belongs(to: try roster(of: space, store)),
            let keys = try keys(of: epoch, in: space, store)
        else { return }
        let place = EnvelopePlace(space: space.id, epoch: epoch, mailbox: mailbox)
        let envelope: Envelope
        do throws(EnvelopeRejection) {
            envelope = try Envelope(bytes, at: place, keys: keys)
        } catch {
            return try count(.envelope, store)
        }
        let devices = judges[number]?.graph.devicesEver ?? []
        for device in devices where device.prefix == envelope.sender {
            guard var chain = try chain(of: device, in: epoch, of: space, store) else {
                miss(number, heldBy: device, at: now, &effects)
                continue
            }
            let content: [UInt8]
            do throws(EnvelopeRejection) {
                content = try envelope.open(from: device, chain: &chain, now: now.wall)
            } catch {
                switch error {
                // One's own, or one that was read before.
                case .chain where device == identity.device: return
                case .chain: miss(number, heldBy: device, at: now, &effects)
                case .malformed, .foreign, .brokenSeal, .badSignature:
                    try count(.envelope, store)
                }
                continue
            }
            try keep(chain, of: device, in: epoch, of: space, store)
            guard let person = judges[number]?.roster.person(of: device) else { return }
            return try unpack(
                content, by: Bringer(person: person, device: device), of: space, at: now, store,
                &random, &effects)
        }
    }

    /// Takes the frames of an envelope in their turn.
    private mutating func unpack(
        _ content: [UInt8], by peer: Bringer, of space: SpaceRecord, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let frames = Parcel.frames(in: content) else { return try count(.envelope, store) }
        for frame in frames {
            switch frame {
            case .operations(let operations) where operations.space == space.id:
                try ingest(operations, by: peer, at: now, store, &random, &effects)
            case .acknowledge(let said) where said.space == space.id:
                try acknowledged(said, of: space, by: peer.device, store, &effects)
            case .frontier(let frontier) where frontier.space == space.id:
                try heardTips(frontier, of: space, by: peer.device, at: now, store, &effects)
            default: try count(.envelope, store)
            }
        }
    }

    /// A device says what it holds on its disk of this device's logs.
    func acknowledged(
        _ said: Acknowledgement, of space: SpaceRecord, by device: DeviceID, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard device != identity.device else { return }
        for entry in said.entries {
            guard let log = try store.log(entry.tag, in: space.number), entry.sequence < log.end
            else { continue }
            try store.raise(
                Mark(
                    space: space.number, kind: .acknowledged,
                    actor: Digest(reinterpreting: device), tag: entry.tag,
                    sequence: entry.sequence))
        }
        effects.append(.changed([.receipts(space.number)]))
    }

    /// A device says how far it is with a space.
    mutating func heardTips(
        _ frontier: Frontier, of space: SpaceRecord, by device: DeviceID, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard device != identity.device, try roster(of: space, store)?.contains(device) == true
        else { return }
        try compareOwn(frontier, of: space, by: device, at: now, store, &effects)
        for entry in frontier.entries {
            let log = try store.agreedLog(entry.tag, in: space.number)
            if entry.sequence >= log?.end ?? 0, log?.endsAtBound != true {
                return miss(space.number, heldBy: device, at: now, &effects)
            }
        }
    }
}
