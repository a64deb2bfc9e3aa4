import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Three people, each with a node in a process of its own.
struct Neighbours {
    let folder: TemporaryFolder
    let ann, ben, cara: NodeProcess

    /// - Parameter clock: that of Ben's device, where it can be set.
    init(ofBen clock: SetClock? = nil) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        func node(_ name: String) async throws -> NodeProcess {
            try await NodeProcess(
                home: folder.home(name), name: name, port: try FreePort.some(),
                environment: name == "ben" ? clock?.environment ?? [:] : [:])
        }
        ann = try await node("ann")
        ben = try await node("ben")
        cara = try await node("cara")
        for node in [ann, ben, cara] { try await node.start() }
    }

    /// The connection to a node that runs.
    func client(_ node: NodeProcess) async throws -> NodeClient {
        guard let client = await node.client else { throw Late(description: "it does not run") }
        return client
    }

    func state(of name: String, for node: NodeProcess) async throws -> String? {
        try await client(node).perform(ListContacts()).first { $0.name == name }?.state
    }

    func texts(_ conversation: String, of node: NodeProcess) async throws -> [String] {
        let page = try await client(node).perform(
            ReadMessages(conversation: conversation, limit: 100))
        return page.messages.compactMap(\.text)
    }

    func members(of group: String, on node: NodeProcess) async throws -> [String] {
        try await client(node).perform(GetGroup(conversation: group)).members.map(\.name).sorted()
    }

    /// Makes two of them contacts.
    func meet(_ host: NodeProcess, _ guest: NodeProcess, named name: String) async throws {
        let link = try await client(host).perform(CreateInvite(hours: 1)).link
        try await client(guest).perform(AcceptInvite(link: link))
        for node in [host, guest] {
            try await client(node).perform(SetAdditionPolicy(policy: .contacts))
        }
        try await eventually("\(name) is met", on: [host, guest]) {
            try await client(host).perform(ListConversations()).contains { $0.name == name }
        }
    }

    /// Ann and ben meet, and ben has what she wrote into a group of both.
    func gather(in group: String, saying text: String) async throws {
        try await meet(ann, ben, named: "ben")
        let (first, second) = (try await client(ann), try await client(ben))
        try await first.perform(CreateConversation(name: group, members: ["ben"]))
        try await first.perform(SendMessages(conversation: group, texts: [text]))
        try await eventually("ben has it", on: [ben]) {
            guard
                try await second.perform(ListConversations()).contains(where: { $0.name == group })
            else {
                return false
            }
            return try await texts(group, of: ben) == [text]
        }
    }

    func end() async throws {
        for node in [ann, ben, cara] where await node.client != nil {
            #expect(try await node.stop() == 0)
        }
    }
}

