import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What is left of a repaired home", .serialized, .timeLimit(.minutes(4)))
struct KeptDatabaseTests {
    /// Once everybody whose card is stored counted as a contact.
    @Test("counts in a backup as what it is: no contact whose note is lost")
    func contacts() async throws {
        let pair = try await ProcessPair()
        #expect(try await pair.ann.stop() == 0)
        #expect(try await pair.ben.stop() == 0)
        let (home, code) = (pair.ann.home, pair.folder.path + "/code")
        try Data(try #require(pair.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        let whole = try await pair.ann.run("backup", "create", pair.folder.path + "/whole")
        #expect(whole.output.contains(" 1 contact, "), "\(whole.output)")
        // What the own devices tell each other: settings, and who the contacts are.
        _ = try SQLiteShell.run(
            home + "/database",
            "DELETE FROM operation WHERE log IN (SELECT number FROM log WHERE space = "
                + "(SELECT min(number) FROM space))")
        let repair = try await pair.ann.run("doctor", "--repair")
        #expect(repair.output.contains("lost in your settings and contacts"), "\(repair.output)")
        let created = try await Advised.first("backup create", in: repair.output).run(
            ["FILE": pair.folder.path + "/left"], in: pair.folder.path)
        #expect(created.status == 0, "\(created.output)")
        #expect(created.output.contains(" 0 contacts, "), "\(created.output)")
        #expect(created.output.contains("that a repair of this home has lost"), "\(created.output)")
        let verified = try await Program.run(
            "backup", "verify", pair.folder.path + "/left", "--code-file", code)
        #expect(verified.output.contains(" 0 contacts, "), "\(verified.output)")
        let recovered = try await Advised.first("recover", in: repair.output).run(
            ["FILE": pair.folder.path + "/left", "FOLDER": pair.folder.home("new")],
            adding: "--code-file '\(code)' --yes", in: pair.folder.path)
        #expect(recovered.status == 0, "\(recovered.output)")
        // What was promised: oneself, and what the backup said that it holds.
        let new = pair.folder.home("new")
        let list = try await Program.run("contacts", "--home", new).output
        #expect(list.contains("ben") && !list.contains("  accepted"), "\(list)")
        #expect(try await Program.run("status", "--home", new).output.contains("ann"))
        #expect(try await Program.run("conversations", "--home", new).output.contains("ben"))
        // And whom one had a conversation with is asked again, or not.
        for advised in ["contact request", "contact block"] {
            let done = try await Advised.first(advised, in: list).run(in: pair.folder.path)
            #expect(done.status == 0, "\(done.output)")
        }
    }

    /// Once the old database lay there, and doctor advised to begin anew.
    @Test("and has lost its database since is told the one that the repair kept, and reads it")
    func gone() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        #expect(try await node.run("group", "create", "diary").status == 0)
        #expect(try await node.run("send", "diary", "dear diary").status == 0)
        let file = node.home + "/database"
        #expect(try await node.run("send", "diary", "and so on").status == 0)
        _ = try SQLiteShell.run(
            file, "DELETE FROM operation WHERE number = (SELECT max(number) FROM operation)")
        let repair = try await node.run("doctor", "--repair")
        #expect(repair.output.contains("database.damaged-1"), "\(repair.output)")
        for name in ["database", "database-wal", "database-shm"] {
            // There may be none.
            try? FileManager.default.removeItem(atPath: node.home + "/" + name)
        }
        var told = ""
        for words in [["read", "diary"], ["doctor"]] {
            let program = try Program(words + ["--home", node.home])
            #expect(try await program.ended() == 1)
            told = program.output
            #expect(told.contains(file + ".damaged-1"), "\(told)")
            #expect(!told.contains("parley recover"), "\(told)")
        }
        let again = try await Advised.first("doctor --repair", in: told).run(in: folder.path)
        let kept = "the old one is kept as \(file).damaged-1"
        #expect(again.output.contains(kept), "\(again.output)")
        let read = try await node.run("read", "diary").output
        #expect(read.contains("dear diary"), "\(read)")
    }
}
