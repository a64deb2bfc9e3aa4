import Foundation
import GRDB
public import ParleyRelaying
public import ParleyWire

/// A relay's store in one SQLite file: the mailboxes of one machine.
///
/// A batch of orders is one transaction with `synchronous=FULL`: many envelopes, one fsync. Deleted
/// data is overwritten. Not to be shared between threads.
public final class SQLiteRelayStore: RelayStore {
    /// See ``ParleyRelaying/RelayStore/starts``.
    public let starts: [RelayStart]
    /// See ``ParleyRelaying/RelayStore/newest``.
    public private(set) var newest: UInt64
    /// Bytes of envelopes that are kept.
    public private(set) var byteCount: Int64
    /// Of these, bytes in mailboxes that are not paid.
    public private(set) var unpaidByteCount: Int64
    /// Of these, bytes in shelves.
    public private(set) var shelfByteCount: Int64

    private let bounds: RelayStoreBounds
    private let queue: DatabaseQueue

    /// Most envelopes, and most mailboxes, that one step of
    /// ``ParleyRelaying/RelayOrder/expire(envelopesBefore:)`` deletes: 64 MiB.
    static let expiredRowCountMax = 1_024
    /// Most envelopes of a mailbox that one step deletes of what is acknowledged: 16 MiB of a shelf.
    static let deletedRowCountMax = 256
    /// Most envelopes that one transaction deletes of the mailboxes of others, to make room.
    static let freedRowCountMax = 4_096
    /// Most bytes that it deletes so: a quarter of what may wait for one.
    static let freedByteCountMax: Int64 = 8 << 20
    /// Most pages that one step gives back to the disk.
    static let freedPageCountMax = 4_096

