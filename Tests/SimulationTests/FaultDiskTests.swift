import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import Testing

@testable import ParleySimulatedDisk
@testable import ParleyStorage

@Suite("A disk that breaks")
struct FaultDiskTests {
    @Test("what was synced stays, and the rest is kept, dropped or torn")
    func losses() throws {
        let disk = FaultDisk(seed: 1)
        var table = try Table(on: disk)
        for round in 0..<100 {
            for _ in 0..<5 { try table.add(.normal) }
            disk.losePower()
            table = try Table(on: disk, after: table)
            #expect(try table.complaints().isEmpty, "round \(round)")
        }
        let losses = disk.losses
        #expect(losses.kept > 0 && losses.dropped > 0 && losses.torn > 0, "\(losses)")
    }

    /// The power goes at any call of the disk: from then on none succeeds, and then it is dark.
    @Test("Attack 33: a thousand losses of power at any call take no transaction that was durable")
    func thousand() throws {
        let disk = FaultDisk(seed: 2)
        var random = SeededRandom(seed: 3)
        var table = try Table(on: disk)
        var broken: [String] = []
        for round in 0..<1_000 {
            disk.fail(.inputOutput, atCall: Int(1 + random.next() % 60), isLasting: true)
            do {
                for _ in 0..<40 {
                    try table.add(random.next() % 3 == 0 ? .full : .normal)
                    if random.next() % 8 == 0 { try table.checkpoint() }
                }
            } catch is StoreError {}
            disk.losePower()
            disk.failNoMore()
            table = try Table(on: disk, after: table)
            broken += try table.complaints().map { "round \(round): \($0)" }
        }
        #expect(broken.isEmpty, "\(broken.prefix(3))")
        #expect(disk.faultCount > 500)
        #expect(table.durable > 100, "\(table.durable)")
    }

    @Test("a full disk at each of its calls takes nothing, and all goes on where there is room")
    func full() throws {
        for call in 1...60 {
            let disk = FaultDisk(seed: 4)
            let table = try Table(on: disk)
            try table.add(.full)
            disk.fail(.full, atCall: call)
            var refused = 0
            for _ in 0..<10 {
                do { try table.add(.full) } catch let error as StoreError {
                    #expect(error.code == .full)
                    refused += 1
                }
            }
            disk.failNoMore()
            #expect(refused <= 1)
            try table.add(.full)
            #expect(try table.complaints().isEmpty, "call \(call)")
            #expect(try table.count() == 12 - refused)
        }
    }

    @Test("what a dead process has open fails, and what it wrote is there for the next one")
    func killed() throws {
        let disk = FaultDisk(seed: 5)
        let table = try Table(on: disk)
        try table.add(.normal)
        disk.kill()
        #expect(throws: StoreError.self) { try table.add(.normal) }
        #expect(try Table(on: disk, after: table).count() == 1)
    }

    @Test("a file that was made and never synced may vanish, and a synced one never does")
    func names() throws {
        var vanished = 0
        for seed: UInt64 in 0..<40 {
            let disk = FaultDisk(seed: seed)
            try disk.makeDatabase(disk.home.database)
            let careless = try Connection(
                path: disk.home.database, fileSystem: disk.fileSystem)
            try careless.execute(
                """
                PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; CREATE TABLE t (n);
                BEGIN; INSERT INTO t VALUES (1);
                """, "writing without a sync")
            #expect(disk.bytes(of: "database-journal") != nil)
            disk.losePower()
            #expect(disk.bytes(of: "database") != nil)
            vanished += disk.bytes(of: "database-journal") == nil ? 1 : 0
        }
        #expect(vanished > 0 && vanished < 40, "\(vanished) of 40")
    }
}

/// One table on a fault disk, and what of it must survive.
final class Table {
    private let connection: Connection
    /// The highest number that was committed, and the highest that was durable.
    private(set) var last: Int64
    private(set) var durable: Int64

    init(on disk: FaultDisk, after old: Table? = nil) throws {
        durable = old?.durable ?? 0
        last = 0
        try disk.makeDatabase(disk.home.database)
        connection = try Connection(path: disk.home.database, fileSystem: disk.fileSystem)
        try connection.execute(Pragma.opening, "opening")
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, filler BLOB) STRICT", "making")
        last = try number("SELECT coalesce(max(n), 0) FROM t")
    }

    func add(_ durability: Durability) throws {
        let level = durability == .full ? "FULL" : "NORMAL"
        try connection.execute("PRAGMA synchronous = \(level)", "setting")
        do {
            try connection.execute("BEGIN IMMEDIATE", "beginning")
            try connection.execute(
                "INSERT INTO t VALUES (\(last + 1), zeroblob(\(last % 7 * 900)))", "adding")
            try connection.execute("COMMIT", "committing")
        } catch {
            if !connection.isIdle { do { try connection.execute("ROLLBACK", "undoing") } catch {} }
            throw error
        }
        last += 1
        if durability == .full { durable = last }
    }

    func checkpoint() throws { _ = try number("PRAGMA wal_checkpoint(PASSIVE)") }

    func count() throws -> Int64 { try number("SELECT count(*) FROM t") }

    /// What is not as it must be.
    func complaints() throws -> [String] {
        var found: [String] = []
        let check = try connection.prepare("PRAGMA integrity_check(3)")
        while try check.step("checking") { found.append(check.text(0)) }
        if found == ["ok"] { found = [] }
        let (count, last) = (try count(), try number("SELECT coalesce(max(n), 0) FROM t"))
        if count != last { found.append("\(count) rows up to \(last)") }
        if last < durable { found.append("\(last) of \(durable) durable rows") }
        return found
    }

    private func number(_ sql: String) throws -> Int64 {
        let statement = try connection.prepare(sql)
        return try statement.step("counting") ? statement.integer(0) : 0
    }
}
