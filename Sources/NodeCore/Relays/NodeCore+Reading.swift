import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// Reading mailboxes: those of a space in the order in which they were filled, with the cursor
/// stored together with the operations; and a glance at the newest first, so that old messages do
/// not delay new ones.
/// Source: `Protocol/06-relay.md`, "Reading".
extension NodeCore {
    /// The first question about a mailbox brings so many bytes of envelopes, the newest.
    static let glanceByteCount = 32 << 10
    /// Bytes of envelopes that wait for their turn; of more, they are asked for again.
    static let waitingByteCountMax = 4 << 20
    /// When letters that exceeded the pace are requested again, in milliseconds.
    static let letterRest: UInt64 = 1_000

    /// Whether mailboxes of a space are not read to their end yet.
    func isBeingRead(_ space: SpaceNumber) -> Bool {
        courier.lines.values.contains {
            $0.queues[space] != nil || ($0.isReading && $0.walk != nil)
        }
    }

    // MARK: Asking

    /// Asks for the newest of a drop, which most often is all; for the oldest of the inbox.
    mutating func look(into mailbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn) {
        guard let open = courier.lines[relay]?.mailboxes[mailbox] else { return }
        guard open.use != .inbox else {
            return askPage(of: mailbox, on: relay, &turn)
        }
        courier.lines[relay]?.mailboxes[mailbox]?.stage = .asked
        let range = RelayRange(
            after: open.cursor, isNewestFirst: true, byteCountMax: Self.glanceByteCount)
        ask(.get(range), of: mailbox, as: open.key, on: relay, for: .glance(mailbox), &turn)
    }

    private mutating func askPage(
        of mailbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn
    ) {
        guard let open = courier.lines[relay]?.mailboxes[mailbox] else { return }
        courier.lines[relay]?.mailboxes[mailbox]?.hasMore = false
        courier.lines[relay]?.mailboxes[mailbox]?.stage = .paging
        ask(
            .get(RelayRange(after: open.cursor)), of: mailbox, as: open.key, on: relay,
            for: .page(mailbox), &turn)
    }

    /// Envelopes came that were not told: the mailbox is read from where it was read to.
    mutating func missedPushes(of mailbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn) {
        guard let open = courier.lines[relay]?.mailboxes[mailbox] else { return }
        guard open.isRead else {
            courier.lines[relay]?.mailboxes[mailbox]?.hasMore = true
            return
        }
        courier.lines[relay]?.queues[open.use.space, default: []].prepend(mailbox)
        askPage(of: mailbox, on: relay, &turn)
    }

    // MARK: Answers

    /// The newest of a mailbox came.
    mutating func lookedInto(
        _ mailbox: MailboxID, on relay: NoiseKey, _ entries: [RelayEntry], hasMore: Bool,
        newest: UInt64, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let line = courier.lines[relay], let open = line.mailboxes[mailbox] else { return }
        if isSetBack(open, entries, newest) {
            courier.lines[relay]?.mailboxes[mailbox]?.cursor = 0
            return look(into: mailbox, on: relay, &turn)
        }
        let hasRoom = entries.isEmpty || line.waitingByteCount < Self.waitingByteCountMax
        if hasMore || !hasRoom {
            courier.lines[relay]?.mailboxes[mailbox]?.stage = .long
            courier.lines[relay]?.mailboxes[mailbox]?.newest = hasRoom ? entries : []
        } else {
            courier.lines[relay]?.mailboxes[mailbox]?.stage = .whole(entries)
        }
        if let space = open.use.space {
            try glance(at: space, on: relay, &turn)
        }
        try goOn(with: open.use.space, on: relay, &turn)
    }

    /// A page of a mailbox came.
    mutating func read(
        _ entries: [RelayEntry], of mailbox: MailboxID, on relay: NoiseKey, hasMore: Bool,
        newest: UInt64, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let open = courier.lines[relay]?.mailboxes[mailbox] else { return }
        if isSetBack(open, entries, newest) {
            courier.lines[relay]?.mailboxes[mailbox]?.cursor = 0
            return askPage(of: mailbox, on: relay, &turn)
        }
        try take(entries, of: mailbox, on: relay, &turn)
        // The rest is asked for later.
        if case .unknown? = courier.lines[relay]?.mailboxes[mailbox]?.stage {
            return try goOn(with: open.use.space, on: relay, &turn)
        }
        if hasMore, !entries.isEmpty {
            return askPage(of: mailbox, on: relay, &turn)
        }
        end(mailbox, on: relay, &turn)
        try goOn(with: open.use.space, on: relay, &turn)
    }

    /// Whether a mailbox was set back without the relay's having noticed.
    private func isSetBack(_ open: OpenMailbox, _ entries: [RelayEntry], _ newest: UInt64) -> Bool {
        entries.isEmpty && newest > 0 && newest < open.cursor
    }

    /// A mailbox was read to its end, unless something came meanwhile.
    private mutating func end(_ mailbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn) {
        if courier.lines[relay]?.mailboxes[mailbox]?.hasMore == true {
            return askPage(of: mailbox, on: relay, &turn)
        }
        courier.lines[relay]?.mailboxes[mailbox]?.stage = .read
        courier.lines[relay]?.mailboxes[mailbox]?.newest = []
    }

    // MARK: In their turn

