import ParleyCheckers
import ParleySimulation
import Testing

/// What somebody meets who imports the simulator for tests of their own.
@Suite("The simulator as a library")
struct LibraryTests {
    let world = World(seed: 7)
    let ann, ben, cara: SimulatedNode

    init() throws {
        ann = try world.addNode("ann")
        ben = try world.addNode("ben")
        cara = try world.addNode("cara")
    }

    @Test("a group introduces its members, and all have it when the call returns")
    func group() throws {
        let trip = try world.group("trip", [ann, ben, cara])
        try ann.type("hello", in: trip)
        world.run(for: .seconds(1))
        #expect(try cara.texts(in: trip) == ["hello"])
        #expect(try world.conversation(of: ben, and: cara) != nil)
        world.run(for: .seconds(-5))
        #expect(world.elapsed > .seconds(1))
    }

    @Test("a screen names people, who reacted, who holds a message and who has read it")
    func shown() throws {
        let trip = try world.group("trip", [ann, ben, cara])
        world.isolate(cara)
        try ann.type("who brings the tnt?", in: trip)
        try ann.edit("who brings the tnt?", to: "who brings the tent?", in: trip)
        world.run(for: .seconds(10))
        try ben.react("👍", to: "who brings the tent?", in: trip)
        try ben.reply("I do", to: "who brings the tent?", in: trip)
        try ben.read(trip)
        world.run(for: .seconds(10))
        let question = try #require(try ann.shown(in: trip).first)
        #expect(question.author == "ann")
        #expect(question.earlierTexts == ["who brings the tnt?"])
        #expect(question.reactions == ["👍": ["ben"]])
        #expect(question.state == .read)
        #expect(question.deliveredTo == ["ben"])
        #expect(question.readBy == ["ben"])
        #expect(try ann.shown(in: trip).last?.original == "who brings the tent?")
        try ben.react("👍", to: "who brings the tent?", in: trip, isOn: false)
        try ben.delete("I do", in: trip)
        try ann.rename(trip, to: "journey")
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        #expect(try cara.reactions(to: "who brings the tent?", in: trip).isEmpty)
        #expect(try cara.texts(in: trip) == ["who brings the tent?", "(deleted)"])
    }

    @Test("nodes that do not become equal are named, with what they lack and what still is broken")
    func stillDifferent() throws {
        let trip = try world.group("trip", [ann, ben, cara])
        world.run(for: .minutes(1))
        world.partition([ann, ben], [cara])
        try ann.type("hello", in: trip)
        #expect(try !world.isEqual)
        let error = try #require(throws: WorldError.self) {
            try world.runUntilEqual(within: .minutes(2))
        }
        #expect(error.reason == .stillDifferent)
        let words = "ann and cara still differ after 2 min: \"trip\", "
        #expect("\(error)".hasPrefix(words), "\(error)")
        #expect("\(error)".contains("; apart: ann|cara, ben|cara (seed 7, 3 min"), "\(error)")
        world.heal(ann, cara)
        let took = try world.runUntilEqual(within: .minutes(15))
        #expect(took > .zero)
        #expect(try world.difference == nil)
    }

    @Test(
        "who is not in a conversation is told so, and a member that has not heard of it sees nothing"
    )
    func stranger() throws {
        let dan = try world.addNode("dan")
        try world.introduce([ann, ben, cara])
        world.isolate(cara)
        let trip = try world.group("trip", [ann, ben, cara])
        #expect(try cara.texts(in: trip).isEmpty)
        for act in [{ try dan.type("hello", in: trip) }, { _ = try dan.texts(in: trip) }] {
            let error = try #require(throws: WorldError.self) { try act() }
            #expect(error.sentence == "dan is not in \"trip\"")
        }
        let error = try #require(throws: WorldError.self) {
            try ben.edit("hullo", to: "hello", in: trip)
        }
        #expect(error.sentence == "ben sees no message \"hullo\" in \"trip\"")
    }

    @Test("a node of another world is a mistake that the next call throws")
    func anotherWorld() throws {
        let other = World(seed: 8)
        let eve = try other.addNode("eve")
        world.partition([ann], [eve])
        let error = try #require(throws: WorldError.self) {
            try world.runUntilEqual(within: .minutes(1))
        }
        #expect(error.reason == .stranger)
        #expect(error.sentence == "eve is not in this world, but in the world of seed 8")
        try world.runUntilEqual(within: .minutes(1))
        #expect(throws: WorldError.self) { try world.addNode("ann") }
        #expect(throws: WorldError.self) { try world.group("empty", []) }
    }

    @Test("people who are apart cannot be introduced")
    func apart() throws {
        world.cut(ann, ben)
        let error = try #require(throws: WorldError.self) { try world.group("trip", [ann, ben]) }
        #expect(error.reason == .notIntroduced)
        #expect(error.sentence == "ann and ben could not be introduced; apart: ann|ben")
    }

    @Test("a process that is down does nothing until it is started")
    func crash() throws {
        let trip = try world.group("trip", [ann, ben])
        world.crash(ann)
        let error = try #require(throws: WorldError.self) { try ann.type("hello", in: trip) }
        #expect(error.reason == .down)
        world.run(for: .minutes(10))
        #expect(ann.isDown)
        world.start(ann)
        try ann.type("here again", in: trip)
        world.crash(ben, losingPower: true, downFor: .minutes(1))
        try world.runUntilEqual(within: .minutes(15))
        #expect(try ben.texts(in: trip) == ["here again"])
    }

    @Test("a disk that fails refuses, and says so")
    func disk() throws {
        let trip = try world.group("trip", [ann, ben])
        ann.failDisk(inCall: 2)
        let error = try #require(throws: WorldError.self) { try ann.type("hello", in: trip) }
        #expect(error.reason == .diskFailed)
        try ann.type("again", in: trip)
        #expect(try ann.texts(in: trip) == ["again"])
    }

    @Test("one direction may be slower than the other")
    func direction() throws {
        let trip = try world.group("trip", [ann, ben])
        let slow = LinkModel(delay: .seconds(20) ... .seconds(25), bytesPerSecond: 5_000)
        world.setModel(slow, from: ann, to: ben)
        try ann.type("slow", in: trip)
        world.run(for: .milliseconds(1))
        try ben.type("quick", in: trip)
        world.run(for: .seconds(2))
        #expect(try ann.texts(in: trip) == ["slow", "quick"])
        #expect(try ben.texts(in: trip) == ["quick"])
        let took = try world.runUntil(within: .minutes(1)) { try ben.texts(in: trip).count == 2 }
        #expect(took > .seconds(10))
        #expect(throws: WorldError.self) { try world.runUntil(within: .seconds(5)) { false } }
    }

    @Test("a jury finds nothing in a run that keeps its promises, and throws what it found")
    func jury() throws {
        let jury = Jury(of: world)
        let trip = try world.group("trip", [ann, ben, cara])
        world.partition([ann], [ben, cara])
        for node in [ann, ben, cara] { try node.type("\(node.name) alone", in: trip) }
        try jury.verify()
        #expect(throws: Violation.self) { try jury.verify(isSettled: true) }
    }

    @Test("a world tells its seed, its time and its troubles")
    func description() throws {
        world.block(from: ann, to: ben)
        world.crash(cara)
        world.run(for: .minutes(61))
        let expected =
            "seed 7, 1 h 1 min into the run: ann, ben, cara; held back: ann→ben; down: cara"
        #expect("\(world)" == expected)
    }
}
