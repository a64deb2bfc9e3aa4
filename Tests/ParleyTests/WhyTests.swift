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
        _ = try await ben.accept(link: ann.invite(hours: 1).link, alias: nil)
        try await eventually("ben knows ann", on: ben) {
            try await $0.conversations().contains { $0.name == "ann" }
        }
        try await eventually("ann knows ben", on: ann) {
            try await $0.conversations().contains { $0.name == "ben" }
        }
        _ = try await ben.setAdditionPolicy("contacts")
        _ = try await ann.newConversation(name: "trip", members: ["ben"])
        try await eventually("ben is in", on: ben) {
            try await $0.conversations().contains { $0.name == "trip" }
        }
    }

    func facts(_ subject: String, on node: Node) async throws -> [String: String] {
        let facts = try await node.why(subject, conversation: nil).facts
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
        let (mine, theirs) = (try await ann.status().device, try await ben.status().device)
        let own = try await friends.facts(String(mine.prefix(10)), on: ann)
        #expect(own["device"] == "stands, the only one" && own["link"] == "is this device")
        #expect(own["trip"] == "in it, as a device of ann")
        let title = try await ann.why(theirs, conversation: nil).title
        #expect(title.hasSuffix("a device of ben"))
        let linked = try await friends.facts(theirs, on: ann)
        #expect(linked["device"] == "stands, the only one" && linked["link"] == "open now")
        ben.setOffline(true)
        try await eventually("the link is gone", on: ann) { try await $0.status().links.isEmpty }
        let gone = try await ann.why(theirs, conversation: nil).facts.first { $0.about == "link" }
        #expect(gone?.what == "not open, last seen" && gone?.since != nil)
        await friends.end()
    }

    @Test("a verified person's new device is told of in status, contacts and why")
    func newDevice() async throws {
        let friends = try await Friends()
        let (ann, ben) = (friends.ann, friends.ben)
        try await ann.markVerified(person: "ben")
        #expect(try await ann.status().notices.isEmpty)
        let phone = try await Node.join(
            NodeSettings(home: friends.folder.home("phone")), text: ben.openLink().text,
            name: "phone")
        try await eventually("ann is told", on: ann) { try await !$0.status().notices.isEmpty }
        let device = try await phone.status().device
        let notice = try await ann.status().notices.first
        #expect(notice?.contains("ben, whom you verified, has a new device") == true)
        #expect(notice?.contains(device.prefix(8)) == true)
        let facts = try await ann.why("ben", conversation: nil).facts
        #expect(facts.contains { $0.what == notice && $0.since != nil })
        try await eventually("the group knows it", on: ann) {
            try await $0.why(device, conversation: nil).title.hasSuffix("a device of ben")
        }
        let known = try await friends.facts(device, on: ann)
        #expect(known["device"] == "stands, one of 2")
        try await ben.revoke(device: "phone", recoveryCode: nil)
        try await eventually("ann hears of its end", on: ann) {
            try await $0.status().notices.count == 2
        }
        try await eventually("it is out", on: ann) {
            try await $0.why(device, conversation: nil).facts
                .contains { $0.what == "was in it, and is out" }
        }
        #expect(try await friends.facts(device, on: ann)["device"] == "revoked for good")
        await phone.shutdown()
        await friends.end()
    }

    @Test("the keys of a conversation are told of, and change when its members do")
    func epochs() async throws {
        let friends = try await Friends()
        let (ann, ben) = (friends.ann, friends.ben)
        let first = try #require(try await ann.group("trip").epoch)
        // Ann made the first one, and whoever came first after ben accepted the next.
        #expect(first.id != nil && first.author != nil && first.deviceCount == 2)
        let seen = try await ben.status().epochs
        #expect(Set(seen.map(\.name)) == ["ann", "trip"])
        #expect(seen.first { $0.name == "trip" }?.id == first.id)
        #expect(try await friends.facts("trip", on: ben)["keys"] == "for all who are in it now")
        _ = try await ann.removeMember(conversation: "trip", person: "ben")
        let second = try #require(try await ann.group("trip").epoch)
        #expect(second.id != nil && second.id != first.id && second.deviceCount == 1)
        try await eventually("ben is out", on: ben) { try await $0.group("trip").epoch == nil }
        #expect(try await ben.status().epochs.map(\.name) == ["ann"])
        let out = try await friends.facts("trip", on: ben)["keys"]
        #expect(out == "none: this device is not in it")
        await friends.end()
    }

    @Test("whoever wrote a message has it, and what nobody answers to is said")
    func words() async throws {
        let friends = try await Friends()
        let (ann, ben) = (friends.ann, friends.ben)
        try await ben.perform(SendMessages(conversation: "trip", texts: ["hello"]))
        try await eventually("ann has it", on: ann) {
            try await !$0.messages(conversation: "trip", before: nil, limit: 1).messages.isEmpty
        }
        let page = try await ann.messages(conversation: "trip", before: nil, limit: 1)
        let number = try #require(page.messages.first?.number)
        let facts = try await ann.why("#\(number)", conversation: nil).facts
        let device = try await ben.status().device.prefix(8)
        #expect(facts.first { $0.about == "ben, \(device)" }?.source == "it wrote it")
        let error = await #expect(throws: NodeError.self) {
            _ = try await ann.why("nobody", conversation: nil)
        }
        #expect(error?.code == "unknown-subject")
        for (word, command) in [
            (try await ann.card().text, "contact request"),
            (
                try await ann.inviteToGroup(
                    conversation: "trip", role: "member", uses: 1, hours: 1
                ).link, "group join"
            ),
        ] {
            let error = await #expect(throws: NodeError.self) {
                _ = try await ben.accept(link: word, alias: nil)
            }
            #expect(error?.hint?.contains(command) == true)
        }
        await friends.end()
    }
}
