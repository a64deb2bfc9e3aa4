import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Source: Protocol/03-operations.md, "Rules of a group".
@Suite("Rules of a group, between processes", .timeLimit(.minutes(3)))
struct GroupRulesProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        try await node.run(words)
    }

    @Test("say who may, refuse the others with who could, and let members read, react and add")
    func rules() async throws {
        let all = try await Neighbours()
        let (ann, ben) = (all.ann, all.ben)
        try await all.gather(in: "news", saying: "welcome")
        #expect(
            try await run("group", "rules", "news", at: ben).output.contains(
                "  write         everybody\n"))
        let refused = try await run("group", "rules", "news", "--write", "admins", at: ben)
        #expect(refused.status == 1 && refused.output.contains("Only an owner"), "\(refused)")
        #expect(try await run("group", "rules", "news", "--write", "nobody", at: ann).status == 64)
        let set = try await run("group", "rules", "news", "--write", "admins", at: ann)
        #expect(set.output.contains("  write         owners and admins\n"), "\(set.output)")
        let again = try await run("group", "rules", "news", "--write", "admins", at: ann)
        #expect(again.status == 1 && again.output.contains("nothing to change"))
        try await eventually("ben knows", on: [ann, ben]) {
            try await !all.client(ben).perform(GetConversation(conversation: "news")).mayWrite
        }
        #expect(
            try await run("group", "show", "news", at: ben).output.contains(
                "only owners and admins write"))
        let told = try await run("send", "news", "may I?", at: ben)
        #expect(
            told.status == 1
                && told.output.contains(
                    "Only owners and admins write in that group. You can read, react and vote."),
            "\(told.output)")
        #expect(told.output.contains("Ask ann"), "\(told.output)")
        let page = try await all.client(ben).perform(ReadMessages(conversation: "news", limit: 9))
        let number = String(try #require(page.messages.last).number)
        #expect(try await run("react", number, "👍", at: ben).status == 0)
        #expect(try await run("poll", "new", "news", "when?", "now", "then", at: ben).status == 1)
        let json = try await run("group", "rules", "news", "--json", at: ben).output
        #expect(json.contains("\"write\":\"admins\"") || json.contains("\"write\" : \"admins\""))
        #expect(try await run("group", "invite", "news", at: ben).status == 1)
        _ = try await run("group", "rules", "news", "--invite", "everybody", at: ann)
        try await eventually("ben may invite", on: [ann, ben]) {
            try await run("group", "invite", "news", at: ben).status == 0
        }
        try await eventually("ann knows the link", on: [ann, ben]) {
            try await run("group", "show", "news", at: ann).output.contains("by ben")
        }
        // Whoever opened a link ends it, and an admin all of them.
        let listed = try await run("invite", "list", "--json", at: ben).output
        let invite = try #require(
            try JSONDecoder().decode([InviteView].self, from: Data(listed.utf8)).first {
                $0.group == "news"
            }, "\(listed)")
        #expect(try await run("invite", "list", at: ann).output.contains(invite.id.prefix(8)))
        let ended = try await run("invite", "revoke", String(invite.id.prefix(8)), at: ben)
        #expect(ended.status == 0, "\(ended.output)")
        #expect(try await run("invite", "list", at: ben).output.contains("no invite is open"))
        try await all.end()
    }
}
