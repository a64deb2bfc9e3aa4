import GRDB
import ParleyRelaying
import ParleyWire

/// What goes so that something new fits: of its own mailbox, and of others that nobody pays for.
///
/// Everybody waits for a transaction, so what one deletes has a bound of its own. Who needs more is told to
/// come again soon, and by then it is there: what was deleted stays so.
extension RelayTransaction {
    /// Bytes that a put may push out of its own mailbox, whatever else the transaction deletes: what it
    /// brings, and as much again so that a mailbox whose room has shrunk shrinks as well.
    private static let ownByteCountMax = 2 * Int64(Limits.envelopeByteCountMax)

    /// Lets envelopes go until so many bytes fit. Returns why they do not; nil where they do.
    mutating func makeRoom(
        for size: Int64, in mailbox: inout Mailbox, by right: MailboxRight
    ) throws -> RelayRefusal? {
        let most = mailbox.isPaid ? bounds.byteCountMax : bounds.unpaidByteCountMax
        let quota = min(mailbox.byteCountMax, Int64(clamping: most))
        switch right {
        case .drop, .shelf:
            // Whoever put what is there was told that it is kept.
            guard mailbox.byteCount + size <= quota else {
                return right == .drop ? .full : .busyAsFull
            }
        case .inbox, .named:
            let room = quota - min(quota, size)
            try dropOldest(until: room, in: &mailbox)
            guard mailbox.byteCount <= room else { return .busyAsEmptying }
        }
        while isShort(of: size, for: mailbox) {
            guard let shelves = try givesWay(to: mailbox) else { return .busyAsFull }
            guard try emptyUntouched(besides: mailbox, shelves: shelves) else {
                return .busyAsEmptying
            }
        }
        return nil
    }

    private func isShort(of size: Int64, for mailbox: Mailbox) -> Bool {
        if totals.byteCount + size > Int64(clamping: bounds.byteCountMax) { return true }
        guard !mailbox.isPaid else { return false }
        return totals.unpaidByteCount + size > Int64(clamping: bounds.unpaidByteCountMax)
            || mailbox.isShelf
                && totals.shelfByteCount + size > Int64(clamping: bounds.shelfByteCountMax)
    }

    /// Lets the oldest envelopes of the greatest share of a mailbox go until it holds no more than so
    /// many bytes, or until enough went for one transaction.
    private mutating func dropOldest(
        until byteCountMax: Int64, in mailbox: inout Mailbox
    ) throws {
        guard mailbox.byteCount > byteCountMax else { return }
        let most = max(Self.ownByteCountMax, allowance.byteCount)
        let end = max(byteCountMax, mailbox.byteCount - most)
        var dropped: Int64 = 0
        var shares = try shares(of: mailbox)
        while mailbox.byteCount > end, let share = RelayShare.greatest(of: shares) {
            let gone = try dropOldest(of: share, mailbox.byteCount - end, in: mailbox.number)
            // Where sums are wrong nothing can be dropped for them.
            shares[share] = gone == 0 ? nil : shares[share].map { $0 - min($0, UInt64(gone)) }
            mailbox.byteCount -= gone
            dropped += gone
            count(-gone, in: mailbox)
        }
        allowance.byteCount -= max(0, dropped - Self.ownByteCountMax)
        try execute(
            "UPDATE mailboxes SET byte_count = ? WHERE number = ?",
            [mailbox.byteCount, mailbox.number])
    }

    /// Whether shelves give way to a mailbox, or others where no shelf is left; nil where nothing does.
    private func givesWay(to mailbox: Mailbox) throws -> Bool? {
        if try untouched(besides: mailbox, shelves: true) != nil { return true }
        // Files push out no messages.
        guard !mailbox.isShelf || mailbox.isPaid else { return nil }
        return try untouched(besides: mailbox, shelves: false) == nil ? nil : false
    }

    /// The unpaid mailbox that was least lately touched, of shelves or of all others, and what it holds.
    private func untouched(besides mailbox: Mailbox, shelves: Bool) throws -> Row? {
        // In words that the partial indexes are found by.
        let isMeant = shelves ? "is_shelf = 1" : "is_shelf = 0"
        return try Row.fetchOne(
            statement(
                """
                SELECT number, byte_count FROM mailboxes
                WHERE is_paid = 0 AND byte_count > 0 AND \(isMeant) AND number <> ?
                ORDER BY touched, id LIMIT 1
                """), arguments: [mailbox.number])
    }

    /// Lets the oldest piece of the unpaid mailbox go that was least lately touched.
    ///
    /// - Returns: false where enough went for one transaction.
    private mutating func emptyUntouched(besides mailbox: Mailbox, shelves: Bool) throws -> Bool {
        guard allowance.rowCount > 0, allowance.byteCount > 0 else { return false }
        guard let row = try untouched(besides: mailbox, shelves: shelves) else { return false }
        let (number, held): (Int64, Int64) = (row[0], row[1])
        let gone: Int64
        if let piece = try oldestPiece(of: number) {
            gone = try deleteOldest(in: number, upTo: piece.last)
            allowance.rowCount -= piece.rowCount
            allowance.byteCount -= gone
            try execute(
                "UPDATE mailboxes SET byte_count = byte_count - ? WHERE number = ?", [gone, number])
        } else {
            // Its sum is wrong: nothing is there any more.
            gone = held
            try execute("DELETE FROM shares WHERE mailbox = ?", [number])
            try execute("UPDATE mailboxes SET byte_count = 0 WHERE number = ?", [number])
        }
        count(-gone, isPaid: false, isShelf: shelves)
        return true
    }

    /// The counter of the last envelope that may go at once, and how many go; nil where there is none.
    private func oldestPiece(of mailbox: Int64) throws -> (last: Int64, rowCount: Int)? {
        let rows = try Row.fetchCursor(
            statement(
                """
                SELECT counter, length(bytes) FROM envelopes WHERE mailbox = ?
                ORDER BY counter LIMIT \(SQLiteRelayStore.deletedRowCountMax)
                """), arguments: [mailbox])
        var piece: (last: Int64, rowCount: Int)?
        var byteCount: Int64 = 0
        while byteCount < allowance.byteCount, let row = try rows.next() {
            let (counter, size): (Int64, Int64) = (row[0], row[1])
            byteCount += size
            piece = (counter, (piece?.rowCount ?? 0) + 1)
        }
        return piece
    }

    /// Deletes what a mailbox holds up to a counter, out of its shares as well. Returns how many bytes went.
    func deleteOldest(in mailbox: Int64, upTo last: Int64) throws -> Int64 {
        let shares = try Row.fetchAll(
            statement(
                """
                SELECT share, sum(length(bytes)) FROM envelopes
                WHERE mailbox = ? AND counter <= ? GROUP BY share
                """), arguments: [mailbox, last])
        var gone: Int64 = 0
        for row in shares {
            let (share, byteCount): (UInt16, Int64) = (row[0], row[1])
            gone += byteCount
            try change(RelayShare(number: share), by: -byteCount, in: mailbox)
        }
        try execute("DELETE FROM envelopes WHERE mailbox = ? AND counter <= ?", [mailbox, last])
        return gone
    }
}