    /// Opens the store of this file, or makes it.
    ///
    /// - Parameters:
    ///   - start: a random number, which names this start.
    ///   - bounds: how much it keeps.
    public init(
        path: String, start: UInt64, bounds: RelayStoreBounds = RelayStoreBounds()
    ) throws(RelayStoreFailure) {
        self.bounds = bounds
        let totals: RelayTransaction.Totals
        (queue, starts, totals) = try Self.telling("opening the store") {
            // The file must be its owner's alone from the first moment.
            _ = Foundation.close(Foundation.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600))
            let queue = try DatabaseQueue(path: path, configuration: RelaySchema.configuration)
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: RelaySchema.opening)
            }
            return try queue.write { db in
                try db.execute(sql: RelaySchema.tables)
                try RelaySchema.addShares(to: db)
                try RelaySchema.addShelves(to: db)
                try db.execute(sql: "INSERT OR IGNORE INTO store (id, newest) VALUES (1, 0)")
                let newest = try Int64.fetchOne(db, sql: "SELECT newest FROM store") ?? 0
                let starts = try Self.add(start, at: newest, db)
                return (queue, starts, try RelaySchema.totals(of: db, newest: newest))
            }
        }
        newest = totals.newest
        byteCount = totals.byteCount
        unpaidByteCount = totals.unpaidByteCount
        shelfByteCount = totals.shelfByteCount
    }

    /// Notes a start of the store, and gives the last ones.
    private static func add(_ start: UInt64, at newest: Int64, _ db: Database) throws
        -> [RelayStart]
    {
        try db.execute(
            sql: "INSERT INTO starts (id, newest) VALUES (?, ?)",
            arguments: [Int64(bitPattern: start), newest])
        let rows = try Row.fetchAll(
            db, sql: "SELECT number, id, newest FROM starts ORDER BY number DESC LIMIT ?",
            arguments: [RelayWelcome.startCountMax])
        let oldest: Int64 = rows.last?["number"] ?? 0
        try db.execute(sql: "DELETE FROM starts WHERE number < ?", arguments: [oldest])
        return rows.map { row in
            let (id, newest): (Int64, Int64) = (row["id"], row["newest"])
            return RelayStart(id: UInt64(bitPattern: id), newest: UInt64(newest))
        }
    }

    /// See ``ParleyRelaying/RelayStore/perform(_:at:)``.
    public func perform(
        _ orders: [RelayOrder], at now: UInt64
    ) throws(RelayStoreFailure) -> [RelayOutcome] {
        let writes = orders.contains(where: \.writes)
        let start = RelayTransaction.Totals(
            newest: newest, byteCount: byteCount, unpaidByteCount: unpaidByteCount,
            shelfByteCount: shelfByteCount)
        let (outcomes, end) = try Self.telling("storing") {
            try queue.writeWithoutTransaction { db in
                var outcomes: [RelayOutcome] = []
                var transaction = RelayTransaction(
                    db: db, now: now, totals: start, bounds: bounds)
                guard writes else {
                    for order in orders { outcomes.append(try transaction.perform(order)) }
                    return (outcomes, transaction.totals)
                }
                try db.inTransaction(.immediate) {
                    for order in orders { outcomes.append(try transaction.perform(order)) }
                    try transaction.finish()
                    return .commit
                }
                return (outcomes, transaction.totals)
            }
        }
        newest = end.newest
        byteCount = end.byteCount
        unpaidByteCount = end.unpaidByteCount
        shelfByteCount = end.shelfByteCount
        return outcomes
    }

    /// Closes the file. Nothing may be asked of the store afterwards.
    public func close() throws(RelayStoreFailure) {
        try Self.telling("closing the store") { try queue.close() }
    }

    /// How many pages the file has, and how many of them hold nothing: for tests.
    func pageCounts() throws -> (all: Int, free: Int) {
        try queue.read { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0,
                try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            )
        }
    }

    /// Runs statements beside the orders: for tests that break a store.
    func run(_ sql: String) throws {
        try queue.write { try $0.execute(sql: sql) }
    }

    // MARK: Tickets

    /// Lets the ticket with this hash pay for a mailbox of so many bytes.
    public func issue(
        _ ticket: Digest, byteCountMax: UInt64, at now: UInt64
    ) throws(RelayStoreFailure) {
        try Self.telling("issuing a ticket") {
            try queue.write { db in
                try db.execute(
                    sql: "INSERT INTO tickets (hash, byte_count_max, made) VALUES (?, ?, ?)",
                    arguments: [
                        Data(ticket.bytes), Int64(clamping: byteCountMax), Int64(clamping: now),
                    ])
            }
        }
    }

    /// A ticket that nobody has used.
    public struct Ticket: Equatable, Sendable {
        /// Its hash, the only part of it that is stored.
        public let hash: Digest
        /// Bytes of the mailbox that it pays for.
        public let byteCountMax: UInt64
        /// When it was issued, in Unix milliseconds.
        public let made: UInt64
    }

    /// The tickets that nobody has used, the oldest first. Used ones are not kept: nobody shall
    /// find out which mailbox was paid for with which.
    public func tickets() throws(RelayStoreFailure) -> [Ticket] {
        try Self.telling("reading tickets") {
            try queue.read { db in
                try Row.fetchAll(
                    db, sql: "SELECT hash, byte_count_max, made FROM tickets ORDER BY made, hash"
                ).compactMap { row in
                    let (hash, count, made): (Data, Int64, Int64) = (row[0], row[1], row[2])
                    return Digest(hash).map {
                        Ticket(hash: $0, byteCountMax: UInt64(count), made: UInt64(made))
                    }
                }
            }
        }
    }

    /// Takes back a ticket that nobody has used.
    public func revoke(_ ticket: Digest) throws(RelayStoreFailure) -> Bool {
        try Self.telling("revoking a ticket") {
            try queue.write { db in
                try db.execute(
                    sql: "DELETE FROM tickets WHERE hash = ?", arguments: [Data(ticket.bytes)])
                return db.changesCount > 0
            }
        }
    }

    /// What the database says, without the data to be stored.
    private static func telling<R>(
        _ attempt: String, _ body: () throws -> R
    ) throws(RelayStoreFailure) -> R {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw RelayStoreFailure(
                "\(attempt): \(error.message ?? "no reason") (\(error.extendedResultCode.rawValue))"
            )
        } catch {
            throw RelayStoreFailure("\(attempt): \(error)")
        }
    }
}

/// The tables of a relay.
enum RelaySchema {
    static var configuration: Configuration {
        var configuration = Configuration()
        // `parley relay ticket` writes beside a relay that runs.
        configuration.busyMode = .timeout(10)
        configuration.label = "relay"
        return configuration
    }

