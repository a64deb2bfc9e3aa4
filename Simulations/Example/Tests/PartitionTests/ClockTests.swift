import ParleySimulation
import Testing

/// Ben's clock is five minutes ahead, and what he sends crawls to ann. She answers his message, so
/// her answer stands below it on both screens, whatever the clocks say.
@Test(arguments: 1...3 as ClosedRange<UInt64>)
func aWrongClockChangesNoOrder(seed: UInt64) throws {
    let world = World(seed: seed)
    let (ann, ben) = try (world.addNode("ann"), world.addNode("ben"))
    let trip = try world.group("trip", [ann, ben])
    ben.clock = NodeClock(ahead: .minutes(5), partsPerMillion: 200)
    let crawling = LinkModel(delay: .seconds(2) ... .seconds(8), bytesPerSecond: 1_000)
    world.setModel(crawling, from: ben, to: ann)
    try ben.type("who brings the tent?", in: trip)
    try world.runUntil(within: .minutes(1)) { try ann.texts(in: trip).count == 1 }
    try ann.reply("I do", to: "who brings the tent?", in: trip)
    try ben.react("👍", to: "who brings the tent?", in: trip)
    try world.runUntilEqual(within: .minutes(15))
    #expect(try ben.texts(in: trip) == ["who brings the tent?", "I do"])
    let question = try #require(try ann.shown(in: trip).first)
    #expect(question.reactions == ["👍": ["ben"]])
    #expect(question.time > .minutes(5))
}
