import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ann and ben have met; then something is taken out of ann's database that is no message.
@Suite("A home that lost what it noted", .serialized, .timeLimit(.minutes(4)))
struct LostNotesTests {
    private func pair() async throws -> ProcessPair {
        let pair = try await ProcessPair()
        try await pair.ann.client?.perform(SendMessages(conversation: "ben", texts: ["before"]))
        try await pair.agree(within: 60)
        #expect(try await pair.ann.stop() == 0)
        return pair
    }

    /// Spoils every page of a table, so that none of its rows can be read.
    private func spoil(_ table: String, _ file: String) throws {
        let pages = try SQLiteShell.run(
            file, "SELECT pageno FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf'")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        for page in pages.split(separator: "\n").compactMap({ Int($0) }) {
            let start = (page - 1) * 4096 + 100
            bytes.replaceSubrange(start..<start + 3900, with: Data(repeating: 0x55, count: 3900))
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    /// None of this tells what the device wrote: all its operations are there, as far as its guard knows.
    @Test(
        "but no operation goes on by itself after a repair, with its name and its contacts",
        arguments: ["value", "meta"])
    func notes(table: String) async throws {
        let pair = try await pair()
        try spoil(table, pair.ann.home + "/database")
        let repair = try await pair.ann.run("doctor", "--repair")
        #expect(repair.status == 0, "\(repair.output)")
        #expect(repair.output.contains("✓  The guard and the database match."))
        let ann = try await pair.ann.start()
        #expect(try await ann.perform(GetStatus()).readOnlyReason == nil)
        #expect(try await ann.perform(GetStatus()).name == "ann")
        #expect(try await ann.perform(ListContacts()).map(\.state) == ["accepted"])
        try await ann.perform(SendMessages(conversation: "ben", texts: ["after"]))
        try await pair.agree(within: 60)
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    /// What somebody wrote who had seen that log counts by what it said: it is judged again once it is back.
    @Test(
        "about a log of lane 0 shows every message again once a contact has brought it",
        arguments: [
            """
            UPDATE log SET definition = randomblob(length(definition)), spans = randomblob(length(spans))
            """, "DELETE FROM log",
        ])
    func controlLog(damage: String) async throws {
        let pair = try await pair()
        let file = pair.ann.home + "/database"
        _ = try SQLiteShell.run(
            file,
            """
            \(damage) WHERE lane = 0 AND number > (SELECT min(l.number) FROM log l WHERE l.space = log.space AND l.lane = 0)
            AND space IN (SELECT number FROM space WHERE kind <> 0)
            """)
        let found = try await pair.ann.run("doctor")
        let isTold = found.output.contains("of logs that are not listed")
        #expect(found.status == 1 && isTold == damage.hasPrefix("DELETE"), "\(found.output)")
        let repair = try await pair.ann.run("doctor", "--repair")
        #expect(repair.output.contains("of which nothing else is left"), "\(repair.output)")
        let ann = try await pair.ann.start()
        try await pair.agree(within: 60)
        try await pair.ben.client?.perform(SendMessages(conversation: "ann", texts: ["after"]))
        try await pair.agree(within: 60)
        let shown = try await ann.perform(ReadMessages(conversation: "ben", limit: 9)).messages
        #expect(shown.map(\.text) == ["before", "after"])
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    /// The name of a log is a hash of whose it is, and stands below its first operation.
    @Test("but what names the writers of logs has that named anew by a repair, and goes on")
    func writers() async throws {
        let pair = try await pair()
        _ = try SQLiteShell.run(
            pair.ann.home + "/database",
            """
            UPDATE log SET definition = randomblob(length(definition)) WHERE lane IN (1, 4)
            """)
        let repair = try await pair.ann.run("doctor", "--repair")
        #expect(repair.status == 0, "\(repair.output)")
        #expect(repair.output.contains("were rebuilt from the rest"), "\(repair.output)")
        let ann = try await pair.ann.start()
        #expect(try await ann.perform(ListContacts()).map(\.state) == ["accepted"])
        try await ann.perform(SendMessages(conversation: "ben", texts: ["after"]))
        try await pair.agree(within: 60)
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    @Test(
        "of its own settings alone is told the way that works, and writes again by it",
        arguments: [
            "DELETE FROM operation WHERE log IN",
            "UPDATE log SET definition = randomblob(104), spans = randomblob(74) WHERE number IN",
        ])
    func settings(damage: String) async throws {
        let pair = try await pair()
        let file = pair.ann.home + "/database"
        _ = try SQLiteShell.run(
            file,
            """
            \(damage) (SELECT l.number FROM log l JOIN space s
            ON s.number = l.space WHERE s.kind = 0 AND l.lane <> 0)
            """)
        let repair = try await pair.ann.run("doctor", "--repair")
        #expect(repair.status == 1 && repair.output.contains("lost in your settings and contacts"))
        #expect(!repair.output.contains("Run the node where"), "\(repair.output)")
        #expect(repair.output.contains("parley backup create --home \(pair.ann.home) FILE"))
        #expect(!repair.output.contains("parley init"), "\(repair.output)")
        try await isToldAlike(pair.ann)

        // As it is told.
        let backup = pair.folder.path + "/ann.parley"
        let code = pair.folder.path + "/code"
        try Data(try #require(pair.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        #expect(try await pair.ann.run("backup", "create", backup).status == 0)
        let ben = try #require(try await pair.ben.client?.perform(GetStatus()).person.prefix(8))
        #expect(try await pair.ben.stop() == 0)
        let again = NodeProcess(
            home: pair.folder.home("again"), address: "127.0.0.1:\(try FreePort.some())")
        let recovered = try await again.run(
            "recover", "--backup", backup, "--code-file", code, "--yes")
        #expect(recovered.status == 0, "\(recovered.output)")
        try await isAskedByHand(again, pair.ben, String(ben))
        for node in [again, pair.ben] { #expect(try await node.stop() == 0) }
    }

    /// Every command says the same of it, a second repair as well.
    private func isToldAlike(_ ann: NodeProcess) async throws {
        for told in [try await ann.run("doctor"), try await ann.run("doctor", "--repair")] {
            #expect(told.status == 1 && told.output.contains("lost in your settings and contacts"))
            #expect(told.output.contains("Nobody else is known to have what"))
            #expect(!told.output.contains("Run the node where"), "\(told.output)")
        }
        for list in ["contacts", "stars"] {
            let shown = try await ann.run(list)
            #expect(shown.output.contains("may be missing here: a repair"), "\(shown.output)")
        }
        let all = try await ann.run("conversations").output
        #expect(all.contains("lost your settings and contacts (parley doctor"), "\(all)")
        let json = try await ann.run("doctor", "--json").output
        #expect(json.contains("parley backup create --home \(ann.home) FILE"), "\(json)")
        let refused = try await ann.run("send", "dora", "hello").output
        #expect(refused.contains("it may have been among them"), "\(refused)")
        let status = try await ann.run("status").output
        #expect(status.contains("Nobody else is known to have it: "), "\(status)")
        #expect(!status.contains("Any contact"), "\(status)")
    }

    /// Nobody is asked by itself who may have been blocked: it is shown who may be missing, and how
    /// they are asked.
    private func isAskedByHand(
        _ again: NodeProcess, _ ben: NodeProcess, _ person: String
    ) async throws {
        let ann = try await again.start()
        #expect(try await ann.perform(GetStatus()).readOnlyReason == nil)
        #expect(try await ann.perform(ListContacts()).map(\.state) == ["known"])
        for command in ["status", "contacts"] {
            let output = try await again.run(command).output
            #expect(
                output.contains("parley contact request --home \(again.home) \(person)"),
                "\(output)")
        }
        let asked = try await again.run("contact", "request", person)
        #expect(asked.status == 0, "\(asked.output)")
        #expect(try await ann.perform(ListContacts()).map(\.state) == ["requested"])
        #expect(try await !again.run("status").output.contains("contact request"))
        try await ben.start()
        try await eventually("ben is a contact again", on: [again, ben]) {
            try await ann.perform(ListContacts()).map(\.state) == ["accepted"]
        }
        try await eventually("she writes to him", on: [again, ben]) {
            try await again.run("send", "ben", "after").status == 0
        }
    }
}
