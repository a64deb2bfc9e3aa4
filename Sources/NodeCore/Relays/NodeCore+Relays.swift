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

    /// A device that was made from a backup has its relays from there: nothing that changes says so, and without
    /// an inbox on its card nobody could write to it where no link leads.
    mutating func nameInboxes(_ turn: inout some Turn) throws(StoreError) {
        let card = try CardReader.kept(of: identity.person, turn.store)
        let part = card?.parts.first { $0.device == identity.device }
        guard part?.mailboxes.isEmpty != false else { return }
        guard try !ownRelays(turn.store).isEmpty else { return }
        try showRelays(&turn)
    }

    /// The relays changed that this person uses: the card says so, and those are called.
    mutating func showRelays(_ turn: inout some Turn) throws(StoreError) {
        courier.relayUpkeep.note(.findRelays)
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
        for id in peers.links.keys.sorted() where peers.links[id]?.session != nil {
            try introduce(on: id, &turn)
        }
        shareCard(&turn)
        courier.outbox.noteAll()
    }

    // MARK: Connections

    /// Does what became due in a step: calls relays, reads mailboxes, and fills them.
    mutating func tendRelays(_ turn: inout some Turn) throws(StoreError) {
        if courier.relayUpkeep.take(.retireWriters) { try retireWriters(&turn) }
        if courier.relayUpkeep.take(.findRelays) { try findRelays(&turn) }
        if courier.relayUpkeep.take(.showInviteCards) {
            for relay in courier.lines.keys.sorted() {
                try showCards(on: relay, &turn)
            }
        }
        let spaces = courier.relayUpkeep.takeMailboxes()
        guard !courier.lines.isEmpty else { return courier.outbox.removeAll() }
        if courier.relayUpkeep.take(.renewWriters) || !spaces.isEmpty {
            for relay in courier.lines.keys.sorted() where courier.lines[relay]?.phase == .open {
                try watchMailboxes(of: spaces, on: relay, &turn)
            }
        }
        guard !courier.outbox.isEmpty else { return }
        let due = courier.outbox.takePortion(of: try turn.store.spaces())
        if !courier.outbox.isEmpty { timers.hasten(.backlog, in: 1, &turn) }
        for number in due { try post(number, &turn) }
    }

    /// Looks at some more of all spaces.
    mutating func goOnWithRelays(_ turn: inout some Turn) throws(StoreError) {
        courier.outbox.continueAll()
        for relay in courier.lines.keys.sorted() where courier.lines[relay]?.walk != nil {
            try lookForMailboxes(on: relay, &turn)
        }
        try goOnWithPages(&turn)
    }

    /// Finds out which relays this device reads: the person's own; and where the person has none,
    /// those of the persons that it talks to.
    private mutating func findRelays(_ turn: inout some Turn) throws(StoreError) {
        var (wanted, fresh): ([NoiseKey], Set<NoiseKey>) = ([], [])
        for choice in try ownRelays(turn.store) where choice.isRead(at: turn.now.wall) {
            wanted.append(choice.relay)
            let places = RelayPlaces(own: choice.addresses)
            if courier.lines[choice.relay] == nil {
                courier.lines[choice.relay] = RelayLine(at: places, isReading: false)
            } else if courier.lines[choice.relay]?.places.addresses != choice.addresses
                || courier.lines[choice.relay]?.places.isOwn == false
            {
                // It may be read for others' sake already: the own inbox is still to be opened.
                if courier.lines[choice.relay]?.places.isOwn == false { fresh.insert(choice.relay) }
                courier.lines[choice.relay]?.places = places
                callAtOnce(choice.relay, &turn)
            }
        }
        if wanted.isEmpty { wanted = try relaysOfOthers(at: turn.now, turn.store) }
        for relay in courier.lines.keys.sorted() where !wanted.contains(relay) {
            courier.lines[relay]?.isReading = false
        }
        for relay in wanted.sorted() {
            if courier.lines[relay]?.isReading == false || fresh.contains(relay) {
                courier.lines[relay]?.isReading = true
                try watchMailboxes(on: relay, &turn)
            }
            call(relay, &turn)
        }
        try callForCards(&turn)
        try callForRequests(&turn)
    }

    /// Calls a relay, unless a connection exists or is being made.
    mutating func call(_ relay: NoiseKey, _ turn: inout some Turn) {
        guard let line = courier.lines[relay], line.phase == .idle, !timers.isPending(.relay(relay))
        else {
            return
        }
        courier.lines[relay]?.phase = .calling
        courier.lines[relay]?.usedAt = turn.now.monotonic
        turn.emit(.callRelay(relay, addresses: courier.lines[relay]?.places.next() ?? []))
    }

    /// Calls relays at once that were not reached before.
    mutating func callAgain(_ turn: inout some Turn) {
        for relay in courier.lines.keys.sorted() where courier.lines[relay]?.phase == .idle {
            callAtOnce(relay, &turn)
        }
    }

    /// Forgets that a relay was not reached: there may be a way now, or it has moved. One that waits to be
    /// called again is called.
    private mutating func callAtOnce(_ relay: NoiseKey, _ turn: inout some Turn) {
        courier.lines[relay]?.pace.forgive()
        courier.lines[relay]?.places.forgive()
        guard courier.lines[relay]?.phase == .idle else { return }
        courier.lines[relay]?.phase = .calling
        turn.emit(.callRelay(relay, addresses: courier.lines[relay]?.places.next() ?? []))
    }

    /// A relay's timer fired: it is called again, or left if it is of no use any more.
    mutating func tend(_ relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        guard let line = courier.lines[relay] else { return }
        switch line.phase {
        case .calling: return
        case .idle:
            guard line.isInUse || !courier.outbox.isEmpty || line.pace.failureCount < 12 else {
                courier.lines[relay] = nil
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
            courier.lines[relay]?.isOwed = false
            retryFull(relay, &turn)
            courier.lines[relay]?.absent = line.absent.filter { turn.now.monotonic < $0.value }
            if let next = courier.lines[relay]?.absent.values.min() {
                courier.lines[relay]?.isOwed = true
                timers.hasten(.relay(relay), in: next - turn.now.monotonic, &turn)
            }
            if line.isInUse || !line.questions.isEmpty || line.isOwed {
                if !line.isReading { timers.set(.relay(relay), in: Self.lineIdleTime, &turn) }
                try askAnew(relay, &turn)
                return courier.outbox.noteAll()
            }
            guard turn.now.monotonic >= line.usedAt + Self.lineIdleTime else {
                return timers.set(.relay(relay), in: Self.lineIdleTime, &turn)
            }
            courier.lines[relay] = nil
            turn.emit(.leaveRelay(relay))
        }
    }

    /// Handles an event that the shell reports about a relay.
    mutating func told(_ news: RelayNews, by relay: NoiseKey, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let line = courier.lines[relay] else {
            if case .opened = news { turn.emit(.leaveRelay(relay)) }
            return
        }
        switch news {
        case .opened(let welcome):
            try reached(relay, welcome, &turn)
        case .closed:
            let delay = courier.lines[relay]?.pace.close(
                at: turn.now.monotonic, placeFailureCount: line.places.failureCount,
                using: &turn.random)
            courier.lines[relay]?.reset(.idle)
            shelves.reset(relay)
            if !line.pace.hasSaidGoodbye { courier.lines[relay]?.places.fail() }
            turn.emit(.linksChanged)
            // One that wanted to be left alone is, also where it hung up.
            let rest = line.pace.busyUntil - min(line.pace.busyUntil, turn.now.monotonic)
            timers.hasten(.relay(relay), in: max(delay ?? 0, rest), &turn)
            // What waits may have another way.
            courier.outbox.noteAll()
        case .answered(let number, let answer):
            guard let asked = courier.lines[relay]?.questions.take(number) else { return }
            try answered(asked, answer, by: relay, &turn)
        case .arrived(let mailbox, let entries) where line.cards[mailbox] != nil:
            try tookCards(entries, in: mailbox, on: relay, &turn)
        case .arrived(let mailbox, let entries):
            guard line.mailboxes[mailbox]?.isRead == true else {
                courier.lines[relay]?.mailboxes[mailbox]?.hasMore = true
                return
            }
            _ = try take(entries, of: mailbox, on: relay, &turn)
        case .leaving(let delay): courier.lines[relay]?.pace.noteGoodbye(for: UInt64(delay))
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
        courier.lines[relay]?.reset(.open)
        shelves.reset(relay)
        shelves.noteDue()
        courier.lines[relay]?.pace.open(at: turn.now.monotonic)
        courier.lines[relay]?.places.succeed()
        if courier.lines[relay]?.day != welcome.day { courier.lines[relay]?.full = [:] }
        courier.lines[relay]?.day = welcome.day
        courier.lines[relay]?.needsTicket = welcome.needsTicket
        courier.lines[relay]?.usedAt = turn.now.monotonic
        turn.emit(.linksChanged)
        let known = try turn.store.value(.relay, relay.bytes).flatMap(RelayRecord.init)
        var record = RelayRecord(
            start: welcome.starts[0].id, newest: welcome.newest,
            day: known?.day ?? welcome.day, toldDay: known?.toldDay ?? welcome.day)
        // Whoever started it anew may have given it more room.
        if let known, known.start != record.start { courier.lines[relay]?.full = [:] }
        retryFull(relay, &turn)
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
        courier.outbox.noteAll()
        if courier.lines[relay]?.isReading == false {
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
        guard var line = courier.lines.removeValue(forKey: relay) else { return }
        let number = line.questions.add(question, of: mailbox)
        line.usedAt = turn.now.monotonic
        turn.emit(
            .askRelay(
                relay,
                MailboxRequest(number: number, action: action, mailbox: mailbox, key: key)))
        courier.lines[relay] = line
    }

    /// A relay answered.
    private mutating func answered(
        _ asked: AskedQuestion, _ answer: RelayAnswer, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        switch answer {
        case .stored, .entries: courier.lines[relay]?.pace.noteWork(at: turn.now.monotonic)
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
