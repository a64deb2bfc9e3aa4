import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What commands say", .serialized, .timeLimit(.minutes(3)))
struct HintProcessTests {
    @Test("names no way that is closed: to delete, to send, to go")
    func ways() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "for all")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(SendMessages(conversation: "ben", texts: ["for ben"]))
        try await eventually("ben has both", on: [all.ben]) {
            try await all.texts("ann", of: all.ben) == ["for ben"]
        }
        for name in ["ann", "club"] {
            let page = try await ben.perform(ReadMessages(conversation: name, limit: 1))
            let number = try #require(page.messages.first?.number)
            let refused = try await all.ben.run("delete", "\(number)")
            #expect(refused.status == 1 && refused.output.contains("Only the author of a message"))
            #expect(!refused.output.contains("--others"), "\(refused.output)")
        }
        let own = try await all.ann.run("group", "remove", "club", "ann")
        #expect(own.status == 1 && own.output.contains("That is yourself"), "\(own.output)")
        // A request by card waits for an answer, and for nothing else.
        let card = try await all.client(all.cara).perform(GetCard()).text
        #expect(try await all.ann.run("contact", "request", card).status == 0)
        let sent = try await all.ann.run("send", "cara", "hello")
        #expect(sent.output.contains("has not answered your contact request"), "\(sent.output)")
        #expect(!sent.output.contains("invite"))
        try await all.end()
    }

    @Test("tells who takes a name with a word of the program behind it")
    func names() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ben.perform(RenameSelf(name: "ann (me)"))
        try await eventually("ann sees the name", on: [all.ann]) {
            try await ann.perform(ListContacts()).map(\.name) == ["ann (me)"]
        }
        let alike = try #require(await ann.perform(ListContacts()).first?.resembles.first)
        #expect(alike.hasPrefix("you, ann"), "\(alike)")
        try await all.end()
    }

    @Test("tells a reader that they are one, whatever they would write")
    func reader() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "for all")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .reader))
        try await eventually("ben is a reader", on: [all.ben]) {
            try await ben.perform(GetGroup(conversation: "club")).members.first { $0.isSelf }?.role
                == "reader"
        }
        let page = try await ben.perform(ReadMessages(conversation: "club", limit: 1))
        let number = "\(try #require(page.messages.first?.number))"
        for words in [["send", "club", "hm"], ["react", number, "👍"]] {
            let program = try Program(words + ["--home", all.ben.home])
            #expect(try await program.ended() == 1)
            #expect(
                program.output.contains("You are a reader in that conversation"),
                "\(program.output)")
        }
        // Who may write is told otherwise.
        let role = try await all.ben.run("group", "add", "club", "ann")
        #expect(!role.output.contains("You are a reader"), "\(role.output)")
        try await all.end()
    }

    @Test("of what one writes for oneself does not call it undelivered, nor a letter a log of IRC")
    func alone() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        #expect(try await node.run("group", "create", "diary").status == 0)
        #expect(try await node.run("send", "diary", "dear diary").status == 0)
        let outbox = try await node.run("outbox")
        #expect(!outbox.output.contains("diary"), "\(outbox.output)")
        let letter = folder.path + "/2026-01-31.log"
        try Data("Dear Ann,\nall is well.\n".utf8).write(to: URL(fileURLWithPath: letter))
        let vain = try await node.run("import", "irc", letter, "--into", "letters")
        #expect(vain.status == 1 && vain.output.contains("Nothing was stored"), "\(vain.output)")
        #expect(try await !node.run("conversations").output.contains("letters"))
    }

    @Test("after a home was set back, what it advises does what it says, as it is printed")
    func setBack() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        #expect(try await node.run("group", "create", "diary").status == 0)
        #expect(try await node.run("send", "diary", "one").status == 0)
        let (manager, files) = (FileManager.default, ["database", "database-wal", "database-shm"])
        let copies = files.map { (from: node.home + "/" + $0, to: folder.home($0)) }
        for copy in copies where manager.fileExists(atPath: copy.from) {
            try manager.copyItem(atPath: copy.from, toPath: copy.to)
        }
        #expect(try await node.run("send", "diary", "two").status == 0)
        for copy in copies {
            if manager.fileExists(atPath: copy.from) { try manager.removeItem(atPath: copy.from) }
            if manager.fileExists(atPath: copy.to) {
                try manager.copyItem(atPath: copy.to, toPath: copy.from)
            }
        }
        let refused = try await node.run("send", "diary", "three")
        #expect(
            refused.status == 1
                && refused.output.contains(
                    "has lost some of what it wrote"),
            "\(refused.output)")
        let status = try await node.run("status").output
        func commands(_ text: String) -> [String] {
            text.matches(of: /`parley ([^`]+)`/).map { String($0.1) }
        }
        let advised = commands(refused.output)
        #expect(advised.map { $0.prefix { $0 != " " } } == ["status", "backup", "recover"])
        for command in advised.dropFirst() {
            #expect(commands(status).contains(command), "\(status)")
        }
        let code = folder.home("code")
        try Data(try #require(node.recoveryCode).utf8).write(to: URL(filePath: code))
        let new = folder.home("new")
        for command in advised {
            var words = command.replacing("FILE", with: folder.home("backup"))
                .replacing("FOLDER", with: new).split(separator: " ").map(String.init)
            // What a person is asked for.
            if words[0] == "recover" { words += ["--code-file", code, "--yes"] }
            let program = try Program(words)
            #expect(try await program.ended() == 0, "\(words): \(program.output)")
        }
        let back = try await Program.run("read", "diary", "--home", new)
        #expect(back.output.contains("one") && !back.output.contains("two"), "\(back.output)")
    }
}
