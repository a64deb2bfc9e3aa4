import Foundation
import Parley
import ParleyLocalAPI
import ParleySealing
import ParleyWire
import Testing

/// What `Protocol/07-threats.md` promises of a node that is flooded: it stays small, serves the
/// others, answers its person and can be stopped, all while the flood goes on.
@Suite("A node under a flood", .serialized, .timeLimit(.minutes(20)))
struct FloodTests {
    /// Frames of one byte, of a type that nobody knows.
    private static let unknown = [[UInt8]](repeating: [200], count: 8_000)

    @Test("Attack 62: tiny frames of an unknown type, by strangers")
    func unknownFrames() async throws {
        try await FloodedNode.endures("unknown frames of strangers", refusing: "too-many-frames") {
            node, flood, source in
            node.repeats(
                Self.unknown, as: FloodedNode.stranger(), flood, from: source)
        }
    }

    @Test("Attack 62: tiny frames of an unknown type, by a contact")
    func unknownFramesOfContact() async throws {
        try await FloodedNode.endures("unknown frames of a contact", refusing: nil, threads: 1) {
            node, flood, source in
            node.repeats(
                Self.unknown, after: [FloodedNode.hello], as: node.member, flood, from: source)
        }
    }

    @Test("Attack 63: questions whose answers are never read")
    func unreadAnswers() async throws {
        try await FloodedNode.endures("unread answers", refusing: nil, threads: 1) {
            node, flood, source in
            let want = Frame.want(
                Want(
                    space: node.space, limit: UInt64(Limits.wantOperationCountMax),
                    ranges: [.init(tag: node.tag, first: 0, last: 1_000)]))
            let frontier = Frame.frontier(
                Frontier(
                    space: node.space, isComplete: true, asksForMissing: true, entries: []))
            let credit = Frame.credit(.greatest)
            let questions = [want, frontier, credit].map { $0.encoded() }
            node.repeats(
                Array(repeating: questions, count: 500).flatMap { $0 }, after: [FloodedNode.hello],
                as: node.member, reads: false, flood, from: source)
        }
    }

    @Test("Attack 64: cards, receipts and empty answers without end, by a contact")
    func costlyFrames() async throws {
        try await FloodedNode.endures(
            "cards, receipts, empty answers", refusing: "too-many-frames", threads: 1
        ) { node, flood, source in
            let introduce = Frame.introduce(
                Introduction(
                    card: node.card, redemption: nil, join: nil, isRequest: false,
                    isContact: true))
            let entries = (0..<UInt64(Limits.frontierEntryCountMax)).map {
                OperationReference(
                    tag: LogTag($0 << 40), sequence: 1, check: Check(high: $0, low: 0))
            }
            let acknowledge = Frame.acknowledge(
                Acknowledgement(space: node.space, entries: entries))
            let empty = Frame.operations(
                Operations(space: node.space, endsAnswer: true, runs: []))
            let frames =
                Array(repeating: introduce.encoded(), count: 40)
                + Array(repeating: acknowledge.encoded(), count: 10)
                + Array(repeating: empty.encoded(), count: 400)
            node.repeats(
                frames, after: [FloodedNode.hello], as: node.member, flood, from: source)
        }
    }

    @Test("Attack 65: strangers who present themselves without end, from many addresses")
    func introductions() async throws {
        try await FloodedNode.endures("cards of strangers", refusing: "too-many-frames", threads: 4)
        {
            node, flood, _ in
            let introduce = Frame.introduce(
                Introduction(
                    card: node.card, redemption: nil, join: nil, isRequest: true,
                    isContact: false)
            ).encoded()
            node.repeats(
                Array(repeating: introduce, count: 20), as: FloodedNode.stranger(), flood,
                from: 0x7F00_0000 + UInt32.random(in: 2...255))
        }
    }

    @Test("Attack 66: handshakes that succeed and say nothing, from 256 addresses")
    func handshakes() async throws {
        try await FloodedNode.endures(
            "silent strangers", refusing: "connection-too-many-strangers", threads: 8
        ) { node, flood, _ in
            let goesOn = { flood.goesOn }
            var links: [FloodLink] = []
            while goesOn() {
                let source = 0x7F00_0000 + UInt32.random(in: 2...255)
                let link = FloodLink(
                    node.link(as: FloodedNode.stranger()), port: node.port, from: source,
                    while: goesOn)
                guard let link else { continue }
                flood.counted(1)
                links = links.suffix(100) + [link]
            }
        }
    }

    @Test("Attack 67: connections that begin a handshake and go no further, from 256 addresses")
    func halfOpen() async throws {
        try await FloodedNode.endures(
            "half-open connections", refusing: "connection-too-many", threads: 4
        ) {
            node, flood, _ in
            var sockets: [FloodSocket] = []
            while flood.goesOn {
                let source = 0x7F00_0000 + UInt32.random(in: 2...255)
                guard let socket = FloodSocket(port: node.port, from: source) else { continue }
                socket.write([1, 1], while: { flood.goesOn })
                flood.counted(1)
                sockets = sockets.suffix(200) + [socket]
            }
        }
    }

    @Test("Attack 66: whoever is known finds a place while strangers hold all of theirs")
    func reconnects() async throws {
        let node = try await FloodedNode()
        let flood = Flood()
        for _ in 0..<4 {
            flood.begin { flood in
                let goesOn = { flood.goesOn }
                var links: [FloodLink] = []
                while goesOn() {
                    let source = 0x7F00_0000 + UInt32.random(in: 2...255)
                    let link = FloodLink(
                        node.link(as: FloodedNode.stranger()), port: node.port, from: source,
                        while: goesOn)
                    guard let link else { continue }
                    flood.counted(1)
                    links = links.suffix(60) + [link]
                }
            }
        }
        try await node.meetAgain()
        await flood.end()
        #expect(try await node.ann.stop() == 0)
        await node.end()
    }
}
