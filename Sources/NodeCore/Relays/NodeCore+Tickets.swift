import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// Relays that create mailboxes only for tickets: a ticket is shown when one is required; and if
/// there is none for a drop, its content goes into the inboxes of its readers, who pay for these.
/// Source: `Protocol/06-relay.md`, "Tickets".
extension NodeCore {
    /// Tickets that are kept for one relay.
    public static let ticketCountMax = 1_000

    /// Keeps tickets for a relay, and tries again what failed for want of one. Returns whether there
    /// was room for them.
    mutating func keep(_ tickets: [[UInt8]], for relay: NoiseKey, _ turn: inout some Turn)
        throws(StoreError) -> Bool
    {
        let kept = try self.tickets(for: relay, turn.store)
        guard tickets.allSatisfy({ $0.count == Limits.ticketByteCount }),
            kept.count + tickets.count <= Self.ticketCountMax
        else { return false }
        for ticket in tickets { try turn.store.setValue([1], .ticket, relay.bytes + ticket) }
        guard let line = courier.lines[relay], line.phase == .open else { return true }
        courier.lines[relay]?.unpaid = line.unpaid.filter { $0 == line.inbox }
        courier.lines[relay]?.opened = []
        courier.lines[relay]?.inboxDay = nil
        try watchMailboxes(of: [], on: relay, &turn)
        courier.outbox.noteAll()
        shelves.noteDue()
        return true
    }

    private func tickets(for relay: NoiseKey, _ store: some Store) throws(StoreError) -> [[UInt8]] {
        try store.values(.ticket).filter { $0.key.starts(with: relay.bytes) }.map {
            Array($0.key.dropFirst(relay.bytes.count))
        }
    }

    // MARK: Opening

    /// Opens a mailbox, once on a connection.
    mutating func open(
        _ mailbox: MailboxID, _ opening: Opening, on relay: NoiseKey, _ turn: inout some Turn
    ) {
        // An inbox is opened every day: one that nobody opens is deleted.
        let isFirst = courier.lines[relay]?.opened.insert(mailbox).inserted == true
        guard isFirst || opening.use == .inbox else { return }
        courier.lines[relay]?.openings[mailbox] = opening
        ask(
            .open(writers: opening.writers, ticket: nil), of: mailbox, as: opening.key, on: relay,
            for: .open(mailbox, ticket: nil), &turn)
    }

    /// A mailbox stands. The ticket, if one was shown, is spent.
    mutating func noteOpened(
        _ mailbox: MailboxID, of room: UInt64, for ticket: [UInt8]?, on relay: NoiseKey,
        _ turn: inout some Turn
    ) throws(StoreError) {
        guard let opening = courier.lines[relay]?.openings.removeValue(forKey: mailbox) else {
            return
        }
        if case .shelf(let blob) = opening.use {
            shelves.noteRoom(room, at: ShelfPlace(blob: blob, relay: relay))
            shelves.noteDue()
        }
        guard courier.lines[relay]?.needsTicket == true else { return }
        if let ticket { try drop(ticket, of: relay, turn.store) }
        let wasUnpaid = courier.lines[relay]?.unpaid.remove(mailbox) != nil
        courier.lines[relay]?.paid.insert(mailbox)
        turn.emit(.linksChanged)
        switch opening.use {
        case .drop(let space):
            courier.outbox.note(space)
            return
        case .invite:
            courier.relayUpkeep.note(.showInviteCards)
            return
        case .shelf: return
        case .inbox: break
        }
        // The inbox came first: now there may be tickets for drops.
        let unpaid = courier.lines[relay]?.unpaid ?? []
        courier.lines[relay]?.opened.subtract(unpaid)
        courier.lines[relay]?.unpaid = []
        if !unpaid.isEmpty { courier.outbox.noteAll() }
        // What was written to this device meanwhile was lost.
        guard wasUnpaid else { return }
        for space in try turn.store.spaces() {
            try scheduleRepair(of: space.number, from: nil, &turn)
        }
    }

    /// A mailbox was refused: the next ticket is shown, if there is one.
    mutating func noteNotOpened(
        _ mailbox: MailboxID, for ticket: [UInt8]?, _ refusal: RelayRefusal, on relay: NoiseKey,
        _ turn: inout some Turn
    ) throws(StoreError) {
        guard let opening = courier.lines[relay]?.openings[mailbox] else { return }
        if let ticket { courier.lines[relay]?.spending.remove(ticket) }
        guard refusal == .ticketNeeded || refusal == .badTicket else {
            courier.lines[relay]?.openings[mailbox] = nil
            courier.lines[relay]?.opened.remove(mailbox)
            if case .shelf = opening.use {
                return try shelfWasNotOpened(refusal, on: relay, &turn)
            }
            // The inbox is opened again when there is time; a drop, when something is to go there.
            if opening.use == .inbox { courier.lines[relay]?.inboxDay = nil }
            let asked = AskedQuestion(question: .open(mailbox, ticket: ticket), mailbox: mailbox)
            return try refused(refusal, asked, by: relay, &turn)
        }
        if let ticket {
            // Another has it, or it was taken back.
            try drop(ticket, of: relay, turn.store)
            try count(.ticket, turn.store)
        }
        guard let next = try nextTicket(for: opening, on: relay, turn.store) else {
            courier.lines[relay]?.openings[mailbox] = nil
            courier.lines[relay]?.unpaid.insert(mailbox)
            if case .drop(let space) = opening.use { courier.outbox.note(space) }
            return turn.emit(.linksChanged)
        }
        courier.lines[relay]?.spending.insert(next)
        ask(
            .open(writers: opening.writers, ticket: next), of: mailbox, as: opening.key, on: relay,
            for: .open(mailbox, ticket: next), &turn)
    }

