import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// Which relays are used, and how it goes with the connections to them.
/// Source: `Protocol/06-relay.md`, "What nodes do".
extension NodeCore {
    /// Relays that a person's devices use at a time.
    public static let relayCountMax = CardMailbox.countMax
    /// A relay that another took the place of is still read for so long, in milliseconds.
    public static let relayLeaveTime: UInt64 = 30 * day
    /// A relay that is not read is left once nothing was asked of it for so long.
    static let lineIdleTime: UInt64 = 60_000

    // MARK: Choosing

    /// Notes which relays the person's devices use.
    mutating func choose(
        _ choices: [RelayChoice], tickets: [[UInt8]], at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let ownSpace else { return .failure(.rejoining) }
        var known = try ownRelays(store)
        for choice in choices {
            known.removeAll { $0.relay == choice.relay }
            known.append(choice)
        }
        guard known.count(where: { $0.until == nil }) <= Self.relayCountMax else {
            return .failure(.tooManyRelays(limit: Self.relayCountMax))
        }
        if let relay = choices.first?.relay, !tickets.isEmpty {
            guard try keep(tickets, for: relay, at: now, store, &random, &effects) else {
                return .failure(.tooManyTickets(limit: Self.ticketCountMax))
            }
        }
        _ = try write(
            choices.map { $0.draft() }, in: ownSpace, at: now, store, &random, &effects)
        return .success(.done)
    }

    /// What the own space says of relays.
    func ownRelays(_ store: some Store) throws(StoreError) -> [RelayChoice] {
        guard let ownSpace else { return [] }
        return try Overview.relays(ownSpace: ownSpace.number, in: store)
    }

    /// The relays changed that this person uses: the card says so, and those are called.
    mutating func showRelays(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        areRelaysStale = true
        var mailboxes: [CardMailbox] = []
        for choice in try ownRelays(store) where choice.until == nil {
            let keys = try inboxKeys(on: choice.relay, store, &random)
            let writer = try shownWriter(on: choice.relay, at: now, store, &random)
            mailboxes.append(keys.shown(on: choice.relay, at: choice.addresses, to: writer))
        }
        let card = try CardReader.kept(of: identity.person, store)
        let part = card?.parts.first { $0.device == identity.device }
        guard try mayWrite(store), part?.mailboxes ?? [] != mailboxes else { return }
        try publishCard(
            name: part?.name ?? "", addresses: part?.addresses ?? [], mailboxes: mailboxes,
            at: now, store)
        effects.append(.commitFully)
        for id in links.keys.sorted() where links[id]?.session != nil {
            try introduce(on: id, store, &effects)
        }
        shareCard(at: now, &effects)
        outboxDue.insertAll()
    }

    // MARK: Connections

    /// Does what became due in a step: calls relays, reads mailboxes, and fills them.
    mutating func tendRelays(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        if inboxes.hasBlocked {
            inboxes.hasBlocked = false
            try retireWriters(at: now, store, &random, &effects)
        }
        if areRelaysStale {
            areRelaysStale = false
            try findRelays(at: now, store, &random, &effects)
        }
        if invites.areCardsDue {
            invites.areCardsDue = false
            for relay in lines.keys.sorted() {
                try showCards(on: relay, at: now, store, &random, &effects)
            }
        }
        guard !lines.isEmpty else {
            mailboxesDue = []
            outboxDue = DueSpaces()
            return
        }
        if !mailboxesDue.isEmpty || inboxes.areWritersDue {
            let spaces = mailboxesDue
            mailboxesDue = []
            inboxes.areWritersDue = false
            for relay in lines.keys.sorted() where lines[relay]?.phase == .open {
                try watchMailboxes(of: spaces, on: relay, at: now, store, &random, &effects)
            }
        }
        guard !outboxDue.isEmpty else { return }
        let due = outboxDue.take(Self.walkCountMax, of: try store.spaces())
        if !outboxDue.isEmpty { set(.backlog, in: 1, at: now, &effects) }
        for number in due { try post(number, at: now, store, &random, &effects) }
    }

