import Foundation
import ParleyNodeCore
import ParleyRelayServer
import ParleyRelaying
import ParleyTransport
import Testing

@testable import Parley

/// Ann and ben, who have met and are linked; a relay runs beside them that nobody uses yet.
private struct Friends {
    let folder: TemporaryFolder
    let relay: RelayServer
    let ann, ben: Node

    init() async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let home = RelayHome(path: folder.home("relay"))
        relay = try await RelayServer.start(
            RelayServer.Settings(endpoints: [try Endpoint("127.0.0.1:0")]), key: home.key(),
            store: home.store()
        ) { Issue.record("the relay said: \($0)") }
        (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        (ben, _) = try await Node.create(NodeSettings(home: folder.home("ben")), name: "ben")
        for node in [ann, ben] { try await node.start(listen: ["127.0.0.1:0"]) }
        try await ben.perform(AcceptInvite(link: ann.perform(CreateInvite(hours: 1)).link))
        for (node, name) in [(ann, "ben"), (ben, "ann")] {
            try await eventually("the two have met", on: node) {
                let isKnown = try await $0.perform(ListConversations()).contains { $0.name == name }
                let isLinked = try await !$0.perform(GetStatus()).links.isEmpty
                return isKnown && isLinked
            }
        }
    }

    /// Lets a node use the relay, and waits until it is reached.
    func useRelay(_ node: Node) async throws {
        try await node.perform(
            AddRelay(
                text: RelayText(key: relay.key, addresses: relay.endpoints.map { "\($0)" }).text))
        try await eventuallyRelay("connected", of: node)
    }

    func eventuallyRelay(_ state: String, of node: Node) async throws {
        try await eventually("the relay is \(state)", on: node) {
            try await $0.perform(ListRelays()).map(\.state) == [state]
        }
    }

    /// Waits until a node that is offline has lost its relay, or called it in vain, and says why.
    func eventuallyCutOff(_ node: Node) async throws {
        try await eventually("the relay is called in vain", on: node) {
            try await $0.read { views in
                let states = views.core.relayStates
                return states.contains { $0.failureCount > 0 }
                    && !states.contains(where: \.isConnected)
            }
        }
        #expect(try await node.perform(ListRelays()).map(\.state) == ["offline"])
    }

    func eventuallyReads(_ texts: [String], _ node: Node, from name: String) async throws {
        try await eventually("\(texts) came", on: node) {
            try await $0.perform(ReadMessages(conversation: name, limit: 10)).messages
                .map(\.text) == texts
        }
    }

    func end() async {
        await ann.shutdown()
        await ben.shutdown()
        await relay.stop()
    }
}

/// Somebody who connects, and hears what they are told until the other end hangs up.
private final class Caller: ConnectionHandler {
    let heard: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation

    init() { (heard, continuation) = AsyncStream.makeStream(of: [UInt8].self) }

    func opened(_ connection: Connection) {}
    func received(_ bytes: [UInt8]) { continuation.yield(bytes) }
    func becameWritable() {}
    func closed(_ reason: CloseReason) { continuation.finish() }
}

@Suite("A node that is offline", .timeLimit(.minutes(4)))
struct OfflineTests {
    @Test("has no link and no relay, says so, and has both again afterwards")
    func ends() async throws {
        let all = try await Friends()
        try await all.useRelay(all.ann)
        #expect(try await !all.ann.perform(GetStatus()).isOffline)
        try await all.ann.perform(SetOffline(on: true))
        try await eventually("ann has no link", on: all.ann) {
            let status = try await $0.perform(GetStatus())
            return status.isOffline && status.links.isEmpty
        }
        try await all.eventuallyCutOff(all.ann)
        try await eventually("ben has none either", on: all.ben) {
            try await $0.perform(GetStatus()).links.isEmpty
        }
        try await all.ann.perform(SetOffline(on: false))
        #expect(try await !all.ann.perform(GetStatus()).isOffline)
        try await all.eventuallyRelay("connected", of: all.ann)
        for node in [all.ann, all.ben] {
            try await eventually("they are linked again", on: node) {
                try await !$0.perform(GetStatus()).links.isEmpty
            }
        }
        await all.end()
    }

