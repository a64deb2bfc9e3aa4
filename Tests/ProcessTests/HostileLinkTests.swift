import Foundation
@testable import Parley
import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

/// A bare connection to a node: bytes out, bytes in, and how it ended.
final class RawConnection: ConnectionHandler {
    private struct State {
        var connection: Connection?
        var received: [UInt8] = []
        var isClosed = false
        var watchers: [AsyncStream<Void>.Continuation] = []
    }
    private let state = Mutex(State())

    var received: [UInt8] { state.withLock { $0.received } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func opened(_ connection: Connection) { tell { $0.connection = connection } }
    func received(_ bytes: [UInt8]) { tell { $0.received += bytes } }
    func becameWritable() {}
    func closed(_ reason: CloseReason) { tell { $0.isClosed = true } }

    func send(_ bytes: [UInt8]) { _ = state.withLock { $0.connection }?.send(bytes) }

    private func tell(_ change: (inout State) -> Void) {
        let watchers = state.withLock { state in
            change(&state)
            return state.watchers
        }
        for watcher in watchers { watcher.yield() }
    }

    /// Waits for so many bytes, or for the end.
    func hears(_ count: Int) async throws {
        try await eventually("\(count) bytes", after: [signals()]) {
            received.count >= count || isClosed
        }
    }

    /// Waits until the other side has closed it.
    func ends() async throws {
        try await eventually("the node hangs up", after: [signals()]) { isClosed }
    }

    private func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.watchers.append(continuation) }
        return stream
    }
}

/// A node that listens, a contact who is linked to it, and strangers.
struct BesiegedNode {
    let folder: TemporaryFolder
    let ann: Node
    let ben: Node
    let endpoint: Endpoint
    let key: NoiseKey
    let transport = Transport(threadCount: 1)

    init() async throws {
        folder = try TemporaryFolder()
        (ann, _) = try await Node.create(NodeSettings(home: folder.home("a")), name: "ann")
        (ben, _) = try await Node.create(NodeSettings(home: folder.home("b")), name: "ben")
        let address = try #require(try await ann.start(listen: ["127.0.0.1:0"]).first)
        endpoint = try Endpoint(address)
        key = try await ann.running.read { $0.core.node.noiseKey }
        let invite = try await ann.perform(CreateInvite(hours: 1))
        try await ben.perform(AcceptInvite(link: invite.link))
        let (first, second) = (ann, ben)
        try await eventually("they meet", on: [ann, ben]) {
            let conversations =
                try await first.perform(ListConversations()) + second.perform(ListConversations())
            return Set(conversations.map(\.name)) == ["ann", "ben"]
        }
    }

    func connect() async throws -> RawConnection {
        let connection = RawConnection()
        try await transport.dial(endpoint, handler: connection)
        return connection
    }

    func refusals(_ code: String) async throws -> Int {
        try await ann.perform(GetStatus()).refusals[code] ?? 0
    }

    /// Whoever knocked meanwhile: what ben writes arrives, and all that was there still is.
    func stillTalks(_ text: String) async throws {
        let before = try await ann.perform(ReadMessages(conversation: "ben", limit: 500))
        try await ben.perform(SendMessages(conversation: "ann", texts: [text]))
        let node = ann
        try await eventually("ann hears ben", on: [node]) {
            let now = try await node.perform(ReadMessages(conversation: "ben", limit: 500))
            return now.messages.map(\.text) == before.messages.map(\.text) + [text]
        }
        #expect(try await ann.perform(CheckStore()).checks.allSatisfy(\.isFine))
    }

    func end() async {
        await transport.shutdown()
        await ann.shutdown()
        await ben.shutdown()
    }

    /// Somebody whom nobody knows, calling the node.
    func stranger(network: String = "parley") throws -> Link {
        var random = SystemRandom()
        let signing = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        let log = try IdentityLog.founded(
            root: RecoveryCode.generate(using: &random).rootKey, device: signing,
            noiseKey: noise.publicKey, time: 1_700_000_000_000, using: &random)
        return Link(
            initiatorTo: key, expecting: nil,
            credentials: LinkCredentials(
                person: log.person, device: signing.device, noiseKey: noise,
                identity: log.encoded),
            network: NetworkID(named: network), using: &random)
    }
}

