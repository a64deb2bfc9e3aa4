import ParleyLedger
import ParleySealing
import ParleyWire

/// What a relay does not do, and when it is asked again.
/// Source: `Protocol/06-relay.md`, "What a relay refuses".
extension NodeCore {
    /// An inbox that is not there is written to again after so long, in milliseconds.
    static let absencePause: UInt64 = 60_000

    /// A relay did not do what was asked.
    mutating func refused(
        _ refusal: RelayRefusal, _ asked: AskedQuestion, by relay: NoiseKey, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        switch asked.question {
        case .put(let space, let tag, _), .letter(let space, let tag, _, _):
            // What was asked after it counts for nothing either: it is put again from here on.
            lines[relay]?.underway[space]?[tag] = nil
        case .page(let mailbox), .glance(let mailbox):
            lines[relay]?.mailboxes[mailbox]?.stage = .unknown
        case .subscribe(let mailbox): lines[relay]?.mailboxes[mailbox]?.lacksSubscription = true
        case .card(let mailbox): lines[relay]?.cards[mailbox] = nil
        case .open, .welcome, .request, .reminder, .inviteCard, .passing, .whatever: break
        }
        switch refusal {
        case .busy(let delay): rest(relay, for: UInt64(delay), at: now, &effects)
        // Like one that the peer did not hear.
        case .noMailbox where asked.question == .passing: break
        case .noMailbox where asked.question.isLetter:
            absent(asked.mailbox, on: relay, for: Self.absencePause, at: now, &effects)
        case .noMailbox:
            // Its time was over between opening and putting.
            lines[relay]?.opened.remove(asked.mailbox)
            lines[relay]?.paid.remove(asked.mailbox)
            rest(relay, for: 0, at: now, &effects)
        case .forbidden, .ticketNeeded, .badTicket, .malformed, .nobodyThere:
            try mistook(asked, by: relay, at: now, store, &effects)
        }
    }

    /// A relay refuses what an honest one takes. It is tried again on the next connection, and not
    /// before an hour.
    private mutating func mistook(
        _ asked: AskedQuestion, by relay: NoiseKey, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard asked.question != .whatever else { return }
        try count(.relay, store)
        // The peer may have withdrawn this right to write: the signal is lost, and nothing waits for it.
        if asked.question == .passing { return }
        if asked.question.isLetter {
            // It may be the card that is wrong: others are served all the same.
            absent(asked.mailbox, on: relay, for: Self.keysInterval, at: now, &effects)
            return
        }
        guard asked.question != .subscribe(asked.mailbox) else {
            lines[relay]?.mailboxes[asked.mailbox]?.lacksSubscription = false
            return
        }
        lines[relay]?.busyUntil = now.monotonic + Self.keysInterval
        set(.relay(relay), in: Self.keysInterval, at: now, &effects)
    }

    /// Leaves a relay alone for a while: as long as it says, and longer each time.
    private mutating func rest(
        _ relay: NoiseKey, for delay: UInt64, at now: Instant, _ effects: inout [Effect]
    ) {
        guard let wait = lines[relay]?.rest(for: delay, at: now.monotonic) else { return }
        set(.relay(relay), in: wait, at: now, &effects)
    }

    /// Writes nothing into an inbox for a while.
    private mutating func absent(
        _ inbox: MailboxID, on relay: NoiseKey, for time: UInt64, at now: Instant,
        _ effects: inout [Effect]
    ) {
        guard lines[relay]?.absent[inbox] ?? 0 <= now.monotonic else { return }
        lines[relay]?.absent[inbox] = now.monotonic + time
        lines[relay]?.isOwed = true
        set(.relay(relay), in: time, at: now, &effects)
    }

    /// A mailbox is subscribed to. What came before, where the relay had no time at first, is asked
    /// for: it was not pushed.
    mutating func wasSubscribed(
        _ mailbox: MailboxID, newest: UInt64, on relay: NoiseKey, at now: Instant,
        _ effects: inout [Effect]
    ) {
        guard let open = lines[relay]?.mailboxes[mailbox], open.isSubscribedLate else { return }
        lines[relay]?.mailboxes[mailbox]?.isSubscribedLate = false
        guard newest > open.cursor else { return }
        missedPushes(of: mailbox, on: relay, at: now, &effects)
    }

    /// Asks again what a relay had no time for.
    mutating func askAnew(
        _ relay: NoiseKey, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let line = lines[relay] else { return }
        for mailbox in line.mailboxes.keys.sorted() {
            guard let open = line.mailboxes[mailbox] else { continue }
            if open.lacksSubscription {
                lines[relay]?.mailboxes[mailbox]?.lacksSubscription = false
                lines[relay]?.mailboxes[mailbox]?.isSubscribedLate = true
                ask(
                    .subscribe, of: mailbox, as: open.key, on: relay, for: .subscribe(mailbox),
                    at: now, &effects)
            }
            if case .unknown = open.stage { look(into: mailbox, on: relay, at: now, &effects) }
        }
        try sendRequests(to: relay, at: now, store, &random, &effects)
        try showCards(on: relay, at: now, store, &random, &effects)
        try lookForCards(on: relay, at: now, store, &effects)
        guard line.isReading, line.inboxDay != line.day else { return }
        try watchMailboxes(of: [], on: relay, at: now, store, &random, &effects)
    }
}
