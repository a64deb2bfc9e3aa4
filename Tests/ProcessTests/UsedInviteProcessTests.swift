import Foundation
import ParleyLocalAPI
import ParleyStorage
import Testing

@testable import Parley
@testable import ParleyNodeCore

/// An invite for one that two have.
@Suite("An invite that somebody else has used", .serialized, .timeLimit(.minutes(3)))
struct UsedInviteProcessTests {
    @Test("is told to the second guest, who can take another")
    func second() async throws {
        let all = try await Neighbours()
        let ann = try await all.client(all.ann)
        let link = try await ann.perform(CreateInvite(hours: 1)).link
        #expect(try await all.ben.run("accept", link).status == 0)
        try await eventually("ben is in", on: [all.ann]) {
            try await ann.perform(ListContacts()).map(\.state) == ["accepted"]
        }
        let refused = try await all.cara.run("accept", link, "--alias", "Ann")
        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.output.contains("Ann did not accept the invite: somebody else has used it"))
        #expect(refused.output.contains("Ask them for another one"))
        let shown = try await all.cara.run("contacts").output
        #expect(shown.contains("  refused  ") && shown.contains("Ask for another"), "\(shown)")
        let why = try await all.cara.run("why", "Ann").output
        #expect(why.contains("  contact  refused  the invite that you accepted"), "\(why)")
        #expect(why.contains("contact: Ann did not accept the invite: somebody"), "\(why)")
        #expect(try await all.cara.run("send", "Ann", "hello").status == 1)
        #expect(
            try await ann.perform(ListContacts()).map(\.name) == ["ben"],
            "ann is bothered with nothing")
        let another = try await ann.perform(CreateInvite(hours: 1)).link
        let taken = try await all.cara.run("accept", another, "--alias", "Ann")
        #expect(taken.status == 0 && taken.output.contains("  accepted  "), "\(taken.output)")
        let left = try await all.cara.run("contacts").output
        #expect(!left.contains("refused") && !left.contains("notice"), "\(left)")
        try await all.end()
    }

    @Test("is told to who took it where nobody could be reached")
    func apart() async throws {
        let all = try await Neighbours()
        let link = try await all.client(all.ann).perform(CreateInvite(hours: 1)).link
        for node in [all.ann, all.cara] { #expect(try await node.stop() == 0) }
        let taken = try await all.cara.run("accept", link, "--alias", "Ann")
        #expect(taken.status == 0 && taken.output.contains("  invited  "), "\(taken.output)")
        let ann = try await all.ann.start()
        let other = try await all.ben.run("accept", link)
        #expect(other.status == 0, "\(other.output)")
        try await eventually("ben is in", on: [all.ann]) {
            try await ann.perform(ListContacts()).map(\.state) == ["accepted"]
        }
        let cara = try await all.cara.start()
        try await eventually("cara hears of it", on: [all.cara]) {
            try await cara.perform(ListContacts()).map(\.state) == ["refused"]
        }
        try await all.end()
    }

    @Test("into a group is told as well, also where it was ended")
    func group() async throws {
        let all = try await Neighbours()
        let ann = try await all.client(all.ann)
        for name in ["club", "choir"] {
            try await ann.perform(CreateConversation(name: name, members: []))
        }
        let link = try await ann.perform(
            CreateGroupInvite(conversation: "club", role: .member, uses: 1, hours: 1)
        ).link
        let taken = try await all.ben.run("group", "join", link)
        #expect(taken.status == 0 && taken.output.contains("you are in it"), "\(taken.output)")
        let used = try await all.cara.run("group", "join", link)
        #expect(used.status == 1, "\(used.output)")
        #expect(used.output.contains("ann did not accept the link into “club”"))
        #expect(used.output.contains("Ask for another one"))
        let shown = try await all.cara.run("group", "join").output
        #expect(shown.contains("refused by ann") && shown.contains("notice: "), "\(shown)")
        let ended = try await ann.perform(
            CreateGroupInvite(conversation: "choir", role: .member, uses: 1, hours: 1))
        let invite = ended.invite.id
        #expect(
            try await all.ann.run("invite", "revoke", invite).status == 0)
        #expect(try await all.cara.run("group", "join", ended.link).status == 1)
        let another = try await ann.perform(
            CreateGroupInvite(conversation: "club", role: .member, uses: 1, hours: 1)
        ).link
        #expect(try await all.cara.run("group", "join", another).status == 0)
        #expect(try await !all.cara.run("group", "join").output.contains("club"))
        try await all.end()
    }

    @Test("into a group lets nobody in who was removed since, and says that")
    func removed() async throws {
        let all = try await Neighbours()
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(CreateConversation(name: "club", members: []))
        let link = try await ann.perform(
            CreateGroupInvite(conversation: "club", role: .member, uses: 2, hours: 1)
        ).link
        #expect(try await all.ben.run("group", "join", link).status == 0)
        try await eventually("ben is in", on: [all.ben]) {
            (try? await all.members(of: "club", on: all.ben)) == ["ann", "ben"]
        }
        try await ann.perform(RemoveGroupMember(conversation: "club", person: "ben"))
        try await eventually("ben is out", on: [all.ben]) {
            try await ben.perform(GetGroup(conversation: "club")).members.map(\.name) == ["ann"]
        }
        let again = try await all.ben.run("group", "join", link)
        #expect(again.status == 1, "\(again.output)")
        #expect(
            again.output.contains("you were removed from that group after it was made"),
            "\(again.output)")
        #expect(!again.output.contains("somebody else has used it"), "\(again.output)")
        let new = try await ann.perform(
            CreateGroupInvite(conversation: "club", role: .member, uses: 1, hours: 1)
        ).link
        let taken = try await all.ben.run("group", "join", new)
        #expect(taken.status == 0 && taken.output.contains("you are in it"), "\(taken.output)")
        try await all.end()
    }

    @Test("into a group is known to be used by oneself")
    func ownUse() async throws {
        let all = try await Neighbours()
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(CreateConversation(name: "club", members: []))
        let link = try await ann.perform(
            CreateGroupInvite(conversation: "club", role: .member, uses: 1, hours: 1)
        ).link
        #expect(try await all.ben.run("group", "join", link).status == 0)
        try await eventually("ben is in", on: [all.ben]) {
            (try? await all.members(of: "club", on: all.ben)) == ["ann", "ben"]
        }
        try await ben.perform(LeaveGroup(conversation: "club"))
        try await eventually("ann knows", on: [all.ann]) {
            try await ann.perform(GetGroup(conversation: "club")).members.map(\.name) == ["ann"]
        }
        let again = try await all.ben.run("group", "join", link)
        #expect(again.status == 1, "\(again.output)")
        #expect(again.output.contains("you have used it yourself"), "\(again.output)")
        #expect(!again.output.contains("somebody else"), "\(again.output)")
        try await all.end()
    }

    @Test("is doubted where nobody answered before its end")
    func unanswered() async throws {
        let folder = try TemporaryFolder()
        let ben = try await NodeProcess(home: folder.home("ben"), name: "ben", port: 1)
        let ann = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        let link = try await ann.run("invite").output.split(separator: "\n").first {
            $0.hasPrefix("parley:1:")
        }
        #expect(
            try await ben.run("accept", String(#require(link)), "--alias", "Ann").status == 0)
        #expect(try await !ben.run("contacts").output.contains("notice"))
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
        let shown = try await ben.run("contacts").output
        #expect(
            shown.contains("notice: Ann has not answered, and the invite has expired"), "\(shown)")
    }

    /// Once the addresses of the card alone were tried, where nobody was any more.
    @Test("of a contact who has moved leads to where they are now")
    func moved() async throws {
        let folder = try TemporaryFolder()
        func node(_ name: String) async throws -> NodeProcess {
            try await NodeProcess(
                home: folder.home(name), name: name, port: try FreePort.some())
        }
        let (before, ben) = (try await node("ann"), try await node("ben"))
        let host = try await before.start(options: ["--no-lan"])
        var guest = try await ben.start(isHidden: true, options: ["--no-lan"])
        try await guest.perform(
            AcceptInvite(link: host.perform(CreateInvite(hours: 1)).link))
        try await eventually("they meet", on: [before, ben]) {
            try await guest.perform(ListContacts()).map(\.state) == ["accepted"]
        }
        #expect(try await ben.stop() == 0)
        #expect(try await before.stop() == 0)
        let ann = NodeProcess(home: before.home, address: "127.0.0.1:\(try FreePort.some())")
        let moved = try await ann.start(options: ["--no-lan"])
        guest = try await ben.start(isHidden: true, options: ["--no-lan"])
        try await guest.perform(
            AcceptInvite(link: moved.perform(CreateInvite(hours: 1)).link))
        try await eventually("they are linked", on: [ann, ben]) {
            try await guest.perform(ListContacts()).map(\.isLinked) == [true]
        }
        #expect(try await ben.stop() == 0)
        #expect(try await ann.stop() == 0)
    }
}
