import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("Names and identifiers, as a person types them", .timeLimit(.minutes(5)))
struct NameProcessTests {
    @Test("Attack 120: what looks like an identifier is no name, wherever one is made")
    func refused120() async throws {
        let folder = try TemporaryFolder()
        let made = try await Program.run(
            "init", "--home", folder.home("eve"), "--name", "42bc5fac")
        #expect(made.status == 1)
        #expect(made.output.contains("error: That name looks like an identifier."))
        #expect(!FileManager.default.fileExists(atPath: folder.home("eve") + "/log.sqlite"))

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
        let renamed = try await Program.run("group", "rename", "trip", whole, "--home", home)
        #expect(renamed.output.contains("looks like an identifier"))
        let device = try await Program.run("status", "--json", "--home", home)
        #expect(device.status == 0)
    }

    @Test("a message has a name that is the same on both nodes, and every command takes it")
    func messages() async throws {
        let nodes = try await Neighbours()
        try await nodes.meet(nodes.ann, nodes.ben, named: "ben")
        let (ann, ben) = (nodes.ann.home, nodes.ben.home)
        let person = try await nodes.client(nodes.ann).contacts()[0].person
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
        let page = try await nodes.client(nodes.ben).messages(
            conversation: "ann", before: nil, limit: 1)
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
}
