import ParleyLedger
import ParleyWire

@testable import ParleyNodeCore
@testable import ParleySimulation

// What comes from Ann's own machine: timers, and a clock that jumps.
extension HostileWorld {
    /// A timer fires, at a moment of its own choice.
    func fire() {
        let timer = timer()
        feed(.timer(timer), "the timer \(timer)")
    }

    func timer() -> TimerID {
        let number = SpaceNumber(Int64(random.next() % 5))
        let timers: [TimerID] = [
            .heartbeat(link()), .announce, .receipts, .dial(device()), .source(number), .bodies,
            .waiting, .placing(number), .devices, .card(number), .keys, .upkeep(number),
            .epoch(number), .relay(relay.key), .outbox, .backlog, .repair(number),
            .reminder(number), .invitations, .takenBack(number), .polls, .ringing,
            .scheduled, .disappearing,
            .signals(random.flip() ? world.now : random.hostile()), .files, .fileRetry, .fileRoom,
            .fileLook, .collection, .shelves,
        ]
        return timers[random.below(timers.count)]
    }

    /// Ann's wall clock is set: by a year or a century, or to what a board without a battery has.
    func setClock() {
        let wall = random.hostile(as: WallTime.self).value
        ann.clock.skew = random.flip() ? 0 : Int64(wall) - Int64(now())
        feed(.networkChanged, "the clock is set to \(wall)")
    }
}
