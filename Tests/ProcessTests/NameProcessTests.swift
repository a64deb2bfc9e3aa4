import Foundation
import ParleyConversation
import ParleyLedger
import ParleyLocalAPI
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley
@testable import ParleyNodeCore

/// What a changed program does: names that no node takes.
extension RunningNode {
    fileprivate func callItself(_ name: String) throws {
        let store = try #require(opened)
        try store.begin(.full)
        try core.publishCard(name: name, addresses: [], at: now, store)
        try store.commit()
    }

    fileprivate func call(_ conversation: String, _ name: String) throws {
        let store = try #require(opened)
        let space = try #require(try store.spaces().first { "\($0.id)" == conversation })
        let roster = try #require(try RosterReader.roster(of: space, in: store))
        let author = LogAuthor(
            key: core.identity.key, space: space, authority: roster.authority,
            wallClock: now.wall)
        let former = try Overview.nameReferences(of: space.number, in: store)
        var random = SystemRandom()
        try store.begin(.full)
        _ = try author.append(
            [ConversationName(name: name).draft(replacing: former)], to: store, using: &random)
        try store.commit()
    }
}

@Suite("Names and identifiers, as a person types them", .timeLimit(.minutes(5)))
struct NameProcessTests {
    @Test("Attack 120: what looks like an identifier is no name, wherever one is made")
    func refused120() async throws {
        let folder = try TemporaryFolder()
        let made = try await Program.run(
            "init", "--home", folder.home("eve"), "--name", "42bc5fac")
        #expect(made.status == 1)
        #expect(made.output.contains("error: That name looks like an identifier, or has an"))
        #expect(!FileManager.default.fileExists(atPath: folder.home("eve") + "/log.sqlite"))
        let numbered = try await Program.run("init", "--home", folder.home("eve"), "--name", "#7")
        #expect(numbered.output.contains("# with a number only a message; leave them out"))

        let home = folder.home("ada")
        #expect(try await Program.run("init", "--home", home, "--name", "Ada").status == 0)
        let whole = String(repeating: "ab12", count: 16)
        for words in [
            ["group", "create", " 42BC5FAC "], ["group", "create", whole],
            ["import", "irc", "/dev/null", "--into", "４２bc5fac", "--year", "2020"],
        ] {
            let program = try Program(words + ["--home", home])
            #expect(try await program.ended() != 0, "\(words)")
        }
        let group = try await Program.run("group", "create", "trip", "--home", home)
        #expect(group.status == 0)
        // A device is called by the same rule, also before it is linked.
        let linked = try await Program.run(
            "device", "accept-link", "parley-device:1:x", "--name", "ta\u{202E}b", "--home",
            folder.home("phone"))
        #expect(linked.status == 1 && linked.output.contains("U+202E"), "\(linked)")
        let renamed = try await Program.run("group", "rename", "trip", whole, "--home", home)
        #expect(renamed.output.contains("looks like an identifier"))
        let device = try await Program.run("status", "--json", "--home", home)
        #expect(device.status == 0)
    }

    /// Once `group add secret 42bc5fac` brought in whoever had that for a name.
    @Test("Attack 120: who is called as another's identifier is never meant by it, nor their group")
    func impostor120() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        let victim = try #require(await ann.perform(ListContacts()).first).person
        let short = String(victim.prefix(8))
        let direct = try #require(await ann.perform(ListConversations()).first).id
        let (eve, _) = try await Node.create(
            NodeSettings(home: all.folder.home("eve")), name: "eve")
        try await eve.start(listen: [])
        try await eve.running.callItself(short)
        try await eve.perform(
            AcceptInvite(link: try await ann.perform(CreateInvite(hours: 1)).link))
        try await eventually("eve is met", on: [all.ann]) {
            try await ann.perform(ListConversations()).contains { $0.name == "“\(short)”" }
        }
        let group = try await eve.perform(CreateConversation(name: "tea", members: ["ann"]))
        try await eventually("ann is in", on: [all.ann]) {
            try await ann.perform(ListConversations()).contains { $0.name == "tea" }
        }
        try await eve.running.call(group.id, direct)
        try await eve.perform(SendMessages(conversation: group.id, texts: ["come in"]))
        try await eventually("the group is called so", on: [all.ann]) {
            try await ann.perform(ListConversations()).contains { $0.name == "“\(direct)”" }
        }

