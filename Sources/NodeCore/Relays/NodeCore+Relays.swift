import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// Which relays are used, and the state of the connections to them.
/// Source: `Protocol/06-relay.md`, "What nodes do".
extension NodeCore {
    /// Relays that a person's devices use at a time.
    public static let relayCountMax = CardMailbox.countMax
    /// How long a replaced relay is still read, in milliseconds.
    public static let relayLeaveTime: UInt64 = 30 * day
    /// When a relay that is not read is disconnected after its last request.
    static let lineIdleTime: UInt64 = 60_000

    // MARK: Choosing

    /// Notes which relays the person's devices use.
    mutating func choose(_ choices: [RelayChoice], tickets: [[UInt8]], _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let ownSpace else { return .failure(.rejoining) }
        var known = try ownRelays(turn.store)
        for choice in choices {
            known.removeAll { $0.relay == choice.relay }
            known.append(choice)
        }
        guard known.count(where: { $0.until == nil }) <= Self.relayCountMax else {
            return .failure(.tooManyRelays(limit: Self.relayCountMax))
        }
        if let relay = choices.first?.relay, !tickets.isEmpty {
            guard try keep(tickets, for: relay, &turn) else {
                return .failure(.tooManyTickets(limit: Self.ticketCountMax))
            }
        }
        _ = try write(choices.map { $0.draft() }, in: ownSpace, &turn)
        return .success(.done)
    }

    /// What the own space says about relays.
    func ownRelays(_ store: some Store) throws(StoreError) -> [RelayChoice] {
        guard let ownSpace else { return [] }
        return try Overview.relays(ownSpace: ownSpace.number, in: store)
    }

    /// The relays changed that this person uses: the card says so, and those are called.
    mutating func showRelays(_ turn: inout some Turn) throws(StoreError) {
        relayUpkeep.note(.findRelays)
        var mailboxes: [CardMailbox] = []
        for choice in try ownRelays(turn.store) where choice.until == nil {
            let keys = try inboxKeys(on: choice.relay, &turn)
            let writer = try shownWriter(on: choice.relay, &turn)
            mailboxes.append(keys.shown(on: choice.relay, at: choice.addresses, to: writer))
        }
        let card = try CardReader.kept(of: identity.person, turn.store)
        let part = card?.parts.first { $0.device == identity.device }
        guard try mayWrite(turn.store), part?.mailboxes ?? [] != mailboxes else { return }
        try publishCard(
            addresses: part?.addresses ?? [], mailboxes: mailboxes, at: turn.now, turn.store)
        turn.emit(.commitFully)
        for id in links.keys.sorted() where links[id]?.session != nil {
            try introduce(on: id, &turn)
        }
        shareCard(&turn)
        outbox.noteAll()
    }

    // MARK: Connections

    /// Does what became due in a step: calls relays, reads mailboxes, and fills them.
    mutating func tendRelays(_ turn: inout some Turn) throws(StoreError) {
        if relayUpkeep.take(.retireWriters) { try retireWriters(&turn) }
        if relayUpkeep.take(.findRelays) { try findRelays(&turn) }
        if relayUpkeep.take(.showInviteCards) {
            for relay in lines.keys.sorted() {
                try showCards(on: relay, &turn)
            }
        }
        let spaces = relayUpkeep.takeMailboxes()
        guard !lines.isEmpty else { return outbox.removeAll() }
        if relayUpkeep.take(.renewWriters) || !spaces.isEmpty {
            for relay in lines.keys.sorted() where lines[relay]?.phase == .open {
                try watchMailboxes(of: spaces, on: relay, &turn)
            }
        }
        guard !outbox.isEmpty else { return }
        let due = outbox.takePortion(of: try turn.store.spaces())
        if !outbox.isEmpty { timers.set(.backlog, in: 1, &turn) }
        for number in due { try post(number, &turn) }
    }

    /// Looks at some more of all spaces.
    mutating func goOnWithRelays(_ turn: inout some Turn) throws(StoreError) {
        outbox.continueAll()
        for relay in lines.keys.sorted() where lines[relay]?.walk != nil {
            try lookForMailboxes(on: relay, &turn)
        }
    }

    /// Finds out which relays this device reads: the person's own; and where the person has none,
    /// those of the persons that it talks to.
    private mutating func findRelays(_ turn: inout some Turn) throws(StoreError) {
        var (wanted, fresh): ([NoiseKey], Set<NoiseKey>) = ([], [])
        for choice in try ownRelays(turn.store) where choice.isRead(at: turn.now.wall) {
            wanted.append(choice.relay)
            let places = RelayPlaces(own: choice.addresses)
            if lines[choice.relay] == nil {
                lines[choice.relay] = RelayLine(at: places, isReading: false)
            } else if lines[choice.relay]?.places.addresses != choice.addresses
                || lines[choice.relay]?.places.isOwn == false
            {
                // It may be read for others' sake already: the own inbox is still to be opened.
                if lines[choice.relay]?.places.isOwn == false { fresh.insert(choice.relay) }
                lines[choice.relay]?.places = places
            }
        }
        if wanted.isEmpty { wanted = try relaysOfOthers(at: turn.now, turn.store) }
        for relay in lines.keys.sorted() where !wanted.contains(relay) {
            lines[relay]?.isReading = false
        }
        for relay in wanted.sorted() {
            if lines[relay]?.isReading == false || fresh.contains(relay) {
                lines[relay]?.isReading = true
                try watchMailboxes(on: relay, &turn)
            }
            call(relay, &turn)
        }
        try callForCards(&turn)
        try callForRequests(&turn)
    }

