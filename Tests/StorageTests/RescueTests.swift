import Foundation
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
@testable import ParleyStorage
import ParleyWire
import Testing

@Suite("Rows of a damaged database")
struct RescueTests {
    private static let pageByteCount = 4096

    /// Every row of a table as text, by its number; `nil` where SQLite does not find it under that.
    private func rows(
        _ table: RescueTable, _ connection: Connection, through top: Int64
    ) throws -> [Int64: String] {
        let columns = table.columns.map { "quote(\($0))" }.joined(separator: " || ' ' || ")
        // A table that cannot be asked has no rows that can be read.
        guard
            let statement = try? connection.prepare(
                "SELECT \(columns) FROM \(table.name) WHERE number = ?")
        else { return [:] }
        var found: [Int64: String] = [:]
        for number in 1...top {
            statement.bind(1, number)
            // A row that cannot be read is what the test is about.
            if (try? statement.step("reading")) == true { found[number] = statement.text(0) }
            statement.reset()
        }
        return found
    }

    private func reader(_ home: Home) throws -> Connection {
        try Connection(path: home.database, fileSystem: nil, mayWrite: false)
    }

    /// A closed home with rows in every table that is rescued.
    private func made(_ home: Home, count: UInt64 = 2_000) throws {
        let store = try SQLiteStore.open(home: home)
        try store.transaction(.full) {
            let logs = try (0..<3).map { index in
                try store.sampleLog(
                    space: Sample.id(0x5bac + UInt64(index)),
                    tag: 0x8000_0000_0000_0001 + UInt64(index))
            }
            for start in stride(from: 0, to: count, by: 50) {
                let log = logs[Int(start / 50) % 3]
                let first = start / 150 * 50
                try store.store(try Sample.operations(log, first..<first + 50), log)
                try store.addHead(
                    SignedHead(sequence: first + 49, signature: try Sample.signature(1)),
                    in: log.number)
            }
            for index in 0..<300 {
                let key = [UInt8(index / 256), UInt8(index % 256)]
                try store.setValue([UInt8](repeating: 5, count: 90), .profile, key)
                try store.setSecret(Secret([UInt8](repeating: 6, count: 32)), .leaf, key, in: nil)
            }
        }
        try store.close()
    }

