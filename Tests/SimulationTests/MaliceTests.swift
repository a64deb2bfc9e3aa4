import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleySimulation

/// Three honest people and a liar in one group, with a jury that watches.
struct Quartet {
    let world: World
    let eve: SimulatedNode
    let group: SpaceID
    let jury: Jury

    init(seed: UInt64) throws {
        world = World(seed: seed)
        let world = world
        let names = ["ann", "ben", "cara", "eve"]
        let nodes = try names.map { try world.addNode($0) }
        for (place, node) in nodes.enumerated() {
            for other in nodes[(place + 1)...] { try world.introduce(node, other) }
        }
        let reply = try world.perform(
            .createGroup(name: "all", members: nodes.dropFirst().map(\.identity.person)),
            on: nodes[0])
        guard case .space(let number) = reply, let space = try nodes[0].store.space(number)
        else { throw CommandRefusal.unknownConversation }
        eve = nodes[3]
        group = space.id
        world.run(for: 5_000)
        jury = Jury(of: world, seed: seed)
        for node in nodes { try world.type("hello from \(node.name)", on: node, in: group) }
        world.run(for: 5_000)
    }

    var honest: [SimulatedNode] { world.honestNodes }

    /// For so long one hears of another through the liar alone, who keeps payloads back.
    func hearThroughEve(
        _ listener: SimulatedNode, _ text: String, of speaker: SimulatedNode, for time: UInt64
    ) throws {
        world.stripBodies(eve)
        for other in honest where other !== listener { world.cut(other, listener) }
        try world.type(text, on: speaker, in: group)
        world.run(for: time)
    }

    /// Some minutes of talk, in which the liar does something now and then.
    func live(_ lie: (Int) throws -> Void) throws {
        for round in 0..<12 {
            for (place, node) in honest.enumerated() where (round + place) % 2 == 0 {
                try world.type("\(node.name) \(round)", on: node, in: group)
            }
            try lie(round)
            if round % 4 == 1 { world.cut(honest[0], honest[1]) }
            if round % 4 == 3 { world.heal() }
            world.run(for: 15_000)
            jury.look(at: world)
        }
        world.heal()
        world.run(for: 600_000)
        jury.settle(world)
    }
}