    /// Looks at some more of all spaces.
    mutating func goOnWithRelays(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        outboxDue.goOn()
        for relay in lines.keys.sorted() where lines[relay]?.walk != nil {
            try lookForMailboxes(on: relay, at: now, store, &effects)
        }
    }

    /// Finds out which relays this device reads: the person's own; and where the person has none,
    /// those of the persons that it talks to.
    private mutating func findRelays(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        var wanted: [NoiseKey] = []
        for choice in try ownRelays(store) where choice.isRead(at: now.wall) {
            wanted.append(choice.relay)
            let places = RelayPlaces(own: choice.addresses)
            if lines[choice.relay] == nil {
                lines[choice.relay] = RelayLine(at: places, isReading: false)
            } else if lines[choice.relay]?.places.addresses != choice.addresses
                || lines[choice.relay]?.places.isOwn == false
            {
                lines[choice.relay]?.places = places
            }
        }
        if wanted.isEmpty { wanted = try relaysOfOthers(at: now, store) }
        for relay in lines.keys.sorted() where !wanted.contains(relay) {
            lines[relay]?.isReading = false
        }
        for relay in wanted.sorted() {
            if lines[relay]?.isReading == false {
                lines[relay]?.isReading = true
                try watchMailboxes(on: relay, at: now, store, &random, &effects)
            }
            call(relay, at: now, &effects)
        }
        try callForCards(at: now, store, &effects)
        try callForRequests(at: now, store, &effects)
    }

    /// Calls a relay, unless a connection is there or under way.
    mutating func call(_ relay: NoiseKey, at now: Instant, _ effects: inout [Effect]) {
        guard let line = lines[relay], line.phase == .idle, !timers.contains(.relay(relay)) else {
            return
        }
        lines[relay]?.phase = .calling
        lines[relay]?.usedAt = now.monotonic
        effects.append(.callRelay(relay, addresses: lines[relay]?.places.next() ?? []))
    }

    /// Calls relays at once that were not reached before.
    mutating func callAgain(at now: Instant, _ effects: inout [Effect]) {
        for relay in lines.keys.sorted() where lines[relay]?.phase == .idle {
            lines[relay]?.failureCount = 0
            lines[relay]?.shortCount = 0
            lines[relay]?.places.forgive()
            lines[relay]?.phase = .calling
            effects.append(.callRelay(relay, addresses: lines[relay]?.places.next() ?? []))
        }
    }

    /// A relay's timer fired: it is called again, or left if it is of no use any more.
    mutating func tend(
        _ relay: NoiseKey, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let line = lines[relay] else { return }
        switch line.phase {
        case .calling: return
        case .idle:
            guard line.isInUse || !outboxDue.isEmpty || line.failureCount < 12 else {
                lines[relay] = nil
                return
            }
            call(relay, at: now, &effects)
        case .open:
            try followDay(of: relay, at: now, store, &random, &effects)
            // It asked for more patience than this timer was set for.
            if now.monotonic < line.busyUntil {
                return set(.relay(relay), in: line.busyUntil - now.monotonic, at: now, &effects)
            }
            lines[relay]?.isOwed = false
            lines[relay]?.absent = line.absent.filter { now.monotonic < $0.value }
            if let next = lines[relay]?.absent.values.min() {
                lines[relay]?.isOwed = true
                set(.relay(relay), in: next - now.monotonic, at: now, &effects)
            }
            if line.isInUse || !line.questions.isEmpty || line.isOwed {
                if !line.isReading { set(.relay(relay), in: Self.lineIdleTime, at: now, &effects) }
                try askAnew(relay, at: now, store, &random, &effects)
                return dueEverywhere()
            }
            guard now.monotonic >= line.usedAt + Self.lineIdleTime else {
                return set(.relay(relay), in: Self.lineIdleTime, at: now, &effects)
            }
            lines[relay] = nil
            effects.append(.leaveRelay(relay))
        }
    }

