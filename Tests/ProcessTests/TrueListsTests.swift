import Parley
import ParleyLocalAPI
import Testing

@Suite("What lists and marks say", .serialized, .timeLimit(.minutes(3)))
struct TrueListsTests {
    /// Once it was “from before anybody else joined”, of somebody who had been there before.
    @Test("of what was written while the others were out does not say that nobody had joined yet")
    func returned() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(RemoveGroupMember(conversation: "club", person: "ben"))
        #expect(try await all.ann.run("send", "club", "while you were out").status == 0)
        try await eventually("ben hears that he is out", on: [all.ben]) {
            try await ben.perform(GetGroup(conversation: "club")).members.count == 1
        }
        try await ann.perform(
            AddGroupMember(conversation: "club", person: "ben", role: .member))
        // Nobody was ever in this one but her.
        try await ann.perform(CreateConversation(name: "diary", members: []))
        #expect(try await all.ann.run("send", "diary", "all alone").status == 0)
        try await ann.perform(
            AddGroupMember(conversation: "diary", person: "ben", role: .member))
        let rows = [
            ("club", "while you were out", "returned", "the others joined or came back"),
            ("diary", "all alone", "earlier", "anybody else joined"),
        ]
        for (group, text, state, words) in rows {
            try await eventually("\(group): ben is in", on: [all.ann]) {
                try await ann.perform(ReadMessages(conversation: group, limit: 9)).messages.last?
                    .state == state
            }
            let read = try await all.ann.run("read", group, "--newest").output
            #expect(read.contains("\(text)  ✓ from before \(words)"), "\(read)")
        }
        try await all.end()
    }

    @Test("of a name with a comma shows one name, not two")
    func commas() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        #expect(try await all.ben.run("name", "Ben, Cara").status == 0)
        try await eventually("ann sees the name", on: [all.ann]) {
            try await ann.perform(ListContacts()).map(\.name) == ["Ben, Cara"]
        }
        let list = try await all.ann.run("conversations").output
        let club = try #require(list.split(separator: "\n").first { $0.hasPrefix("club") })
        #expect(club.hasSuffix("“Ben, Cara”, ann"), "\(list)")
        let page = try await ben.perform(ReadMessages(conversation: "club", limit: 1))
        let number = "\(try #require(page.messages.last?.number))"
        #expect(try await all.ben.run("react", number, "👍").status == 0)
        try await eventually("ann sees the reaction", on: [all.ann]) {
            try await ann.perform(ReadMessages(conversation: "club", limit: 1)).messages.last?
                .reactions.isEmpty == false
        }
        let read = try await all.ann.run("read", "club", "--newest").output
        #expect(read.contains("👍 “Ben, Cara”"), "\(read)")
        // Where it stands alone it is as they write it.
        #expect(list.split(separator: "\n").contains { $0.hasPrefix("Ben, Cara ") }, "\(list)")
        try await all.end()
    }
}
