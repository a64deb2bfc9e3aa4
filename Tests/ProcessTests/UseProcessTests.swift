import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// What a person met in a day of use, and must not meet again.
@Suite("A day of use", .serialized, .timeLimit(.minutes(5)))
struct UseProcessTests {
    private func run(_ words: [String], at home: String) async throws -> (Int32, String) {
        let program = try Program(words + ["--home", home])
        return (try await program.ended(), program.output)
    }

    @Test("taking an invite shows the alias, and waits until the two have met")
    func accepting() async throws {
        let folder = try TemporaryFolder()
        let ann = try await NodeProcess(
            home: folder.home("ann"), name: "Ann", port: try FreePort.some())
        let ben = try await NodeProcess(
            home: folder.home("ben"), name: "Ben", port: try FreePort.some())
        let links = try await ann.start().perform(CreateInvite(uses: 2, hours: 1)).link
        #expect(try await ann.stop() == 0)
        let apart = try await run(["accept", links, "--alias", "my Ann"], at: ben.home)
        #expect(apart.0 == 0 && apart.1.contains("my Ann") && apart.1.contains("invited"))
        #expect(apart.1.contains("you meet once your node runs: parley run --home \(ben.home)"))
        // Who can be reached is reached, also by the command alone, and its answer is told.
        try await ann.start()
        let alone = try await run(["accept", links, "--alias", "my Ann"], at: ben.home)
        let line = "  accepted  not verified  not linked"
        #expect(alone.0 == 0 && alone.1.contains(line), "\(alone)")
        #expect(alone.1.contains("while your node runs: parley run --home \(ben.home)"))
        try await ben.start()
        let met = try await run(["accept", links, "--alias", "my Ann"], at: ben.home)
        #expect(met.0 == 0)
        #expect(met.1.contains("my Ann") && met.1.contains("  accepted  not verified  linked"))
        #expect(!met.1.contains("not linked"))
        for node in [ann, ben] { #expect(try await node.stop() == 0) }
    }

    @Test("a message that is edited or deleted while nobody hears it is not delivered, and says so")
    func changes() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let client = try await all.client(all.ann)
        let home = all.ann.home
        let sent = try await client.perform(SendMessages(conversation: "ben", texts: ["at eight"]))
        let id = try #require(sent.first?.id)
        try await eventually("it comes", on: [all.ben]) {
            try await all.texts("ann", of: all.ben) == ["at eight"]
        }
        #expect(try await run(["read", "ann"], at: all.ben.home).0 == 0)
        try await eventually("it is read", on: [all.ann]) {
            try await client.perform(ReadMessages(conversation: "ben", limit: 1)).messages.first?
                .state == "read"
        }
        try await all.ben.kill()
        let edited = try await run(["edit", id, "at nine"], at: home)
        #expect(edited.1.contains("at nine  (edited, not yet delivered) ✓\n"))
        let outbox = try await run(["outbox"], at: home)
        #expect(outbox.1.contains("1 changed"))
        let why = try await run(["why", id], at: home)
        #expect(why.1.contains("edit: ben, ") && why.1.contains("not known to have it"))
        let deleted = try await run(["delete", id], at: home)
        #expect(deleted.1.contains("(deleted, not yet delivered) ✓\n"))
        try await all.ben.start()
        try await eventually("ben hears of it", on: [all.ann]) {
            try await client.perform(ReadMessages(conversation: "ben", limit: 1)).messages.first?
                .waiting == []
        }
        #expect(try await run(["outbox"], at: home).1.contains("Nothing waits"))
        try await all.end()
    }