@Suite("People and groups in processes", .serialized, .timeLimit(.minutes(3)))
struct GroupProcessTests {
    @Test("a request over TCP waits, is declined, accepted, and a contact is kept away")
    func requests() async throws {
        let all = try await Neighbours()
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let card = try await ann.perform(GetCard()).text
        #expect(try await ben.perform(RequestContact(card: card)).state == "requested")
        try await eventually("ann is asked", on: [all.ann]) {
            try await all.state(of: "ben", for: all.ann) == "pending"
        }
        #expect(try await ann.perform(ListConversations()).isEmpty)
        #expect(
            try await ann.perform(AnswerContact(person: "ben", decision: .decline)).state
                == "declined")
        #expect(try await all.state(of: "ann", for: all.ben) == "requested")
        #expect(
            try await ann.perform(AnswerContact(person: "ben", decision: .accept)).state
                == "accepted")
        try await eventually("ben is accepted", on: [all.ben]) {
            try await all.state(of: "ann", for: all.ben) == "accepted"
        }
        try await eventually("ben has the conversation", on: [all.ben]) {
            try await ben.perform(ListConversations()).contains { $0.name == "ann" }
        }
        try await ben.perform(SendMessages(conversation: "ann", texts: ["hello"]))
        try await eventually("ann reads it", on: [all.ann]) {
            try await all.texts("ben", of: all.ann) == ["hello"]
        }
        #expect(
            try await ann.perform(AnswerContact(person: "ben", decision: .block)).state == "blocked"
        )
        try await eventually("the link is gone", on: [all.ann]) {
            try await ann.perform(GetStatus()).links.isEmpty
        }
        await #expect(throws: NodeError.self) {
            try await ann.perform(SendMessages(conversation: "ben", texts: ["no"]))
        }
        #expect(try await all.texts("ben", of: all.ann) == ["hello"])
        try await ben.perform(SendMessages(conversation: "ann", texts: ["well?"]))
        #expect(
            try await ann.perform(AnswerContact(person: "ben", decision: .unblock)).state
                == "accepted")
        try await eventually("what was written meanwhile comes", on: [all.ann]) {
            try await all.texts("ben", of: all.ann) == ["hello", "well?"]
        }
        try await all.end()
    }

    @Test("Attack 53: a code of other keys is refused loudly, and verifies nothing")
    func codes() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.meet(all.ann, all.cara, named: "cara")
        let ann = try await all.client(all.ann)
        let shown = try await all.client(all.ben).perform(GetSafetyNumber(person: "ann")).code
        let error = await #expect(throws: NodeError.self) {
            try await ann.perform(VerifyContact(person: "cara", code: shown))
        }
        #expect(error?.code == "mismatch")
        #expect(error?.message.contains("DO NOT MATCH") == true)
        let own = try await ann.perform(GetSafetyNumber(person: "ben")).code
        await #expect(throws: NodeError.self) {
            try await ann.perform(VerifyContact(person: "ben", code: own))
        }
        #expect(try await ann.perform(ListContacts()).allSatisfy { !$0.isVerified })
        #expect(try await ann.perform(VerifyContact(person: "ben", code: shown)).isVerified)
        #expect(try await ann.perform(ListContacts()).map(\.isVerified) == [true, false])
        let number = try await ann.perform(GetSafetyNumber(person: "ben")).number
        #expect(
            try await all.client(all.ben).perform(GetSafetyNumber(person: "ann")).number == number)
        try await all.end()
    }

    @Test("who is removed while away reads nothing new, and comes back by a link")
    func removal() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.meet(all.ann, all.cara, named: "cara")
        let ann = try await all.client(all.ann)
        try await ann.perform(CreateConversation(name: "trip", members: ["ben"]))
        #expect(
            try await ann.perform(
                AddGroupMember(conversation: "trip", person: "cara", role: .member)
            )
            .members.count == 3)
        let full = ["ann", "ben", "cara"]
        try await eventually("cara is in", on: [all.cara]) {
            (try? await all.members(of: "trip", on: all.cara)) == full
        }
        let cara = try await all.client(all.cara)
        try await cara.perform(SendMessages(conversation: "trip", texts: ["I am in"]))
        try await eventually("all have it", on: [all.ann, all.ben]) {
            let (first, second) = (
                try await all.texts("trip", of: all.ann), try await all.texts("trip", of: all.ben)
            )
            return first == ["I am in"] && second == first
        }
        #expect(try await all.cara.stop() == 0)
        try await ann.perform(RemoveGroupMember(conversation: "trip", person: "cara"))
        try await ann.perform(SendMessages(conversation: "trip", texts: ["without cara"]))
        try await eventually("ben knows", on: [all.ben]) {
            let texts = try await all.texts("trip", of: all.ben)
            return try await all.members(of: "trip", on: all.ben) == ["ann", "ben"]
                && texts.last == "without cara"
        }
        let back = try await all.cara.start()
        try await eventually("cara learns that she is out", on: [all.cara]) {
            try await back.perform(GetGroup(conversation: "trip")).members.count == 2
        }
        #expect(try await all.texts("trip", of: all.cara) == ["I am in"])
        await #expect(throws: NodeError.self) {
            try await back.perform(SendMessages(conversation: "trip", texts: ["still here"]))
        }
        let events = try await ann.perform(ListMembershipEvents(conversation: "trip")).map(\.change)
        #expect(events.contains("added") && events.contains("removed"))
        try await ann.perform(ChangeGroupSettings(conversation: "trip", history: "all"))
        let link = try await ann.perform(
            CreateGroupInvite(conversation: "trip", role: .member, uses: 1, hours: 1))
        try await back.perform(JoinGroup(link: link.link))
        try await eventually("cara is back", on: [all.cara, all.ann]) {
            (try? await all.members(of: "trip", on: all.cara)) == full
        }
        try await eventually("cara has what was written meanwhile", on: [all.cara]) {
            try await all.texts("trip", of: all.cara) == ["I am in", "without cara"]
        }
        #expect(try await ann.perform(GetGroup(conversation: "trip")).invites.isEmpty)
        #expect(try await back.perform(ListJoins()).isEmpty)
        try await all.end()
    }

    @Test("Attack 42: a link is good for as many as it says, and ben and cara, no contacts, link")
    func links() async throws {
        let all = try await Neighbours()
        let ann = try await all.client(all.ann)
        try await ann.perform(CreateConversation(name: "open", members: []))
        let link = try await ann.perform(
            CreateGroupInvite(conversation: "open", role: .member, uses: 2, hours: 1))
        for (node, name) in [(all.ben, "ben"), (all.cara, "cara")] {
            try await all.client(node).perform(JoinGroup(link: link.link))
            try await eventually("\(name) is in", on: [all.ann]) {
                try await all.members(of: "open", on: all.ann).contains(name)
            }
        }
        try await eventually("ben and cara are linked", on: [all.ben, all.cara], within: 120) {
            try await all.client(all.ben).perform(GetStatus()).links.contains { $0.name == "cara" }
        }
        #expect(try await ann.perform(ListContacts()).isEmpty)
        #expect(try await ann.perform(GetGroup(conversation: "open")).invites.isEmpty)
        #expect(try await all.ann.stop() == 0)
        let ben = try await all.client(all.ben)
        try await ben.perform(SendMessages(conversation: "open", texts: ["without ann"]))
        try await eventually("cara has it from ben", on: [all.cara]) {
            try await all.texts("open", of: all.cara) == ["without ann"]
        }
        try await all.end()
    }

    @Test("members who are no contacts meet without their host, also after both were away")
    func withoutHost() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.meet(all.ann, all.cara, named: "cara")
        let ann = try await all.client(all.ann)
        try await ann.perform(CreateConversation(name: "trip", members: ["ben", "cara"]))
        try await eventually("ben and cara are linked", on: [all.ben, all.cara]) {
            try await all.client(all.ben).perform(GetStatus()).links.contains { $0.name == "cara" }
        }
        #expect(try await all.ann.stop() == 0)
        for node in [all.ben, all.cara] { #expect(try await node.stop() == 0) }
        let ben = try await all.ben.start()
        try await ben.perform(SendMessages(conversation: "trip", texts: ["without ann"]))
        let cara = try await all.cara.start()
        try await eventually("cara has it from ben", on: [all.cara]) {
            try await all.texts("trip", of: all.cara) == ["without ann"]
        }
        #expect(try await cara.perform(ListContacts()).map(\.name) == ["ann"])
        try await all.end()
    }

    @Test("a group says of whom no address is known, and who brings it")
    func unknownAddress() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "trip", saying: "the tent?")
        try await all.meet(all.ann, all.cara, named: "cara")
        let ann = try await all.client(all.ann)
        // Ben hears of cara only from who is there when he comes back.
        #expect(try await all.ben.stop() == 0)
        try await ann.perform(AddGroupMember(conversation: "trip", person: "cara", role: .member))
        try await eventually("cara is in", on: [all.cara]) {
            (try? await all.members(of: "trip", on: all.cara)) == ["ann", "ben", "cara"]
        }
        #expect(try await all.ann.stop() == 0)
        let shown = try await all.cara.run("group", "show", "trip")
        #expect(shown.output.contains("no address known"), "\(shown.output)")
        #expect(
            shown.output.contains("their node sends it through another member, such as ann"),
            "\(shown.output)")
        _ = try await all.ben.start()
        _ = try await all.ann.start()
        try await eventually("ben and cara are linked", on: [all.ben, all.cara], within: 120) {
            try await all.client(all.cara).perform(GetStatus()).links.contains { $0.name == "ben" }
        }
        let after = try await all.cara.run("group", "show", "trip")
        #expect(!after.output.contains("no address known"), "\(after.output)")
        try await all.end()
    }

    @Test("what was left is read to its end, and a message is explained where it stands")
    func leftUnread() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "trip", saying: "who brings the tent?")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(SendMessages(conversation: "trip", texts: ["and the stove?"]))
        try await eventually("ben has two new ones", on: [all.ben]) {
            try await ben.perform(GetConversation(conversation: "trip")).unread == 2
        }
        #expect(try await all.ben.run("group", "leave", "trip").status == 0)
        #expect(try await all.ben.run("conversations").output.contains("2 new"))
        let page = try await all.ben.run("read", "trip")
        #expect(page.output.contains("the tent") && page.output.contains("the stove"))
        let list = try await all.ben.run("conversations")
        #expect(!list.output.contains("new") && list.output.contains("trip"), "\(list.output)")

        let number = try #require(
            try await ben.perform(ReadMessages(conversation: "trip", limit: 1)).messages.first
        ).number
        let lost = try await all.ben.run("why", "\(number)", "--in", "ann")
        #expect(lost.status == 1, "\(lost.output)")
        #expect(lost.output.contains("#\(number) is not in “ann”: it is in “trip”"))
        #expect(try await all.ben.run("why", "\(number)", "--in", "trip").status == 0)
        try await all.end()
    }
}
