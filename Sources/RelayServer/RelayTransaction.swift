import Foundation
import GRDB
import ParleyRelaying
import ParleyWire

/// The orders of one batch, carried out on an open connection.
struct RelayTransaction {
    /// What is known of the whole store.
    struct Totals {
        var newest: UInt64
        var byteCount: Int64
    }

    private struct Mailbox {
        let number: Int64
        let writer: Data
        let expires: UInt64
        let byteCountMax: Int64
        var byteCount: Int64
        let newest: Int64
    }

    let db: Database
    let now: UInt64
    private(set) var totals: Totals
    let byteCountMax: Int64

    init(db: Database, now: UInt64, totals: Totals, byteCountMax: Int64) {
        self.db = db
        self.now = now
        self.totals = totals
        self.byteCountMax = byteCountMax
    }

    mutating func perform(_ order: RelayOrder) throws -> RelayOutcome {
        switch order {
        case .open(let id, let writer, let ticket, let terms):
            return .answer(try open(id, writer, ticket, terms))
        case .put(let id, let signer, let hash, let envelope):
            return try put(envelope, hash, in: id, by: signer)
        case .get(let id, let range): return .answer(try get(id, range))
        case .newest(let id):
            return .answer(.subscribed(newest: UInt64(try mailbox(id)?.newest ?? 0)))
        case .acknowledge(let id, let counter): return .answer(try acknowledge(id, counter))
        case .mayWrite(let id, let signer):
            let refusal = Self.refusal(try mailbox(id), id, signer, now)
            return .answer(refusal.map { .refused($0) } ?? .done)
        case .putChunk(let id, let name, let chunk):
            return .answer(try put(chunk, name, for: id))
        case .getChunk(let name):
            let bytes = try Data.fetchOne(
                statement("SELECT bytes FROM chunks WHERE name = ?"), arguments: [name.data])
            return .answer(bytes.map { .chunk(Array($0)) } ?? .refused(.noChunk))
        case .expire(let envelopes, let chunks):
            try expire(envelopes, chunks)
            return .answer(.done)
        }
    }

    /// What is kept of the whole store.
    func finish() throws {
        try execute("UPDATE store SET newest = ?", [Int64(totals.newest)])
    }

    // MARK: Mailboxes

    private func mailbox(_ id: MailboxID) throws -> Mailbox? {
        let row = try Row.fetchOne(
            statement(
                """
                SELECT number, writer, expires, byte_count_max, byte_count, newest
                FROM mailboxes WHERE id = ?
                """), arguments: [id.data])
        return row.map { row in
            let expires: Int64 = row[2]
            return Mailbox(
                number: row[0], writer: row[1], expires: UInt64(expires), byteCountMax: row[3],
                byteCount: row[4], newest: row[5])
        }
    }

    /// Why this key may not write now; nil where it may.
    private static func refusal(
        _ mailbox: Mailbox?, _ id: MailboxID, _ signer: MailboxID, _ now: UInt64
    ) -> RelayRefusal? {
        guard let mailbox, mailbox.expires > now else { return .noMailbox }
        return signer == id || mailbox.writer == signer.data ? nil : .forbidden
    }

    private func open(
        _ id: MailboxID, _ writer: MailboxID?, _ ticket: Digest?, _ terms: MailboxTerms
    ) throws -> RelayAnswer {
        let kept = try mailbox(id)
        var expires = kept?.expires ?? 0
        var room = kept?.byteCountMax ?? 0
        if expires <= now + terms.renewal {
            if let paid = try ticket.flatMap(spend) {
                room = paid
                expires = now + terms.lifetime
            } else if !terms.needsTicket {
                room = max(room, Int64(clamping: terms.byteCountMax))
                expires = now + terms.lifetime
            } else if expires <= now {
                return .refused(ticket == nil ? .ticketNeeded : .badTicket)
            }
        }
        try execute(
            """
            INSERT INTO mailboxes (id, writer, expires, byte_count_max) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (id) DO UPDATE SET writer = ?2, expires = ?3, byte_count_max = ?4
            """,
            [id.data, writer?.data ?? kept?.writer ?? Data(), Int64(clamping: expires), room])
        return .opened(expires: expires, byteCountMax: UInt64(room))
    }

    private func spend(_ ticket: Digest) throws -> Int64? {
        try Int64.fetchOne(
            statement("DELETE FROM tickets WHERE hash = ? RETURNING byte_count_max"),
            arguments: [ticket.data])
    }

    // MARK: Envelopes

    private mutating func put(
        _ envelope: [UInt8], _ hash: Digest, in id: MailboxID, by signer: MailboxID
    ) throws -> RelayOutcome {
        let found = try mailbox(id)
        if let refusal = Self.refusal(found, id, signer, now) { return .answer(.refused(refusal)) }
        guard var mailbox = found else { return .answer(.refused(.noMailbox)) }
        let name = Data(hash.bytes.prefix(16))
        let known = try Int64.fetchOne(
            statement("SELECT counter FROM envelopes WHERE mailbox = ? AND hash = ?"),
            arguments: [mailbox.number, name])
        if let known { return .known(counter: UInt64(known)) }
        let size = Int64(envelope.count)
        try makeRoom(for: size, in: &mailbox)
        guard totals.byteCount + size <= byteCountMax else {
            return .answer(.refused(.busy(retryAfter: Self.fullDelay)))
        }
        totals.newest = RelayCounter.next(after: totals.newest, at: now)
        totals.byteCount += size
        let counter = Int64(totals.newest)
        try execute(
            "INSERT INTO envelopes (counter, mailbox, hash, bytes) VALUES (?, ?, ?, ?)",
            [counter, mailbox.number, name, Data(envelope)])
        try execute(
            "UPDATE mailboxes SET byte_count = ?, newest = ? WHERE number = ?",
            [mailbox.byteCount + size, counter, mailbox.number])
        return .answer(.stored(counter: totals.newest))
    }

