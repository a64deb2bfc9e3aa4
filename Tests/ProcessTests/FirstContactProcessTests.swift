import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// A person invites and goes; another takes the invite, writes and goes. They are never there together.
@Suite("First contact of two who are never there together", .serialized, .timeLimit(.minutes(5)))
struct FirstContactProcessTests {
    @Test("an invite that names a relay brings the first messages, and the answers back")
    func apart() async throws {
        let all = try await Hidden()
        let ann = try await all.ann.start(isHidden: true)
        try await ann.perform(AddRelay(text: all.text))
        try await eventually("ann reaches the relay", on: [all.ann]) {
            try await ann.perform(ListRelays()).first?.state == "connected"
        }
        let invited = try await Program.run("invite", "--home", all.ann.home)
        #expect(invited.status == 0)
        #expect(!invited.output.contains("warning"), "\(invited.output)")
        #expect(invited.output.contains("they can write to you while you are away"))
        let link = try #require(
            invited.output.split(separator: "\n").map(String.init).first {
                $0.hasPrefix("parley:1:")
            })
        #expect(link.utf8.count <= 200, "a link of \(link.utf8.count) characters")
        print("an invite with one relay: \(link.utf8.count) characters")
        #expect(try await all.ann.stop() == 0)

        let ben = try await all.ben.start(isHidden: true)
        let accepted = try await Program.run("accept", link, "--home", all.ben.home)
        #expect(accepted.status == 0)
        #expect(accepted.output.hasPrefix("ann"), "\(accepted.output)")
        #expect(
            accepted.output.contains(
                "you can write to them now: parley send --home \(all.ben.home) ann TEXT"))
        for text in ["one", "two", "three"] {
            let sent = try await Program.run("send", "ann", text, "--home", all.ben.home)
            #expect(sent.status == 0, "\(sent.output)")
        }
        try await eventually("the relay has what ben wrote", on: [all.ben]) {
            try await states(of: ben, with: "ann") == ["relayed", "relayed", "relayed"]
        }
        #expect(try await ben.perform(ListContacts()).map(\.state) == ["invited"])
        #expect(try await all.ben.stop() == 0)

        try await goOn(all)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }

    /// Ann reads and answers, alone; then ben reads that.
    private func goOn(_ all: Hidden) async throws {
        let ann = try await all.ann.start(isHidden: true)
        try await eventually("ann has what ben wrote", on: [all.ann]) {
            guard try await ann.perform(ListConversations()).contains(where: { $0.name == "ben" })
            else {
                return false
            }
            return try await all.texts(of: all.ann, with: "ben") == ["one", "two", "three"]
        }
        #expect(try await ann.perform(ListContacts()).map(\.state) == ["accepted"])
        let read = try await Program.run("read", "ben", "--home", all.ann.home)
        #expect(read.status == 0 && read.output.contains("three"))
        let answered = try await Program.run("send", "ben", "four", "--home", all.ann.home)
        #expect(answered.status == 0)
        try await eventually("the relay has the answer", on: [all.ann]) {
            try await states(of: ann, with: "ben") == ["relayed"]
        }
        #expect(try await all.ann.stop() == 0)

        let ben = try await all.ben.start(isHidden: true)
        try await eventually("ben has the answer, and knows what arrived", on: [all.ben]) {
            let states = try await states(of: ben, with: "ann")
            return try await all.texts(of: all.ben, with: "ann").last == "four"
                && states.allSatisfy { $0 == "delivered" || $0 == "read" }
        }
        #expect(try await ben.perform(ListContacts()).map(\.state) == ["accepted"])
        #expect(try await all.ben.stop() == 0)
    }

    @Test("what was written to whom who then refused the invite is said to wait for another")
    func refused() async throws {
        let all = try await Hidden()
        let ann = try await all.ann.start(isHidden: true)
        try await ann.perform(AddRelay(text: all.text))
        try await eventually("ann's invites name the relay, and her card is there", on: [all.ann]) {
            let invite = try await ann.perform(CreateInvite(uses: 1, hours: 1))
            let all = try await ann.perform(ListInvites())
            return invite.relay != nil && all.allSatisfy { !$0.isWaitingForRelay }
        }
        let invites = try await ann.perform(ListInvites()).filter { $0.relay != nil }
        let link = try #require(invites.last).link
        #expect(try await all.ann.stop() == 0)

        let ben = try await all.ben.start(isHidden: true)
        #expect(try await Program.run("accept", link, "--home", all.ben.home).status == 0)
        #expect(try await Program.run("send", "ann", "one", "--home", all.ben.home).status == 0)
        try await eventually("the relay has what ben wrote", on: [all.ben]) {
            try await states(of: ben, with: "ann") == ["relayed"]
        }
        for invite in invites {
            let ended = try await Program.run("invite", "revoke", invite.id, "--home", all.ann.home)
            #expect(ended.status == 0, "\(ended.output)")
        }
        let again = try await all.ann.start(isHidden: true)
        try await eventually("ben hears of it", on: [all.ann, all.ben]) {
            try await ben.perform(ListContacts()).map(\.state) == ["refused"]
        }
        #expect(try await states(of: ben, with: "ann") == ["uninvited"])
        let page = try await ben.perform(ReadMessages(conversation: "ann", limit: 1))
        let number = try #require(page.messages.first?.number)
        let fate = "did not accept the invite: somebody else has used it"
        for (words, said) in [
            (["send", "ann", "two"], "✓ waits for another invite from them"),
            (["read", "ann"], "✓ waits for another invite from them"),
            (["why", "\(number)"], fate), (["status"], fate), (["outbox"], "another invite"),
        ] {
            let told = try Program(words + ["--home", all.ben.home])
            #expect(try await told.ended() == 0)
            #expect(told.output.contains(said), "\(words): \(told.output)")
        }

        let other = try await again.perform(CreateInvite(uses: 1, hours: 1)).link
        _ = try await Program.run("accept", other, "--home", all.ben.home)
        try await eventually("both arrive", on: [all.ann, all.ben]) {
            try await states(of: ben, with: "ann").allSatisfy { $0 == "delivered" || $0 == "read" }
        }
        #expect(try await all.texts(of: all.ann, with: "ben") == ["one", "two"])
        #expect(try await ben.perform(GetStatus()).warnings.allSatisfy { !$0.contains(fate) })
        for node in [all.ann, all.ben] { #expect(try await node.stop() == 0) }
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }

    @Test("invite says so as long as the card is not on the relay")
    func waiting() async throws {
        let all = try await Hidden()
        let ann = try await all.ann.start(isHidden: true)
        try await ann.perform(AddRelay(text: all.text))
        // Connected is not enough: an invite names a relay once a mailbox can be had there.
        try await eventually("ann's invites name the relay", on: [all.ann]) {
            try await ann.perform(CreateInvite(uses: 1, hours: 1)).relay != nil
        }
        #expect(try await all.ann.stop() == 0)
        // A command calls the relay as well, and may bring the card there before it ends: while the relay
        // stands still nobody can.
        all.relay.signal(SIGSTOP)
        let invited = try await Program.run("invite", "--home", all.ann.home)
        #expect(invited.status == 0)
        #expect(
            invited.output.contains("your card is not known to be on 127.0.0.1"),
            "\(invited.output)")
        #expect(!invited.output.contains("warning"))
        let listed = try await Program.run("invite", "list", "--home", all.ann.home)
        #expect(listed.output.contains("card not known to be on the relay yet"))
        all.relay.signal(SIGCONT)
        let again = try await all.ann.start(isHidden: true)
        try await eventually("the card is there", on: [all.ann]) {
            try await again.perform(ListInvites()).allSatisfy { !$0.isWaitingForRelay }
        }
        #expect(try await all.ann.stop() == 0)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }

    private func states(of node: NodeClient, with name: String) async throws -> [String] {
        try await node.perform(ReadMessages(conversation: name, limit: 100)).messages
            .filter(\.isOwn).compactMap(\.state)
    }
}
