import Parley
import ParleyLocalAPI
import Testing

@Suite("Who is removed a second time", .timeLimit(.minutes(3)))
struct RemovedAgainTests {
    /// The second removal knew more of their log than the first, and brought back what that had ended: as
    /// new, and as said before all that had been read since.
    @Test("brings back nothing of what the first removal ended")
    func removedAgain() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        try await eventually("ben is in", on: [pair.ben]) {
            try await ben.perform(ListConversations()).contains { $0.name == "log" }
        }
        try await ben.perform(SetOffline(on: true))
        try await ben.perform(SendMessages(conversation: "log", texts: ["into the void"]))
        var heard: [String] = []
        for round in 1...2 {
            try await ann.perform(RemoveGroupMember(conversation: "log", person: "ben"))
            try await ben.perform(SetOffline(on: false))
            try await eventually("ben is out", on: [pair.ben]) {
                try await ben.perform(GetGroup(conversation: "log")).members.map(\.name) == ["ann"]
            }
            #expect(try await texts(ann) == heard)
            try await ann.perform(
                AddGroupMember(conversation: "log", person: "ben", role: .member))
            try await eventually("ben is back", on: [pair.ben]) {
                let group = try await ben.perform(GetGroup(conversation: "log"))
                let row = try await ben.perform(GetConversation(conversation: "log"))
                return group.members.count == 2 && !row.isInvited
            }
            heard.append("back \(round)")
            try await ben.perform(SendMessages(conversation: "log", texts: heard.suffix(1)))
            try await eventually("ann hears ben", on: [pair.ann, pair.ben]) {
                try await texts(ann).last == heard.last
            }
            #expect(try await texts(ann) == heard)
        }
        let mine = try await ben.perform(ReadMessages(conversation: "log", limit: 20)).messages
        let lost = try #require(mine.first { $0.text == "into the void" })
        #expect(lost.state?.hasPrefix("not delivered: you were removed") == true, "\(lost)")
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    private func texts(_ node: NodeClient) async throws -> [String] {
        try await node.perform(ReadMessages(conversation: "log", limit: 20)).messages
            .compactMap(\.text)
    }
}
