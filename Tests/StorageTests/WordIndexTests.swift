import Foundation
@testable import ParleyConversation
@testable import ParleyLedger
import ParleyNodeCore
import ParleyWire
import ParleyWords
import Testing

@testable import ParleyStorage

@Suite("The index of words")
struct WordIndexTests {
    private func follow(_ store: SQLiteStore) throws {
        if try store.wordIndexState().version != Terms.version {
            try store.transaction { try store.resetWordIndex(isOff: false) }
        }
        while true {
            let pending = try store.pendingTexts(limit: 7)
            if pending.isEmpty(after: try store.wordIndexState().through) { return }
            let terms = pending.texts.map { Terms.ofText($0.text.text) }
            try store.transaction { try store.index(pending, terms: terms) }
        }
    }

    private func hits(_ store: SQLiteStore, _ text: String) throws -> [Int64] {
        let query = try SearchQuery(text, at: 0)
        return try store.wordHits(query.narrowing, excluding: query.excluding, limit: 100)
    }

    /// Every text has its row in the index, and every row its text.
    private func expectSound(_ store: SQLiteStore) throws {
        var rows: Set<Int64> = []
        for part in 0..<SQLiteStore.wordPartCount {
            rows.formUnion(try store.wordRows(inPart: part))
        }
        for number in 1...Int64(store.operationCount) {
            let number = OperationNumber(number)
            #expect(try !store.isMissingFromWords(number))
            #expect(try rows.contains(number.rawValue) == !store.hasNothingToSay(number))
        }
    }

    @Test("finds texts by all their words, the newest first, and not what must not be there")
    func finds() throws {
        let texts = ["the red house", "a red car", "blue houses", "réd hoüse again"]
        try SaidTexts.with(texts) { store, _, _ in
            #expect(try hits(store, "red").isEmpty)
            try follow(store)
            #expect(try hits(store, "red house") == [4, 1])
            #expect(try hits(store, "house") == [4, 3, 1])
            #expect(try hits(store, "house -blue") == [4, 1])
            #expect(try hits(store, "green").isEmpty)
            try expectSound(store)
        }
    }

    @Test("lets go of what is erased at once, and of its hashes in every file soon after")
    func erasure() throws {
        try SaidTexts.with((0..<50).map { "zucchini number\($0)" }) { store, home, _ in
            try follow(store)
            let term = try #require(Terms.ofText("number7").last)
            let hash = try store.requireWordKey().hash(term)
            #expect(try hits(store, "number7") == [8])
            try store.eraseText(8)
            #expect(try hits(store, "number7").isEmpty)
            #expect(try hits(store, "zucchini").count == 49)
            #expect(try store.wordIndexState().needsPurge)
            try store.purge()
            #expect(try hits(store, "zucchini").count == 49)
            #expect(try !raw(store, home, hash))
            let other = try #require(Terms.ofText("number8").last)
            #expect(try raw(store, home, store.requireWordKey().hash(other)))
            try expectSound(store)
        }
    }

    /// Whether a hash lies in any file of a home, as a thief would look for it.
    private func raw(_ store: SQLiteStore, _ home: Home, _ hash: String) throws -> Bool {
        // Words share beginnings with the one before them in a page; the end of one is as good.
        let end = Data(hash.utf8.suffix(6))
        return try FileManager.default.contentsOfDirectory(atPath: home.path).contains { name in
            try Data(contentsOf: URL(filePath: home.path + "/" + name)).range(of: end) != nil
        }
    }

    @Test("is of no use to a thief: no word on the disk, and other hashes in another home")
    func secrecy() throws {
        var hashes: [String] = []
        for _ in 0..<2 {
            try SaidTexts.with(["zucchini tomorrow", "zucchini"]) { store, home, _ in
                try follow(store)
                let term = try #require(Terms.ofText("zucchini").last)
                hashes.append(try store.requireWordKey().hash(term))
                for name in try FileManager.default.contentsOfDirectory(atPath: home.path) {
                    let data = try Data(contentsOf: URL(filePath: home.path + "/" + name))
                    // No shorter ones: three bytes of it stand somewhere in 200 kB of hashes by chance.
                    for word in ["zucchin", "zucch", "tomor"] {
                        #expect(data.range(of: Data(word.utf8)) == nil, "\(word) in \(name)")
                    }
                }
            }
        }
        #expect(hashes.count == 2 && hashes[0] != hashes[1])
    }

