import Foundation
import Parley
import Testing

/// Ann and ben, who are linked and share the group `trip`.
private struct Friends {
    let folder: TemporaryFolder
    let ann, ben: Node

    init() async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        (ben, _) = try await Node.create(NodeSettings(home: folder.home("ben")), name: "ben")
        try await ann.start(listen: ["127.0.0.1:0"])
        try await ben.start(listen: ["127.0.0.1:0"])
        try await ben.perform(AcceptInvite(link: ann.perform(CreateInvite(hours: 1)).link))
        try await eventually("ben knows ann", on: ben) {
            try await $0.perform(ListConversations()).contains { $0.name == "ann" }
        }
        try await eventually("ann knows ben", on: ann) {
            try await $0.perform(ListConversations()).contains { $0.name == "ben" }
        }
        try await ben.perform(SetAdditionPolicy(policy: .contacts))
        try await ann.perform(CreateConversation(name: "trip", members: ["ben"]))
        try await eventually("ben is in", on: ben) {
            try await $0.perform(ListConversations()).contains { $0.name == "trip" }
        }
    }

    func facts(_ subject: String, on node: Node) async throws -> [String: String] {
        let facts = try await node.perform(ExplainState(subject: subject)).facts
        return Dictionary(facts.map { ($0.about, $0.what) }) { first, _ in first }
    }

    func end() async {
        await ann.shutdown()
        await ben.shutdown()
    }
}

@Suite("Why")
struct WhyTests {
    @Test("a device is told of: whose it is, whether it stands, and when it was seen")
    func devices() async throws {
        let friends = try await Friends()
        let (ann, ben) = (friends.ann, friends.ben)
        let (mine, theirs) = (
            try await ann.perform(GetStatus()).device, try await ben.perform(GetStatus()).device
        )
        let own = try await friends.facts(String(mine.prefix(10)), on: ann)
        #expect(own["device"] == "active, the only one" && own["link"] == "is this device")
        #expect(own["trip"] == "in it, as a device of ann")
        let title = try await ann.perform(ExplainState(subject: theirs)).title
        #expect(title.hasSuffix("a device of ben"))
        let linked = try await friends.facts(theirs, on: ann)
        #expect(linked["device"] == "active, the only one" && linked["link"] == "open now")
        try await ben.perform(SetOffline(on: true))
        try await eventually("the link is gone", on: ann) {
            try await $0.perform(GetStatus()).links.isEmpty
        }
        let gone = try await ann.perform(ExplainState(subject: theirs)).facts.first {
            $0.about == "link"
        }
        #expect(gone?.what == "not open, last seen" && gone?.since != nil)
        await friends.end()
    }

