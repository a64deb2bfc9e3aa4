import Foundation
import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyStorage

@Suite("Vectors in a home")
struct EmbeddingTests {
    private static let dimension = 64
    private static let name = Digest([UInt8](repeating: 7, count: 32))

    private func model(_ store: SQLiteStore) throws -> StoredModel {
        let name = try #require(Self.name)
        return try store.transaction { try store.model(name, byteCount: Self.dimension) }
    }

    /// The vector that a text has here.
    private static func vector(_ number: Int64) -> [UInt8] {
        (0..<dimension).map { UInt8(truncatingIfNeeded: number &* 37 &+ Int64($0)) }
    }

    private func keep(_ pending: PendingTexts, _ model: StoredModel, _ store: SQLiteStore) throws {
        let vectors = pending.texts.map { Self.vector($0.number.rawValue) }
        try store.transaction { try store.keep(vectors, of: pending, for: model) }
    }

    /// Gives every text its vector, some at a time.
    private func follow(_ store: SQLiteStore) throws {
        while true {
            let model = try model(store)
            let pending = try store.pendingTexts(for: model, limit: 3)
            if pending.isEmpty(after: model.through) { return }
            try keep(pending, model, store)
        }
    }

    private func numbers(_ store: SQLiteStore) throws -> [Int64] {
        var found: [Int64] = []
        try store.eachVector(of: model(store), after: 0, limit: 1000) { number, vector in
            #expect(vector == Self.vector(number))
            found.append(number)
        }
        return found
    }

    @Test("are sealed, come back as they were, and go on where they ended")
    func following() throws {
        try SaidTexts.with((0..<10).map { "text \($0)" }) { store, home, log in
            try follow(store)
            #expect(try numbers(store) == Array(1...10))
            #expect(try store.lastVector() == 10)
            try store.transaction {
                try store.store([try SaidTexts.said("one more", 10, log)], log)
            }
            #expect(try store.pendingTexts(for: model(store), limit: 100).texts.count == 1)
            try follow(store)
            #expect(try numbers(store) == Array(1...11))
            for name in try FileManager.default.contentsOfDirectory(atPath: home.path) {
                let data = try Data(contentsOf: URL(filePath: home.path + "/" + name))
                #expect(data.range(of: Data(Self.vector(3).prefix(12))) == nil, "\(name)")
            }
        }
    }

    @Test("go with the text, and no file has the row any more")
    func erasure() throws {
        try SaidTexts.with((0..<10).map { "text \($0)" }) { store, home, _ in
            try follow(store)
            let row = try store.connection.prepare(
                "SELECT content FROM embedding WHERE operation = 4")
            #expect(try row.step("test"))
            let content = row.array(0)
            row.reset()
            #expect(try holds(home, content))
            try store.eraseText(4)
            #expect(try numbers(store) == [1, 2, 3, 5, 6, 7, 8, 9, 10])
            // Nothing was ever indexed by words here: the vector alone is reason enough.
            #expect(try store.wordIndexState().needsPurge)
            try store.purge()
            #expect(try !holds(home, content))
        }
    }

    private func holds(_ home: Home, _ bytes: [UInt8]) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: home.path).contains { name in
            try Data(contentsOf: URL(filePath: home.path + "/" + name)).range(of: Data(bytes))
                != nil
        }
    }

    @Test("that were made while their model was dropped are not kept, and are made again")
    func overtaken() throws {
        try SaidTexts.with((0..<10).map { "text \($0)" }) { store, _, _ in
            let former = try model(store)
            let pending = try store.pendingTexts(for: former, limit: 6)
            _ = try store.transaction { try store.dropModel(former.number) }
            let made = try model(store)
            #expect(made.number == former.number)
            let other = try store.pendingTexts(for: made, limit: 2)
            try keep(other, made, store)
            try keep(pending, former, store)
            #expect(try model(store).through == 2)
            try follow(store)
            #expect(try numbers(store) == Array(1...10))
        }
    }

    @Test("of no text, of no model and of another size are removed, and made again")
    func strange() throws {
        try SaidTexts.with((0..<6).map { "text \($0)" }) { store, _, _ in
            try follow(store)
            for sql in [
                "UPDATE embedding SET content = zeroblob(50) WHERE operation = 2",
                "INSERT INTO embedding (operation, model, content) VALUES (3, 9, zeroblob(20))",
                "INSERT INTO embedding (operation, model, content) VALUES (99, 1, zeroblob(104))",
            ] {
                try store.connection.execute(sql, "test")
            }
            let removed = try store.transaction {
                try store.dropStrangeVectors(after: -1, operationCount: 1000)
            }
            #expect(removed == 3)
            #expect(try numbers(store) == [1, 3, 4, 5, 6])
            try follow(store)
            #expect(try numbers(store) == Array(1...6))
        }
    }

    @Test("that do not open, or are gone, are missed, and made again")
    func missed() throws {
        try SaidTexts.with((0..<6).map { "text \($0)" }) { store, _, _ in
            try follow(store)
            let model = try model(store)
            func lacking() throws -> [Int64] {
                try (1...6).filter { try store.lacksVector(OperationNumber($0), of: model) }
            }
            #expect(try lacking().isEmpty)
            for sql in [
                "UPDATE embedding SET content = zeroblob(length(content)) WHERE operation = 2",
                "DELETE FROM embedding WHERE operation = 5",
            ] {
                try store.connection.execute(sql, "test")
            }
            #expect(try store.strangeVectorCount(after: -1, operationCount: 1000) == 0)
            #expect(try lacking() == [2, 5])
            try store.eraseText(5)
            #expect(try lacking() == [2], "what was erased lacks nothing")
            try store.transaction { try store.readAgain(OperationNumber(2), by: model) }
            // From then on it is one that is to be read.
            #expect(try lacking().isEmpty)
            #expect(try store.pendingTexts(for: model, limit: 9).late == [2])
            try follow(store)
            #expect(try numbers(store) == [1, 2, 3, 4, 6])
        }
    }

    @Test("are counted and dropped a part at a time")
    func parts() throws {
        try SaidTexts.with((0..<10).map { "text \($0)" }) { store, _, _ in
            try follow(store)
            let model = try model(store)
            let first = try store.vectorCount(of: model, after: -1, limit: 4)
            #expect(first.count == 4 && first.through == 4)
            #expect(first.byteCount == 4 * (Self.dimension + sealedRowOverhead))
            let last = try store.vectorCount(of: model, after: 8, limit: 4)
            #expect(last.count == 2 && last.through == nil)
            let dropped = try store.transaction {
                try store.dropVectors(of: model.number, after: 2, operationCount: 3)
            }
            #expect(dropped == 3)
            #expect(try numbers(store) == [1, 2, 6, 7, 8, 9, 10])
        }
    }

    @Test("and messages are shown a part at a time, none twice, none left out")
    func places() throws {
        try SaidTexts.with((0..<10).map { "text \($0)" }) { store, _, _ in
            let (through, places) = try store.messagePlaces(after: 4, limit: 3)
            #expect(through == 7)
            #expect(places.map(\.operation) == [5, 6, 7])
            #expect(places.map(\.time) == [1_000_004, 1_000_005, 1_000_006])
        }
    }
}
