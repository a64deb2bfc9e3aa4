import ParleyCheckers
import ParleySimulation
import Testing

/// Every line of the article "Faults" is a line of this file; `Tests/ExampleTests` compares them.
@Suite("Faults")
struct FaultTests {
    @Test("all of them one after the other break no promise", arguments: [1, 2] as [UInt64])
    func all(seed: UInt64) throws {
        let world = World(seed: seed)
        let jury = Jury(of: world)
        let (ann, ben, cara) = try (
            world.addNode("ann"), world.addNode("ben"), world.addNode("cara")
        )
        let trip = try world.group("trip", [ann, ben, cara])
        var saidCount = 0
        func talk() throws {
            for node in [ann, ben, cara] {
                saidCount += 1
                do {
                    try node.type("\(node.name) \(saidCount)", in: trip)
                } catch let error as WorldError {
                    #expect([.down, .died, .diskFailed, .refused].contains(error.reason))
                }
                world.run(for: .seconds(20))
            }
        }
        world.setDiskDelay(.zero ... .seconds(5))
        world.partition([ann, ben], [cara])
        try talk()
        world.cut(ann, cara)
        world.isolate(cara)
        try talk()
        world.heal(ann, cara)
        world.block(from: ann, to: ben)
        try talk()
        world.heal()
        world.reset(ann, ben)
        world.stall(from: ben, to: cara, for: 20_000)
        world.flip(from: cara, to: ben, bit: 100)
        let slow = LinkModel(delay: .seconds(1) ... .seconds(4), bytesPerSecond: 4_000)
        var bad = slow
        bad.resetEvery = 50
        world.model = LinkModel(delay: .milliseconds(20) ... .milliseconds(200))
        world.setModel(bad, ann, ben)
        world.setModel(slow, from: cara, to: ann)
        try talk()
        world.crash(ben, downFor: .minutes(2))
        world.crash(cara, losingPower: true)
        try talk()
        world.start(cara)
        world.restart(ann, losingPower: true)
        world.crash(ann, inStep: 1, at: .amongEffects, losingPower: true, downFor: .minutes(1))
        try talk()
        ann.failDisk(inCall: 3)
        ben.failDisk(inCall: 3, isFull: true)
        try talk()
        ann.mendDisk()
        ben.clock = NodeClock(ahead: .days(365), partsPerMillion: 200)
        cara.clock = NodeClock(ahead: .days(-1))
        try talk()
        ben.mendDisk()
        try world.runUntilEqual(within: .minutes(15))
        try jury.verify(isSettled: true)
    }

    @Test("an old backup is taken back by what others hold")
    func backup() throws {
        let world = World(seed: 3)
        let (ann, cara) = try (world.addNode("ann"), world.addNode("cara"))
        let trip = try world.group("trip", [ann, cara])
        let backup = ann.backUp()
        try ann.type("after the backup", in: trip)
        world.run(for: .minutes(1))
        world.restore(ann, from: backup)
        try world.runUntilEqual(within: .minutes(15))
        #expect(try ann.texts(in: trip) == ["after the backup"])
    }
}