    /// Calls a relay, unless a connection exists or is being made.
    mutating func call(_ relay: NoiseKey, _ turn: inout some Turn) {
        guard let line = lines[relay], line.phase == .idle, !timers.isPending(.relay(relay)) else {
            return
        }
        lines[relay]?.phase = .calling
        lines[relay]?.usedAt = turn.now.monotonic
        turn.emit(.callRelay(relay, addresses: lines[relay]?.places.next() ?? []))
    }

    /// Calls relays at once that were not reached before.
    mutating func callAgain(_ turn: inout some Turn) {
        for relay in lines.keys.sorted() where lines[relay]?.phase == .idle {
            lines[relay]?.pace.forgive()
            lines[relay]?.places.forgive()
            lines[relay]?.phase = .calling
            turn.emit(.callRelay(relay, addresses: lines[relay]?.places.next() ?? []))
        }
    }

    /// A relay's timer fired: it is called again, or left if it is of no use any more.
    mutating func tend(_ relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        guard let line = lines[relay] else { return }
        switch line.phase {
        case .calling: return
        case .idle:
            guard line.isInUse || !outbox.isEmpty || line.pace.failureCount < 12 else {
                lines[relay] = nil
                return
            }
            call(relay, &turn)
        case .open:
            try followDay(of: relay, &turn)
            // It asked for more patience than this timer was set for.
            if line.pace.isBusy(at: turn.now.monotonic) {
                let wait = line.pace.busyUntil - turn.now.monotonic
                return timers.set(.relay(relay), in: wait, &turn)
            }
            lines[relay]?.isOwed = false
            lines[relay]?.absent = line.absent.filter { turn.now.monotonic < $0.value }
            if let next = lines[relay]?.absent.values.min() {
                lines[relay]?.isOwed = true
                timers.set(.relay(relay), in: next - turn.now.monotonic, &turn)
            }
            if line.isInUse || !line.questions.isEmpty || line.isOwed {
                if !line.isReading { timers.set(.relay(relay), in: Self.lineIdleTime, &turn) }
                try askAnew(relay, &turn)
                return outbox.noteAll()
            }
            guard turn.now.monotonic >= line.usedAt + Self.lineIdleTime else {
                return timers.set(.relay(relay), in: Self.lineIdleTime, &turn)
            }
            lines[relay] = nil
            turn.emit(.leaveRelay(relay))
        }
    }

    /// Handles an event that the shell reports about a relay.
    mutating func told(_ news: RelayNews, by relay: NoiseKey, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let line = lines[relay] else {
            if case .opened = news { turn.emit(.leaveRelay(relay)) }
            return
        }
        switch news {
        case .opened(let welcome):
            try reached(relay, welcome, &turn)
        case .closed:
            let delay = lines[relay]?.pace.close(
                at: turn.now.monotonic, placeFailureCount: line.places.failureCount,
                using: &turn.random)
            lines[relay]?.reset(.idle)
            shelves.reset(relay)
            if !line.pace.hasSaidGoodbye { lines[relay]?.places.fail() }
            turn.emit(.linksChanged)
            timers.set(.relay(relay), in: delay ?? 0, &turn)
            // What waits may have another way.
            outbox.noteAll()
        case .answered(let number, let answer):
            guard let asked = lines[relay]?.questions.take(number) else { return }
            try answered(asked, answer, by: relay, &turn)
        case .arrived(let mailbox, let entries) where line.cards[mailbox] != nil:
            try tookCards(entries, in: mailbox, on: relay, &turn)
        case .arrived(let mailbox, let entries):
            guard line.mailboxes[mailbox]?.isRead == true else {
                lines[relay]?.mailboxes[mailbox]?.hasMore = true
                return
            }
            try take(entries, of: mailbox, on: relay, &turn)
        case .leaving(let delay): lines[relay]?.pace.noteGoodbye(for: UInt64(delay))
        case .passed(let mailbox, let bytes):
            try openPassed(bytes, in: mailbox, by: relay, &turn)
        case .missed(let mailbox) where line.cards[mailbox] != nil:
            try missedCard(in: mailbox, on: relay, &turn)
        case .missed(let mailbox):
            missedPushes(of: mailbox, on: relay, &turn)
        case .day(let day):
            try change(relay, to: day, &turn)
        }
    }