    /// The order matters: vacuum is chosen before anything is written.
    static let opening = """
        PRAGMA auto_vacuum = INCREMENTAL;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA secure_delete = ON;
        PRAGMA wal_autocheckpoint = 4000;
        """

    /// Envelopes of a store from before shares are in the common one.
    static func addShares(to db: Database) throws {
        if try !db.columns(in: "envelopes").contains(where: { $0.name == "share" }) {
            try db.execute(
                sql: "ALTER TABLE envelopes ADD COLUMN share INTEGER NOT NULL DEFAULT 0")
        }
        try db.execute(
            sql: """
                CREATE INDEX IF NOT EXISTS envelopes_by_share ON envelopes (mailbox, share)
                    WHERE share <> 0
                """)
    }

    /// Mailboxes of a store from before shelves are none.
    static func addShelves(to db: Database) throws {
        if try !db.columns(in: "mailboxes").contains(where: { $0.name == "is_shelf" }) {
            try db.execute(
                sql: "ALTER TABLE mailboxes ADD COLUMN is_shelf INTEGER NOT NULL DEFAULT 0")
        }
        try db.execute(
            sql: """
                CREATE INDEX IF NOT EXISTS shelves_by_touch ON mailboxes (touched, id)
                    WHERE is_paid = 0 AND byte_count > 0 AND is_shelf = 1
                """)
    }

    /// What all mailboxes hold.
    static func totals(of db: Database, newest: Int64) throws -> RelayTransaction.Totals {
        let sums = try Row.fetchOne(
            db,
            sql: """
                SELECT ifnull(sum(byte_count), 0),
                    ifnull(sum(byte_count) FILTER (WHERE is_paid = 0), 0),
                    ifnull(sum(byte_count) FILTER (WHERE is_paid = 0 AND is_shelf = 1), 0)
                FROM mailboxes
                """)
        return RelayTransaction.Totals(
            newest: UInt64(newest), byteCount: sums?[0] ?? 0, unpaidByteCount: sums?[1] ?? 0,
            shelfByteCount: sums?[2] ?? 0)
    }

    /// Counters are rising and an envelope's key, so that the index on `mailbox` alone lists a
    /// mailbox in their order.
    static let tables = """
        CREATE TABLE IF NOT EXISTS store (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            newest INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS starts (
            number INTEGER PRIMARY KEY,
            id INTEGER NOT NULL,
            newest INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS mailboxes (
            number INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            writers BLOB NOT NULL DEFAULT x'',
            expires INTEGER NOT NULL,
            byte_count_max INTEGER NOT NULL,
            is_paid INTEGER NOT NULL DEFAULT 0,
            touched INTEGER NOT NULL DEFAULT 0,
            byte_count INTEGER NOT NULL DEFAULT 0,
            newest INTEGER NOT NULL DEFAULT 0,
            is_shelf INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX IF NOT EXISTS mailboxes_by_end ON mailboxes (expires);
        CREATE INDEX IF NOT EXISTS mailboxes_by_touch ON mailboxes (touched, id)
            WHERE is_paid = 0 AND byte_count > 0;
        CREATE TABLE IF NOT EXISTS envelopes (
            counter INTEGER PRIMARY KEY,
            mailbox INTEGER NOT NULL REFERENCES mailboxes (number),
            share INTEGER NOT NULL DEFAULT 0,
            hash BLOB NOT NULL,
            bytes BLOB NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS shares (
            mailbox INTEGER NOT NULL REFERENCES mailboxes (number) ON DELETE CASCADE,
            share INTEGER NOT NULL,
            byte_count INTEGER NOT NULL,
            PRIMARY KEY (mailbox, share)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS envelopes_by_mailbox ON envelopes (mailbox);
        CREATE UNIQUE INDEX IF NOT EXISTS envelopes_by_hash ON envelopes (mailbox, hash);
        CREATE TABLE IF NOT EXISTS tickets (
            hash BLOB PRIMARY KEY,
            byte_count_max INTEGER NOT NULL,
            made INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
