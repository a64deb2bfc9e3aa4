import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Two people, each in a network of their own, and a relay in a third that both networks touch. No
/// packet goes from one to the other.
final class Apart {
    let folder: TemporaryFolder
    let networks: Namespaces
    let ann, ben: NodeProcess
    private(set) var relay: Program

    init() async throws {
        folder = try TemporaryFolder()
        networks = try Namespaces(["ann", "ben", "relay"])
        try networks.join("ann", at: "10.91.1.2", "relay", at: "10.91.1.1")
        try networks.join("ben", at: "10.91.2.2", "relay", at: "10.91.2.1")
        let forward = "echo 0 > /proc/sys/net/ipv4/ip_forward"
        #expect(networks.run(["sh", "-c", forward], by: "relay").status == 0)
        (ann, ben) = (
            try await Self.person("ann", folder, networks),
            try await Self.person("ben", folder, networks)
        )
        relay = try Program(
            Self.arguments(folder), inNamespace: networks.name(of: "relay"))
    }

    deinit { relay.signal(SIGKILL) }

    static func person(
        _ name: String, _ folder: TemporaryFolder, _ networks: Namespaces
    ) async throws -> NodeProcess {
        let home = folder.home(name)
        let made = try await Program.run("init", "--home", home, "--name", name)
        guard made.status == 0 else { throw Late(description: made.output) }
        return NodeProcess(
            home: home, address: "*:7447", namespace: networks.name(of: name))
    }

    private static func arguments(_ folder: TemporaryFolder) -> [String] {
        ["relay", "run", "--home", folder.home("relay"), "--listen", "*:7448"]
    }

    func client(_ node: NodeProcess) async throws -> NodeClient {
        guard let client = await node.client else { throw Late(description: "it does not run") }
        return client
    }

