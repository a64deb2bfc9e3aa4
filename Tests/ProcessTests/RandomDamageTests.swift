import Foundation
import Parley
import Testing

/// Ann and ben have met, ann has written to him and to herself: a home of real shape, which is damaged
/// in many ways, each in a copy of it.
@Suite("A home whose pages are damaged at random", .serialized, .timeLimit(.minutes(15)))
struct RandomDamageTests {
    private static let pageByteCount = 4096
    private static let drawCount = 60
    /// How many messages share a signature: what lies beside a hole is believed for one.
    private static let batchCount = 4

    /// What lies on which page of the whole database.
    private struct Plan {
        /// Pages by what is on them; the first page is number 1.
        var tables: [Int: String] = [:]
        /// How many messages and other operations lie on a page.
        var rowCounts: [Int: Int] = [:]
        /// Pages with operations that say who is in a conversation.
        var rosterPages: Set<Int> = []
        /// Pages with operations, in their order.
        var leaves: [Int] = []
        var pageCount = 0

        init(_ file: String) throws {
            var rows: [(page: Int, first: Int, last: Int)] = []
            var count = 0
            let numbers = try lines(file, "SELECT number FROM operation ORDER BY number")
                .compactMap { Int($0[0]) }
            let query = "SELECT pageno, name, pagetype, ncell FROM dbstat ORDER BY name, path"
            for line in try lines(file, query) {
                let page = try #require(Int(line[0]))
                pageCount = max(pageCount, page)
                tables[page] = "\(line[1]) \(line[2])"
                guard line[1] == "operation", line[2] == "leaf", let cells = Int(line[3]) else {
                    continue
                }
                leaves.append(page)
                rowCounts[page] = cells
                rows.append((page, numbers[count], numbers[count + cells - 1]))
                count += cells
            }
            let control = try lines(
                file,
                "SELECT o.number FROM operation o JOIN log l ON l.number = o.log WHERE l.lane = 0"
            ).compactMap { Int($0[0]) }
            for number in control {
                for row in rows where row.first <= number && number <= row.last {
                    rosterPages.insert(row.page)
                }
            }
        }

        private func lines(_ file: String, _ sql: String) throws -> [[String]] {
            try SQLiteShell.run(file, sql).split(separator: "\n").map {
                $0.split(separator: " ").map(String.init)
            }
        }

        /// How many messages can be lost at most where these pages are damaged; nil where all can: what
        /// tells whose they are, opens or proves them is damaged.
        func lossMax(_ pages: [Int]) -> Int? {
            var count = 0
            for page in Set(pages) {
                let table = tables[page] ?? ""
                if let rows = rowCounts[page] {
                    if rosterPages.contains(page) { return nil }
                    count += rows + 2 * RandomDamageTests.batchCount
                } else if ["operation ", "space", "log ", "head", "vault", "fork", "sqlite_schema"]
                    .contains(where: table.hasPrefix) || table.contains("autoindex_vault")
                {
                    return nil
                }
            }
            return count
        }
    }

    private struct Made {
        var folder: TemporaryFolder
        var home: String
        var texts: Set<String>
    }

    private func made() async throws -> Made {
        let texts = (1...240).map { "note \($0) " + String(repeating: "x", count: $0 % 90) }
        let pair = try await SetBackPair(written: ["the last"], after: ["the first"])
        await pair.ben.shutdown()
        let ann = try await Node.open(pair.settings)
        try await ann.perform(CreateConversation(name: "notes", members: []))
        for start in stride(from: 0, to: texts.count, by: Self.batchCount) {
            try await ann.perform(
                SendMessages(
                    conversation: "notes", texts: Array(texts[start..<start + Self.batchCount])))
        }
        await ann.shutdown()
        return Made(folder: pair.folder, home: pair.home, texts: Set(texts))
    }

