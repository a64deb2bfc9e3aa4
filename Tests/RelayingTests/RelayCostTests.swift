import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

/// What a relay does, and gives, is paid for. Source: `Protocol/06-relay.md`, "Bounds".
@Suite("What clients of a relay pay for")
struct RelayCostTests {
    // MARK: Frames that ask for nothing

    private static func modest() -> RelayPolicy {
        var policy = RelayPolicy()
        policy.frames = RelayPolicy.Rate(burst: 100, perSecond: 10)
        return policy
    }

    @Test(
        "Attack 331: pings, and frames about pipes that are not there, are read more slowly",
        arguments: [
            nil, .closed(7), .credit(7, 1), .accepted(7), .bytes(7, []),
        ] as [PipeFrame?])
    func paidFor(frame: PipeFrame?) throws {
        var world = RelayWorld(Self.modest())
        let ada = try world.connect()
        func say() throws {
            try world.say(frame.map { .pipe(ada, $0) } ?? .ping(ada))
        }
        for _ in 0..<100 { try say() }
        #expect(world.pauses.isEmpty)
        try say()
        #expect(world.pauses[ada] == 100, "as long as it takes until that much is there again")
        // What was asked is another matter.
        let drop = world.access()
        #expect(try world.ask(.subscribe, as: drop, by: ada) == .subscribed(newest: 0))
        for _ in 0..<40 { try say() }
        #expect(world.closings == [ada: .unruly], "far more than may come")
    }

    @Test("Attack 331: over many connections an address may do no more, and owes little for it")
    func ofAddress() throws {
        var world = RelayWorld(Self.modest())
        for _ in 0..<8 {
            let connection = try world.connect()
            for _ in 0..<100 { try world.say(.ping(connection)) }
        }
        #expect(world.pauses.count == 4, "four times as much as of a connection")
        // Who comes from there and is one of many waits for a few seconds, however much came.
        let ada = try world.connect()
        try world.say(.ping(ada))
        #expect(try #require(world.pauses[ada]) <= Relay.frameDebtTimeMax + 100)
        let other = try world.connect(from: [2])
        try world.say(.ping(other))
        #expect(world.pauses[other] == nil)
    }

    @Test("frames of a pipe that bring much are paid for by their bytes alone")
    func large() throws {
        var two = try RelayPipeTests.Two(Self.modest())
        let pipe = try two.pipe()
        for _ in 0..<16 {
            try two.world.order(two.ada) {
                $0.send([UInt8](repeating: 1, count: 256 << 10), through: pipe)
            }
        }
        #expect(two.world.relay.counters.pipeBytes == 4 << 20)
        #expect(two.world.pauses.isEmpty)
    }

    // MARK: What is given

    private static let large = 65_536

    /// A relay that gives little, and a drop with four envelopes.
    private static func giving(
        _ burst: Int
    ) throws -> (world: RelayWorld, drop: MailboxAccess, ada: RelayConnection) {
        var policy = RelayPolicy()
        policy.giving = RelayPolicy.Rate(burst: burst, perSecond: large)
        var world = RelayWorld(policy)
        let drop = world.access()
        let ada = try world.connect(from: [9])
        _ = try world.ask(RelayTests.open, as: drop, by: ada)
        for _ in 0..<4 {
            let put = RelayAction.put(envelope: world.envelope(large))
            _ = try world.ask(put, as: drop, by: ada)
        }
        return (world, drop, ada)
    }

    private static func isBusy(_ answer: RelayAnswer) -> Bool {
        if case .refused(.busy) = answer { true } else { false }
    }