    /// How long who meets a full disk shall wait: envelopes go by the day.
    private static let fullDelay: UInt32 = 600_000

    /// Lets the oldest envelopes go until so many bytes fit.
    private mutating func makeRoom(for size: Int64, in mailbox: inout Mailbox) throws {
        guard mailbox.byteCount + size > mailbox.byteCountMax else { return }
        let rows = try Row.fetchCursor(
            statement(
                "SELECT counter, length(bytes) FROM envelopes WHERE mailbox = ? ORDER BY counter"),
            arguments: [mailbox.number])
        var last: Int64?
        while mailbox.byteCount + size > mailbox.byteCountMax, let row = try rows.next() {
            let gone: Int64 = row[1]
            mailbox.byteCount -= gone
            totals.byteCount -= gone
            last = row[0]
        }
        if let last { try delete(upTo: last, in: mailbox) }
    }

    private func delete(upTo counter: Int64, in mailbox: Mailbox) throws {
        try execute(
            "DELETE FROM envelopes WHERE mailbox = ? AND counter <= ?", [mailbox.number, counter])
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

    private mutating func acknowledge(_ id: MailboxID, _ counter: UInt64) throws -> RelayAnswer {
        guard let mailbox = try mailbox(id) else { return .refused(.noMailbox) }
        guard !mailbox.writer.isEmpty else { return .refused(.forbidden) }
        let last = Int64(clamping: counter)
        let gone =
            try Int64.fetchOne(
                statement(
                    """
                    SELECT ifnull(sum(length(bytes)), 0) FROM envelopes
                    WHERE mailbox = ? AND counter <= ?
                    """), arguments: [mailbox.number, last]) ?? 0
        try delete(upTo: last, in: mailbox)
        try subtract(gone, from: mailbox.number)
        return .done
    }

    private mutating func subtract(_ gone: Int64, from mailbox: Int64) throws {
        totals.byteCount -= gone
        try execute(
            "UPDATE mailboxes SET byte_count = byte_count - ? WHERE number = ?", [gone, mailbox])
    }

    // MARK: Chunks

    private mutating func put(
        _ chunk: [UInt8], _ name: Digest, for id: MailboxID
    ) throws -> RelayAnswer {
        if let refusal = Self.refusal(try mailbox(id), id, id, now) { return .refused(refusal) }
        guard totals.byteCount + Int64(chunk.count) <= byteCountMax else {
            return .refused(.busy(retryAfter: Self.fullDelay))
        }
        try execute(
            "INSERT OR IGNORE INTO chunks (name, came, bytes) VALUES (?, ?, ?)",
            [name.data, Int64(clamping: now), Data(chunk)])
        if db.changesCount > 0 { totals.byteCount += Int64(chunk.count) }
        return .stored(counter: 0)
    }

    // MARK: Time

    private mutating func expire(_ envelopes: UInt64, _ chunks: UInt64) throws {
        // Counters are microseconds: the oldest have the least.
        let old = try Row.fetchAll(
            statement(
                """
                SELECT mailbox, ifnull(sum(length(bytes)), 0), max(counter) FROM (
                    SELECT mailbox, counter, bytes FROM envelopes WHERE counter < ?
                    ORDER BY counter LIMIT \(SQLiteRelayStore.expiredRowCountMax))
                GROUP BY mailbox
                """),
            arguments: [
                Int64(clamping: envelopes.multipliedReportingOverflow(by: 1000).partialValue)
            ])
        for row in old {
            let (mailbox, gone, last): (Int64, Int64, Int64) = (row[0], row[1], row[2])
            try execute(
                "DELETE FROM envelopes WHERE mailbox = ? AND counter <= ?", [mailbox, last])
            try subtract(gone, from: mailbox)
        }
        let gone =
            try Int64.fetchOne(
                statement("SELECT ifnull(sum(length(bytes)), 0) FROM chunks WHERE came < ?"),
                arguments: [Int64(clamping: chunks)]) ?? 0
        try execute("DELETE FROM chunks WHERE came < ?", [Int64(clamping: chunks)])
        totals.byteCount -= gone
        try execute(
            "DELETE FROM mailboxes WHERE expires <= ? AND byte_count = 0",
            [Int64(clamping: now)])
        // A part of what is free goes back to the disk; the rest is used again, or goes next time.
        try db.execute(sql: "PRAGMA incremental_vacuum(\(SQLiteRelayStore.freedPageCountMax))")
    }

    // MARK: Statements

    private func statement(_ sql: String) throws -> Statement { try db.cachedStatement(sql: sql) }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try statement(sql).execute(arguments: arguments)
    }
}

extension Identifier {
    fileprivate var data: Data { withUnsafeBytes { Data($0) } }
}