@Suite("Malice")
struct MaliceTests {
    /// As two copies of one home do: whatever it wrote on, nobody would take.
    @Test("Attack 35: a device with two histories learns of it, and writes nothing more")
    func ownFork() throws {
        let quartet = try Quartet(seed: 71)
        try quartet.world.equivocate(quartet.eve, in: quartet.group)
        quartet.world.run(for: 30_000)
        #expect(throws: CommandRefusal.ownFork) {
            try quartet.world.perform(
                .send(quartet.group, [TextMessage(text: "on")], replyingTo: nil), on: quartet.eve)
        }
        let ann = quartet.world.nodes[0]
        try quartet.world.type("the others go on", on: ann, in: quartet.group)
    }

    @Test("honest nodes end equal whatever a member signs", arguments: 0..<4)
    func signedLies(kind: Int) throws {
        let quartet = try Quartet(seed: 70 + UInt64(kind))
        let (world, eve, group) = (quartet.world, quartet.eve, quartet.group)
        var lies = 0
        try quartet.live { round in
            guard round % 3 == 1 else { return }
            let didLie =
                switch kind {
                case 0: try world.backdate(eve, in: group)
                case 1: try world.postdate(eve, in: group)
                case 2: try world.inventCauses(eve, in: group)
                default: try world.omitCauses(eve, in: group)
                }
            if didLie { lies += 1 }
        }
        #expect(lies > 0)
        #expect(quartet.jury.verdict == nil)
    }

    @Test("honest nodes end equal whatever a member sends", arguments: 0..<4)
    func hostileFrames(kind: Int) throws {
        let quartet = try Quartet(seed: 80 + UInt64(kind))
        let (world, eve, group) = (quartet.world, quartet.eve, quartet.group)
        var lies = 0
        try quartet.live { round in
            guard round % 3 == 1 else { return }
            let didLie =
                switch kind {
                case 0: try world.oversize(eve, in: group)
                case 1: try world.flood(eve, in: group)
                case 2: try world.lieInFront(eve, in: group)
                default: world.withhold(eve)
                }
            if didLie { lies += 1 }
        }
        #expect(lies > 0)
        #expect(quartet.jury.verdict == nil)
    }

    @Test("Attack 267: what a member writes and pins where only admins may counts for nobody")
    func writtenAnyway() throws {
        let quartet = try Quartet(seed: 95)
        let (world, eve, group) = (quartet.world, quartet.eve, quartet.group)
        var rules = GroupRules()
        rules[.write] = .admins
        _ = try world.perform(
            .changeSettings(group, SpaceSettings(rules: rules)), on: quartet.honest[0])
        world.run(for: 15_000)
        for round in 0..<6 {
            try world.type("news \(round)", on: quartet.honest[0], in: group)
            #expect(try world.writeAnyway(eve, in: group))
            world.run(for: 15_000)
            quartet.jury.look(at: world)
        }
        world.heal()
        world.run(for: 600_000)
        quartet.jury.settle(world)
        try quartet.jury.verify()
        for node in quartet.honest {
            let texts = try node.texts(in: group)
            #expect(texts.contains("news 5") && !texts.contains { $0.contains("anyway") })
            let space = try #require(try node.store.space(group))
            #expect(try Overview.pins(in: space.number, store: node.store).isEmpty)
        }
    }

    @Test("a bit that turns over on its way costs a link at most")
    func flips() throws {
        let quartet = try Quartet(seed: 90)
        let (world, nodes) = (quartet.world, quartet.world.nodes)
        try quartet.live { round in
            for (place, node) in nodes.enumerated() {
                world.flip(
                    from: node, to: nodes[(place + 1) % nodes.count], bit: 13 * round + place)
            }
        }
        #expect(quartet.jury.verdict == nil)
    }

    @Test("Attack 19: a member who writes two histories is found out, and honest nodes end equal")
    func twoHistories() throws {
        for seed in 100..<103 as Range<UInt64> {
            let quartet = try Quartet(seed: seed)
            let (world, eve, group) = (quartet.world, quartet.eve, quartet.group)
            try quartet.live { round in
                if round % 5 == 2 { try world.equivocate(eve, in: group) }
            }
            #expect(quartet.jury.verdict == nil, "seed \(seed)")
            for node in quartet.honest {
                #expect(try node.store.forks().count == 1, "seed \(seed), \(node.name)")
            }
            #expect(try world.observe { try world.difference } == nil)
        }
    }

    @Test("who comes into a group while linked is told what was proven before")
    func proofForNewcomers() throws {
        let quartet = try Quartet(seed: 105)
        let (world, ann) = (quartet.world, quartet.honest[0])
        let dan = try world.addNode("dan")
        try world.introduce(ann, dan)
        world.run(for: 5_000)
        try world.equivocate(quartet.eve, in: quartet.group)
        world.run(for: 30_000)
        #expect(try ann.store.forks().count == 1)
        _ = try world.perform(
            .addMember(quartet.group, dan.identity.person, .member), on: ann)
        // Too short for a link to end and come anew.
        world.run(for: 10_000)
        #expect(try dan.store.forks().count == 1)
    }

    @Test("payloads that a member leaves out are fetched from another")
    func strippedBodies() throws {
        let quartet = try Quartet(seed: 110)
        let (world, ann, ben) = (quartet.world, quartet.honest[0], quartet.honest[1])
        try quartet.hearThroughEve(ben, "a word of ann", of: ann, for: 60_000)
        #expect(try !ben.texts(in: quartet.group).contains("a word of ann"))
        #expect(try ben.messages(in: quartet.group).contains { $0.flags.contains(.bodyless) })
        world.heal()
        world.run(for: 300_000)
        #expect(try ben.texts(in: quartet.group).contains("a word of ann"))
        #expect(try !ben.messages(in: quartet.group).contains { $0.flags.contains(.bodyless) })
        try quartet.live { _ in }
        #expect(quartet.jury.verdict == nil)
    }

    @Test("who comes back is asked at once for payloads that others have kept back for an hour")
    func strippedForLong() throws {
        let quartet = try Quartet(seed: 111)
        let (world, ann, ben) = (quartet.world, quartet.honest[0], quartet.honest[1])
        try quartet.hearThroughEve(ben, "a word of ann", of: ann, for: 3_600_000)
        #expect(try ben.messages(in: quartet.group).contains { $0.flags.contains(.bodyless) })
        world.heal()
        let honest = [ann, quartet.honest[2]].map(\.identity.device)
        try world.runUntil(within: .seconds(600)) {
            ben.core.linkedPeers.contains { honest.contains($0.device) }
        }
        // After 2 s, 4 s and 8 s; some of that goes to the liar.
        world.run(for: 15_000)
        #expect(try !ben.messages(in: quartet.group).contains { $0.flags.contains(.bodyless) })
    }

    @Test("who lies about one's own logs stops nobody from writing")
    func ownClaims() throws {
        let quartet = try Quartet(seed: 120)
        let (world, eve, ann) = (quartet.world, quartet.eve, quartet.honest[0])
        for _ in 0..<15 {
            try world.lieInFront(eve, in: quartet.group)
            world.run(for: 1_000)
            try world.type("in time", on: ann, in: quartet.group)
        }
    }

    @Test("a flood of frames is not looked at beyond what an honest peer sends")
    func flood() throws {
        let quartet = try Quartet(seed: 130)
        let (world, eve, ann) = (quartet.world, quartet.eve, quartet.honest[0])
        for _ in 0..<5 { try world.flood(eve, in: quartet.group) }
        world.run(for: 10_000)
        let count = try ann.store.value(
            .refusal, Array(Refusal.tooManyFrames.rawValue.utf8))
        #expect(count != nil)
        // Receipts for logs that nobody can write leave nothing behind.
        let space = try #require(try ann.store.space(quartet.group))
        #expect(try ann.store.marks(.read, in: space.number).count < 20)
        try world.type("still there", on: ann, in: quartet.group)
        world.run(for: 5_000)
        #expect(try quartet.honest[1].texts(in: quartet.group).contains("still there"))
    }
}