    @Test("Attack 332: pages are taken from what a connection, and an address, may be given")
    func pages() throws {
        var (world, drop, _) = try Self.giving(4 * Self.large)
        let page = RelayAction.get(RelayRange(after: 0, byteCountMax: 2 * Self.large))
        var given = 0
        for _ in 0..<10 {
            let ben = try world.connect(from: [2])
            for place in 0..<4 {
                let answer = try world.ask(page, as: drop, by: ben)
                if place >= 2 { #expect(Self.isBusy(answer), "a connection's own") }
                given += answer.entries?.count ?? 0
            }
        }
        #expect(given == 4 * 4, "four times as much as to a connection")
        let cara = try world.connect(from: [3])
        #expect(try world.ask(page, as: drop, by: cara).entries?.count == 2)
        world.now += 2_000
        let dan = try world.connect(from: [2])
        #expect(try world.ask(page, as: drop, by: dan).entries?.count == 2, "and later")
    }

    @Test("what could have been given and was not is not charged")
    func emptyPages() throws {
        var (world, _, ada) = try Self.giving(2 * Self.large)
        let empty = world.access()
        _ = try world.ask(RelayTests.open, as: empty, by: ada)
        for _ in 0..<100 {
            #expect(try world.ask(.get(RelayRange(after: 0)), as: empty, by: ada).entries == [])
        }
        // Nor where it was refused, or the store failed.
        let shelf = MailboxAccess(
            world.inbox().mailbox, key: .generate(using: &world.random))
        for _ in 0..<100 {
            let answer = try world.ask(.get(RelayRange(after: 0)), as: shelf, by: ada)
            #expect(!Self.isBusy(answer))
        }
    }

    @Test("Attack 332: who is given too much is told once that it missed something, and gets it")
    func pushes() throws {
        var (world, drop, ada) = try Self.giving(4 * Self.large)
        let ben = try world.connect(from: [2])
        _ = try world.ask(.subscribe, as: drop, by: ben)
        _ = world.told(ben)
        func put() throws {
            let put = RelayAction.put(envelope: world.envelope(Self.large))
            _ = try world.ask(put, as: drop, by: ada)
        }
        for _ in 0..<8 { try put() }
        func told() -> (arrived: Int, missed: Int) {
            world.told(ben).reduce(into: (0, 0)) { sum, event in
                if case .arrived = event { sum.0 += 1 }
                if case .missed(drop.mailbox) = event { sum.1 += 1 }
            }
        }
        #expect(told() == (4, 1))
        let page = RelayAction.get(RelayRange(after: 0, byteCountMax: 2 * Self.large))
        #expect(Self.isBusy(try world.ask(page, as: drop, by: ben)))
        world.now += 4_000
        #expect(try world.ask(page, as: drop, by: ben).entries?.count == 2)
        // From here on it is told again.
        for _ in 0..<4 { try put() }
        #expect(told() == (2, 1))
    }

    @Test("Attack 332: what is passed on leaves a quarter of all to what is stored")
    func passed() throws {
        var (world, drop, ada) = try Self.giving(4 * Self.large)
        let ben = try world.connect(from: [2])
        _ = try world.ask(.subscribe, as: drop, by: ben)
        _ = world.told(ben)
        for _ in 0..<8 {
            let pass = RelayAction.volatile(lifetime: 60, envelope: world.envelope(Self.large))
            #expect(try world.ask(pass, as: drop, by: ada) == .done)
        }
        #expect(world.told(ben).count == 3)
        let put = RelayAction.put(envelope: world.envelope(Self.large))
        _ = try world.ask(put, as: drop, by: ada)
        #expect(world.told(ben).count == 1)
    }

    @Test("who was away reads a full drop without a wait, and sends meanwhile")
    func catchUp() throws {
        var world = RelayWorld()
        let drop = world.access()
        let writers = [try world.connect(from: [8]), try world.connect(from: [9])]
        _ = try world.ask(RelayTests.open, as: drop, by: writers[0])
        let count = Int(world.policy.mailboxByteCountMax) / Self.large
        for number in 0..<count {
            let put = RelayAction.put(envelope: world.envelope(Self.large))
            #expect(try world.ask(put, as: drop, by: writers[number % 2]).counter != nil)
        }
        let ben = try world.connect(from: [2])
        var (after, read) = (UInt64(0), 0)
        while read < count {
            let page = try world.ask(.get(RelayRange(after: after)), as: drop, by: ben)
            let entries = try #require(page.entries)
            read += entries.count
            after = try #require(entries.last?.counter)
        }
        let own = world.access()
        _ = try world.ask(RelayTests.open, as: own, by: ben)
        let put = RelayAction.put(envelope: world.envelope(Self.large))
        #expect(try world.ask(put, as: own, by: ben).counter != nil)
    }
}
