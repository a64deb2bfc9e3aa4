import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann.
/// Source: Protocol/03-operations.md, "Disappearing messages".
@Suite("Messages that disappear")
struct DisappearingTests {
    private let world: World
    private let ann, laptop, phone: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 1047)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        space = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        world.run(for: 30_000)
    }

    private var all: [SimulatedNode] { [ann, laptop, phone] }

    private func texts(_ node: SimulatedNode) throws -> [String] {
        try node.observing { try node.messages(in: space, limit: .max).compactMap(\.text) }
    }

    /// How many operations of the conversation have words.
    private func bodyCount(_ node: SimulatedNode, in other: SpaceID? = nil) throws -> Int {
        try node.observing {
            let record = try #require(try node.store.space(other ?? space))
            var count = 0
            for log in try node.store.logs(in: record.number) where log.lane == .content {
                count += try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                    .count { !$0.operation.isErased }
            }
            return count
        }
    }

    /// Cara, and a group of all persons in which messages disappear a minute after they were read.
    private func hut() throws -> (cara: SimulatedNode, group: SpaceID) {
        let cara = try world.addNode("cara")
        for node in [ann, laptop] { _ = try world.introduce(node, cara) }
        let group = try world.group("hut", [ann, laptop, cara])
        world.run(for: 30_000)
        _ = try world.perform(.setLifetime(group, seconds: 60), on: ann)
        world.run(for: 30_000)
        return (cara, group)
    }

    private func setLifetime(_ seconds: UInt64, on node: SimulatedNode) throws {
        _ = try world.perform(.setLifetime(space, seconds: seconds), on: node)
        world.run(for: 3_000)
    }

    private func number(_ text: String, on node: SimulatedNode) throws -> OperationNumber {
        try node.observing {
            try #require(
                try node.messages(in: space, limit: .max).first { $0.text == text }?.number)
        }
    }

    @Test("are erased everywhere once read, on each device after their time, and no others are")
    func readOnce() throws {
        try world.type("before", on: ann, in: space)
        try setLifetime(600, on: laptop)
        try world.type("secret", on: ann, in: space)
        try world.type("answer", on: phone, in: space)
        world.run(for: 7_200_000)
        // Nobody has read ann's; what she has not read of his reached her two hours ago.
        #expect(try texts(ann) == ["before", "answer"])
        #expect(try texts(laptop) == ["before", "secret"])
        try laptop.read(space)
        world.run(for: 590_000)
        #expect(try texts(phone) == ["before", "secret"])
        world.run(for: 60_000)
        for node in [laptop, phone] {
            #expect(try texts(node) == ["before"])
            #expect(try bodyCount(node) == 1)
        }
        try ann.read(space)
        world.run(for: 700_000)
        #expect(try texts(ann) == ["before"])
        #expect(try bodyCount(ann) == 1)
        try setLifetime(0, on: ann)
        try world.type("after", on: ann, in: space)
        world.run(for: 3_000)
        try laptop.read(space)
        world.run(for: 7_200_000)
        for node in all { #expect(try texts(node) == ["before", "after"]) }
        #expect(try ann.digest(of: space) == laptop.digest(of: space))
    }

    @Test("Attack 349: are those of many lines as well, which programs hand over")
    func lines() throws {
        try setLifetime(600, on: ann)
        let rows = (1...3).map { ImportedRow(line: $0, message: TextMessage(text: "line \($0)")) }
        _ = try world.perform(
            .importMessages(
                space, fileHash: Digest(reinterpreting: space), rows: rows, throughLine: 3), on: ann
        )
        world.run(for: 3_000)
        #expect(try texts(laptop).count == 3)
        try laptop.read(space)
        world.run(for: 700_000)
        for node in all { #expect(try texts(node).isEmpty) }
        for node in all { #expect(try bodyCount(node) == 0) }
    }

    @Test("are kept by their author until somebody has them, and given to who was away in time")
    func undelivered() throws {
        try setLifetime(60, on: ann)
        world.stopProcess(of: laptop)
        world.stopProcess(of: phone)
        try world.type("wait for me", on: ann, in: space)
        world.run(for: 7_200_000)
        #expect(try texts(ann) == ["wait for me"])
        world.restart(laptop)
        world.run(for: 30_000)
        #expect(try texts(laptop) == ["wait for me"])
        world.run(for: 200_000)
        #expect(try texts(ann).isEmpty)
        try laptop.read(space)
        world.run(for: 200_000)
        #expect(try texts(laptop).isEmpty)
        // Nobody has the words any more, and nobody asks for them.
        world.restart(phone)
        world.run(for: 600_000)
        #expect(try texts(phone).isEmpty)
        #expect(try phone.observing { try phone.store.values(.missingBody) }.isEmpty)
    }

    @Test("are erased when a device begins again, if their time was over meanwhile")
    func late() throws {
        try setLifetime(600, on: ann)
        try world.type("secret", on: ann, in: space)
        world.run(for: 3_000)
        try laptop.read(space)
        world.run(for: 5_000)
        world.stopProcess(of: laptop)
        world.run(for: 3_600_000)
        world.restart(laptop)
        world.run(for: 2_000)
        #expect(try texts(laptop).isEmpty)
        #expect(try bodyCount(laptop) == 0)
    }

    @Test(
        "Attack 330: count by the clock of who reads, whatever its author's says",
        arguments: [
            -31_536_000_000, 31_536_000_000,
        ] as [Int64])
    func wrongClock(skew: Int64) throws {
        try setLifetime(600, on: ann)
        ann.clock.skew = skew
        try world.type("secret", on: ann, in: space)
        world.run(for: 3_000)
        try laptop.read(space)
        world.run(for: 500_000)
        #expect(try texts(laptop) == ["secret"])
        world.run(for: 200_000)
        #expect(try texts(laptop).isEmpty)
        #expect(try texts(ann).isEmpty)
    }

    @Test("stay no longer than their time, though the clock was ahead when it began")
    func clockSetBack() throws {
        try setLifetime(600, on: ann)
        try world.type("secret", on: ann, in: space)
        world.run(for: 3_000)
        laptop.clock.skew = 86_400_000
        try laptop.read(space)
        world.run(for: 5_000)
        laptop.clock.skew = 0
        world.run(for: 800_000)
        #expect(try texts(laptop).isEmpty)
    }

    @Test("cannot be changed or kept beside their conversation, and are passed on as copies")
    func kept() throws {
        try setLifetime(600, on: ann)
        try world.type("secret", on: ann, in: space)
        world.run(for: 3_000)
        let number = try number("secret", on: ann)
        let refused: [Command] = [
            .edit(number, text: "other", mentions: Mentions()), .pin(number, isOn: true),
            .star(number, isOn: true),
            .remind(.add(text: "", about: number, at: World.epoch + world.now + 60_000)),
        ]
        for command in refused {
            #expect(throws: CommandRefusal.disappears) {
                try world.perform(command, on: ann)
            }
        }
        _ = try world.perform(.react(number, Reaction(emoji: "👍", isOn: true)), on: ann)
        world.run(for: 3_000)
        try laptop.read(space)
        world.run(for: 700_000)
        #expect(throws: CommandRefusal.disappeared) {
            try world.perform(.delete(number), on: ann)
        }
    }

    @Test("can be deleted before their time, and then nothing of them stands there")
    func deleted() throws {
        try setLifetime(600, on: ann)
        try world.type("secret", on: ann, in: space)
        world.run(for: 3_000)
        _ = try world.perform(.delete(try number("secret", on: ann)), on: ann)
        world.run(for: 3_000)
        for node in all {
            #expect(try node.messages(in: space).isEmpty)
            #expect(try bodyCount(node) == 1, "only the deletion has a payload")
        }
        world.run(for: 700_000)
        for node in all {
            let pending = try node.observing { try node.store.values(.disappearing) }
            #expect(pending.isEmpty, "nobody waits for it to be read")
        }
    }

    @Test("Attack 352: however many wait to be read, what comes costs no look at each of them")
    func waiting() throws {
        try setLifetime(600, on: ann)
        func calls(_ node: SimulatedNode) -> Int { (node.store as? MemoryStore)?.callCount ?? 0 }
        func cost(beside count: Int) throws -> Int {
            for number in 0..<count { try world.type("secret \(number)", on: ann, in: space) }
            world.run(for: 60_000)
            let before = calls(laptop)
            try world.type("one more", on: ann, in: space)
            world.run(for: 2_000)
            return calls(laptop) - before
        }
        let few = try cost(beside: 100)
        #expect(few > 0)
        let many = try cost(beside: 900)
        // So many are looked at in turn, each time.
        #expect(many < few + 2 * 64, "\(few) calls, and \(many)")
        #expect(try texts(laptop).count == 1_002)
    }

    @Test("of very many in one step some are erased, and the rest right after")
    func many() throws {
        try setLifetime(60, on: ann)
        for count in 0..<600 { try world.type("secret \(count)", on: ann, in: space) }
        world.run(for: 20_000)
        try laptop.read(space)
        world.run(for: 120_000)
        for node in all { #expect(try bodyCount(node) == 0) }
    }

    @Test("go once read though they count for nobody, as what somebody wrote who was made a reader")
    func uncounted() throws {
        let group = try world.group("trip", [ann, laptop])
        world.run(for: 30_000)
        _ = try world.perform(.setLifetime(group, seconds: 60), on: ann)
        world.run(for: 30_000)
        world.partition([laptop, phone], [ann])
        _ = try world.perform(.setRole(group, laptop.identity.person, .reader), on: ann)
        try world.type("not to be counted", on: laptop, in: group)
        world.heal()
        world.run(for: 60_000)
        _ = try world.perform(.setRole(group, laptop.identity.person, .member), on: ann)
        world.run(for: 60_000)
        try world.type("counted", on: laptop, in: group)
        world.run(for: 60_000)
        let shown = try ann.observing { try ann.messages(in: group, limit: .max).map(\.text) }
        #expect(shown == ["counted"])
        #expect(try bodyCount(ann, in: group) == 2, "the words came, and nobody sees them")
        try ann.read(group)
        world.run(for: 180_000)
        #expect(try bodyCount(ann, in: group) == 0)
    }

    @Test(
        "come to who was away from who has not read them, whoever answers first, until 30 days after",
        arguments: [true, false])
    func away(isInTime: Bool) throws {
        let (cara, group) = try hut()
        world.partition([ann, laptop, phone], [cara])
        try world.type("the key is under the stone", on: ann, in: group)
        world.run(for: isInTime ? 180_000 : 31 * 86_400_000)
        #expect(try bodyCount(ann, in: group) == 0 && bodyCount(laptop, in: group) == 1)
        func shown(_ node: SimulatedNode) throws -> [String?] {
            try node.observing { try node.messages(in: group, limit: .max).map(\.text) }
        }
        // The one who wrote it answers first, and has no words any more.
        world.heal()
        world.partition([laptop, phone], [ann, cara])
        world.run(for: 3_600_000)
        #expect(try shown(cara).isEmpty)
        #expect(try cara.observing { try cara.missingBodyCount(in: group) } == 1)
        world.heal()
        world.run(for: 180_000)
        guard isInTime else {
            #expect(try shown(cara).isEmpty)
            return
        }
        #expect(try shown(cara) == ["the key is under the stone"])
        #expect(try bodyCount(ann, in: group) == 0, "who wrote it does not want it back")
        for reader in [laptop, cara] { try reader.read(group) }
        world.run(for: 300_000)
        for node in [ann, laptop, phone, cara] {
            #expect(try bodyCount(node, in: group) == 0 && shown(node).isEmpty)
        }
    }

    @Test("are not fetched from anybody by a device whose person has read them elsewhere")
    func readElsewhere() throws {
        let (cara, group) = try hut()
        world.partition([ann, laptop, cara], [phone])
        try world.type("the key is under the stone", on: ann, in: group)
        world.run(for: 10_000)
        try laptop.read(group)
        world.run(for: 180_000)
        #expect(try bodyCount(laptop, in: group) == 0 && bodyCount(cara, in: group) == 1)
        world.heal()
        world.partition([ann, cara], [laptop, phone])
        world.run(for: 60_000)
        world.heal()
        world.run(for: 300_000)
        #expect(try bodyCount(phone, in: group) == 0)
    }
}

extension SimulatedNode {
    /// How many operations of content are held without what they say.
    fileprivate func missingBodyCount(in space: SpaceID) throws -> Int {
        guard let record = try store.space(space) else { return 0 }
        return try store.logs(in: record.number).filter { $0.lane == .content }.reduce(0) {
            try $0
                + store.operations(in: $1.number, 0...UInt64.max, limit: .max)
                .count(where: \.operation.isErased)
        }
    }
}