    /// Damages a page.
    private func damage(
        _ bytes: inout Data, page: Int, _ way: Int, _ random: inout SeededRandom
    ) {
        let start = (page - 1) * Self.pageByteCount
        func fill(_ range: Range<Int>, _ byte: () -> UInt8) {
            bytes.replaceSubrange(range, with: Data(range.map { _ in byte() }))
        }
        let sector = start + 512 * Int(random.next() % 8)
        switch way {
        case 0: fill(start..<start + Self.pageByteCount) { 0 }
        case 1: fill(start..<start + Self.pageByteCount) { UInt8(random.next() % 256) }
        case 2:
            let place = start + Int(random.next() % UInt64(Self.pageByteCount))
            fill(place..<place + 1) { bytes[place] ^ (1 << UInt8(random.next() % 8)) }
        case 3: fill(sector..<sector + 512) { 0 }
        case 4: fill(sector..<sector + 512) { UInt8(random.next() % 256) }
        default: fill(start + 100..<start + 400) { 0xa5 }
        }
    }

    /// Whether a page holds what nothing can be opened without.
    private func mayLackKeys(_ plan: Plan, _ pages: [Int]) -> Bool {
        pages.contains {
            let table = plan.tables[$0] ?? ""
            return table.contains("vault") || table.hasPrefix("value")
                || table.contains("autoindex_value") || table.hasPrefix("sqlite_schema")
        }
    }

    /// Looks at a copy with these bytes, has it mended, and reads what is left.
    private func examine(
        _ bytes: Data, _ pages: [Int], of made: Made, _ plan: Plan, _ what: String
    ) async throws {
        let home = made.folder.home("damaged")
        try? FileManager.default.removeItem(atPath: home)
        try FileManager.default.copyItem(atPath: made.home, toPath: home)
        defer { try? FileManager.default.removeItem(atPath: home) }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: home + "/database"))
        try handle.write(contentsOf: bytes)
        try handle.close()
        let doctor = try await Program.run("doctor", "--home", home)
        #expect(doctor.output.contains("✓  "), "\(what): \(doctor.output)")
        let repair = try await Program.run("doctor", "--repair", "--home", home)
        guard repair.output.contains("✓  ") else {
            #expect(mayLackKeys(plan, pages), "\(what): \(repair.output)")
            #expect(repair.output.contains("parley recover --home"), "\(what): \(repair.output)")
            return
        }
        let node = try await Node.open(NodeSettings(home: home))
        let status = try await node.perform(GetStatus())
        #expect(status.readOnlyReason?.contains("damaged") != true, "\(what): \(repair.output)")
        #expect(try await node.perform(CheckStore()).isDatabaseDamaged == false, "\(what)")
        var left: Set<String> = []
        for conversation in try await node.perform(ListConversations()) {
            let page = try await node.perform(
                ReadMessages(conversation: conversation.id, limit: 1000))
            left.formUnion(page.messages.compactMap(\.text))
        }
        if let most = plan.lossMax(pages) {
            let lost = made.texts.subtracting(left).count
            #expect(lost <= most, "\(what): \(lost) lost, not \(most) at most: \(repair.output)")
        }
        await node.shutdown()
    }

    @Test("is looked at, mended and read on, with all that lay on whole pages")
    func anywhere() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("random damage: seed \(seed)")
        var random = SeededRandom(seed: seed)
        let made = try await made()
        let file = made.home + "/database"
        let plan = try Plan(file)
        try #require(plan.pageCount > 40 && plan.leaves.count > 8)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        for draw in 0..<Self.drawCount {
            var bytes = whole
            var pages: [Int] = []
            var ways: [Int] = []
            for _ in 0...random.next() % 8 {
                // The first one tells what the others are: see ``DamagedHomeTests``.
                let page = 2 + Int(random.next() % UInt64(plan.pageCount - 1))
                let way = Int(random.next() % 6)
                damage(&bytes, page: page, way, &random)
                pages.append(page)
                ways.append(way)
            }
            let what = "seed \(seed), draw \(draw): pages \(pages), ways \(ways)"
            try await examine(bytes, pages, of: made, plan, what)
        }
    }

    @Test("is looked at to its end whichever page of operations it is")
    func everyLeaf() async throws {
        var random = SeededRandom(seed: 1)
        let made = try await made()
        let file = made.home + "/database"
        let plan = try Plan(file)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        for page in plan.leaves {
            var bytes = whole
            damage(&bytes, page: page, page % 2 == 0 ? 5 : 0, &random)
            try await examine(bytes, [page], of: made, plan, "page \(page) of operations")
        }
    }
}
