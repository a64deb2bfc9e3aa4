import Foundation
import ParleyLocalAPI
import ParleyStorage
import Testing

@testable import Parley
@testable import ParleyNodeCore

/// An invite for one that two have.
@Suite("An invite that somebody else has used", .serialized, .timeLimit(.minutes(3)))
struct UsedInviteProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        let program = try Program(words + ["--home", node.home])
        return (try await program.ended(), program.output)
    }

    @Test("is told to the second guest, who can take another")
    func second() async throws {
        let all = try await Neighbours()
        let ann = try await all.client(all.ann)
        let link = try await ann.invite(hours: 1).link
        #expect(try await run("accept", link, at: all.ben).status == 0)
        try await eventually("ben is in", on: [all.ann]) {
            try await ann.contacts().map(\.state) == ["accepted"]
        }
        let refused = try await run("accept", link, "--alias", "Ann", at: all.cara)
        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.output.contains("Ann did not take the invite: somebody else has used it"))
        #expect(refused.output.contains("Ask them for another one"))
        let shown = try await run("contacts", at: all.cara).output
        #expect(shown.contains("  refused  ") && shown.contains("Ask for another"), "\(shown)")
        #expect(try await run("send", "Ann", "hello", at: all.cara).status == 1)
        #expect(try await ann.contacts().map(\.name) == ["ben"], "ann is bothered with nothing")
        let another = try await ann.invite(hours: 1).link
        let taken = try await run("accept", another, "--alias", "Ann", at: all.cara)
        #expect(taken.status == 0 && taken.output.contains("  accepted  "), "\(taken.output)")
        let left = try await run("contacts", at: all.cara).output
        #expect(!left.contains("refused") && !left.contains("notice"), "\(left)")
        try await all.end()
    }

    @Test("is told to who took it while their node did not run")
    func apart() async throws {
        let all = try await Neighbours()
        let ann = try await all.client(all.ann)
        let link = try await ann.invite(hours: 1).link
        #expect(try await all.cara.stop() == 0)
        #expect(try await run("accept", link, "--alias", "Ann", at: all.cara).status == 0)
        #expect(try await run("accept", link, at: all.ben).status == 0)
        try await eventually("ben is in", on: [all.ann]) {
            try await ann.contacts().map(\.state) == ["accepted"]
        }
        let cara = try await all.cara.start()
        try await eventually("cara hears of it", on: [all.cara]) {
            try await cara.contacts().map(\.state) == ["refused"]
        }
        try await all.end()
    }

    @Test("into a group is told as well, also where it was ended")
    func group() async throws {
        let all = try await Neighbours()
        let ann = try await all.client(all.ann)
        for name in ["club", "choir"] {
            _ = try await ann.newConversation(name: name, members: [])
        }
        let link = try await ann.inviteToGroup(
            conversation: "club", role: "member", uses: 1, hours: 1
        ).link
        let taken = try await run("group", "join", link, at: all.ben)
        #expect(taken.status == 0 && taken.output.contains("you are in it"), "\(taken.output)")
        let used = try await run("group", "join", link, at: all.cara)
        #expect(used.status == 1, "\(used.output)")
        #expect(used.output.contains("ann did not take the link into “club”"))
        #expect(used.output.contains("Ask for another one"))
        let shown = try await run("group", "join", at: all.cara).output
        #expect(shown.contains("refused by ann") && shown.contains("notice: "), "\(shown)")
        let ended = try await ann.inviteToGroup(
            conversation: "choir", role: "member", uses: 1, hours: 1)
        let invite = ended.invite.id
        #expect(
            try await run("invite", "revoke", invite, at: all.ann).status == 0)
        #expect(try await run("group", "join", ended.link, at: all.cara).status == 1)
        let another = try await ann.inviteToGroup(
            conversation: "club", role: "member", uses: 1, hours: 1
        ).link
        #expect(try await run("group", "join", another, at: all.cara).status == 0)
        #expect(try await !run("group", "join", at: all.cara).output.contains("club"))
        try await all.end()
    }

    @Test("is doubted where nobody answered before its end")
    func unanswered() async throws {
        let folder = try TemporaryFolder()
        let ben = try await NodeProcess(home: folder.home("ben"), name: "ben", port: 1)
        let ann = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        let link = try await run("invite", at: ann).output.split(separator: "\n").first {
            $0.hasPrefix("parley:1:")
        }
        #expect(
            try await run("accept", String(#require(link)), "--alias", "Ann", at: ben).status == 0)
        #expect(try await !run("contacts", at: ben).output.contains("notice"))
        let node = try await Node.open(NodeSettings(home: ben.home))
        let kept = try await node.running.read { views in
            try views.store.values(.introduction).map { ($0.key, $0.value) }
        }
        let (person, row) = try #require(kept.first)
        var invite = try #require(PendingInvite(row)).invite
        invite.expires = 1_700_000_000_000
        let over = PendingInvite(invite: invite, alias: "Ann").bytes
        try await node.running.write { store in
            try store.transact(.full) { try store.setValue(over, .introduction, person) }
        }
        await node.shutdown()
        let shown = try await run("contacts", at: ben).output
        #expect(
            shown.contains("notice: Ann has not answered, and the invite is over"), "\(shown)")
    }
}