    @Test("dials nobody, not even whom one wants to meet, and lets nobody in")
    func silence() async throws {
        let all = try await Friends()
        let (cara, _) = try await Node.create(
            NodeSettings(home: all.folder.home("cara")), name: "cara")
        try await cara.start(listen: ["127.0.0.1:0"])
        try await all.ann.perform(SetOffline(on: true))
        try await eventually("ann has no link", on: all.ann) {
            try await $0.perform(GetStatus()).links.isEmpty
        }
        let before = all.ann.network.transport.counters
        try await all.ann.perform(AcceptInvite(link: cara.perform(CreateInvite(hours: 1)).link))
        try await all.ann.perform(
            AddRelay(
                text: RelayText(key: all.relay.key, addresses: all.relay.endpoints.map { "\($0)" })
                    .text))
        try await all.eventuallyCutOff(all.ann)
        let after = all.ann.network.transport.counters
        #expect(after.dialled == before.dialled && after.dialFailures == before.dialFailures)
        #expect(try await all.ann.perform(GetStatus()).links.isEmpty)
        #expect(try await cara.perform(ListConversations()).isEmpty)
        let caller = Caller()
        let address = try #require(await all.ann.perform(GetStatus()).addresses.first)
        do {
            try await all.ben.network.transport.dial(try Endpoint(address), handler: caller)
            for await bytes in caller.heard {
                #expect(bytes.isEmpty, "ann hangs up without a word")
            }
        } catch let failure as TransportFailure where failure.code == .closedAtOnce {
            // Before the call was through.
        }
        // At once, that is, and not after having waited for one.
        #expect(all.ann.network.transport.counters.handshakeTimeout == before.handshakeTimeout)
        try await all.ann.perform(SetOffline(on: false))
        try await eventually("ann and cara have met", on: all.ann) {
            try await $0.perform(ListConversations()).contains { $0.name == "cara" }
        }
        await cara.shutdown()
        await all.end()
    }

    @Test("keeps what is written, and sends it by link once it is back")
    func links() async throws {
        let all = try await Friends()
        try await all.ann.perform(SetOffline(on: true))
        let sent = try await all.ann.perform(
            SendMessages(conversation: "ben", texts: ["one", "two"]))
        #expect(sent.map(\.state) == ["saved", "saved"])
        #expect(try await all.ann.perform(ListOutbox()).map(\.savedCount) == [2])
        #expect(try await all.ann.perform(GetStatus()).pendingCount == 2)
        try await all.ann.perform(SetOffline(on: false))
        try await all.eventuallyReads(["one", "two"], all.ben, from: "ann")
        try await eventually("ann knows it", on: all.ann) {
            try await $0.perform(ListOutbox()).isEmpty
        }
        await all.end()
    }