    @Test("a message whose number is also a name is told apart by a sign that works")
    func number() async throws {
        let friends = try await Friends()
        let ann = friends.ann
        let sent = try await ann.perform(SendMessages(conversation: "trip", texts: ["hello"]))
        let number = try #require(sent.first).number
        try await ann.perform(CreateConversation(name: "\(number)", members: []))
        let refusal = await #expect(throws: NodeError.self) {
            try await ann.perform(ExplainState(subject: "\(number)"))
        }
        #expect(refusal?.hint?.contains("`parley why '#\(number)'`") == true)
        #expect(try await !ann.perform(ExplainState(subject: "#\(number)")).facts.isEmpty)
        await friends.end()
    }

    @Test("a verified person's new device is told of in status, contacts and why")
    func newDevice() async throws {
        let friends = try await Friends()
        let (ann, ben) = (friends.ann, friends.ben)
        try await ann.perform(MarkVerified(person: "ben"))
        #expect(try await ann.perform(GetStatus()).notices.isEmpty)
        let phone = try await Node.join(
            NodeSettings(home: friends.folder.home("phone")),
            text: ben.perform(StartPairing()).text,
            name: "phone")
        try await eventually("ann is told", on: ann) {
            try await !$0.perform(GetStatus()).notices.isEmpty
        }
        let device = try await phone.perform(GetStatus()).device
        let notice = try await ann.perform(GetStatus()).notices.first
        #expect(notice?.contains("ben, whom you verified, has a new device") == true)
        #expect(notice?.contains(device.prefix(8)) == true)
        let facts = try await ann.perform(ExplainState(subject: "ben")).facts
        #expect(facts.contains { $0.what == notice && $0.since != nil })
        try await eventually("the group knows it", on: ann) {
            try await $0.perform(ExplainState(subject: device)).title.hasSuffix("a device of ben")
        }
        let known = try await friends.facts(device, on: ann)
        #expect(known["device"] == "active, one of 2")
        try await ben.perform(RevokeDevice(device: "phone"))
        try await eventually("ann hears of its end", on: ann) {
            try await $0.perform(GetStatus()).notices.count == 2
        }
        try await eventually("it is out", on: ann) {
            try await $0.perform(ExplainState(subject: device)).facts
                .contains { $0.what == "was in it, and no longer is" }
        }
        #expect(try await friends.facts(device, on: ann)["device"] == "revoked for good")
        await phone.shutdown()
        await friends.end()
    }

    @Test("the keys of a conversation are told of, and change when its members do")
    func epochs() async throws {
        let friends = try await Friends()
        let (ann, ben) = (friends.ann, friends.ben)
        let first = try #require(try await ann.perform(GetGroup(conversation: "trip")).epoch)
        // Ann made the first one, and whoever came first after ben accepted the next.
        #expect(first.id != nil && first.author != nil && first.deviceCount == 2)
        let seen = try await ben.perform(GetStatus()).epochs
        #expect(Set(seen.map(\.name)) == ["ann", "trip"])
        #expect(seen.first { $0.name == "trip" }?.id == first.id)
        #expect(try await friends.facts("trip", on: ben)["keys"] == "for all its present members")
        try await ann.perform(RemoveGroupMember(conversation: "trip", person: "ben"))
        let second = try #require(try await ann.perform(GetGroup(conversation: "trip")).epoch)
        #expect(second.id != nil && second.id != first.id && second.deviceCount == 1)
        try await eventually("ben is out", on: ben) {
            try await $0.perform(GetGroup(conversation: "trip")).epoch == nil
        }
        #expect(try await ben.perform(GetStatus()).epochs.map(\.name) == ["ann"])
        let out = try await friends.facts("trip", on: ben)["keys"]
        #expect(out == "none: this device is not in it")
        await friends.end()
    }

    @Test("who marked all as read is not said to have read what was deleted before it came")
    func deletedBefore() async throws {
        let friends = try await Friends()
        let (ann, ben) = (friends.ann, friends.ben)
        try await ben.perform(SetOffline(on: true))
        try await eventually("the link is gone", on: ann) {
            try await $0.perform(GetStatus()).links.isEmpty
        }
        let sent = try await ann.perform(SendMessages(conversation: "trip", texts: ["1", "2"]))
        try await ann.perform(DeleteMessage(message: MessageReference(sent[0].number)))
        try await ben.perform(SetOffline(on: false))
        try await eventually("ben has both", on: ben) {
            try await $0.perform(ReadMessages(conversation: "trip", limit: 9)).messages
                .map(\.text) == [nil, "2"]
        }
        let page = try await ben.perform(ReadMessages(conversation: "trip", limit: 9))
        try await ben.perform(
            MarkRead(
                conversation: "trip",
                messages: page.messages.map { MessageReference($0.number) }))
        let device = try await ben.perform(GetStatus()).device.prefix(8)
        let (first, second) = (sent[0].number, sent[1].number)
        try await eventually("ann hears that he read", on: ann) {
            try await $0.perform(ExplainState(subject: "#\(second)")).facts.contains {
                $0.about == "ben, \(device)" && $0.what == "read"
            }
        }
        let known = try await friends.facts("#\(first)", on: ann)["ben, \(device)"]
        #expect(known == "read, unless it was deleted by then")
        await friends.end()
    }

    @Test("whoever wrote a message has it, and what nobody answers to is said")
    func words() async throws {
        let friends = try await Friends()
        let (ann, ben) = (friends.ann, friends.ben)
        try await ben.perform(SendMessages(conversation: "trip", texts: ["hello"]))
        try await eventually("ann has it", on: ann) {
            try await !$0.perform(ReadMessages(conversation: "trip", limit: 1)).messages.isEmpty
        }
        let page = try await ann.perform(ReadMessages(conversation: "trip", limit: 1))
        let number = try #require(page.messages.first?.number)
        let facts = try await ann.perform(ExplainState(subject: "#\(number)")).facts
        let device = try await ben.perform(GetStatus()).device.prefix(8)
        #expect(facts.first { $0.about == "ben, \(device)" }?.source == "it wrote it")
        let error = await #expect(throws: NodeError.self) {
            try await ann.perform(ExplainState(subject: "nobody"))
        }
        #expect(error?.code == "unknown-subject")
        for (word, command) in [
            (try await ann.perform(GetCard()).text, "contact request"),
            (
                try await ann.perform(
                    CreateGroupInvite(conversation: "trip", role: .member, uses: 1, hours: 1)
                ).link, "group join"
            ),
        ] {
            let error = await #expect(throws: NodeError.self) {
                try await ben.perform(AcceptInvite(link: word))
            }
            #expect(error?.hint?.contains(command) == true)
        }
        await friends.end()
    }
}
