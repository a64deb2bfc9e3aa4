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
        if hasMore, !entries.isEmpty {
            courier.lines[relay]?.mailboxes[mailbox]?.hasMore = true
        }
        if try take(entries, of: mailbox, on: relay, &turn) { end(mailbox, on: relay, &turn) }
        try goOn(with: open.use.space, on: relay, &turn)
    }

    /// Whether a mailbox was set back without the relay's having noticed.
    private func isSetBack(_ open: OpenMailbox, _ entries: [RelayEntry], _ newest: UInt64) -> Bool {
        entries.isEmpty && newest > 0 && newest < open.cursor
    }

    /// A mailbox was read to its end, unless something came meanwhile.
    mutating func end(_ mailbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn) {
        if courier.lines[relay]?.mailboxes[mailbox]?.hasMore == true {
            return askPage(of: mailbox, on: relay, &turn)
        }
        courier.lines[relay]?.mailboxes[mailbox]?.stage = .read
        courier.lines[relay]?.mailboxes[mailbox]?.newest = []
    }

    // MARK: In their turn

    /// Processes the envelopes of mailboxes whose turn it is.
    mutating func goOn(
        with space: SpaceNumber?, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        while let mailbox = courier.lines[relay]?.queues[space]?.first,
            let open = courier.lines[relay]?.mailboxes[mailbox]
        {
            switch open.stage {
            case .unknown, .asked, .paging, .taking: return
            case .long: return askPage(of: mailbox, on: relay, &turn)
            case .whole(let entries):
                guard try take(entries, of: mailbox, on: relay, &turn) else { return }
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
            case .long, .paging, .taking:
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