    @Test("tells that one's leaving waits, and what is left behind, until others can know it")
    func leaving() async throws {
        let all = try await Friends()
        for node in [all.ann, all.ben] {
            try await node.perform(SetAdditionPolicy(policy: .contacts))
        }
        try await all.ann.perform(CreateConversation(name: "club", members: ["ben"]))
        try await eventually("ben is in it", on: all.ben) {
            try await $0.perform(ListConversations()).contains { $0.name == "club" }
        }
        try await all.ben.perform(SendMessages(conversation: "club", texts: ["hello"]))
        try await eventually("ann has it", on: all.ben) {
            try await $0.perform(ListOutbox()).isEmpty
        }
        try await all.ben.perform(SetOffline(on: true))
        try await all.ben.perform(SendMessages(conversation: "club", texts: ["farewell"]))
        try await all.ben.perform(LeaveGroup(conversation: "club", anyway: true))
        let waiting = try await all.ben.perform(ListOutbox())
        #expect(waiting.map(\.isLeaving) == [true] && waiting.map(\.savedCount) == [1])
        #expect(try await all.ben.perform(GetStatus()).pendingCount == 2)
        let states = try await all.ben.perform(ReadMessages(conversation: "club", limit: 9))
            .messages.map(\.state)
        #expect(states == ["delivered", "saved"])
        #expect(try await left(on: all.ben) == ["nobody there knows it yet"])
        try await all.ben.perform(SetOffline(on: false))
        try await eventually("ann hears that ben left", on: all.ann) {
            try await $0.perform(GetGroup(conversation: "club")).members.map(\.name) == ["ann"]
        }
        try await eventually("nothing waits", on: all.ben) {
            try await $0.perform(ListOutbox()).isEmpty
        }
        try await all.ben.perform(SetOffline(on: true))
        try await eventually("they are not linked", on: all.ben) {
            try await $0.perform(GetStatus()).links.isEmpty
        }
        #expect(try await all.ben.perform(ListOutbox()).isEmpty)
        #expect(try await all.ben.perform(GetStatus()).pendingCount == 0)
        let after = try await all.ben.perform(ReadMessages(conversation: "club", limit: 9))
            .messages.map(\.state)
        #expect(after == ["delivered", "untold"])
        let told = try await left(on: all.ben)
        #expect(told.count == 1 && told.first?.hasPrefix("told to ann, ") == true, "\(told)")
        try await all.ben.perform(DeleteConversation(conversation: "club"))
        await all.end()
    }

    /// What is known of who knows that somebody left a group.
    private func left(on node: Node) async throws -> [String] {
        try await node.perform(ExplainState(subject: "club")).facts.filter { $0.about == "left" }
            .map(\.what)
    }

    @Test("gives to the relay what was written meanwhile, for one who is away")
    func relays() async throws {
        let all = try await Friends()
        for node in [all.ann, all.ben] { try await all.useRelay(node) }
        // Each has to know of the other's mailbox.
        try await all.ben.perform(SendMessages(conversation: "ann", texts: ["hello"]))
        try await all.eventuallyReads(["hello"], all.ann, from: "ben")
        await all.ben.shutdown()
        try await all.ann.perform(SetOffline(on: true))
        try await all.ann.perform(SendMessages(conversation: "ben", texts: ["one"]))
        #expect(try await all.ann.perform(ListOutbox()).map(\.relayedCount) == [0])
        try await all.ann.perform(SetOffline(on: false))
        try await eventually("the relay has it", on: all.ann) {
            try await $0.perform(ListOutbox()).map(\.relayedCount) == [1]
        }
        await all.ann.shutdown()
        let ben = try await Node.open(NodeSettings(home: all.folder.home("ben")))
        try await ben.start(listen: [])
        try await all.eventuallyReads(["hello", "one"], ben, from: "ann")
        await ben.shutdown()
        await all.relay.stop()
    }

    @Test("refuses a call with what to do about it, and calls once it is back")
    func calls() async throws {
        let all = try await Friends()
        try await all.ann.perform(SetMediaProgram(words: ["/bin/sh", "-c", "cat > /dev/null"]))
        try await all.ann.perform(SetOffline(on: true))
        let refusal = await #expect(throws: NodeError.self) {
            try await all.ann.perform(StartCall(conversation: "ben", media: ["microphone"]))
        }
        #expect(refusal?.code == "offline" && refusal?.hint?.contains("offline off") == true)
        #expect(try await all.ann.perform(ListCalls()).isEmpty)
        try await all.ann.perform(SetOffline(on: false))
        let call = try await all.ann.perform(StartCall(conversation: "ben", media: ["microphone"]))
        #expect(call.isOwn)
        await all.end()
    }
}
