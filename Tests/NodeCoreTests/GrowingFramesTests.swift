import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// A few bytes that open to very many operations.
@Suite("Frames that grow")
struct GrowingFramesTests {
    private static let space = SpaceID { $0[0] = 9 }
    private static let device = DeviceID { $0[0] = 7 }

    private static func run(from first: UInt64, count: Int) throws -> Run {
        let least = try Operation.make(
            OperationHeader(kind: OperationKind(rawValue: 64), wallClock: 0, clock: 0),
            payload: [1])
        return Run(
            device: device, lane: .content, first: first, anchor: nil,
            operations: Array(repeating: least, count: count), heads: [])
    }

    private static func frame(_ counts: [Int]) throws -> Frame {
        var first: UInt64 = 0
        let runs = try counts.map { count in
            defer { first += UInt64(count) }
            return try run(from: first, count: count)
        }
        return .operations(Operations(space: space, endsAnswer: false, runs: runs))
    }

    @Test("Attack 150: the runs of one frame hold so many operations and not one more")
    func inFrame() throws {
        let full = try Self.frame([4096, 4096]).encoded()
        #expect(full.count < 2_000, "a few bytes")
        guard case .operations(let operations)? = try Frame.decode(full) else {
            Issue.record("is no frame of operations")
            return
        }
        #expect(operations.runs.reduce(0) { $0 + $1.operations.count } == 8192)
        let over = try Self.frame([4096, 4096, 1]).encoded()
        #expect(throws: DecodingFailure.self) { try Frame.decode(over) }
    }

    @Test("Attack 150: all frames of a letter share what one frame may grow to")
    func inLetter() throws {
        var parcel = Parcel(byteCountMax: 60_000)
        parcel.add(.credit(1))
        let bomb = try Self.frame([4096])
        var frameCount = 0
        while frameCount < 50, parcel.add(bomb) { frameCount += 1 }
        #expect(frameCount == 50)
        var reader = try #require(ParcelReader(parcel.bytes))
        #expect(reader.next() == .credit(1))
        var count = 0
        while case .operations(let operations)? = reader.next() {
            count += operations.runs.reduce(0) { $0 + $1.operations.count }
        }
        #expect(count == 8192)
        #expect(!reader.isWhole)
    }

    @Test("Attack 150: of a letter that introduces nobody no frame is decoded")
    func strangersLetter() throws {
        var parcel = Parcel(byteCountMax: 60_000)
        parcel.add(try Self.frame([4096, 4096]))
        let reader = try #require(ParcelReader(parcel.bytes))
        #expect(reader.isNext(.operations) && !reader.isNext(.introduce))
        #expect(reader.room.taken == (0, 0))
    }

    @Test("Attack 150: of what a stranger sends on a link only an introduction is read")
    func strangersLink() throws {
        let village = try Village(seed: 150, memberCount: 2)
        var core = village.ann.core
        let store = try village.ann.store.copy()
        var random = SeededRandom(seed: 1, purpose: "stranger")
        let root = DeviceSigningKey.generate(using: &random)
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random).publicKey
        let log = try IdentityLog.founded(
            root: root, device: key, noiseKey: noise, time: 0, using: &random)
        let peer = LinkPeer(
            person: log.person, root: Digest(reinterpreting: log.root), device: key.device,
            identity: log.encoded, handshakeHash: [], isInitiator: false)
        let now = Instant(monotonic: village.world.now, wall: World.epoch + village.world.now)
        let link = LinkID(1 << 40)
        try store.begin(.full)
        _ = try core.step(.linkOpened(link, peer), at: now, in: store, using: &random)
        // It would not even decode.
        let effects = try core.step(.frame(link, [4, 1, 2, 3]), at: now, in: store, using: &random)
        try store.commit()
        #expect(effects.contains { if case .hangUp(link, .stranger) = $0 { true } else { false } })
        let name = Array(Refusal.malformedFrame.rawValue.utf8)
        #expect(try store.number(.refusal, name) ?? 0 == 0)
    }

    @Test("Attack 150: operations of which none is new cost by what they open to")
    func nothingNew() throws {
        guard case .operations(let operations) = try Self.frame([4096, 4096]) else { return }
        #expect(operations.creditByteCount >= 8192 * Limits.operationCreditByteCount)
        #expect(FrameWork.nothingNew(operations) >= 500)
    }
}
