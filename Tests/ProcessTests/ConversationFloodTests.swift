import Foundation
import ParleyConversation
import ParleyLedger
import ParleyLocalAPI
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley
@testable import ParleyNodeCore

/// Floods about conversations: more and more of them, what is claimed of them, and a node that has
/// very many. Bounds as in ``FloodTests``.
@Suite("A node under a flood of conversations", .serialized, .timeLimit(.minutes(20)))
struct ConversationFloodTests {
    @Test("Attack 110: groups without end that a contact adds a person to")
    func groups() async throws {
        try await FloodedNode.endures(
            "groups without end", refusing: "invitation", threads: 1
        ) { node, flood, source in
            do {
                let founder = try GroupFounder(of: node)
                node.sends(
                    { (0..<50).map { _ in founder.next() } }, after: [FloodedNode.hello],
                    as: node.member, flood, from: source)
            } catch {
                Issue.record("the contact cannot found a group: \(error)")
            }
        }
    }

    @Test("Attack 83: claims without end about the logs of whom they are sent to, by a contact")
    func claims() async throws {
        try await FloodedNode.endures(
            "claims about own logs", refusing: "empty-claim", threads: 1
        ) { node, flood, source in
            do {
                let claims = try Self.claims(to: node).map { $0.encoded() }
                node.repeats(
                    claims, after: [FloodedNode.hello], as: node.member, flood, from: source)
            } catch {
                Issue.record("the contact has no conversation: \(error)")
            }
        }
    }

    /// What a contact says that the node has written, and nobody ever did: with a signature, too.
    private static func claims(to node: FloodedNode) throws -> [Frame] {
        let device = try GroupFounder(of: node).other
        let wrong = try #require(SignatureBytes([UInt8](repeating: 3, count: 64)))
        let tags = Lane.allCases.map {
            LogTag(OperationHash.log(space: node.space, device: device, lane: $0))
        }
        return (1...UInt64(100)).map { number in
            Frame.frontier(
                Frontier(
                    space: node.space, isComplete: true, asksForMissing: number % 2 == 0,
                    entries: tags.sorted().map {
                        Frontier.Entry(
                            tag: $0, sequence: 1_000 * number, check: Check(high: number, low: 1))
                    },
                    ownTips: tags.sorted().map {
                        Frontier.OwnTip(
                            tag: $0, sequence: 1_000 * number,
                            operation: OperationID { $0[0] = UInt8(number) }, signature: wrong)
                    }))
        }
    }

    @Test("Attack 88: links of strangers and of a contact, at a node with 600 conversations")
    func manyConversations() async throws {
        let node = try await FloodedNode()
        for number in 0..<600 {
            // A contact who has them as well: each link of theirs concerns all of them.
            try await node.client.perform(
                CreateConversation(name: "group \(number)", members: ["mal"]))
        }
        let flood = Flood()
        flood.begin { Self.calls(node, as: node.member, [], $0) }
        let shown = Frame.introduce(
            Introduction(
                card: node.card, redemption: nil, join: nil, isRequest: true, isContact: false))
        for _ in 0..<3 {
            flood.begin { Self.calls(node, as: FloodedNode.stranger(), [shown.encoded()], $0) }
        }
        let result = try await Endurance.measure(node, under: flood)
        result.expectBearable("links at 600 conversations", refusing: nil)
        await node.end()
    }

    /// Links from any address, says little, reads a moment, and goes.
    private static func calls(
        _ node: FloodedNode, as who: LinkCredentials, _ frames: [[UInt8]], _ flood: Flood
    ) {
        let goesOn = { flood.goesOn }
        let link = FloodLink(
            node.link(as: who), port: node.port, from: 0x7F00_0000 + UInt32.random(in: 2...255),
            while: goesOn)
        // Turned away: whoever floods tries again soon.
        guard var link else { return Thread.sleep(forTimeInterval: 0.02) }
        link.send([FloodedNode.hello] + frames, while: goesOn)
        flood.counted(1)
        for _ in 0..<5 where link.isOpen {
            // What comes is not told apart: it is read for a tenth of a second.
            Thread.sleep(forTimeInterval: 0.02)
            link.ignore()
        }
    }
}

/// The one who floods as a founder of groups, of which each has the flooded node in it.
private struct GroupFounder {
    /// The device that is flooded.
    let other: DeviceID
    private let key: DeviceSigningKey
    private let founders: [Founder]

    /// What the two know of each other stands in the first operation of their conversation.
    init(of node: FloodedNode) throws {
        let store = try SQLiteStore.open(home: Home(node.folder.home("m")), unlock: .keyFile)
        let space = try #require(try store.space(node.space))
        let logs = try store.logs(in: space.number)
        var founders: [Founder] = []
        for log in logs where log.lane == .control {
            let first = try store.operation(at: 0, in: log.number)?.operation
            guard let first, first.header.kind == .genesis, let payload = first.payload else {
                continue
            }
            founders = try Genesis(payload: payload).founders
        }
        let key = try #require(try NodeKeys(in: store)).identity.key
        let other = try #require(founders.first { $0.person != node.member.person })
        self.other = try #require(IdentityLog(operations: other.identity).devices.first).device
        try store.close()
        (self.founders, self.key) = (founders, key)
    }

    /// The frame that introduces one more group.
    func next() -> [UInt8] {
        var random = SystemRandom()
        let wall = UInt64(Date.now.timeIntervalSince1970 * 1_000)
        let genesis = Genesis(
            kind: .group, creator: key.device, random: random.bytes(16), founders: founders,
            name: "come in")
        let draft = genesis.draft()
        let space = genesis.space(at: wall)
        let header = OperationHeader(kind: .genesis, wallClock: wall, clock: wall << 16)
        guard let operation = try? Operation.make(header, payload: draft.payload) else {
            preconditionFailure("a genesis that is well formed can be encoded")
        }
        let log = OperationHash.log(space: space, device: key.device, lane: .control)
        let anchor = OperationID(reinterpreting: log)
        let head = OperationHash.sign(
            log: log, sequence: 0, operation: OperationHash.operation(operation, after: anchor),
            with: key)
        let run = Run(
            device: key.device, lane: .control, first: 0, anchor: anchor, operations: [operation],
            heads: [head])
        return Frame.operations(Operations(space: space, endsAnswer: true, runs: [run])).encoded()
    }
}
