import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// How much of a page was taken in a step.
struct PageProgress {
    /// Why the rest of it waits.
    enum Pause {
        /// Others get their turn first.
        case turn
        /// Its author cannot pay for it yet.
        case unpaid
        /// The relay brings more than is looked at.
        case relay
    }

    /// Envelopes that were taken, or that are of no use.
    var takenCount = 0
    /// Nil where nothing is left.
    var pause: Pause?
}

/// Takes what mailboxes hold: in a step as much as others can wait for, and of each person as much as
/// they can pay for.
/// Source: `Protocol/06-relay.md`, "What letters cost".
extension NodeCore {
    /// Units of work after which the rest of a page waits, and for how long, in milliseconds. A page of
    /// what honest people write takes less.
    static let pageWorkMax: UInt64 = 4_000
    static let turnRest: UInt64 = 20
    /// When what exceeds an allowance is looked at again, in milliseconds.
    static let pageRest: UInt64 = 1_000
    /// What a step takes to open a letter or an envelope, beside what it holds, in units.
    static let letterWork: UInt64 = 24
    static let envelopeWork: UInt64 = 16
    /// What it takes to store something new, in units.
    private static let storingWork: UInt64 = 1
    /// Units of what comes along with a new operation that it pays for.
    private static let newsWork: UInt64 = 16

    /// Whether more of what mailboxes hold is looked at in this step.
    var mayGoOnReading: Bool { courier.workOfStep < Self.pageWorkMax }

    /// Takes envelopes of a mailbox in their turn, and moves its cursor behind them.
    ///
    /// - Returns: whether all of them were taken; the rest is taken or asked for later.
    mutating func take(
        _ entries: [RelayEntry], of mailbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        guard let open = courier.lines[relay]?.mailboxes[mailbox] else { return true }
        let fresh = entries.sorted { $0.counter < $1.counter }.filter { $0.counter > open.cursor }
        guard !fresh.isEmpty else { return true }
        let progress =
            switch open.use {
            case .inbox: try openLetters(fresh, in: mailbox, by: relay, &turn)
            case .drop(let space, let epoch):
                try openEnvelopes(fresh, in: mailbox, of: space, epoch, by: relay, &turn)
            }
        if let last = fresh.prefix(progress.takenCount).last?.counter {
            try moveCursor(of: mailbox, open, to: last, on: relay, &turn)
        }
        guard let pause = progress.pause else { return true }
        let rest = Array(fresh.dropFirst(progress.takenCount))
        if pause != .turn { try count(.tooManyFrames, turn.store) }
        switch pause {
        case .turn: keep(rest, of: mailbox, for: Self.turnRest, on: relay, &turn)
        case .unpaid:
            keep(rest, of: mailbox, for: Self.pageRest, on: relay, &turn)
            courier.lines[relay]?.mailboxes[mailbox]?.isUnpaid = true
            // What goes up waits for the rest of what is to come down, and not for this.
            try noteDrained(relay, &turn)
        case .relay: leave(mailbox, on: relay, &turn)
        }
        return false
    }

    private mutating func moveCursor(
        of mailbox: MailboxID, _ open: OpenMailbox, to counter: UInt64, on relay: NoiseKey,
        _ turn: inout some Turn
    ) throws(StoreError) {
        courier.lines[relay]?.mailboxes[mailbox]?.cursor = counter
        try turn.store.setNumber(counter, .cursor, relay.bytes + mailbox.bytes)
        try noteCounter(counter, of: relay, turn.store)
        guard open.use == .inbox else { return }
        // Deleted there only once it is safe here.
        turn.emit(.commitFully)
        ask(
            .acknowledge(upTo: counter), of: mailbox, as: open.key, on: relay, for: .whatever,
            &turn)
    }

    // MARK: The rest

    /// Keeps the rest of a page for a later step; where too much waits, it is asked for again then.
    private mutating func keep(
        _ rest: [RelayEntry], of mailbox: MailboxID, for delay: UInt64, on relay: NoiseKey,
        _ turn: inout some Turn
    ) {
        guard var open = courier.lines[relay]?.mailboxes[mailbox] else { return }
        open.stage = .taking([])
        courier.lines[relay]?.mailboxes[mailbox] = open
        let hasRoom = courier.lines[relay]?.waitingByteCount ?? 0 < Self.waitingByteCountMax
        open.stage = .taking(hasRoom ? rest : [])
        open.hasMore = open.hasMore || !hasRoom
        open.restsUntil = turn.now.monotonic + delay
        open.isUnpaid = false
        courier.lines[relay]?.mailboxes[mailbox] = open
        // What was pushed stands in no queue.
        if courier.lines[relay]?.queues[open.use.space]?.first != mailbox {
            courier.lines[relay]?.queues[open.use.space, default: []].prepend(mailbox)
        }
        timers.hasten(.backlog, in: delay, &turn)
    }