    /// The text that the relay prints once it listens.
    func text() async throws -> String {
        try await relay.says("Ctrl-C stops the relay")
        let line = relay.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        return String(try #require(line))
    }

    /// Takes the power from the relay, or stops it in good order, and starts it again; what it had
    /// may be gone then.
    func restart(
        by signal: Int32 = SIGKILL, isWiped: Bool = false, noticedBy nodes: [NodeProcess],
        meanwhile: () async throws -> Void = {}
    ) async throws {
        if relay.status == nil { relay.signal(signal) }
        #expect(try await relay.ended() == (signal == SIGTERM ? 0 : -signal))
        try await meanwhile()
        for node in nodes {
            try await eventually("the relay is missed", on: [node]) {
                try await client(node).perform(ListRelays()).first?.state != "connected"
            }
        }
        if isWiped {
            for end in ["", "-wal", "-shm"] {
                // One of them need not be there.
                try? FileManager.default.removeItem(
                    atPath: folder.home("relay") + "/relay.sqlite" + end)
            }
        }
        relay = try Program(
            Self.arguments(folder), inNamespace: networks.name(of: "relay"))
        _ = try await text()
        for node in nodes { try await reached(by: node) }
    }

    func meet() async throws {
        let link = try await client(ann).perform(CreateInvite(hours: 1)).link
        try await client(ben).perform(AcceptInvite(link: link))
        try await eventually("they have met", on: [ann, ben]) {
            let isSeen = try await client(ann).perform(ListConversations()).contains {
                $0.name == "ben"
            }
            let isBack = try await client(ben).perform(ListConversations()).contains {
                $0.name == "ann"
            }
            return isSeen && isBack
        }
    }

    func reached(by node: NodeProcess) async throws {
        try await eventually("the relay is reached", on: [node]) {
            try await client(node).perform(ListRelays()).first?.state == "connected"
        }
    }

    func say(_ texts: [String], by node: NodeProcess, to name: String) async throws {
        try await client(node).perform(SendMessages(conversation: name, texts: texts))
    }

    func texts(of node: NodeProcess, with name: String) async throws -> [String] {
        try await client(node).perform(ReadMessages(conversation: name, limit: 100)).messages
            .compactMap(\.text)
    }

    func eventuallyHas(_ node: NodeProcess, with name: String, count: Int) async throws {
        try await eventually("\(count) messages with \(name)", on: [node]) {
            try await texts(of: node, with: name).count == count
        }
    }

    /// Every message of this node is on a device of the other, and it knows that.
    func eventuallyDelivered(by node: NodeProcess, to name: String) async throws {
        try await eventually("all was delivered to \(name)", on: [node]) {
            try await client(node).perform(ReadMessages(conversation: name, limit: 50))
                .messages.filter(\.isOwn).allSatisfy { $0.state == "delivered" }
        }
    }

    func eventuallyRelayed(_ count: Int, by node: NodeProcess) async throws {
        try await eventually("the relay has \(count)", on: [node]) {
            try await client(node).perform(ListOutbox()).first?.relayedCount == count
        }
    }
}

@Suite("Networks that never touch", .serialized, .timeLimit(.minutes(5)))
struct RelayedNetworkTests {
    @Test(
        "two talk through a relay in a third, which is killed, stopped, wiped, and alone with one",
        .enabled(if: Namespaces.lack == nil, "no network namespaces here"))
    func conversation() async throws {
        let all = try await Apart()
        // Nobody can be dialled: there is not even a way.
        #expect(all.networks.run(["ip", "route", "get", "10.91.2.2"], by: "ann").status != 0)
        #expect(all.networks.run(["ip", "route", "get", "10.91.1.2"], by: "ben").status != 0)
        let text = try await all.text()
        #expect(all.networks.run(["ip", "route", "get", "10.91.1.1"], by: "ann").status == 0)
        for node in [all.ann, all.ben] {
            try await node.start().perform(AddRelay(text: text))
            try await all.reached(by: node)
        }
        try await all.meet()
        try await all.say(["hello ben"], by: all.ann, to: "ben")
        try await all.say(["hello ann"], by: all.ben, to: "ann")
        try await all.eventuallyHas(all.ben, with: "ann", count: 2)
        try await all.eventuallyHas(all.ann, with: "ben", count: 2)
        try await all.eventuallyDelivered(by: all.ann, to: "ben")
        try await all.eventuallyDelivered(by: all.ben, to: "ann")
        try await killed(all)
        try await stopped(all)
        try await away(all)
        try await wiped(all)
        let seen = try await all.texts(of: all.ann, with: "ben")
        #expect(seen == ["hello ben", "hello ann"] + (1...14).map { "message \($0)" })
        #expect(try await all.texts(of: all.ben, with: "ann") == seen)
        for node in [all.ann, all.ben] { #expect(try await node.stop() == 0) }
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }

    /// The relay is killed between messages, while both are there.
    private func killed(_ all: Apart) async throws {
        try await all.say(["message 1", "message 2"], by: all.ann, to: "ben")
        all.relay.signal(SIGKILL)
        try await all.say(["message 3", "message 4"], by: all.ann, to: "ben")
        try await all.restart(noticedBy: [all.ann, all.ben])
        try await all.eventuallyHas(all.ben, with: "ann", count: 6)
        try await all.say(["message 5"], by: all.ben, to: "ann")
        try await all.eventuallyHas(all.ann, with: "ben", count: 7)
        try await all.eventuallyDelivered(by: all.ann, to: "ben")
    }

    /// The relay is stopped by its keeper, and one writes while it is away.
    private func stopped(_ all: Apart) async throws {
        try await all.restart(by: SIGTERM, noticedBy: [all.ann, all.ben]) {
            try await all.say(["message 6", "message 7"], by: all.ann, to: "ben")
            let waiting = try await all.client(all.ann).perform(ListOutbox()).first
            #expect(waiting?.savedCount == 2 && waiting?.relayedCount == 0)
        }
        try await all.eventuallyHas(all.ben, with: "ann", count: 9)
        try await all.say(["message 8"], by: all.ben, to: "ann")
        try await all.eventuallyHas(all.ann, with: "ben", count: 10)
        for (node, name) in [(all.ann, "ben"), (all.ben, "ann")] {
            try await all.eventuallyDelivered(by: node, to: name)
        }
    }

    /// One is away, the relay is killed, and then the other is away.
    private func away(_ all: Apart) async throws {
        #expect(try await all.ben.stop() == 0)
        try await all.say(["message 9", "message 10", "message 11"], by: all.ann, to: "ben")
        try await all.eventuallyRelayed(3, by: all.ann)
        try await all.restart(noticedBy: [all.ann])
        #expect(try await all.ann.stop() == 0)
        try await all.ben.start()
        try await all.eventuallyHas(all.ben, with: "ann", count: 13)
        try await all.say(["message 12"], by: all.ben, to: "ann")
        try await all.eventuallyRelayed(1, by: all.ben)
        #expect(try await all.ben.stop() == 0)
        try await all.ann.start()
        try await all.eventuallyHas(all.ann, with: "ben", count: 14)
        try await all.eventuallyDelivered(by: all.ann, to: "ben")
    }

    /// The relay loses all that it said it has, while nobody else has it.
    private func wiped(_ all: Apart) async throws {
        try await all.say(["message 13", "message 14"], by: all.ann, to: "ben")
        try await all.eventuallyRelayed(2, by: all.ann)
        try await all.restart(isWiped: true, noticedBy: [all.ann])
        try await all.eventuallyRelayed(2, by: all.ann)
        #expect(try await all.ann.stop() == 0)
        try await all.ben.start()
        try await all.eventuallyHas(all.ben, with: "ann", count: 16)
        try await all.ann.start()
        try await all.eventuallyHas(all.ann, with: "ben", count: 16)
    }
}
