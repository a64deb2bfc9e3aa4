import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleySealing
import ParleyWire

/// Answers of relays about shelves. None of them blocks anything else. Source:
/// `Protocol/13-files.md`, "Shelves".
extension NodeCore {
    /// If a relay refuses what an honest one accepts, nothing is put there for this long, in
    /// milliseconds.
    static let shelfRefusalPause: UInt64 = 3_600_000
    /// When a relay that has no time is asked again about shelves at the earliest, in milliseconds.
    static let shelfRest: UInt64 = 2_000

    /// Does what is due about shelves.
    mutating func tendShelves(_ turn: inout some Turn) throws(StoreError) {
        guard shelves.takeDue() else { return }
        try fillShelves(&turn)
        try readShelves(&turn)
    }

    /// A relay answered a question about a shelf.
    mutating func answeredAboutShelf(
        _ question: RelayQuestion, _ answer: RelayAnswer, by relay: NoiseKey,
        _ turn: inout some Turn
    ) throws(StoreError) {
        shelves.noteDue()
        switch question {
        case .piece(let blob, let number):
            try answered(piece: number, at: ShelfPlace(blob: blob, relay: relay), answer, &turn)
        case .shelf(let blob):
            try lookedInto(ShelfPlace(blob: blob, relay: relay), answer, &turn)
        case .takenAway(let blob):
            if case .refused(.busy) = answer { return }
            try ShelfRecord.drop(ShelfPlace(blob: blob, relay: relay), in: turn.store)
            try showShelves(of: blob, &turn)
            lookAtShelves(in: Self.shelfDelay, &turn)
        case .shelfPage(let shelf): try answered(page: shelf, answer, &turn)
        default: preconditionFailure("it is about a shelf")
        }
    }

    /// A shelf was not opened: nothing is laid there for a while.
    mutating func shelfWasNotOpened(
        _ refusal: RelayRefusal, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        pauseShelves(at: relay, after: refusal, &turn)
    }

    private mutating func answered(
        piece number: Int, at place: ShelfPlace, _ answer: RelayAnswer, _ turn: inout some Turn
    ) throws(StoreError) {
        switch answer {
        case .stored(let counter):
            try noteCounter(counter, of: place.relay, turn.store)
            courier.lines[place.relay]?.pace.noteWork(at: turn.now.monotonic)
            // Something before it was refused: it is put again with that.
            guard var record = try ShelfRecord.kept(place, in: turn.store),
                record.pieceCount == UInt64(number)
            else { return }
            if number == 0 { (record.first, record.since) = (counter, turn.now.wall) }
            record.pieceCount += 1
            record.last = counter
            record.seen = turn.now.wall
            try record.keep(place, in: turn.store)
            let pieceCount = shelves.laid[place.blob]?.writer.pieceCount ?? 0
            if number == 0 || number + 1 == pieceCount { try showShelves(of: place.blob, &turn) }
        case .refused(let refusal):
            shelves.noteNext(nil, at: place)
            if refusal == .noMailbox {
                // Its time is over, or the relay lost it.
                shelves.noteRoom(nil, at: place)
                let key = try shelfKey(of: place.blob, &turn)
                let mailbox = MailboxID(shelf: key.device)
                courier.lines[place.relay]?.opened.remove(mailbox)
                courier.lines[place.relay]?.paid.remove(mailbox)
            }
            pauseShelves(at: place.relay, after: refusal, &turn)
        default: return
        }
    }

    /// The state shown for a file changed.
    private func showShelves(of blob: BlobID, _ turn: inout some Turn) throws(StoreError) {
        let naming = try turn.store.naming(blob, limit: Self.namingCountMax)
        turn.emit(.changed(naming.map { .message($0.space, $0.operation) }))
    }

    /// The first piece on a shelf was checked.
    private mutating func lookedInto(
        _ place: ShelfPlace, _ answer: RelayAnswer, _ turn: inout some Turn
    ) throws(StoreError) {
        guard var record = try ShelfRecord.kept(place, in: turn.store) else { return }
        switch answer {
        case .entries(let entries, _, _):
            if entries.first?.counter == record.first {
                record.seen = turn.now.wall
                return try record.keep(place, in: turn.store)
            }
            // It was emptied, or is about to be: nothing may be left that precedes its hashes.
            let key = try shelfKey(of: place.blob, &turn)
            ask(
                .acknowledge(upTo: .max), of: MailboxID(shelf: key.device), as: key,
                on: place.relay, for: .whatever, &turn)
            record.beginAnew(at: turn.now.wall)
            shelves.noteNext(nil, at: place)
            try record.keep(place, in: turn.store)
        case .refused(let refusal): pauseShelves(at: place.relay, after: refusal, &turn)
        default: return
        }
    }

    private mutating func pauseShelves(
        at relay: NoiseKey, after refusal: RelayRefusal, _ turn: inout some Turn
    ) {
        var wait = Self.shelfRefusalPause
        switch refusal {
        case .busy(let delay): wait = min(max(UInt64(delay), Self.shelfRest), wait)
        case .noMailbox: wait = Self.shelfRest
        case .forbidden, .ticketNeeded, .badTicket, .malformed, .nobodyThere, .full: break
        }
        shelves.pause(relay, until: turn.now.monotonic + wait)
        lookAtShelves(in: wait, &turn)
    }
}
