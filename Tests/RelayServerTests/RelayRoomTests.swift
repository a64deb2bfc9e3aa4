import ParleyRelaying
import ParleyWire
import Testing

@testable import ParleyRelayServer

/// What has to go goes piece by piece: everybody waits for a transaction.
@Suite("Room that is made in the store")
struct RelayRoomTests {
    private static let now: UInt64 = 1_790_000_000_000
    private static let size = 512
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func open(_ bounds: RelayStoreBounds = RelayStoreBounds()) throws -> SQLiteRelayStore {
        try SQLiteRelayStore(path: folder.path + "/relay.sqlite", start: 5, bounds: bounds)
    }

    private static func id(_ number: Int) -> MailboxID {
        MailboxID { ($0[0], $0[1]) = (UInt8(number & 0xFF), UInt8(number >> 8)) }
    }

    private static func open(
        _ mailbox: Int, lifetime: UInt64 = 1 << 40, renewal: UInt64 = 0,
        byteCountMax: UInt64 = 64 << 20
    ) -> RelayOrder {
        .open(
            id(mailbox), writers: nil, ticket: nil,
            MailboxTerms(
                needsTicket: false, lifetime: lifetime, renewal: renewal,
                byteCountMax: byteCountMax))
    }

    /// An envelope that no other is like.
    private static func put(_ number: Int, into mailbox: Int, _ byteCount: Int = size) -> RelayOrder
    {
        .put(
            id(mailbox), by: .inbox, share: RelayShare(number: 544),
            hash: Digest { ($0[0], $0[1]) = (UInt8(number & 0xFF), UInt8(number >> 8)) },
            envelope: [UInt8](repeating: UInt8(number & 0xFF), count: byteCount))
    }

    private static func isStored(_ outcome: RelayOutcome) -> Bool {
        if case .answer(.stored) = outcome { true } else { false }
    }

    @Test(
        "Attack 291: what nobody pays for is emptied piece by piece, whoever wants how much room at once"
    )
    func emptied() throws {
        let count = 2 * SQLiteRelayStore.freedRowCountMax + 200
        let full = Int64(count * Self.size)
        let store = try open(RelayStoreBounds(unpaidByteCountMax: UInt64(full)))
        let puts = (0..<count).map { Self.put($0, into: 1) }
        _ = try store.perform([Self.open(1), Self.open(2)] + puts, at: Self.now)
        #expect(store.byteCount == full)
        // One envelope more takes the oldest piece with it, and not the whole.
        var outcomes = try store.perform([Self.put(0, into: 2)], at: Self.now + 1)
        #expect(outcomes.allSatisfy(Self.isStored))
        let piece = Int64((SQLiteRelayStore.deletedRowCountMax - 1) * Self.size)
        #expect(store.byteCount == full - piece)
        // So many that more has to go than goes in one transaction: those come again.
        let many = (1...48).map { Self.put($0, into: 2, 64 << 10) }
        outcomes = try store.perform(many, at: Self.now + 2)
        let stored = outcomes.prefix(while: Self.isStored).count
        #expect((1..<48).contains(stored))
        #expect(
            outcomes.dropFirst(stored).allSatisfy { $0 == .answer(.refused(.busyAsEmptying)) })
        let most = Int64((SQLiteRelayStore.freedRowCountMax + 512) * Self.size)
        #expect(store.byteCount - Int64(stored * 64 << 10) >= full - piece - most)
        outcomes = try store.perform(Array(many.dropFirst(stored)), at: Self.now + 3)
        #expect(outcomes.allSatisfy(Self.isStored))
        #expect(store.byteCount <= full)
        // The sums are still right.
        let sum = store.byteCount
        try store.close()
        #expect(try open().byteCount == sum)
    }

    @Test("a mailbox whose room has shrunk shrinks piece by piece, while others are served")
    func shrunk() throws {
        let store = try open()
        let puts = (0..<320).map { Self.put($0, into: 1, 64 << 10) }
        _ = try store.perform([Self.open(1)] + puts, at: Self.now)
        #expect(store.byteCount == 20 << 20)
        let less = Self.open(1, renewal: 1 << 41, byteCountMax: 1 << 20)
        _ = try store.perform([less], at: Self.now)
        var refusalCount = 0
        while case let outcomes = try store.perform([Self.put(400, into: 1)], at: Self.now + 1),
            !outcomes.allSatisfy(Self.isStored)
        {
            #expect(outcomes == [.answer(.refused(.busyAsEmptying))])
            refusalCount += 1
        }
        #expect(refusalCount == 2)
        #expect(store.byteCount <= 1 << 20)
    }

    @Test("Attack 291: a flood of mailboxes that is over at one time is forgotten piece by piece")
    func over() throws {
        let store = try open()
        let opens = (0...SQLiteRelayStore.expiredRowCountMax).map { Self.open($0, lifetime: 1_000) }
        _ = try store.perform(opens, at: Self.now)
        let expire = RelayOrder.expire(envelopesBefore: Self.now)
        #expect(try store.perform([expire], at: Self.now + 1_000) == [.unfinished(expire)])
        #expect(try store.perform([expire], at: Self.now + 1_000) == [.answer(.done)])
    }

    @Test("envelopes that are over at one time are forgotten piece by piece")
    func old() throws {
        let store = try open()
        let count = SQLiteRelayStore.expiredRowCountMax + 1
        let puts = (0..<count).map { Self.put($0, into: 1) }
        _ = try store.perform([Self.open(1)] + puts, at: Self.now)
        let expire = RelayOrder.expire(envelopesBefore: Self.now + 1_000)
        #expect(try store.perform([expire], at: Self.now + 1_000) == [.unfinished(expire)])
        #expect(store.byteCount == Int64(Self.size))
        #expect(try store.perform([expire], at: Self.now + 1_000) == [.answer(.done)])
        #expect(store.byteCount == 0)
    }
}