    /// A connection was established. If the relay has lost its store, everything is put and
    /// requested again.
    private mutating func reached(
        _ relay: NoiseKey, _ welcome: RelayWelcome, _ turn: inout some Turn
    ) throws(StoreError) {
        lines[relay]?.reset(.open)
        shelves.reset(relay)
        shelves.noteDue()
        lines[relay]?.pace.open(at: turn.now.monotonic)
        lines[relay]?.places.succeed()
        if lines[relay]?.day != welcome.day { lines[relay]?.full = [:] }
        lines[relay]?.day = welcome.day
        lines[relay]?.needsTicket = welcome.needsTicket
        lines[relay]?.usedAt = turn.now.monotonic
        turn.emit(.linksChanged)
        let known = try turn.store.value(.relay, relay.bytes).flatMap(RelayRecord.init)
        var record = RelayRecord(
            start: welcome.starts[0].id, newest: welcome.newest,
            day: known?.day ?? welcome.day, toldDay: known?.toldDay ?? welcome.day)
        if let known {
            if welcome.hasLost(known.newest, toldIn: known.start) {
                try beginAnew(with: relay, &turn)
            } else {
                record.newest = known.newest
            }
        }
        try note(welcome.day, in: &record, of: relay, &turn)
        try turn.store.setValue(record.bytes, .relay, relay.bytes)
        try passWaiting(to: relay, &turn)
        try sendWaiting(to: relay, &turn)
        try sendRequests(to: relay, &turn)
        try showCards(on: relay, &turn)
        try lookForCards(on: relay, &turn)
        try watchMailboxes(on: relay, &turn)
        outbox.noteAll()
        if lines[relay]?.isReading == false {
            timers.set(.relay(relay), in: Self.lineIdleTime, &turn)
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

    // MARK: Asking

    mutating func ask(
        _ action: RelayAction, of mailbox: MailboxID, as key: DeviceSigningKey, on relay: NoiseKey,
        for question: RelayQuestion, _ turn: inout some Turn
    ) {
        guard var line = lines.removeValue(forKey: relay) else { return }
        let number = line.questions.add(question, of: mailbox)
        line.usedAt = turn.now.monotonic
        turn.emit(
            .askRelay(
                relay,
                MailboxRequest(number: number, action: action, mailbox: mailbox, key: key)))
        lines[relay] = line
    }

    /// A relay answered.
    private mutating func answered(
        _ asked: AskedQuestion, _ answer: RelayAnswer, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        switch answer {
        case .stored, .entries: lines[relay]?.pace.noteWork(at: turn.now.monotonic)
        case .opened, .subscribed, .done, .pipe, .refused: break
        }
        if asked.question.isOfShelf {
            return try answeredAboutShelf(asked.question, answer, by: relay, &turn)
        }
        switch (asked.question, answer) {
        case (.page(let mailbox), .entries(let entries, let hasMore, let newest)):
            try read(entries, of: mailbox, on: relay, hasMore: hasMore, newest: newest, &turn)
        case (.glance(let mailbox), .entries(let entries, let hasMore, let newest)):
            try lookedInto(mailbox, on: relay, entries, hasMore: hasMore, newest: newest, &turn)
        case (.put(let space, let tag, let places), .stored(let counter)),
            (.letter(let space, let tag, let places, isLast: true), .stored(let counter)):
            try noteCounter(counter, of: relay, turn.store)
            try stored(places, of: tag, in: space, by: relay, &turn)
            // Files waited for it.
            shelves.noteDue()
        case (.welcome(let number, let device, let epoch), .stored(let counter)):
            try noteCounter(counter, of: relay, turn.store)
            guard let space = try turn.store.space(number) else { return }
            try turn.store.setValue(
                Welcome(epoch: epoch, time: turn.now.wall).bytes, .welcome,
                space.id.bytes + device.bytes)
        case (.request(let person, let device), .stored(let counter)):
            try noteCounter(counter, of: relay, turn.store)
            try requestIsStored(person, for: device, &turn)
        case (.open(let mailbox, let ticket), .opened(_, let room)):
            try noteOpened(mailbox, of: room, for: ticket, on: relay, &turn)
        case (.inviteCard(let number, let card), .stored(let counter)):
            try noteCounter(counter, of: relay, turn.store)
            try cardIsShown(of: number, card, &turn)
        case (.card(let mailbox), .entries(let entries, _, _)):
            try tookCards(entries, in: mailbox, on: relay, &turn)
        case (.subscribe(let mailbox), .subscribed(let newest)):
            noteSubscribed(mailbox, newest: newest, on: relay, &turn)
        case (.open(let mailbox, let ticket), .refused(let refusal)):
            try noteNotOpened(mailbox, for: ticket, refusal, on: relay, &turn)
        case (.reminder(let space, let device), .refused(let refusal)):
            try refused(refusal, asked, by: relay, &turn)
            if case .busy = refusal { return }
            try putAgain(space, for: device, to: relay, &turn)
        case (_, .refused(let refusal)):
            try refused(refusal, asked, by: relay, &turn)
        default: return
        }
    }
}
