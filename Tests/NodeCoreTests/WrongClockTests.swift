import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("Clocks that are years off")
struct WrongClockTests {
    private static let tenYears: Int64 = 3653 * 86_400_000

    @Test(
        "Attack 55: clocks ten years ahead and behind change no state",
        arguments: [[0, 1], [0, -1], [1, -1], [-1, 1]] as [[Int64]])
    func tenYearsOff(signs: [Int64]) throws {
        let world = World(seed: 55)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        ann.clock.skew = signs[0] * Self.tenYears
        ben.clock.skew = signs[1] * Self.tenYears
        for count in 0..<6 {
            try world.type("ann \(count)", on: ann, in: space)
            world.run(for: 1_000)
            try world.type("ben \(count)", on: ben, in: space)
            world.run(for: 1_000)
        }
        // The clock goes right again in the middle, and another goes wrong.
        swap(&ann.clock.skew, &ben.clock.skew)
        world.restart(ann)
        try world.type("ann again", on: ann, in: space)
        try world.type("ben again", on: ben, in: space)
        world.run(for: 400_000)
        #expect(try ann.texts(in: space).sorted() == ben.texts(in: space).sorted())
        #expect(try ann.texts(in: space).count == 14)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
    }

    /// Finding: one hour ahead, as by a wrong time zone; and right again in the middle.
    @Test("Attack 125: an hour ahead, answers stand below and what comes later comes after")
    func hourAhead() throws {
        let world = World(seed: 120)
        let (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        let space = try world.group("trip", [ann, ben, cara])
        let jury = Jury(of: world, only: ["I1", "I2", "I14", "I28", "I36"])
        func say(_ text: String, by node: SimulatedNode, answering: String? = nil) throws {
            if let answering {
                try node.reply(text, to: answering, in: space)
            } else {
                try node.type(text, in: space)
            }
            world.run(for: 1_000)
        }
        ann.clock.skew = 3_600_000
        // Links begin anew.
        world.run(for: 10_000)
        try say("1 when?", by: ann)
        try say("2 at nine", by: ben, answering: "1 when?")
        try say("3 good", by: ann)
        try say("4 I come too", by: cara)
        ann.clock.skew = 0
        world.run(for: 10_000)
        try say("5 right again", by: ann)
        try say("6 see you", by: ben)
        try say("7 thanks", by: ann, answering: "2 at nine")
        for node in [ann, ben, cara] {
            let texts = try node.texts(in: space)
            #expect(texts == texts.sorted() || texts == texts.sorted().reversed())
            #expect(texts.count == 7)
        }
        try jury.verify(isSettled: true)
    }

    @Test(
        "Attack 125: 400 days and two centuries ahead, the newest page shows the others' new messages",
        arguments: [400 * 86_400_000, 200 * 365 * 86_400_000] as [Int64])
    func centuryAhead(skew: Int64) throws {
        let world = World(seed: 121)
        let (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        let space = try world.group("trip", [ann, ben, cara])
        let jury = Jury(of: world, only: ["I1", "I2", "I14", "I28", "I36"])
        ann.clock.skew = skew
        for count in 0..<30 { try ann.type("far \(count)", in: space) }
        world.run(for: 2_000)
        for count in 0..<4 {
            try ben.type("ben \(count)", in: space)
            world.run(for: 1_000)
            try cara.type("cara \(count)", in: space)
            world.run(for: 1_000)
        }
        for node in [ann, ben, cara] {
            let record = try #require(try node.store.space(space))
            let roster = try #require(try node.roster(of: record))
            let page = try Timeline(
                of: record, roster: roster, ownPerson: node.identity.person
            ).page(limit: 8, in: node.store)
            let texts = page.compactMap(\.text)
            #expect(texts.allSatisfy { $0.starts(with: "ben") || $0.starts(with: "cara") })
            let bound = (World.epoch + world.now + 35 * 86_400_000) << 16 + 1_000
            #expect(page.allSatisfy { $0.order.stand <= bound })
        }
        try jury.verify(isSettled: true)
    }

    /// Texts, and what became of Ben's membership, in the order in which a screen shows them.
    private func shown(_ node: SimulatedNode, _ village: Village) throws -> [String] {
        let record = try village.record(node)
        var lines: [(order: OrderKey?, place: Int, text: String)] = []
        for message in try node.messages(in: village.group) {
            lines.append((message.order, 0, message.text ?? ""))
        }
        let roster = try #require(try node.roster(of: record))
        for poll in try Overview.polls(in: record.number, roster: roster, store: node.store) {
            lines.append((poll.order, 0, poll.question.question))
        }
        let events = try node.observed {
            try MembershipHistory.events(of: record, in: node.store)
        }
        for (index, event) in events.enumerated() where event.author != event.person {
            switch event.change {
            case .added: lines.append((event.place, index + 1, "+ben"))
            case .removed: lines.append((event.place, index + 1, "-ben"))
            default: continue
            }
        }
        lines.sort { left, right in
            guard let one = left.order else {
                return right.order == nil && left.place < right.place
            }
            return right.order.map { (one, left.place) < ($0, right.place) } ?? true
        }
        return lines.map(\.text)
    }

    /// Day 27: where the author of two lines had written between them, both stood right behind that
    /// message, above what others had written before the second.
    @Test("after one message two hours ahead, lines about members stand where they were drawn")
    func linesAfterJump() throws {
        let village = try Village(seed: 123, memberCount: 3)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        var expected: [String] = []
        func say(_ text: String, _ node: SimulatedNode) throws {
            try village.type(text, node)
            world.run(for: 2_000)
            expected.append(text)
        }
        func turn(_ line: String) throws {
            if line == "+ben" {
                try village.add(ben, by: ann)
            } else {
                try village.remove(ben, by: ann)
            }
            world.run(for: 2_000)
            expected.append(line)
            // Nobody has written since: it is at the end.
            #expect(try shown(ann, village) == expected)
            #expect(try shown(cara, village) == expected)
        }
        try say("all in", ann)
        ben.clock.skew = 2 * 3_600_000
        try say("ahead", ben)
        ben.clock.skew = 0
        try say("after the jump", cara)
        try turn("-ben")
        try say("ben is out", cara)
        try turn("+ben")
        try say("ben is asked", cara)
        try say("by ann", ann)
        try turn("-ben")
        try say("ben is out again", cara)
        try turn("+ben")
        try say("ben is in", cara)
        // Polls stand among them as well: nobody says a word between these.
        for count in 1...2 {
            try turn("-ben")
            let question = "without ben \(count)?"
            try village.perform(
                .together(
                    .ask(
                        village.group,
                        PollQuestion(question: question, options: ["a", "b"], isMultiple: false))),
                ann)
            world.run(for: 2_000)
            expected.append(question)
            try turn("+ben")
        }
        try say("the last", ann)
        world.run(for: 60_000)
        for node in [ann, cara] { #expect(try shown(node, village) == expected) }
    }

    /// Day 17: others' clocks were compared when a link began, and not again.
    @Test("set while others are linked: they know it at once, and calls ring", arguments: [1, -1])
    func setWhileLinked(sign: Int64) throws {
        let telephony = Telephony(seed: 122)
        let world = telephony.world
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        try world.introduce(ann, ben)
        world.run(for: 30_000)
        let space = try #require(try ann.store.spaces().first { $0.kind == .direct }).id
        func differences() -> [Int64] {
            [ann, ben].flatMap { node in
                node.core.clockDifferences(at: world.moment(of: node)).map(\.ahead)
            }
        }
        let wrong = sign * 2 * 86_400_000
        for (skew, expected) in [(wrong, [wrong, -wrong]), (0, [0, 0])] {
            ben.clock.skew = skew
            world.run(for: 60_000)
            let found = differences()
            #expect(found.count == 2)
            for (found, expected) in zip(found, expected) {
                #expect((found - expected).magnitude < 5_000, "\(found) ms, not \(expected)")
            }
            telephony.forget()
            let call = try telephony.call(ben, in: space)
            world.run(for: 2_000)
            #expect(telephony.heard(.ring) == ["ann"])
            try telephony.act(.hangUp, call, ben)
            world.run(for: 2_000)
        }
    }
}
