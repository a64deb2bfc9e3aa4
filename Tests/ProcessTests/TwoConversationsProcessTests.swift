import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Two take each other's invites, each while the other is away: each begins a conversation.
@Suite(
    "Two who begin a conversation with each other at once", .serialized, .timeLimit(.minutes(5)))
struct TwoConversationsProcessTests {
    private let folder: TemporaryFolder
    private let ann, ben: NodeProcess

    init() async throws {
        folder = try TemporaryFolder()
        ann = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        ben = try await NodeProcess(home: folder.home("ben"), name: "ben", port: 1)
    }

    private func relay(_ name: String, _ port: UInt16) async throws -> (Program, text: String) {
        let relay = try Program(
            ["relay", "run", "--home", folder.home(name), "--listen", "127.0.0.1:\(port)"])
        try await relay.says("Ctrl-C stops the relay")
        let line = relay.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        guard let line else { throw Late(description: relay.output) }
        return (relay, String(line))
    }

    /// An invite whose card lies on a relay that the node uses.
    private func invite(by node: NodeProcess, on relay: String) async throws -> String {
        let client = try await node.start(isHidden: true)
        try await client.perform(AddRelay(text: relay))
        try await eventually("the relay is reached", on: [node]) {
            try await client.perform(ListRelays()).first?.state == "connected"
        }
        let link = try await client.perform(CreateInvite(hours: 1)).link
        try await eventually("the card is there", on: [node]) {
            try await client.perform(ListInvites()).allSatisfy {
                $0.relay != nil && !$0.isWaitingForRelay
            }
        }
        return link
    }

    /// Takes an invite by the relay that it names, and returns the conversation that began.
    private func begin(_ node: NodeProcess, with name: String, _ link: String) async throws
        -> String
    {
        let client = try await client(of: node)
        try await client.perform(AcceptInvite(link: link))
        try await eventually("the conversation begins", on: [node]) {
            try await client.perform(ListConversations()).contains { $0.name == name }
        }
        return try await client.perform(GetConversation(conversation: name)).id
    }

    private func client(of node: NodeProcess) async throws -> NodeClient {
        guard let client = await node.client else { throw Late(description: "it does not run") }
        return client
    }

    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    /// Both hold both conversations afterwards; into those that are told, each wrote a line before.
    private func cross(isSaid: Bool) async throws -> (relays: [Program], began: [String: String]) {
        let ports = [try FreePort.some(), try FreePort.some()]
        let one = try await relay("one", ports[0])
        let two = try await relay("two", ports[1])
        let links = (
            ann: try await invite(by: ann, on: one.text),
            ben: try await invite(by: ben, on: two.text)
        )
        #expect(try await ann.stop() == 0)
        var began: [String: String] = [:]
        began["ben"] = try await begin(ben, with: "ann", links.ann)
        if isSaid { _ = try await run("send", "ann", "ben was here", at: ben) }
        #expect(try await ben.stop() == 0)
        // Ann does not hear of it before she begins her own.
        one.0.signal(SIGTERM)
        #expect(try await one.0.ended() == 0)
        try await ann.start(isHidden: true)
        began["ann"] = try await begin(ann, with: "ben", links.ben)
        if isSaid { _ = try await run("send", "ben", "ann was here", at: ann) }
        let again = try await relay("one", ports[0])
        try await ben.start(isHidden: true)
        let all = Set(began.values)
        #expect(all.count == 2)
        for node in [ann, ben] {
            try await eventually("each has both", on: [ann, ben]) {
                let digests = try await client(of: node).perform(ListDigests())
                return all.isSubset(of: digests.map(\.conversation))
            }
        }
        return ([again.0, two.0], began)
    }

    private func end(_ relays: [Program]) async throws {
        for node in [ann, ben] { #expect(try await node.stop() == 0) }
        for relay in relays {
            relay.signal(SIGTERM)
            #expect(try await relay.ended() == 0)
        }
    }

    @Test("write into one and the same, and read what was said in the other, marked as that")
    func said() async throws {
        let (relays, began) = try await cross(isSaid: true)
        let (first, second) = (began.values.min() ?? "", began.values.max() ?? "")
        let start = String(second.prefix(8))
        for (node, other) in [(ann, "ben"), (ben, "ann")] {
            let client = try await client(of: node)
            try await eventually("both lines are there", on: [ann, ben]) {
                try await client.perform(ListConversations()).filter { $0.newest != nil }.count == 2
            }
            let list = try await client.perform(ListConversations()).sorted { $0.id < $1.id }
            #expect(list.map(\.id) == [first, second])
            #expect(list.map(\.name) == [other, "\(other) (\(start))"])
            #expect(list.map(\.supersededBy) == [nil, first])
            let shown = try await run("conversations", at: node)
            #expect(shown.contains("continues in \(first.prefix(8))"), "\(shown)")
            #expect(try await client.perform(GetConversation(conversation: other)).id == first)
            // What means the other one is written into the first, too.
            for (name, text) in [(other, "by name"), (start, "by identifier")] {
                let sent = try await client.perform(SendMessages(conversation: name, texts: [text]))
                #expect(sent.map(\.conversation) == [first])
            }
            let old = try await run("read", start, "--newest", at: node)
            #expect(old.contains("was here") && !old.contains("by name"), "\(old)")
            let id = try #require(
                try await client.perform(ReadMessages(conversation: second, limit: 1)).messages
                    .first?
                    .id)
            #expect(try await run("reply", other, id, "indeed", at: node).contains("indeed"))
        }
        for (node, other) in [(ann, "ben"), (ben, "ann")] {
            try await eventually("both have all of it", on: [ann, ben]) {
                try await client(of: node).perform(ReadMessages(conversation: other, limit: 9))
                    .messages.count == 5
            }
        }
        try await end(relays)
    }

    @Test("have one in their lists where nothing was said in the other")
    func unsaid() async throws {
        let (relays, began) = try await cross(isSaid: false)
        for (node, other) in [(ann, "ben"), (ben, "ann")] {
            let list = try await client(of: node).perform(ListConversations())
            #expect(list.map(\.name) == [other] && list.map(\.id) == [began.values.min()])
            // Once the empty one had a line as well.
            let digest = try await run("digest", at: node)
            #expect(digest.split(separator: "\n").count == 1 && digest.hasPrefix("\(other)  "))
        }
        try await end(relays)
    }
}
