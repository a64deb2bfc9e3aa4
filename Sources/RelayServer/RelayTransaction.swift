import Foundation
import GRDB
import ParleyRelaying
import ParleyWire

/// The orders of one batch, carried out on an open connection.
struct RelayTransaction {
    /// What is known about the whole store.
    struct Totals {
        var newest: UInt64
        var byteCount: Int64
        /// Of these bytes, those in mailboxes that are not paid.
        var unpaidByteCount: Int64
        /// Of these, those in shelves.
        var shelfByteCount: Int64
    }

    struct Mailbox {
        let number: Int64
        let writers: Data
        let expires: UInt64
        let byteCountMax: Int64
        let isPaid: Bool
        var byteCount: Int64
        let newest: Int64
        let isShelf: Bool
    }

    /// What one transaction deletes to make room: everybody waits for it.
    struct Allowance {
        var rowCount = SQLiteRelayStore.freedRowCountMax
        var byteCount = SQLiteRelayStore.freedByteCountMax
    }

    let db: Database
    let now: UInt64
    private(set) var totals: Totals
    let bounds: RelayStoreBounds
    /// What may still be deleted in this transaction to make room.
    var allowance = Allowance()

    init(db: Database, now: UInt64, totals: Totals, bounds: RelayStoreBounds) {
        self.db = db
        self.now = now
        self.totals = totals
        self.bounds = bounds
    }

    mutating func perform(_ order: RelayOrder) throws -> RelayOutcome {
        switch order {
        case .open(let id, let writers, let ticket, let terms):
            return .answer(try open(id, writers, ticket, terms))
        case .put(let id, let right, let share, let hash, let envelope):
            return try put(envelope, hash, in: id, by: right, share)
        case .get(let id, let range): return .answer(try get(id, range))
        case .read(let id, let reader, let range):
            return .answer(try read(id, by: reader, range))
        case .newest(let id):
            return .answer(.subscribed(newest: UInt64(try mailbox(id)?.newest ?? 0)))
        case .acknowledge(let id, let counter): return try acknowledge(id, counter)
        case .mayWrite(let id, let right):
            return .answer(refusal(try mailbox(id), right).map { .refused($0) } ?? .done)
        case .expire(let envelopes):
            return try expire(envelopes) ? .unfinished(order) : .answer(.done)
        }
    }

    /// What is stored about the whole store.
    func finish() throws {
        try execute("UPDATE store SET newest = ?", [Int64(totals.newest)])
    }

    // MARK: Mailboxes

    private func mailbox(_ id: MailboxID) throws -> Mailbox? {
        let row = try Row.fetchOne(
            statement(
                """
                SELECT number, writers, expires, byte_count_max, is_paid, byte_count, newest,
                    is_shelf FROM mailboxes WHERE id = ?
                """), arguments: [id.data])
        return row.map { row in
            let expires: Int64 = row[2]
            return Mailbox(
                number: row[0], writers: row[1], expires: UInt64(expires), byteCountMax: row[3],
                isPaid: row[4], byteCount: row[5], newest: row[6], isShelf: row[7])
        }
    }

    /// Why nobody with this right may write now; nil where they may.
    private func refusal(_ mailbox: Mailbox?, _ right: MailboxRight) -> RelayRefusal? {
        guard let mailbox, mailbox.expires > now else { return .noMailbox }
        guard case .named(let writer) = right else { return nil }
        return !mailbox.isShelf && names(mailbox, writer) ? nil : .forbidden
    }

    /// Whether the owner of a mailbox named this key.
    private func names(_ mailbox: Mailbox, _ writer: WriterID) -> Bool {
        // Names have one size: they stand one after the other.
        let size = writer.bytes.count
        return stride(from: 0, to: mailbox.writers.count, by: size).contains { place in
            mailbox.writers.dropFirst(place).prefix(size).elementsEqual(writer.bytes)
        }
    }