    @Test("is found out where a row is missing, and where one is left of what was erased")
    func damage() throws {
        try SaidTexts.with(["one fish", "two fish", "red fish"]) { store, _, _ in
            try follow(store)
            try expectSound(store)
            let statement = try store.connection.prepare(
                "INSERT INTO word (word, rowid, terms) VALUES ('delete', 2, ?1)")
            statement.bind(1, text: try store.requireWordKey().hashed(Terms.ofText("two fish")))
            try statement.run("test")
            #expect(try store.isMissingFromWords(OperationNumber(2)))
            #expect(try !store.isMissingFromWords(OperationNumber(1)))
            try store.connection.execute(
                "UPDATE operation SET tail = zeroblob(32) WHERE number = 3", "test")
            let rows = try (0..<SQLiteStore.wordPartCount).flatMap {
                try store.wordRows(inPart: $0)
            }
            #expect(Set(rows) == [1, 3])
            #expect(try store.hasNothingToSay(OperationNumber(3)))
        }
    }

    @Test("goes on where it was, and takes texts that came late")
    func late() throws {
        try SaidTexts.with(["one fish", "two fish"]) { store, _, log in
            try follow(store)
            let stored = try #require(try store.operation(at: 0, in: log.number))
            let commitment = try #require(OperationHash.commitment(of: stored.operation))
            let full = try SaidTexts.said("one fish", 0, log)
            try store.transaction {
                try store.erase(OperationNumber(1), commitment: commitment)
                try store.restore(full, in: OperationNumber(1))
                try store.store([try SaidTexts.said("red fish", 2, log)], log)
            }
            #expect(try hits(store, "fish") == [2])
            try follow(store)
            #expect(try hits(store, "fish") == [3, 2, 1])
            try expectSound(store)
        }
    }

    @Test("is as if nothing had happened after a transaction that failed")
    func rollback() throws {
        try SaidTexts.with(["one fish"]) { store, _, _ in
            try store.transaction { try store.resetWordIndex(isOff: false) }
            let pending = try store.pendingTexts(limit: 7)
            try store.begin(.normal)
            try store.index(pending, terms: pending.texts.map { Terms.ofText($0.text.text) })
            store.rollback()
            #expect(try hits(store, "fish").isEmpty)
            #expect(try store.wordIndexState().through == 0)
            try follow(store)
            #expect(try hits(store, "fish") == [1])
        }
    }

    @Test("holds nothing once it was turned off")
    func off() throws {
        try SaidTexts.with((0..<20).map { "word\($0)" }) { store, _, _ in
            try follow(store)
            #expect(try store.wordIndexByteCount() > 200)
            try store.transaction { try store.resetWordIndex(isOff: true) }
            let pending = try store.pendingTexts(limit: 100)
            try store.transaction {
                try store.index(pending, terms: pending.texts.map { Terms.ofText($0.text.text) })
            }
            #expect(try hits(store, "word3").isEmpty)
            #expect(try store.wordIndexByteCount() < 100)
        }
    }

    @Test("finds each hit without reading the whole index", arguments: Plan.search)
    func plans(plan: Plan) throws {
        try withHome { home in
            _ = try SQLiteStore.open(home: home)
            let database = try RawDatabase(home)
            defer { database.close() }
            let sql = plan.sql.replacing(/\?[0-9]/, with: "1")
            let steps = try database.texts("EXPLAIN QUERY PLAN " + sql, column: 3)
            #expect(!steps.isEmpty)
            for step in steps {
                // The rows that a part of the query found, which has its own steps.
                let isOfPart = steps.contains("CO-ROUTINE \(step.dropFirst("SCAN ".count))")
                #expect(
                    !step.hasPrefix("SCAN") || step.contains("VIRTUAL") || isOfPart, "\(steps)")
                #expect(!step.contains("TEMP B-TREE"), "\(steps)")
            }
        }
    }
}

extension Plan {
    fileprivate static let search = [
        Plan(testDescription: "hits", sql: SearchSQL.hits),
        Plan(testDescription: "next hits", sql: SearchSQL.hitsBelow),
        Plan(testDescription: "texts", sql: SearchSQL.operationsAfter),
        Plan(testDescription: "vectors", sql: SearchSQL.embeddingsAfter),
        Plan(testDescription: "the next message", sql: SearchSQL.messagesAfter),
        Plan(testDescription: "messages", sql: SearchSQL.messagesFrom),
        Plan(testDescription: "dated messages", sql: SearchSQL.datedMessagesFrom),
        Plan(testDescription: "counting vectors", sql: SearchSQL.vectorCount),
        Plan(testDescription: "dropping vectors", sql: SearchSQL.embeddingsDrop),
    ]
}