    @Test("read marks what it showed, and leads to the rest by short words")
    func reading() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        let ben = try await all.client(all.ben)
        let texts = (1...8).map { "line \($0)" }
        try await ann.perform(SendMessages(conversation: "ben", texts: texts))
        try await eventually("they come", on: [all.ben]) {
            try await all.texts("ann", of: all.ben) == texts
        }
        let one = try await run(["read", "ann", "--limit", "1"], at: all.ben.home)
        #expect(one.1.contains("line 1") && !one.1.contains("line 2"))
        #expect(try await ben.perform(GetConversation(conversation: "ann")).unread == 7)
        try await eventually("ann hears of one", on: [all.ann]) {
            let page = try await ann.perform(ReadMessages(conversation: "ben", limit: 8))
            return page.messages.map(\.state) == ["read"]
                + texts.dropFirst().map { _ in "delivered" }
        }
        let newest = try await run(
            ["read", "ann", "--newest", "--limit", "2", "--keep-unread"], at: all.ben.home)
        let hint = try #require(
            newest.1.split(separator: "\n").first { $0.hasPrefix("6 above: parley ") })
        let words = hint.split(separator: " ").dropFirst(3).map(String.init)
        #expect(words.allSatisfy { $0.utf8.count <= 24 || $0 == all.ben.home }, "\(words)")
        let above = try Program(words + ["--limit", "2", "--keep-unread"])
        #expect(try await above.ended() == 0)
        #expect(above.output.contains("line 5") && above.output.contains("line 6"))
        #expect(!above.output.contains("line 7") && !above.output.contains("line 4"))
        // A cursor of another conversation, or none at all, is told as that.
        for cursor in ["0123456789abcdef-0", "nonsense"] {
            let vain = try await run(["read", "ann", "--before", cursor], at: all.ben.home)
            #expect(vain.0 == 1 && vain.1.contains("error: "), "\(vain.1)")
        }
        try await all.end()
    }

    @Test("a group that has no message yet stands where it began, not at the end")
    func newGroup() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.client(all.ann).perform(SendMessages(conversation: "ben", texts: ["hello"]))
        #expect(try await run(["group", "create", "trip", "ben"], at: all.ann.home).0 == 0)
        let list = try await run(["conversations"], at: all.ann.home).1.split(separator: "\n")
        #expect(list.map { $0.prefix { $0 != " " } } == ["trip", "ben"])
        try await all.end()
    }

    @Test("a question is answered by lines that hold its words, or by none")
    func asking() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.client(all.ann).perform(
            SendMessages(
                conversation: "ben",
                texts: [
                    "the train to Lima leaves at nine", "what is for dinner",
                    "capital gains are taxed", "the key is at the farm",
                ]))
        let none = try await run(["ask", "what is the capital of Peru?"], at: all.ann.home)
        #expect(none.0 == 0 && none.1.contains("nobody wrote anything that answers this"))
        let one = try await run(["ask", "where is the key?"], at: all.ann.home)
        #expect(one.1.contains("“the key is at the farm”") && !one.1.contains("dinner"))
        try await all.end()
    }

    @Test("a good relay is not called unreachable while it is being added, one that is none is")
    func relays() async throws {
        let all = try await Hidden()
        let node = try await all.ann.start(isHidden: true)
        let added = try await all.ann.run("relays", "add", all.text)
        #expect(added.status == 0)
        let word = added.output.split(separator: " ").last?.trimmingCharacters(in: .newlines)
        #expect(["connecting", "reading", "connected"].contains(word), "\(added.output)")
        all.relay.signal(SIGKILL)
        try await all.relay.ended()
        try await eventually("it is missed", on: [all.ann]) {
            try await node.perform(ListRelays()).first?.state == "unreachable"
        }
        #expect(try await all.ann.run("relays").output.contains("  unreachable"))
        // One that lost its folder comes back at the same place, and has another key.
        let place = all.relay.output.split(separator: "\n").first { $0.hasPrefix("listening on ") }
        let other = try Program([
            "relay", "run", "--home", all.folder.home("other"),
            "--listen", String(try #require(place).dropFirst("listening on ".count)),
        ])
        try await other.says("Ctrl-C stops the relay")
        try await eventually("it is told from the other", on: [all.ann]) {
            try await node.perform(ListRelays()).first?.state == "mistaken"
        }
        let told = try await all.ann.run("relays").output
        #expect(told.contains("  answers without its key"), "\(told)")
        #expect(told.contains("parley relays move --home \(all.ann.home) "), "\(told)")
        other.signal(SIGKILL)
        try await other.ended()
        #expect(try await all.ann.stop() == 0)
    }

    @Test("one's own name is changed, and contacts see it beside the same identifier")
    func rename() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        let person = try await ann.perform(ListContacts()).map(\.person)
        let changed = try await all.ben.run("name", "Benjamin")
        #expect(changed.status == 0 && changed.output == "Benjamin\n", "\(changed.output)")
        #expect(try await all.ben.run("name").output == "Benjamin\n")
        try await eventually("ann sees it", on: [all.ann]) {
            try await ann.perform(ListContacts()).map(\.name) == ["Benjamin"]
        }
        let contacts = try await all.ann.run("contacts").output
        #expect(contacts.hasPrefix("Benjamin  \(person[0].prefix(8))  "), "\(contacts)")
        #expect(try await all.ann.run("send", "benjamin", "so be it").status == 0)
        try await all.end()
    }

    @Test("a relay that keeps a message is named by why")
    func relay() async throws {
        let all = try await Hidden()
        try await all.meet()
        try await all.ben.kill()
        let client = try await all.client(all.ann)
        let sent = try await client.perform(SendMessages(conversation: "ben", texts: ["later"]))
        try await eventually("the relay has it", on: [all.ann]) {
            try await client.perform(ReadMessages(conversation: "ben", limit: 1)).messages.first?
                .state == "relayed"
        }
        let why = try await run(["why", try #require(sent.first?.id)], at: all.ann.home)
        let address = try #require(try await client.perform(ListRelays()).first?.addresses.first)
        #expect(why.1.contains("relay \(address) ("))
        #expect(why.1.contains("keeps it, encrypted"))
        #expect(why.1.contains("it said that it has stored it"))
        #expect(try await all.ann.stop() == 0)
    }

    @Test("what means nothing does nothing, and says so with its exit status")
    func refusals() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let home = all.ann.home
        let ben = try await all.client(all.ben)
        let theirs = try #require(
            try await ben.perform(SendMessages(conversation: "ann", texts: ["mine"])).first?.id)
        try await eventually("it comes", on: [all.ann]) {
            try await all.texts("ben", of: all.ann) == ["mine"]
        }
        let person = try #require(
            try await all.client(all.ann).perform(ListContacts()).first?.person)
        let cases: [([String], Int32, String)] = [
            (["send", "ben", "-hi"], 64, "Put -- before a text"),
            (["edit", theirs, "yours"], 1, "Only the author may change, end or delete that."),
            (["delete", theirs], 1, "That message is ben's."),
            (["why", "358246"], 1, "There is no such message."),
            (["relay", "ticket", "list"], 1, "There is no relay in \(home)"),
            (["help", "nosuch"], 64, "There is no command “nosuch”."),
            (["contact"], 64, "is several commands"),
            (["presence", "set", "away", "--home", home + "-none"], 1, "There is no node in"),
            (["read", "nobody"], 1, "parley conversations --home \(home)"),
        ]
        for (words, status, text) in cases {
            let place =
                words.contains("--home") || ["help", "contact"].contains(words[0])
                ? [] : ["--home", home]
            let program = try Program(words + place)
            #expect(try await program.ended() == status, "\(words): \(program.output)")
            #expect(program.output.contains(text), "\(words): \(program.output)")
        }
        #expect(try await all.texts("ben", of: all.ann) == ["mine"])
        #expect(!FileManager.default.fileExists(atPath: home + "/relay"))
        // A person is meant as `contacts` shows them.
        #expect(try await run(["send", String(person.prefix(8)), "hello"], at: home).0 == 0)
        // Nothing runs: nothing is set, and that is said.
        #expect(try await all.cara.stop() == 0)
        for words in [["offline", "on"], ["presence", "set", "away"]] {
            let (status, output) = try await run(words, at: all.cara.home)
            #expect(status == 1 && output.contains("parley run --home \(all.cara.home)"))
        }
        let (locked, hint) = try await run(["passphrase", "set"], at: all.cara.home)
        #expect(locked == 1 && hint.contains("Name a file with --new-passphrase-file"))
        try await all.cara.start(isHidden: true)
        let status = try await run(["status"], at: all.cara.home)
        #expect(status.1.contains("listens  nowhere: it only calls others"))
        try await all.end()
    }

    @Test(
        "a name that nobody can see, or that holds marks that nobody sees, is no name",
        arguments: [
            "Ad\u{200B}a", "  ", "\u{3164}", "\u{202E}adA", "Ada\u{2800}", "Ad\u{1D159}a", "",
        ])
    func names(name: String) async throws {
        let folder = try TemporaryFolder()
        let (status, output) = try await run(["init", "--name", name], at: folder.home("ada"))
        #expect(status != 0)
        #expect(output.contains("error: ") && output.contains("hint: "))
        #expect(!FileManager.default.fileExists(atPath: folder.home("ada") + "/database"))
    }
}