    /// Leaves the rest of the inbox on the relay, not acknowledged: it is asked for again a second later.
    private mutating func leave(
        _ inbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn
    ) {
        courier.lines[relay]?.mailboxes[inbox]?.stage = .unknown
        // Own logs go up meanwhile: it is as if the rest had not come yet.
        courier.lines[relay]?.queues[nil] = nil
        courier.lines[relay]?.isOwed = true
        timers.move(.relay(relay), to: turn.now.monotonic + Self.pageRest, &turn)
    }

    /// Goes on with pages of which something is left, with the one first that waits longest.
    mutating func goOnWithPages(_ turn: inout some Turn) throws(StoreError) {
        var waiting: [(moment: UInt64, relay: NoiseKey, mailbox: MailboxID)] = []
        for (relay, line) in courier.lines {
            for (mailbox, open) in line.mailboxes {
                guard case .taking = open.stage else { continue }
                waiting.append((open.restsUntil, relay, mailbox))
            }
        }
        waiting.sort { ($0.moment, $0.relay, $0.mailbox) < ($1.moment, $1.relay, $1.mailbox) }
        for (moment, relay, mailbox) in waiting {
            guard moment <= turn.now.monotonic, mayGoOnReading else {
                let delay = moment - min(moment, turn.now.monotonic)
                return timers.hasten(.backlog, in: max(delay, Self.turnRest), &turn)
            }
            guard let open = courier.lines[relay]?.mailboxes[mailbox],
                case .taking(let rest) = open.stage
            else { continue }
            if try take(rest, of: mailbox, on: relay, &turn) { end(mailbox, on: relay, &turn) }
            try goOn(with: open.use.space, on: relay, &turn)
        }
    }

    // MARK: Who pays

    /// Whether what a person wrote is looked at now, which a relay brings. If they cannot pay for it, it
    /// waits, and all that lies behind it; one who keeps others waiting again and again is not read.
    mutating func admitParcel(
        of person: PersonID, _ turn: inout some Turn
    ) throws(StoreError) -> ParcelVerdict {
        let now = turn.now.monotonic
        if peers.allowances.canPay(person, at: now) { return .fine }
        if courier.letters.takePutOff(of: person, at: now) { return .later }
        try count(.tooManyFrames, turn.store)
        return .never
    }

    /// Begins to charge a person for what an envelope or a letter holds.
    mutating func openBill(of person: PersonID, byteCount: Int) -> ParcelBill {
        intake.yield = Yield()
        var bill = ParcelBill(person: person)
        charge(FrameWork.parcel(byteCount: byteCount), to: &bill)
        return bill
    }

    /// Charges for all that was decoded of a parcel so far, before that is looked at.
    mutating func charge(for room: DecodingRoom, to bill: inout ParcelBill) {
        let work = FrameWork.proving(room)
        charge(work - min(work, bill.expanded), to: &bill)
        bill.expanded = work
    }

    private mutating func charge(_ work: UInt64, to bill: inout ParcelBill) {
        bill.total += work
        courier.workOfStep += work
        peers.allowances.spend(work, of: bill.person)
    }

    /// Gives back what new operations pay for: all that came along with them, but what was looked at in
    /// vain. So whoever writes much pays nothing.
    mutating func settle(_ bill: ParcelBill) {
        let yield = intake.yield
        let vain = FrameWork.proving(operationCount: yield.vainCount)
        let paid = min(bill.total - min(bill.total, vain), Self.newsWork * UInt64(yield.newsCount))
        peers.allowances.giveBack(paid, to: bill.person)
        courier.workOfStep += Self.storingWork * UInt64(yield.newsCount)
    }
}

/// What happens to what somebody wrote.
enum ParcelVerdict: Sendable {
    /// It is looked at.
    case fine
    /// It is looked at later.
    case later
    /// It is not looked at.
    case never
}

/// What a person was charged for an envelope or a letter.
struct ParcelBill: Sendable {
    let person: PersonID
    /// All that was charged.
    fileprivate(set) var total: UInt64 = 0
    /// What of that was for what frames expanded to.
    fileprivate(set) var expanded: UInt64 = 0
}