    private mutating func open(
        _ id: MailboxID, _ writers: [WriterID]?, _ ticket: Digest?, _ terms: MailboxTerms
    ) throws -> RelayAnswer {
        let kept = try mailbox(id)
        var expires = kept?.expires ?? 0
        var room = kept?.byteCountMax ?? 0
        var isPaid = kept?.isPaid ?? false
        let isOver = expires <= now
        if expires <= now + terms.renewal {
            if let paid = try ticket.flatMap(spend) {
                (room, isPaid) = (paid, true)
                expires = now + terms.lifetime
            } else if terms.needsTicket {
                if isOver { return .refused(ticket == nil ? .ticketNeeded : .badTicket) }
            } else if isOver || !isPaid {
                (room, isPaid) = (Int64(clamping: terms.byteCountMax), false)
                expires = now + terms.lifetime
            }
        }
        // A relay that gives more room since it was started again gives it to what is there, too.
        if !isPaid, !terms.needsTicket { room = max(room, Int64(clamping: terms.byteCountMax)) }
        let named = writers.map { Data($0.flatMap(\.bytes)) } ?? kept?.writers ?? Data()
        try execute(
            """
            INSERT INTO mailboxes (id, writers, expires, byte_count_max, is_paid, touched, is_shelf)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (id) DO UPDATE SET writers = ?2, expires = ?3, byte_count_max = ?4,
                is_paid = ?5, touched = ?6
            """,
            [
                id.data, named, Int64(clamping: expires), room, isPaid, Int64(clamping: now),
                terms.isShelf,
            ])
        if let kept, kept.isPaid != isPaid {
            let change = isPaid ? -kept.byteCount : kept.byteCount
            totals.unpaidByteCount += change
            if kept.isShelf { totals.shelfByteCount += change }
        }
        return .opened(expires: expires, byteCountMax: UInt64(room))
    }

    private func spend(_ ticket: Digest) throws -> Int64? {
        try Int64.fetchOne(
            statement("DELETE FROM tickets WHERE hash = ? RETURNING byte_count_max"),
            arguments: [ticket.data])
    }

    // MARK: Envelopes

    private mutating func put(
        _ envelope: [UInt8], _ hash: Digest, in id: MailboxID, by right: MailboxRight,
        _ share: RelayShare
    ) throws -> RelayOutcome {
        let found = try mailbox(id)
        if let refusal = refusal(found, right) { return .answer(.refused(refusal)) }
        guard var mailbox = found else { return .answer(.refused(.noMailbox)) }
        let name = Data(hash.bytes.prefix(16))
        let known = try Int64.fetchOne(
            statement("SELECT counter FROM envelopes WHERE mailbox = ? AND hash = ?"),
            arguments: [mailbox.number, name])
        if let known { return .known(counter: UInt64(known)) }
        let size = Int64(envelope.count)
        if let refusal = try makeRoom(for: size, in: &mailbox, by: right) {
            return .answer(.refused(refusal))
        }
        totals.newest = RelayCounter.next(after: totals.newest, at: now)
        count(size, in: mailbox)
        let counter = Int64(totals.newest)
        try execute(
            "INSERT INTO envelopes (counter, mailbox, share, hash, bytes) VALUES (?, ?, ?, ?, ?)",
            [counter, mailbox.number, share.number, name, Data(envelope)])
        try change(share, by: size, in: mailbox.number)
        try execute(
            "UPDATE mailboxes SET byte_count = ?, newest = ?, touched = ? WHERE number = ?",
            [mailbox.byteCount + size, counter, Int64(clamping: now), mailbox.number])
        return .answer(.stored(counter: totals.newest))
    }

    mutating func count(_ byteCount: Int64, in mailbox: Mailbox) {
        count(byteCount, isPaid: mailbox.isPaid, isShelf: mailbox.isShelf)
    }

    mutating func count(_ byteCount: Int64, isPaid: Bool, isShelf: Bool) {
        totals.byteCount += byteCount
        if !isPaid { totals.unpaidByteCount += byteCount }
        if !isPaid, isShelf { totals.shelfByteCount += byteCount }
    }

    // MARK: Reading

    private func read(
        _ id: MailboxID, by reader: WriterID, _ range: RelayRange
    ) throws -> RelayAnswer {
        guard let mailbox = try mailbox(id) else { return .refused(.noMailbox) }
        guard mailbox.isShelf, names(mailbox, reader) else { return .refused(.forbidden) }
        return try get(id, range)
    }