    /// A ticket that may be spent. The last one is the inbox's, which must live on when its time is
    /// over.
    private func nextTicket(
        for opening: Opening, on relay: NoiseKey, _ store: some Store
    ) throws(StoreError) -> [UInt8]? {
        guard let line = courier.lines[relay] else { return nil }
        let left = try tickets(for: relay, store).filter { !line.spending.contains($0) }
        if opening.use == .inbox { return left.first }
        var kept = 1
        // A file is of less use than what people say for a month.
        if case .shelf = opening.use { kept = Self.ticketReserveCount }
        guard let inbox = line.inbox, line.paid.contains(inbox), left.count > kept else {
            return nil
        }
        return left.first
    }

    /// Whether a mailbox for the card of an invite stands on a relay or can be opened there, as far as
    /// is known.
    func mayPutCard(on relay: NoiseKey, _ store: some Store) throws(StoreError) -> Bool {
        guard let line = courier.lines[relay], line.phase == .open, line.needsTicket else {
            return true
        }
        guard !line.lacksTicket else { return false }
        return try tickets(for: relay, store).count > 1
    }

    private mutating func drop(
        _ ticket: [UInt8], of relay: NoiseKey, _ store: some Store
    ) throws(StoreError) {
        courier.lines[relay]?.spending.remove(ticket)
        try store.setValue(nil, .ticket, relay.bytes + ticket)
    }

    // MARK: Without a drop

    /// Whether today's drop of an epoch could not be opened for want of a ticket.
    func isUnpaid(
        _ epoch: OperationID, of space: SpaceRecord, on relay: NoiseKey, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let line = courier.lines[relay], !line.unpaid.isEmpty,
            let keys = try keys(of: epoch, in: space, store)
        else { return false }
        return line.unpaid.contains(keys.drop(at: relay, ofDay: line.day).id)
    }

    /// Whether the other person of a direct conversation has not answered yet: what is written
    /// there goes into their inboxes, where it waits however long they are away; drops are read
    /// back only to when their keys arrived.
    func awaitsAnswer(in space: SpaceRecord, _ store: some Store) throws(StoreError) -> Bool {
        guard space.kind == .direct else { return false }
        let members = rosters.judges[space.number]?.roster.members ?? []
        for member in members where member.person != identity.person {
            return try isSought(member.person, store)
        }
        return false
    }

    /// Puts runs of own logs into the inboxes of those who read at a relay.
    mutating func postByLetter(
        _ due: [(log: LogRecord, first: UInt64)], of space: SpaceRecord, to devices: [DeviceID],
        on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        var readers: [(device: DeviceID, person: PersonID)] = []
        for device in devices {
            guard let person = rosters.judges[space.number]?.roster.person(of: device) else {
                continue
            }
            guard try takesLetters(device, of: person, on: relay, at: turn.now, turn.store) else {
                continue
            }
            readers.append((device, person))
        }
        guard let last = readers.last else { return }
        for (log, first) in due {
            var next = first
            while next < log.end {
                guard courier.lines[relay]?.questions.putCount ?? .max < Self.putCountMax,
                    let run = try RunReader.forward(
                        log, from: next, room: Self.parcelByteCount, bringsAnchor: true,
                        store: turn.store)
                else { return }
                let places = next..<run.last + 1
                let frame = Frame.operations(
                    Operations(space: space.id, endsAnswer: false, runs: [run]))
                courier.lines[relay]?.underway[space.number, default: [:]][log.tag] =
                    places.upperBound
                for reader in readers {
                    // The relay answers in turn: with the last it has all of them.
                    let isLast = reader.device == last.device
                    _ = try send(
                        [frame], to: reader.device, of: reader.person, on: relay,
                        for: .letter(space.number, log.tag, places, isLast: isLast), &turn)
                }
                next = places.upperBound
            }
        }
        // A device that has heard how far this one is may answer how far it is.
        for reader in readers {
            let own = try Catchup.frontier(
                of: space, .everything(), for: reader.device, asks: false, in: turn.store)
            _ = try send([.frontier(own)], to: reader.device, of: reader.person, on: relay, &turn)
        }
    }
}
