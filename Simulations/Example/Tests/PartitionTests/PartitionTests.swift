import ParleySimulation
import Testing

@Test func twoHalvesMeetAgain() throws {
    let world = World(seed: 7)
    let (ann, ben, cara) = try (world.addNode("ann"), world.addNode("ben"), world.addNode("cara"))
    let trip = try world.group("trip", [ann, ben, cara])
    world.partition([ann, ben], [cara])
    try ann.type("who brings the tent?", in: trip)
    try cara.type("I am on the train", in: trip)
    world.run(for: .minutes(5))
    #expect(try cara.texts(in: trip) == ["I am on the train"])
    world.heal()
    try world.runUntilEqual(within: .minutes(15))
    #expect(try ann.texts(in: trip) == cara.texts(in: trip))
}