    /// Processes the envelopes of mailboxes whose turn it is.
    private mutating func goOn(
        with space: SpaceNumber?, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        while let mailbox = courier.lines[relay]?.queues[space]?.first,
            let open = courier.lines[relay]?.mailboxes[mailbox]
        {
            switch open.stage {
            case .unknown, .asked, .paging: return
            case .long: return askPage(of: mailbox, on: relay, &turn)
            case .whole(let entries):
                try take(entries, of: mailbox, on: relay, &turn)
                end(mailbox, on: relay, &turn)
            case .read: courier.lines[relay]?.queues[space]?.dropOldest()
            }
        }
        courier.lines[relay]?.queues[space] = nil
        if let space { try resolveSuspectedGap(in: space, &turn) }
        try noteDrained(relay, &turn)
    }

    /// A delivery through a relay left something out: that is requested, unless it may come with
    /// what is being read.
    mutating func noteSuspectedGap(
        in space: SpaceRecord, reportedBy holder: DeviceID, isDisconnected: Bool,
        _ turn: inout some Turn
    ) throws(StoreError) {
        let leavesOut = try leavesOut(space.number, turn.store)
        guard isDisconnected || leavesOut else { return }
        guard isBeingRead(space.number) else {
            return try scheduleRepair(of: space.number, from: holder, &turn)
        }
        courier.suspectedGaps.note(
            in: space.number, reportedBy: holder, isDisconnected: isDisconnected)
    }

    /// Whether what is held of a space, or waits, has causes that did not arrive.
    private func leavesOut(_ space: SpaceNumber, _ store: some Store) throws(StoreError) -> Bool {
        if intake.waiting.lacksControl(of: space) { return true }
        return try hasHole(space, store)
    }

    /// The whole space was read: what is missing now is requested.
    private mutating func resolveSuspectedGap(
        in space: SpaceNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        guard !isBeingRead(space), let suspicion = courier.suspectedGaps.take(space) else { return }
        let leavesOut = try leavesOut(space, turn.store)
        guard suspicion.isDisconnected || leavesOut else { return }
        try scheduleRepair(of: space, from: suspicion.holder, &turn)
    }

    /// Takes envelopes of a mailbox in their turn, and moves its cursor behind them.
    mutating func take(
        _ entries: [RelayEntry], of mailbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let open = courier.lines[relay]?.mailboxes[mailbox] else { return }
        var fresh = entries.sorted { $0.counter < $1.counter }.filter { $0.counter > open.cursor }
        if open.use == .inbox {
            fresh = try openable(fresh, in: mailbox, on: relay, &turn)
        }
        guard let last = fresh.last?.counter else { return }
        switch open.use {
        case .inbox:
            for entry in fresh {
                try openLetter(entry, in: mailbox, by: relay, &turn)
            }
        case .drop(let space, let epoch):
            try openEnvelopes(fresh, in: mailbox, of: space, epoch, &turn)
        }
        courier.lines[relay]?.mailboxes[mailbox]?.cursor = last
        try turn.store.setNumber(last, .cursor, relay.bytes + mailbox.bytes)
        try noteCounter(last, of: relay, turn.store)
        guard open.use == .inbox else { return }
        // Deleted there only once it is safe here.
        turn.emit(.commitFully)
        ask(.acknowledge(upTo: last), of: mailbox, as: open.key, on: relay, for: .whatever, &turn)
    }

    /// The letters of these that are opened now. Junk costs its opening: where a relay brings more
    /// than is looked at, the rest stays there, not acknowledged, and is asked for a second later.
    private mutating func openable(
        _ letters: [RelayEntry], in inbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) -> [RelayEntry] {
        let count = letters.prefix { _ in
            courier.passing.takeOpening(from: relay, isLetter: true, at: turn.now)
        }.count
        guard count < letters.count else { return letters }
        try self.count(.tooManyFrames, turn.store)
        courier.lines[relay]?.mailboxes[inbox]?.stage = .unknown
        // Own logs go up meanwhile: it is as if the rest had not come yet.
        courier.lines[relay]?.queues[nil] = nil
        courier.lines[relay]?.isOwed = true
        timers.move(.relay(relay), to: turn.now.monotonic + Self.letterRest, &turn)
        return Array(letters.prefix(count))
    }

    // MARK: Before their turn

    /// Opens the newest of a space that is long, once it is known to be the newest. No chain moves:
    /// it is opened again in its turn.
    private mutating func glance(at space: SpaceNumber, on relay: NoiseKey, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let line = courier.lines[relay], !line.glanced.contains(space),
            let queue = line.queues[space]
        else { return }
        var isTaken = true
        var newest: (mailbox: MailboxID, entries: [RelayEntry])?
        for mailbox in queue.reversed() {
            guard let open = line.mailboxes[mailbox] else { continue }
            switch open.stage {
            case .whole(let entries):
                if newest == nil, !entries.isEmpty { newest = (mailbox, entries) }
            case .long, .paging:
                isTaken = false
                if newest == nil { newest = (mailbox, open.newest) }
            // Something newer may come yet.
            case .unknown, .asked:
                guard newest != nil else { return }
                isTaken = false
            case .read: break
            }
        }
        if newest != nil {
            for mailbox in queue { courier.lines[relay]?.mailboxes[mailbox]?.newest = [] }
        }
        // Whatever is there is processed now, in its turn.
        guard !isTaken, let newest else { return }
        courier.lines[relay]?.glanced.insert(space)
        try openAhead(newest.entries, in: newest.mailbox, on: relay, &turn)
    }
}
