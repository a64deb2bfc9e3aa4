import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Once a check said that all had come back.
@Suite("A repaired home of somebody who was out of a group and came back", .timeLimit(.minutes(5)))
struct RepairedReturnTests {
    @Test("says of what is from before then that nobody gives it to a device again")
    func told() async throws {
        let pair = try await ProcessPair()
        let ann = try #require(await pair.ann.client)
        try await ann.perform(
            SendMessages(conversation: "log", texts: (1...30).map { "before \($0)" }))
        try await pair.agree(within: 60)
        try await ann.perform(RemoveGroupMember(conversation: "log", person: "ben"))
        try await pair.agree(within: 60)
        try await ann.perform(AddGroupMember(conversation: "log", person: "ben", role: .member))
        try await ann.perform(SendMessages(conversation: "log", texts: ["after"]))
        try await pair.agree(within: 60)
        #expect(try await pair.ben.stop() == 0)
        _ = try SQLiteShell.run(
            pair.ben.home + "/database",
            """
            DELETE FROM operation WHERE log IN (
                SELECT number FROM log WHERE lane = 0
                AND space IN (SELECT number FROM space WHERE kind = 2))
            """)
        let repair = try await Program.run("doctor", "--repair", "--home", pair.ben.home)
        #expect(repair.output.contains("lost in the conversation"), "\(repair.output)")
        let ben = try await pair.ben.start()
        try await eventually("the group is back", on: [pair.ann, pair.ben]) {
            let here = try await ben.perform(ListConversations())
            guard here.contains(where: { $0.name == "log" }) else { return false }
            return try await ben.perform(ReadMessages(conversation: "log", limit: 50))
                .messages.contains { $0.text == "after" }
        }
        let after = try await Program.run("doctor", "--home", pair.ben.home)
        #expect(
            after.output.contains("lost in log: at least")
                && after.output.contains("from before you came back, and nobody gives that"),
            "\(after.output)")
    }
}