    /// Takes what the shell tells of a relay.
    mutating func told(
        _ news: RelayNews, by relay: NoiseKey, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let line = lines[relay] else {
            if case .opened = news { effects.append(.leaveRelay(relay)) }
            return
        }
        switch news {
        case .opened(let welcome):
            try reached(relay, welcome, at: now, store, &random, &effects)
        case .closed:
            // One that said goodbye has not failed.
            if line.absence == nil { lines[relay]?.end(at: now.monotonic) }
            let delay = lines[relay]?.delay(using: &random) ?? 0
            lines[relay]?.reset(.idle)
            if line.absence == nil {
                lines[relay]?.failureCount += 1
                lines[relay]?.places.fail()
            }
            effects.append(.linksChanged)
            set(.relay(relay), in: delay, at: now, &effects)
            // What waits may have another way.
            dueEverywhere()
        case .answered(let number, let answer):
            guard let asked = lines[relay]?.questions.removeValue(forKey: number) else { return }
            try answered(asked, answer, by: relay, at: now, store, &random, &effects)
        case .arrived(let mailbox, let entries) where line.cards[mailbox] != nil:
            try tookCards(
                entries, in: mailbox, on: relay, at: now, store, &random, &effects)
        case .arrived(let mailbox, let entries):
            guard line.mailboxes[mailbox]?.isRead == true else {
                lines[relay]?.mailboxes[mailbox]?.hasMore = true
                return
            }
            try take(entries, of: mailbox, on: relay, at: now, store, &random, &effects)
        case .leaving(let delay): lines[relay]?.absence = UInt64(delay)
        case .passed(let mailbox, let bytes):
            try openPassed(
                bytes, in: mailbox, by: relay, at: now, store, &random, &effects)
        case .missed(let mailbox) where line.cards[mailbox] != nil:
            try missedCard(in: mailbox, on: relay, at: now, store, &effects)
        case .missed(let mailbox):
            missedPushes(of: mailbox, on: relay, at: now, &effects)
        case .day(let day):
            try turn(relay, to: day, at: now, store, &random, &effects)
        }
    }

    /// A connection stands. Where the relay has lost what it had, all is put and asked for anew.
    private mutating func reached(
        _ relay: NoiseKey, _ welcome: RelayWelcome, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        lines[relay]?.reset(.open)
        lines[relay]?.failureCount = 0
        lines[relay]?.openedAt = now.monotonic
        lines[relay]?.places.succeed()
        lines[relay]?.day = welcome.day
        lines[relay]?.needsTicket = welcome.needsTicket
        lines[relay]?.usedAt = now.monotonic
        effects.append(.linksChanged)
        let known = try store.value(.relay, relay.bytes).flatMap(RelayRecord.init)
        var record = RelayRecord(
            start: welcome.starts[0].id, newest: welcome.newest,
            day: known?.day ?? welcome.day, toldDay: known?.toldDay ?? welcome.day)
        if let known {
            if welcome.hasLost(known.newest, toldIn: known.start) {
                try beginAnew(with: relay, at: now, store, &effects)
            } else {
                record.newest = known.newest
            }
        }
        try note(welcome.day, in: &record, of: relay, at: now, store, &effects)
        try store.setValue(record.bytes, .relay, relay.bytes)
        try passWaiting(to: relay, at: now, store, &random, &effects)
        try sendWaiting(to: relay, at: now, store, &random, &effects)
        try sendRequests(to: relay, at: now, store, &random, &effects)
        try showCards(on: relay, at: now, store, &random, &effects)
        try lookForCards(on: relay, at: now, store, &effects)
        try watchMailboxes(on: relay, at: now, store, &random, &effects)
        dueEverywhere()
        if lines[relay]?.isReading == false {
            set(.relay(relay), in: Self.lineIdleTime, at: now, &effects)
        }
    }