    private func get(_ id: MailboxID, _ range: RelayRange) throws -> RelayAnswer {
        guard let mailbox = try mailbox(id) else {
            return .entries([], hasMore: false, newest: 0)
        }
        let order = range.isNewestFirst ? "DESC" : "ASC"
        let rows = try Row.fetchCursor(
            statement(
                """
                SELECT counter, bytes FROM envelopes
                WHERE mailbox = ? AND counter > ? AND counter < ? ORDER BY counter \(order)
                """),
            arguments: [
                mailbox.number, Int64(clamping: range.after), Int64(clamping: range.before),
            ])
        var page: [RelayEntry] = []
        var byteCount = 0
        while let row = try rows.next() {
            let (counter, bytes): (Int64, Data) = (row[0], row[1])
            byteCount += bytes.count
            guard page.isEmpty || byteCount <= range.byteCountMax,
                page.count < Limits.relayEntryCountMax
            else { return .entries(page, hasMore: true, newest: UInt64(mailbox.newest)) }
            page.append(RelayEntry(counter: UInt64(counter), envelope: Array(bytes)))
        }
        return .entries(page, hasMore: false, newest: UInt64(mailbox.newest))
    }

    /// Deletes a part of what is acknowledged: a shelf may hold hundreds of MiB, and everybody
    /// waits for a transaction.
    private mutating func acknowledge(_ id: MailboxID, _ counter: UInt64) throws -> RelayOutcome {
        guard let mailbox = try mailbox(id) else { return .answer(.refused(.noMailbox)) }
        // New envelopes that are put while parts are left are not included.
        let end = min(Int64(clamping: counter), mailbox.newest)
        let next = try Int64.fetchOne(
            statement(
                """
                SELECT counter FROM envelopes WHERE mailbox = ? AND counter <= ?
                ORDER BY counter LIMIT 1 OFFSET \(SQLiteRelayStore.deletedRowCountMax)
                """), arguments: [mailbox.number, end])
        let last = next.map { $0 - 1 } ?? end
        let gone = try deleteOldest(in: mailbox.number, upTo: last)
        count(-gone, in: mailbox)
        try execute(
            "UPDATE mailboxes SET byte_count = byte_count - ?, touched = ? WHERE number = ?",
            [gone, Int64(clamping: now), mailbox.number])
        return next == nil ? .answer(.done) : .unfinished(.acknowledge(id, upTo: UInt64(end)))
    }

    // MARK: Time

    /// Forgets some of what is over. Returns whether there may be more.
    private mutating func expire(_ envelopes: UInt64) throws -> Bool {
        // Counters are microseconds: the oldest have the least.
        let old = try Row.fetchAll(
            statement(
                """
                SELECT old.mailbox, old.gone, old.last, mailboxes.is_paid, old.share,
                    mailboxes.is_shelf FROM (
                    SELECT mailbox, share, ifnull(sum(length(bytes)), 0) AS gone,
                        max(counter) AS last
                    FROM (SELECT mailbox, share, counter, bytes FROM envelopes WHERE counter < ?
                        ORDER BY counter LIMIT \(SQLiteRelayStore.expiredRowCountMax))
                    GROUP BY mailbox, share) AS old
                JOIN mailboxes ON mailboxes.number = old.mailbox
                """),
            arguments: [
                Int64(clamping: envelopes.multipliedReportingOverflow(by: 1000).partialValue)
            ])
        var goneCount = 0
        for row in old {
            let (mailbox, gone, last): (Int64, Int64, Int64) = (row[0], row[1], row[2])
            let (isPaid, share, isShelf): (Bool, UInt16, Bool) = (row[3], row[4], row[5])
            try execute(
                "DELETE FROM envelopes WHERE mailbox = ? AND counter <= ?", [mailbox, last])
            goneCount += db.changesCount
            try execute(
                "UPDATE mailboxes SET byte_count = byte_count - ? WHERE number = ?",
                [gone, mailbox])
            try change(RelayShare(number: share), by: -gone, in: mailbox)
            count(-gone, isPaid: isPaid, isShelf: isShelf)
        }
        // A flood of openings is over within a minute as well.
        try execute(
            """
            DELETE FROM mailboxes WHERE number IN (
                SELECT number FROM mailboxes WHERE expires <= ? AND byte_count = 0
                ORDER BY expires LIMIT \(SQLiteRelayStore.expiredRowCountMax))
            """, [Int64(clamping: now)])
        let hasMore = max(goneCount, db.changesCount) >= SQLiteRelayStore.expiredRowCountMax
        // A part of what is free goes back to the disk; the rest is used again, or goes next time.
        try db.execute(sql: "PRAGMA incremental_vacuum(\(SQLiteRelayStore.freedPageCountMax))")
        return hasMore
    }

    // MARK: Statements

    func statement(_ sql: String) throws -> Statement { try db.cachedStatement(sql: sql) }

    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try statement(sql).execute(arguments: arguments)
    }
}

extension Identifier {
    fileprivate var data: Data { withUnsafeBytes { Data($0) } }
}