    /// What every row was, what SQLite finds of it after the damage, and what the rescue keeps.
    private func expectKept(
        _ whole: [String: [Int64: String]], in home: Home, _ note: Comment
    ) throws {
        var readable: [String: [Int64: String]] = [:]
        do {
            let damaged = try reader(home)
            for table in RescueTable.all {
                let top = whole[table.name]?.keys.max() ?? 0
                readable[table.name] = top > 0 ? try rows(table, damaged, through: top) : [:]
            }
        } catch { /* Nothing can be read of it. */  }
        let (store, report) = try SQLiteStore.rescue(home: home, unlock: .keyFile)
        for table in RescueTable.all {
            let (before, still) = (whole[table.name] ?? [:], readable[table.name] ?? [:])
            guard let top = before.keys.max() else { continue }
            let kept = try rows(table, store.connection, through: top)
            let named = report.losses.filter { $0.contains(table.meaning) }
            let isDropped = named.contains { $0.contains("decrypted") || $0.contains("from logs") }
            for (number, row) in before.sorted(by: { $0.key < $1.key }) where kept[number] != row {
                // A row whose content was changed is kept as it is: what it says is checked elsewhere.
                if let found = kept[number], found == still[number] { continue }
                #expect(
                    still[number] != row || isDropped,
                    "\(note): \(table.name) \(number) can be read and is not kept")
                #expect(!named.isEmpty, "\(note): \(table.name) \(number) is lost without a word")
            }
        }
        try store.close()
        try home.discardRescued()
    }

    private func whole(_ home: Home) throws -> [String: [Int64: String]] {
        let connection = try reader(home)
        var whole: [String: [Int64: String]] = [:]
        for table in RescueTable.all {
            let last = try connection.prepare("SELECT coalesce(max(number), 0) FROM \(table.name)")
            _ = try last.step("reading")
            let top = last.integer(0)
            last.reset()
            if top > 0 { whole[table.name] = try rows(table, connection, through: top) }
        }
        return whole
    }

    /// The pages of a tree.
    private func pages(_ home: Home, of name: String, isLeaf: Bool) throws -> [Int] {
        let queue = try RawDatabase(home)
        defer { queue.close() }
        return try queue.texts(
            """
            SELECT CAST(pageno AS TEXT) FROM dbstat WHERE name = '\(name)'
            AND pagetype = '\(isLeaf ? "leaf" : "internal")' ORDER BY path
            """, column: 0
        ).compactMap { Int($0) }
    }

    private func change(_ home: Home, _ body: (inout [UInt8]) throws -> Void) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: home.database)))
        try body(&bytes)
        try Data(bytes).write(to: URL(filePath: home.database))
    }

    /// Where the number of a cell of a leaf stands.
    private func numberPlace(_ cell: Int, ofLeaf page: Int, _ bytes: [UInt8]) -> Range<Int> {
        let base = (page - 1) * Self.pageByteCount
        let pointer = base + 8 + 2 * cell
        var place = base + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
        while bytes[place] >= 0x80 { place += 1 }
        let start = place + 1
        var end = start
        while bytes[end] >= 0x80 { end += 1 }
        return start..<end + 1
    }

    private func cellCount(ofLeaf page: Int, _ bytes: [UInt8]) -> Int {
        let base = (page - 1) * Self.pageByteCount
        return Int(bytes[base + 3]) << 8 | Int(bytes[base + 4])
    }

    /// What may be wrong with a number, or with where pages lead.
    enum Shape: CaseIterable {
        case jumpsUp, jumpsDown, repeats, isHuge, pointsIntoNothing, leadsBack, leadsToItself
        case leadsOutside
    }

    @Test(
        "a number that jumps, repeats or leads back costs no other row", arguments: Shape.allCases)
    func shapes(shape: Shape) throws {
        try withHome { home in
            try made(home)
            let whole = try whole(home)
            for table in ["operation", "vault", "value"] {
                let leaves = try pages(home, of: table, isLeaf: true)
                let inner = try pages(home, of: table, isLeaf: false)
                let copy = try Data(contentsOf: URL(filePath: home.database))
                for (which, page) in [leaves[leaves.count / 2], leaves[leaves.count - 1]]
                    .enumerated()
                {
                    try change(home) { bytes in
                        spoil(&bytes, shape, page, inner[0], leaves)
                    }
                    try expectKept(whole, in: home, "\(shape), \(table), \(which)")
                    try copy.write(to: URL(filePath: home.database))
                }
            }
        }
    }

    private func spoil(
        _ bytes: inout [UInt8], _ shape: Shape, _ page: Int, _ inner: Int, _ leaves: [Int]
    ) {
        let cell = cellCount(ofLeaf: page, bytes) / 2
        let place = numberPlace(cell, ofLeaf: page, bytes)
        let base = (page - 1) * Self.pageByteCount
        let innerBase = (inner - 1) * Self.pageByteCount
        let pointer = innerBase + 12
        let child = innerBase + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
        func lead(to page: Int) {
            for index in 0..<4 {
                bytes[child + index] = UInt8(truncatingIfNeeded: page >> (24 - 8 * index))
            }
        }
        switch shape {
        case .jumpsUp: bytes[place.lowerBound] |= 0x7f
        case .jumpsDown:
            for index in place { bytes[index] = index == place.upperBound - 1 ? 1 : 0x80 }
        case .repeats:
            bytes[place.upperBound - 1] += bytes[place.upperBound - 1] & 0x7f == 0x7f ? 0 : 1
        case .isHuge:
            // Nine bytes, which take in what follows of the cell.
            for index in place.lowerBound..<place.lowerBound + 8 { bytes[index] = 0xff }
        case .pointsIntoNothing:
            (bytes[base + 8 + 2 * cell], bytes[base + 9 + 2 * cell]) = (0xff, 0xf0)
        case .leadsBack: lead(to: leaves[leaves.count - 1])
        case .leadsToItself: lead(to: inner)
        case .leadsOutside: lead(to: 1_000_000)
        }
    }

    @Test("a row whose number is false has its own back, where an index tells it")
    func placed() throws {
        try withHome { home in
            try made(home)
            let whole = try whole(home)
            let page = try pages(home, of: "operation", isLeaf: true)[7]
            try change(home) { bytes in
                let place = numberPlace(3, ofLeaf: page, bytes)
                bytes[place.lowerBound] |= 0x7f
            }
            let (store, report) = try SQLiteStore.rescue(home: home, unlock: .keyFile)
            let table = try #require(RescueTable.all.first { $0.name == "operation" })
            #expect(try rows(table, store.connection, through: 2_000) == whole["operation"])
            #expect(report.losses.isEmpty)
        }
    }

    @Test(
        "a row that a page hides is told where the index tells nothing; a row that was removed is none",
        arguments: [(isHidden: true, isIndexBroken: true), (true, false), (false, true)])
    func hidden(isHidden: Bool, isIndexBroken: Bool) throws {
        try withHome { home in
            try made(home)
            let raw = try RawDatabase(home)
            try raw.execute("DELETE FROM operation WHERE number BETWEEN 900 AND 905")
            raw.close()
            let page = try pages(home, of: "operation", isLeaf: true)[7]
            let indexPage = try pages(home, of: "operationPlace", isLeaf: true)[0]
            try change(home) { bytes in
                // The place of a row leads to the row before it.
                let pointer = (page - 1) * Self.pageByteCount + 8 + 2 * 10
                if isHidden {
                    (bytes[pointer], bytes[pointer + 1]) = (bytes[pointer - 2], bytes[pointer - 1])
                }
                if isIndexBroken { bytes[(indexPage - 1) * Self.pageByteCount] = 0xea }
            }
            let (store, report) = try SQLiteStore.rescue(home: home, unlock: .keyFile)
            let table = try #require(RescueTable.all.first { $0.name == "operation" })
            let count = try rows(table, store.connection, through: 2_000).count
            #expect(count == (isHidden ? 1_993 : 1_994))
            #expect(report.losses == (isHidden ? ["Some rows about messages cannot be read"] : []))
        }
    }

    @Test(
        "whatever bytes are changed, what SQLite finds by its number is kept, and the rest is told")
    func anyBytes() throws {
        try withHome { home in
            try made(home)
            let whole = try whole(home)
            let copy = try Data(contentsOf: URL(filePath: home.database))
            let pageCount = copy.count / Self.pageByteCount
            for seed in UInt64(0)..<30 {
                var random = SeededRandom(seed: seed)
                var places: [Int] = []
                try change(home) { bytes in
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        let page = Int.random(in: 0..<pageCount, using: &random)
                        // Most of what matters stands at the beginning of a page.
                        let isHeader = Bool.random(using: &random)
                        for _ in 0..<Int.random(in: 1...8, using: &random) {
                            let place = Int.random(
                                in: 0..<(isHeader ? 40 : Self.pageByteCount), using: &random)
                            places.append(page * Self.pageByteCount + place)
                            bytes[page * Self.pageByteCount + place] = UInt8.random(
                                in: 0...255, using: &random)
                        }
                    }
                }
                do {
                    try expectKept(whole, in: home, "seed \(seed), bytes \(places)")
                } catch let error as HomeError {
                    // The keys themselves may be gone: then nothing opens, and it says so.
                    #expect(error.code == .databaseDamaged, "seed \(seed): \(error)")
                }
                try home.discardRescued()
                try copy.write(to: URL(filePath: home.database))
            }
        }
    }

    /// What gives a table of a home the last number there is.
    private static let lastNumbers: [String] =
        ["space", "log", "operation", "actor", "vault", "value"].map { (table: String) -> String in
            "UPDATE \(table) SET number = \(Int64.max) "
                + "WHERE number = (SELECT max(number) FROM \(table))"
        } + [
            "INSERT INTO event (number, content) VALUES (\(Int64.max), x'00')",
            "INSERT INTO view (number, log, first, content) VALUES (\(Int64.max), 1, 1, x'00')",
            "INSERT INTO fork (number, locator, evidence) VALUES (\(Int64.max), x'00', x'00')",
            "INSERT INTO space (number, kind, definition) VALUES (\(Int64.max), -1, x'00')",
        ]

    @Test(
        "Attack 317: the last number there is, in any table, is damage: it is told, and a repair mends it",
        arguments: lastNumbers)
    func last317(change: String) throws {
        try withHome { home in
            try made(home, count: 150)
            let raw = try RawDatabase(home)
            try raw.execute(change)
            raw.close()
            func open() throws {
                let store = try SQLiteStore.open(home: home)
                // Each of these takes the next number.
                try store.transaction(.full) {
                    let log = try store.sampleLog(space: Sample.id(0x7777), tag: 0x7777)
                    try store.store(try Sample.operations(log, 0..<3), log)
                    try store.setValue([1, 2, 3], .profile, [9, 9, 9])
                    try store.setSecret(Secret([1, 2]), .leaf, [9, 9, 9], in: nil)
                }
                try store.close()
            }
            let hasRow = !change.contains("actor")
            if hasRow {
                let error = #expect(throws: HomeError.self) { try open() }
                #expect(error?.code == .databaseDamaged)
            }
            do {
                let (store, _) = try SQLiteStore.rescue(home: home, unlock: .keyFile)
                try store.close()
            }
            _ = try home.takeRescued()
            try open()
        }
    }

    private func files(_ home: Home) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.path)
            .filter { $0.hasPrefix("database.") }.sorted()
    }

    private func repair(_ home: Home) throws -> String {
        do {
            let (store, _) = try SQLiteStore.rescue(home: home, unlock: .keyFile)
            try store.close()
        }
        return try home.takeRescued()
    }

    @Test(
        "Attack 341: what a repair put aside goes after some days, and a trial that was ended leaves nothing"
    )
    func asides341() throws {
        try withHome { home in
            try made(home, count: 150)
            #expect(try repair(home) == home.database + ".damaged-1")
            #expect(try repair(home) == home.database + ".damaged-2")
            #expect(home.asides.count == 2)
            let now = UInt64(Date().timeIntervalSince1970)
            let time = Home.asideDayMax * 86_400
            try home.dropAsides(at: now + time - 60)
            // A clock that was set back removes nothing.
            try home.dropAsides(at: 0)
            #expect(home.asides.count == 2)
            let first = home.database + ".damaged-1"
            try Data([1]).write(to: URL(filePath: first + "-wal"))
            try home.disk.remove(first)
            #expect(
                try repair(home) == home.database + ".damaged-3", "the newest has the last number")
            for end in ["-wal", "-shm"] { try home.disk.remove(first + end) }
            try home.dropAsides(at: now + time + 60)
            var left = try files(home)
            #expect(left.isEmpty, "\(left)")
            // As a process leaves it that is killed while it looks what a repair would save.
            for end in ["", "-wal", "-shm"] {
                try Data([1]).write(to: URL(filePath: home.database + ".rescued" + end))
            }
            try SQLiteStore.open(home: home).close()
            left = try files(home)
            #expect(left.isEmpty, "\(left)")
        }
    }

    @Test("where nothing was rescued, the database stays in its place")
    func nothingRescued() throws {
        try withHome { home in
            try made(home, count: 150)
            #expect(throws: HomeError.self) { try home.takeRescued() }
            try SQLiteStore.open(home: home).close()
            #expect(home.asides.isEmpty)
        }
    }

    @Test(
        "whose name is damaged are told as damaged and rescued; those of another node are not",
        arguments: ["instance", "binding"])
    func name(column: String) throws {
        try withHome { home in
            try made(home, count: 100)
            let whole = try whole(home)
            let database = try RawDatabase(home)
            try database.execute("UPDATE meta SET \(column) = zeroblob(16)")
            database.close()
            #expect {
                try SQLiteStore.open(home: home)
            } throws: {
                ($0 as? HomeError)?.code == .databaseDamaged
            }
            try expectKept(whole, in: home, "\(column)")
            try withHome { other in
                try made(other, count: 100)
                try FileManager.default.removeItem(atPath: home.database)
                try FileManager.default.copyItem(atPath: other.database, toPath: home.database)
                #expect {
                    try SQLiteStore.rescue(home: home, unlock: .keyFile)
                } throws: {
                    ($0 as? HomeError)?.code == .databaseOfAnotherNode
                }
            }
        }
    }
}
