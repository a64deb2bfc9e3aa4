import ParleyCheckers
import ParleySimulation
import Testing

/// Ann's machine loses its power in the middle of writing. What she was told is saved is still
/// there; of the last message only one thing is certain: everybody says the same about it.
@Test(arguments: PlannedDeath.Point.allCases)
func powerIsLostWhileWriting(point: PlannedDeath.Point) throws {
    let world = World(seed: 8)
    let jury = Jury(of: world)
    let (ann, ben) = try (world.addNode("ann"), world.addNode("ben"))
    let trip = try world.group("trip", [ann, ben])
    world.setDiskDelay(.zero ... .seconds(2))
    for count in 1...5 { try ann.type("message \(count)", in: trip) }
    world.crash(ann, inStep: 1, at: point, losingPower: true, downFor: .minutes(2))
    #expect(throws: WorldError.self) { try ann.type("last words", in: trip) }
    try ben.type("ann?", in: trip)
    try world.runUntilEqual(within: .minutes(15))
    let texts = try ann.texts(in: trip)
    #expect((1...5).allSatisfy { texts.contains("message \($0)") })
    #expect(texts.contains("last words") == (point != .beforeCommit))
    try jury.verify(isSettled: true)
}
