import Foundation
import Parley
import ParleyLocalAPI
import Synchronization
import Testing

@Suite("Neighbours on a local network", .serialized, .timeLimit(.minutes(5)))
struct NeighbourTests {
    private func address(of name: String, seenBy node: NodeProcess) async throws -> String? {
        let status = try await node.client?.perform(GetStatus())
        return status?.links.first { $0.name == name }?.address
    }

    private func everything(that node: NodeProcess, hasWith name: String) async throws -> [String] {
        var texts: [String] = []
        var cursor: String?
        repeat {
            let page = try await node.client?.perform(
                ReadMessages(conversation: name, before: cursor, limit: 100))
            texts = (page?.messages.compactMap(\.text) ?? []) + texts
            cursor = page?.cursor
        } while cursor != nil
        return texts
    }

    @Test(
        "two whose addresses have changed find each other, and tell nobody else who they are",
        .enabled(if: Namespaces.lack == nil, "no network namespaces here"))
    func moved() async throws {
        let folder = try TemporaryFolder()
        let networks = try Namespaces(["ann", "ben"])
        try networks.join("ann", at: "10.92.1.1", "ben", at: "10.92.1.2")
        let ann = try await Apart.person("ann", folder, networks)
        let ben = try await Apart.person("ben", folder, networks)
        let link = try await ann.start(options: ["--no-lan"]).perform(CreateInvite(hours: 1)).link
        try await ben.start(options: ["--no-lan"]).perform(AcceptInvite(link: link))
        try await eventually("they have met", on: [ann, ben]) {
            try await address(of: "ben", seenBy: ann) != nil
        }
        // Without it nobody is there for multicast DNS.
        let silent = networks.run(["ss", "-lunH"], by: "ann")
        #expect(!silent.output.contains(":5353"))
        for node in [ann, ben] { #expect(try await node.stop() == 0) }
        // What stands on the cards is of no use any more.
        try networks.give("ann", "10.92.3.11", on: "to-ben")
        try networks.give("ben", "10.92.3.12", on: "to-ann")
        try await ann.start()
        try await ben.start()
        try await eventually("they have found each other", on: [ann, ben]) {
            let seen = try await address(of: "ben", seenBy: ann)
            return seen?.hasPrefix("10.92.3.12:") == true
        }
        #expect(networks.run(["ss", "-lunH"], by: "ann").output.contains(":5353"))
        for node in [ann, ben] { #expect(try await node.stop() == 0) }
        // Who listens nowhere is found by nobody, and finds the other.
        try networks.give("ann", "10.92.4.11", on: "to-ben")
        try networks.give("ben", "10.92.4.12", on: "to-ann")
        try await ann.start()
        try await ben.start(isHidden: true)
        try await eventually("ben has found ann", on: [ann, ben]) {
            let seen = try await address(of: "ann", seenBy: ben)
            return seen?.hasPrefix("10.92.4.11:") == true
        }
        for node in [ann, ben] { #expect(try await node.stop() == 0) }
    }

    @Test(
        "a cable that comes takes the place of a relay, and no message is lost or comes twice",
        .enabled(if: Namespaces.lack == nil, "no network namespaces here"))
    func better() async throws {
        let all = try await Apart()
        let text = try await all.text()
        for node in [all.ann, all.ben] {
            try await node.start().perform(AddRelay(text: text))
            try await all.reached(by: node)
        }
        try await all.meet()
        try await eventually("they are linked through the relay", on: [all.ann, all.ben]) {
            try await address(of: "ben", seenBy: all.ann)?.hasPrefix("through ") == true
        }
        let isDone = Flag()
        let client = try await all.client(all.ann)
        let sender = Task {
            var count = 0
            while !isDone.isSet {
                try await client.perform(
                    SendMessages(conversation: "ben", texts: ["message \(count)"]))
                count += 1
            }
            return count
        }
        try all.networks.join("ann", at: "10.92.5.1", "ben", at: "10.92.5.2")
        do {
            try await eventually("the cable is used", on: [all.ann, all.ben]) {
                try await address(of: "ben", seenBy: all.ann)?.hasPrefix("10.92.5.2:") == true
            }
        } catch {
            isDone.set()
            let ends = [
                try await all.ann.client?.perform(GetStatus()),
                try await all.ben.client?.perform(GetStatus()),
            ]
            Issue.record("\(error): \(ends.map { $0?.links.map(\.address) ?? [] })")
            throw error
        }
        isDone.set()
        let count = try await sender.value
        try await all.say(["at last"], by: all.ann, to: "ben")
        try await eventually("ben has the last", on: [all.ben]) {
            try await all.texts(of: all.ben, with: "ann").last == "at last"
        }
        let expected = (0..<count).map { "message \($0)" } + ["at last"]
        #expect(try await everything(that: all.ben, hasWith: "ann") == expected)
        for node in [all.ann, all.ben] { #expect(try await node.stop() == 0) }
    }
}

/// Something that is so from some moment on.
private final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
