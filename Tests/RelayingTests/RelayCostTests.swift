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

}