    /// Notes the greatest counter that a relay told.
    func noteCounter(
        _ counter: UInt64, of relay: NoiseKey, _ store: some Store
    ) throws(StoreError) {
        guard var record = try store.value(.relay, relay.bytes).flatMap(RelayRecord.init),
            record.newest < counter
        else { return }
        record.newest = counter
        try store.setValue(record.bytes, .relay, relay.bytes)
    }

    /// Everything may be due, in every space.
    mutating func dueEverywhere() { outboxDue.insertAll() }

    // MARK: Asking

    mutating func ask(
        _ action: RelayAction, of mailbox: MailboxID, as key: DeviceSigningKey,
        on relay: NoiseKey, for question: RelayQuestion, at now: Instant,
        _ effects: inout [Effect]
    ) {
        guard var line = lines.removeValue(forKey: relay) else { return }
        line.lastNumber += 1
        line.questions[line.lastNumber] = AskedQuestion(question: question, mailbox: mailbox)
        line.usedAt = now.monotonic
        effects.append(
            .askRelay(
                relay,
                MailboxRequest(
                    number: line.lastNumber, action: action, mailbox: mailbox, key: key)))
        lines[relay] = line
    }

    /// A relay answered.
    private mutating func answered(
        _ asked: AskedQuestion, _ answer: RelayAnswer, by relay: NoiseKey, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        lines[relay]?.answered(answer, at: now.monotonic)
        switch (asked.question, answer) {
        case (.page(let mailbox), .entries(let entries, let hasMore, let newest)):
            try read(
                entries, of: mailbox, on: relay, hasMore: hasMore, newest: newest, at: now, store,
                &random, &effects)
        case (.glance(let mailbox), .entries(let entries, let hasMore, let newest)):
            try lookedInto(
                mailbox, on: relay, entries, hasMore: hasMore, newest: newest, at: now, store,
                &random, &effects)
        case (.put(let space, let tag, let places), .stored(let counter)),
            (.letter(let space, let tag, let places, isLast: true), .stored(let counter)):
            try noteCounter(counter, of: relay, store)
            try stored(places, of: tag, in: space, by: relay, at: now, store, &effects)
        case (.welcome(let number, let device, let epoch), .stored(let counter)):
            try noteCounter(counter, of: relay, store)
            guard let space = try store.space(number) else { return }
            try store.setValue(
                Welcome(epoch: epoch, time: now.wall).bytes, .welcome,
                space.id.bytes + device.bytes)
        case (.request(let person, let device), .stored(let counter)):
            try noteCounter(counter, of: relay, store)
            try requestIsStored(person, for: device, at: now, store, &effects)
        case (.open(let mailbox, let ticket), .opened):
            try wasOpened(mailbox, for: ticket, on: relay, at: now, store, &effects)
        case (.inviteCard(let number, let card), .stored(let counter)):
            try noteCounter(counter, of: relay, store)
            try cardIsShown(of: number, card, store, &effects)
        case (.card(let mailbox), .entries(let entries, _, _)):
            try tookCards(entries, in: mailbox, on: relay, at: now, store, &random, &effects)
        case (.subscribe(let mailbox), .subscribed(let newest)):
            wasSubscribed(mailbox, newest: newest, on: relay, at: now, &effects)
        case (.open(let mailbox, let ticket), .refused(let refusal)):
            try wasNotOpened(
                mailbox, for: ticket, refusal, on: relay, at: now, store, &effects)
        case (.reminder(let space, let device), .refused(let refusal)):
            try refused(refusal, asked, by: relay, at: now, store, &effects)
            if case .busy = refusal { return }
            try putAgain(space, for: device, to: relay, at: now, store, &random, &effects)
        case (_, .refused(let refusal)):
            try refused(refusal, asked, by: relay, at: now, store, &effects)
        default: return
        }
    }
}
