import Parley
import Testing

@Suite("What a word means")
struct NameTests {
    /// Whoever followed the README and wrote to "ben", whose name is Ben, was told that there was no
    /// such conversation.
    @Test("is found in other letters, unless two fit")
    func letters() async throws {
        let folder = try TemporaryFolder()
        let (ada, _) = try await Node.create(
            NodeSettings(home: folder.home("ada")), name: "Ada")
        let made = try await ada.perform(CreateConversation(name: "Trip", members: []))
        for word in ["Trip", "trip", "TRIP", String(made.id.prefix(6)).uppercased()] {
            try await ada.perform(SendMessages(conversation: word, texts: ["to \(word)"]))
        }
        let page = try await ada.perform(ReadMessages(conversation: "Trip", limit: 10))
        #expect(page.messages.count == 4)
        let other = try await ada.perform(CreateConversation(name: "trip", members: []))
        for word in ["Trip", "trip", "tRIP", " trip "] {
            let error = await #expect(throws: NodeError.self) {
                try await ada.perform(SendMessages(conversation: word, texts: ["to which?"]))
            }
            #expect(error?.code == "ambiguous")
            for id in [made.id, other.id] {
                #expect(error?.message.contains(id.prefix(8)) == true)
            }
        }
        try await ada.perform(
            SendMessages(conversation: String(other.id.prefix(8)), texts: ["to the other"]))
        await ada.shutdown()
    }

    @Test("may be somebody whom one has not met yet")
    func notMet() async throws {
        let folder = try TemporaryFolder()
        let (ada, _) = try await Node.create(
            NodeSettings(home: folder.home("ada")), name: "Ada")
        let (ben, _) = try await Node.create(
            NodeSettings(home: folder.home("ben")), name: "Ben")
        let invite = try await ada.perform(CreateInvite(hours: 1))
        #expect(invite.addresses.isEmpty)
        try await ben.perform(AcceptInvite(link: invite.link, alias: "Ada"))
        let error = await #expect(throws: NodeError.self) {
            try await ben.perform(SendMessages(conversation: "ada", texts: ["hello"]))
        }
        #expect(error?.message == "Ada and you have not met yet.")
        // A conversation that is called alike is not taken for theirs.
        let group = try await ben.perform(CreateConversation(name: "ADA", members: []))
        for word in ["ada", "Ada", "ADA"] {
            let both = await #expect(throws: NodeError.self) {
                try await ben.perform(SendMessages(conversation: word, texts: ["to whom?"]))
            }
            #expect(both?.code == "ambiguous")
            #expect(both?.message.contains(group.id.prefix(8)) == true)
        }
        let stranger = await #expect(throws: NodeError.self) {
            try await ben.perform(SendMessages(conversation: "cara", texts: ["hello"]))
        }
        #expect(stranger?.code == "unknown-conversation")
        #expect(stranger?.message == "No conversation or contact matches “cara”.")
        _ = try await ada.start(listen: ["127.0.0.1:0"])
        #expect(try await ada.perform(CreateInvite(hours: 1)).addresses.count == 1)
        await ada.shutdown()
        await ben.shutdown()
    }
}
