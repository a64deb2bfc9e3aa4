import ParleyLedger
import ParleySealing
import ParleyWire

/// What a relay refuses, and when it is asked again.
/// Source: `Protocol/06-relay.md`, "What a relay refuses".
extension NodeCore {
    /// When an inbox that does not exist is written to again, in milliseconds.
    static let absencePause: UInt64 = 60_000

    /// When a drop that was full is put to again, in milliseconds.
    static let fullPause: UInt64 = 3_600_000

    /// A relay refused a request.
    mutating func refused(
        _ refusal: RelayRefusal, _ asked: AskedQuestion, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        switch asked.question {
        case .put(let space, let tag, _), .letter(let space, let tag, _, _):
            // Later requests count for nothing either: everything from here on is put again.
            courier.lines[relay]?.underway[space]?[tag] = nil
        case .page(let mailbox), .glance(let mailbox):
            courier.lines[relay]?.mailboxes[mailbox]?.stage = .unknown
        case .subscribe(let mailbox):
            courier.lines[relay]?.mailboxes[mailbox]?.lacksSubscription = true
        case .card(let mailbox): courier.lines[relay]?.cards[mailbox] = nil
        case .open, .welcome, .request, .reminder, .inviteCard, .passing, .piece, .shelf,
            .takenAway, .shelfPage, .whatever:
            break
        }
        switch refusal {
        case .busy(let delay): rest(relay, for: UInt64(delay), &turn)
        // Like one that the peer did not hear.
        case .noMailbox where asked.question == .passing: break
        case .noMailbox where asked.question.isLetter:
            absent(asked.mailbox, on: relay, for: Self.absencePause, &turn)
        case .noMailbox:
            // Its time was over between opening and putting.
            courier.lines[relay]?.opened.remove(asked.mailbox)
            courier.lines[relay]?.paid.remove(asked.mailbox)
            rest(relay, for: 0, &turn)
        case .full: try foundFull(asked, by: relay, &turn)
        case .forbidden, .ticketNeeded, .badTicket, .malformed, .nobodyThere:
            try mistook(asked, by: relay, &turn)
        }
    }

    /// A drop is full: what is due there waits for the next day's, or until it is tried again. Everything
    /// else continues.
    private mutating func foundFull(
        _ asked: AskedQuestion, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        switch asked.question {
        case .put(let space, _, _):
            courier.lines[relay]?.full[asked.mailbox] = FullDrop(
                space: space, until: turn.now.monotonic + Self.fullPause)
            retryFull(relay, &turn)
            turn.emit(.linksChanged)
        // Other holders of the invite filled its drop: its content stays.
        case .inviteCard: break
        default: try mistook(asked, by: relay, &turn)
        }
    }

    /// A relay refuses what an honest one accepts. It is tried again on the next connection, and
    /// not before an hour.
    private mutating func mistook(
        _ asked: AskedQuestion, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard asked.question != .whatever else { return }
        try count(.relay, turn.store)
        // The peer may have withdrawn this right to write: the signal is lost, and nothing waits for it.
        if asked.question == .passing { return }
        if asked.question.isLetter {
            // It may be the card that is wrong: others are served all the same.
            absent(asked.mailbox, on: relay, for: Self.keysInterval, &turn)
            return try lookForCardAgain(of: asked.mailbox, &turn)
        }
        guard asked.question != .subscribe(asked.mailbox) else {
            courier.lines[relay]?.mailboxes[asked.mailbox]?.lacksSubscription = false
            return
        }
        courier.lines[relay]?.pace.pause(until: turn.now.monotonic + Self.keysInterval)
        timers.set(.relay(relay), in: Self.keysInterval, &turn)
    }

    /// Leaves a relay alone for a while: as long as it says, and longer each time.
    private mutating func rest(_ relay: NoiseKey, for delay: UInt64, _ turn: inout some Turn) {
        guard let wait = courier.lines[relay]?.pace.rest(for: delay, at: turn.now.monotonic) else {
            return
        }
        courier.lines[relay]?.isOwed = true
        timers.hasten(.relay(relay), in: wait, &turn)
    }

    /// Forgets which drops were full so long ago that they are tried again.
    mutating func retryFull(_ relay: NoiseKey, _ turn: inout some Turn) {
        guard let line = courier.lines[relay], !line.full.isEmpty else { return }
        let full = line.full.filter { turn.now.monotonic < $0.value.until }
        courier.lines[relay]?.full = full
        // A relay that is only put to is left meanwhile, and all of this is forgotten with it.
        guard line.isReading, let next = full.values.map(\.until).min() else { return }
        timers.set(.relay(relay), in: next - turn.now.monotonic, &turn)
    }

    /// Writes nothing into an inbox for a while.
    private mutating func absent(
        _ inbox: MailboxID, on relay: NoiseKey, for time: UInt64, _ turn: inout some Turn
    ) {
        guard courier.lines[relay]?.absent[inbox] ?? 0 <= turn.now.monotonic else { return }
        courier.lines[relay]?.absent[inbox] = turn.now.monotonic + time
        courier.lines[relay]?.isOwed = true
        timers.hasten(.relay(relay), in: time, &turn)
    }

    /// A mailbox is subscribed to. If the relay had no time at first, earlier envelopes are
    /// requested: they were not pushed.
    mutating func noteSubscribed(
        _ mailbox: MailboxID, newest: UInt64, on relay: NoiseKey, _ turn: inout some Turn
    ) {
        guard let open = courier.lines[relay]?.mailboxes[mailbox], open.isSubscribedLate else {
            return
        }
        courier.lines[relay]?.mailboxes[mailbox]?.isSubscribedLate = false
        guard newest > open.cursor else { return }
        missedPushes(of: mailbox, on: relay, &turn)
    }

    /// Repeats requests for which a relay had no time.
    mutating func askAnew(_ relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        guard let line = courier.lines[relay] else { return }
        for mailbox in line.mailboxes.keys.sorted() {
            guard let open = line.mailboxes[mailbox] else { continue }
            if open.lacksSubscription {
                courier.lines[relay]?.mailboxes[mailbox]?.lacksSubscription = false
                courier.lines[relay]?.mailboxes[mailbox]?.isSubscribedLate = true
                ask(
                    .subscribe, of: mailbox, as: open.key, on: relay, for: .subscribe(mailbox),
                    &turn)
            }
            if case .unknown = open.stage { look(into: mailbox, on: relay, &turn) }
        }
        try sendRequests(to: relay, &turn)
        try showCards(on: relay, &turn)
        try lookForCards(on: relay, &turn)
        guard line.isReading, line.inboxDay != line.day else { return }
        try watchMailboxes(of: [], on: relay, &turn)
    }
}