@Suite("A node that strangers knock at", .serialized, .timeLimit(.minutes(4)))
struct HostileLinkTests {
    /// The second message of the handshake on the stream.
    private static let answerByteCount = 50

    @Test("refuses garbage, another network, altered and replayed bytes, and counts each")
    func forgeries() async throws {
        let node = try await BesiegedNode()
        let garbage = try await node.connect()
        garbage.send((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) })
        try await garbage.ends()
        #expect(try await node.refusals("link-unsupported") == 1)

        let foreign = try await node.connect()
        var link = try node.stranger(network: "another")
        foreign.send(link.start())
        try await foreign.ends()
        #expect(try await node.refusals("link-undecipherable") == 1)

        let altered = try await node.connect()
        link = try node.stranger()
        var first = link.start()
        first[first.count - 1] ^= 1
        altered.send(first)
        try await altered.ends()
        #expect(altered.received.isEmpty)
        #expect(try await node.refusals("link-undecipherable") == 2)

        let (opening, last) = try await Self.altersLast(node)
        #expect(try await node.refusals("link-undecipherable") == 3)

        let replayed = try await node.connect()
        replayed.send(opening)
        try await replayed.hears(Self.answerByteCount)
        replayed.send(last)
        try await replayed.ends()
        #expect(try await node.refusals("link-undecipherable") == 4)
        // Nothing was said to the one who replayed, not even who answers.
        #expect(replayed.received.count == Self.answerByteCount)
        try await node.stillTalks("still here")
        await node.end()
    }

    /// A handshake whose last message is altered on the way. Returns both messages as they were.
    private static func altersLast(_ node: BesiegedNode) async throws -> ([UInt8], [UInt8]) {
        let connection = try await node.connect()
        var link = try node.stranger()
        let opening = link.start()
        connection.send(opening)
        try await connection.hears(answerByteCount)
        var last: [UInt8] = []
        for case .send(let bytes) in try link.receive(connection.received) { last += bytes }
        var flipped = last
        flipped[40] ^= 0x10
        connection.send(flipped)
        try await connection.ends()
        return (opening, last)
    }

    @Test("hangs up on one who dawdles, and on one who knocks too often")
    func floods() async throws {
        let node = try await BesiegedNode()
        let slow = try await node.connect()
        let start = ContinuousClock.now
        slow.send([1])
        try await slow.ends()
        #expect(ContinuousClock.now - start < .seconds(60))
        try await node.stillTalks("after one was shown the door")
        var isRefused = false
        for _ in 0..<14 {
            do {
                let connection = try await node.connect()
                connection.send([0xFF, 0, 0])
                try await connection.ends()
            } catch {
                // Who knocked too often is shut out before a word; the count below tells.
            }
            isRefused = try await node.refusals("connection-handshake-rate") > 0
            if isRefused { break }
        }
        #expect(isRefused)
        try await node.stillTalks("while others knock")
        await node.end()
    }

    @Test("tells a stranger with good keys nothing, and counts that they called")
    func stranger() async throws {
        let node = try await BesiegedNode()
        let folder = try TemporaryFolder()
        let (eve, _) = try await Node.create(NodeSettings(home: folder.home("e")), name: "eve")
        // Eve has an invite that ann never gave: it names ann, with a secret of eve's own.
        let invite = try await node.ann.perform(CreateInvite(hours: 1))
        var random = SystemRandom()
        var forged = try Invite(link: invite.link)
        forged.secret = random.bytes(Invite.secretByteCount)
        try await eve.perform(AcceptInvite(link: forged.link, alias: "ann"))
        let ann = node.ann
        try await eventually("ann refuses eve", on: [ann]) {
            try await ann.perform(GetStatus()).refusals["invite"] ?? 0 > 0
        }
        #expect(try await ann.perform(ListContacts()).map(\.name) == ["ben"])
        #expect(try await eve.perform(ListConversations()).isEmpty)
        // Eve's node was told that the invite is no good, and says so.
        try await eventually("eve's invite is refused", on: [eve]) {
            try await eve.perform(ListContacts()).map(\.state) == ["refused"]
        }
        #expect(try await eve.perform(GetStatus()).refusals["invite-refused-by-peer"] == 1)
        try await node.stillTalks("nobody heard this")
        await eve.shutdown()
        await node.end()
    }
}
