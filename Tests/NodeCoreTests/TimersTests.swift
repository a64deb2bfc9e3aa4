import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Timers")
struct TimersTests {
    private static func turn(at monotonic: UInt64) -> some Turn {
        StepTurn(
            at: Instant(monotonic: monotonic, wall: 0), in: MemoryStore(),
            using: SystemRandomNumberGenerator())
    }

    private static func moments(_ turn: some Turn) -> [UInt64] {
        turn.effects.compactMap { effect in
            guard case .timer(_, let moment) = effect else { return nil }
            return moment
        }
    }

    @Test("are set once until they go off")
    func once() {
        var timers = Timers()
        var turn = Self.turn(at: 1_000)
        timers.set(.keys, in: 500, &turn)
        timers.set(.keys, in: 10, &turn)
        #expect(Self.moments(turn) == [1_500])
        #expect(timers.isPending(.keys))
        timers.goOff(.keys)
        #expect(!timers.isPending(.keys))
        timers.set(.keys, in: 10, &turn)
        #expect(Self.moments(turn) == [1_500, 1_010])
    }

    @Test("move whether they are set or not, and stay set")
    func move() {
        var timers = Timers()
        var turn = Self.turn(at: 1_000)
        timers.move(.bodies, to: 9_000, &turn)
        timers.move(.bodies, to: 2_000, &turn)
        timers.set(.bodies, in: 1, &turn)
        #expect(Self.moments(turn) == [9_000, 2_000])
        #expect(timers.isPending(.bodies))
    }

    @Test("are hastened, and never put off by that")
    func hasten() {
        var timers = Timers()
        var turn = Self.turn(at: 1_000)
        timers.hasten(.bodies, in: 9_000, &turn)
        timers.hasten(.bodies, in: 500, &turn)
        timers.hasten(.bodies, in: 600, &turn)
        #expect(Self.moments(turn) == [10_000, 1_500])
        timers.goOff(.bodies)
        timers.hasten(.bodies, in: 600, &turn)
        #expect(Self.moments(turn) == [10_000, 1_500, 1_600])
    }

    @Test("are told apart by what they are about")
    func apart() {
        var timers = Timers()
        var turn = Self.turn(at: 0)
        timers.set(.heartbeat(LinkID(1)), in: 5, &turn)
        timers.set(.heartbeat(LinkID(2)), in: 6, &turn)
        #expect(Self.moments(turn) == [5, 6])
        timers.goOff(.heartbeat(LinkID(1)))
        #expect(timers.isPending(.heartbeat(LinkID(2))))
    }
}
