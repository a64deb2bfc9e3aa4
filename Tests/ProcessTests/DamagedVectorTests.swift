import Foundation
import ParleyNodeCore
import ParleySearch
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley

/// Source: Protocol/10-search.md, "Vectors".
@Suite("An index of meaning that was damaged", .timeLimit(.minutes(3)))
struct DamagedVectorTests {
    private let folder: TemporaryFolder
    private let home, models: String

    init() throws {
        folder = try TemporaryFolder()
        (home, models) = (folder.home("a"), folder.home("models"))
    }

    /// Runs a command in a process that finds no model.
    private func run(_ words: String...) async throws -> (status: Int32, output: String) {
        let program = try Program(
            words + ["--home", home], environment: ["PARLEY_MODELS": models])
        return (try await program.ended(), program.output)
    }

    /// Opens the home in this process, and does something in its store.
    private func open<R: Sendable>(_ body: @Sendable (SQLiteStore) throws -> R) async throws -> R {
        let node = try await Node.open(NodeSettings(home: home, models: models))
        let result = try await node.running.write(body)
        await node.shutdown()
        return result
    }

    private static func model(_ store: SQLiteStore) throws -> StoredModel {
        let package = ModelPackage.miniLM
        return try store.model(
            try #require(Digest(package.name)), byteCount: package.dimension)
    }

    /// Gives each text a vector that has none, as a model would. Returns how many those are.
    private static func follow(_ store: SQLiteStore) throws -> Int {
        try store.begin(.normal)
        let model = try model(store)
        let pending = try store.pendingTexts(for: model, limit: 1_000)
        let vector = [UInt8](repeating: 1, count: model.byteCount)
        try store.keep(pending.texts.map { _ in vector }, of: pending, for: model)
        try store.commit()
        return pending.texts.count
    }

    @Test("is told of by doctor, and read again after a check or a repair")
    func told() async throws {
        let (node, _) = try await Node.create(
            NodeSettings(home: home, models: models), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        let texts = ["a tent", "a boat", "a hut", "a stove"]
        try await node.perform(SendMessages(conversation: "notes", texts: texts))
        await node.shutdown()
        #expect(try await open(Self.follow) == texts.count)
        let whole = try await run("doctor")
        #expect(whole.status == 0, "\(whole.output)")

        let numbers = try await open { store in
            var numbers: [Int64] = []
            let model = try #require(try store.models().first)
            try store.eachVector(of: model, after: 0, limit: 9) { number, _ in
                numbers.append(number)
            }
            return numbers
        }
        try #require(numbers.count == texts.count)
        // As long as it was, so that its length says nothing.
        let damage = """
            UPDATE embedding SET content = randomblob(length(content))
            WHERE operation = \(numbers[1])
            """
        let loss = "DELETE FROM embedding WHERE operation = \(numbers[3])"
        for (sql, said) in [(damage, "1 vector missing"), (loss, "2 vectors missing")] {
            _ = try SQLiteShell.run(home + "/database", sql)
            let doctor = try await run("doctor")
            #expect(doctor.status == 1 && doctor.output.contains(said), "\(doctor.output)")
            #expect(doctor.output.contains("--repair` rebuilds that"), "\(doctor.output)")
        }
        let check = try await run("search", "check")
        #expect(check.status == 0, "\(check.output)")
        #expect(check.output.contains("2 had none, and will be read again"), "\(check.output)")
        #expect(try await open(Self.follow) == 2)
        #expect(try await run("doctor").status == 0)

        for sql in [damage, loss] { _ = try SQLiteShell.run(home + "/database", sql) }
        #expect(try await run("doctor").status == 1)
        let repair = try await run("doctor", "--repair")
        #expect(repair.status == 0, "\(repair.output)")
        #expect(repair.output.contains("search indexes are being rebuilt"), "\(repair.output)")
        #expect(try await run("doctor").status == 0)
        #expect(try await open(Self.follow) == texts.count, "all of them are made anew")
        #expect(try await run("doctor").status == 0)
    }
}
