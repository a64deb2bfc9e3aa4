import Testing

@testable import Parley

/// Ann, alone in a group of hers that she has left.
@Suite("A group that one has left")
struct LeftGroupTests {
    private let folder: TemporaryFolder
    private let ann: Node

    init() async throws {
        folder = try TemporaryFolder()
        (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        try await ann.perform(CreateConversation(name: "club", members: []))
    }

    private func hint(_ body: () async throws -> Void) async throws -> String {
        do {
            try await body()
        } catch let error as NodeError {
            return error.hint ?? ""
        }
        return "it was done"
    }

    @Test("lets one close and settle nothing, and says so beforehand")
    func together() async throws {
        let poll = AskPoll(conversation: "club", question: "when?", options: ["now", "later"])
        #expect(try await ann.perform(poll).mayClose)
        let decision = try await ann.perform(ProposeDecision(conversation: "club", title: "now"))
        #expect(decision.maySettle)
        try await ann.perform(LeaveGroup(conversation: "club", anyway: true))
        let polls = try await ann.perform(ListPolls(conversation: "club"))
        #expect(polls.map(\.mayClose) == [false] && polls.map(\.mayAnswer) == [false])
        let decisions = try await ann.perform(ListDecisions(conversation: "club", limit: 9))
        #expect(decisions.decisions.map(\.maySettle) == [false])
        await ann.shutdown()
    }

    @Test("promises no help of people who are not there")
    func alone() async throws {
        let role = try await hint {
            try await ann.perform(
                SetMemberRole(conversation: "club", person: "ann", role: .member))
        }
        #expect(role.hasSuffix("nobody can change your role there: it has no other owner."))
        try await ann.perform(LeaveGroup(conversation: "club", anyway: true))
        let back = try await hint {
            try await ann.perform(SendMessages(conversation: "club", texts: ["hello?"]))
        }
        #expect(back == "The conversation stays readable here. Nobody in it can add you again.")
        await ann.shutdown()
    }
}