        for word in [short, victim, direct] {
            let sent = try await all.ann.run("send", word, "for ben alone: \(word.count)")
            #expect(sent.status == 0, "\(sent.output)")
        }
        #expect(try await all.ann.run("group", "create", "secret").status == 0)
        for words in [["group", "add", "secret", short], ["contact", "verify", short, "--equal"]] {
            let done = try Program(words + ["--home", all.ann.home])
            #expect(try await done.ended() == 0, "\(words): \(done.output)")
        }
        #expect(try await all.members(of: "secret", on: all.ann) == ["ann", "ben"])
        #expect(try await ann.perform(ListContacts()).filter(\.isVerified).map(\.name) == ["ben"])
        #expect(try await all.ann.run("contact", "block", short).status == 0)
        let states = try await ann.perform(ListContacts()).filter { $0.state == "blocked" }
        #expect(states.map(\.person) == [victim])
        #expect(try await all.texts("ben", of: all.ann).count == 3)
        let place = try await ann.perform(ListConversations()).first {
            $0.kind == "direct" && $0.name != "ben"
        }
        #expect(try await all.texts(#require(place).id, of: all.ann) == [])
        #expect(try await all.texts(group.id, of: all.ann) == ["come in"])
        await eve.shutdown()
        try await all.end()
    }

    @Test("Where no user name is known, a new node asks for --name, and makes nothing")
    func nobodyNamed() async throws {
        let folder = try TemporaryFolder()
        let bare = ["-u", "USER", "-u", "LOGNAME", "HOME=\(folder.path)", Program.path]
        for words in [["init", "--home", folder.home("a")], ["homes", "new", "work"]] {
            let refused = try Program(words, by: bare)
            #expect(try await refused.ended() == 64, "\(words): \(refused.output)")
            #expect(refused.output.contains("No name was given"), "\(refused.output)")
            #expect(refused.output.contains("--name NAME"), "\(refused.output)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.home("a")))
        let known = try Program(
            ["init", "--home", folder.home("a")],
            by: ["-u", "USER", "LOGNAME=ada", Program.path])
        #expect(try await known.ended() == 0, "\(known.output)")
        #expect(known.output.contains("ada's node is in"), "\(known.output)")
    }

    /// Once a contact who was called “you” asked what one seemed to have asked oneself.
    @Test("Attack 120: a word by which Parley means somebody is the name of nobody")
    func ownWord120() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        let device = try await ann.perform(GetStatus()).device
        for words in [
            ["name", "You"], ["contact", "alias", "ben", "me"],
            ["device", "rename", device, "NOBODY"],
        ] {
            let refused = try Program(words + ["--home", all.ann.home])
            #expect(try await refused.ended() == 1, "\(words): \(refused.output)")
            #expect(refused.output.contains("That is a word that Parley itself uses for people."))
        }
        let (eve, _) = try await Node.create(
            NodeSettings(home: all.folder.home("eve")), name: "eve")
        try await eve.start(listen: [])
        try await eve.running.callItself("everyone")
        try await eve.perform(
            AcceptInvite(link: try await ann.perform(CreateInvite(hours: 1)).link))
        try await eventually("eve is met", on: [all.ann]) {
            try await ann.perform(ListConversations()).contains { $0.name == "“everyone”" }
        }
        let group = try await eve.perform(CreateConversation(name: "tea", members: ["ann"]))
        _ = try await eve.perform(
            AskPoll(conversation: group.id, question: "tea?", options: ["yes", "no"]))
        try await eventually("ann is asked", on: [all.ann]) {
            try await ann.perform(ListPolls()).count == 1
        }
        let polls = try await Program.run("poll", "list", "--home", all.ann.home)
        #expect(polls.output.contains("“everyone” in “tea”"), "\(polls)")
        let hers = try await eve.perform(GetStatus()).person
        for (text, persons) in [("hi @everyone", []), ("hi @“everyone”", [hers])] {
            let sent = try await ann.perform(
                SendMessages(conversation: "tea", texts: [text]))[0]
            #expect(sent.mentions.map(\.person) == persons, "\(text)")
            #expect(sent.mentionsEveryone == persons.isEmpty, "\(text)")
        }
        await eve.shutdown()
        try await all.end()
    }

    /// Ann's `send ada` went to mal, who had called the conversation of the two so.
    @Test("Attack 162: nobody makes a conversation of two pass for one with somebody else")
    func direct162() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        let refused = try await all.ben.run("group", "rename", "ann", "Ada")
        #expect(refused.status == 1)
        #expect(
            refused.output.contains(
                "The people and names of a conversation of two cannot be changed."))

        let (mal, _) = try await Node.create(
            NodeSettings(home: all.folder.home("mal")), name: "mal")
        try await mal.start(listen: [])
        try await mal.perform(
            AcceptInvite(link: try await ann.perform(CreateInvite(hours: 1)).link))
        try await eventually("mal is met", on: [all.ann]) {
            try await ann.perform(ListConversations()).contains { $0.name == "mal" }
        }
        let direct = try #require(try await mal.perform(ListConversations()).first).id
        try await mal.running.call(direct, "ben")
        try await mal.perform(SendMessages(conversation: direct, texts: ["hello"]))
        try await eventually("it comes", on: [all.ann]) {
            try await all.texts(direct, of: all.ann) == ["hello"]
        }
        #expect(try await ann.perform(ListConversations()).map(\.name).sorted() == ["ben", "mal"])
        #expect(try await all.ann.run("send", "ben", "for ben").status == 0)
        #expect(try await all.ann.run("send", "mal", "for mal").status == 0)
        #expect(try await all.texts("ben", of: all.ann) == ["for ben"])
        #expect(try await all.texts(direct, of: all.ann) == ["hello", "for mal"])
        await mal.shutdown()
        try await all.end()
    }

    @Test("a message has a name that is the same on both nodes, and every command takes it")
    func messages() async throws {
        let nodes = try await Neighbours()
        try await nodes.meet(nodes.ann, nodes.ben, named: "ben")
        let (ann, ben) = (nodes.ann.home, nodes.ben.home)
        let person = try await nodes.client(nodes.ann).perform(ListContacts())[0].person
        // The person as `contacts` shows them.
        let sent = try await Program.run(
            "send", String(person.prefix(8)), "over here", "--home", ann, "--json")
        #expect(sent.status == 0)
        let id = try #require(
            try JSONDecoder().decode([MessageView].self, from: Data(sent.output.utf8)).first?.id)
        #expect(id.wholeMatch(of: /[0-9a-f]{16}-[0-9]+/) != nil)
        try await eventually("it comes", on: [nodes.ann, nodes.ben]) {
            try await nodes.texts("ann", of: nodes.ben) == ["over here"]
        }
        let page = try await nodes.client(nodes.ben).perform(
            ReadMessages(conversation: "ann", limit: 1))
        #expect(page.messages.first?.id == id)
        for words in [
            ["why", id], ["why", id.uppercased()], ["reply", "ann", id, "so I see"],
            ["react", id, "👍"], ["read", "ann", "--around", id],
        ] {
            let program = try Program(words + ["--home", ben])
            #expect(try await program.ended() == 0, "\(words): \(program.output)")
            #expect(words[0] != "why" || program.output.contains(id))
        }
        let edited = try await Program.run("edit", id, "over there", "--home", ann)
        #expect(edited.status == 0 && edited.output.contains("over there"))
        // The start of the tag is enough; another place is another message, and none here.
        let tag = id.prefix(8)
        let place = id.split(separator: "-")[1]
        let deleted = try await Program.run("delete", "\(tag)-\(place)", "--home", ann)
        #expect(deleted.status == 0)
        let missing = try await Program.run("why", "\(tag)-\(place)9", "--home", ann)
        #expect(missing.status == 1)
        try await nodes.end()
    }

    @Test("a person is called what one likes, also when they are a contact already")
    func aliases() async throws {
        let nodes = try await Neighbours()
        try await nodes.meet(nodes.ann, nodes.ben, named: "ben")
        func names() async throws -> [String] {
            try await nodes.client(nodes.ann).perform(ListContacts()).map(\.name)
        }
        let link = try await nodes.client(nodes.ben).perform(CreateInvite(hours: 1)).link
        #expect(try await nodes.ann.run("accept", link, "--alias", "Benny").status == 0)
        #expect(try await names() == ["Benny"])
        let other = try await nodes.ann.run("contact", "alias", "Benny", "Ben of the mill")
        #expect(other.status == 0 && other.output.contains("Ben of the mill"), "\(other.output)")
        // What he calls himself is known as well, and takes no name that she gave.
        for name in ["Ben of the mill", "ben"] {
            #expect(try await nodes.ann.run("read", name).status == 0)
            #expect(try await nodes.ann.run("why", name).status == 0)
        }
        #expect(try await nodes.ann.run("contact", "alias", "Ben of the mill").status == 0)
        #expect(try await names() == ["ben"])
        let own = try await nodes.ann.run("contact", "alias", "ben", "ann")
        let said = own.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(said.contains("notice: “ann” can be taken for you, ann ("), "\(said)")
        #expect(said.contains("or another name, parley contact alias "), "\(said)")
        let ben = try #require(await nodes.client(nodes.ann).perform(ListContacts()).first)
        #expect(try await nodes.ann.run("contact", "alias", ben.person).status == 0)
        let unknown = try await nodes.ann.run("contact", "alias", "nobody", "x")
        #expect(unknown.status == 1 && unknown.output.contains("nobody"), "\(unknown.output)")
        #expect(try await nodes.ann.run("contact", "alias", "ben", " ").status == 64)
        try await nodes.end()
    }
}
