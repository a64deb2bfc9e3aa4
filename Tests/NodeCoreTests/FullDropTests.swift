import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleySimulation
import ParleyWire
import Testing

@Suite("A drop that holds as much as it may")
struct FullDropTests {
    private static let day: UInt64 = 86_400_000

    /// Ann and Ben, who meet through a relay alone whose mailboxes have room for a few envelopes; Ben is away,
    /// and Ann says more than there is room for.
    private func crowded(seed: UInt64) throws -> Pair {
        let pair = try Pair(seed: seed) { $0.policy.mailboxByteCountMax = 256 << 10 }
        pair.world.keepToRelays()
        pair.world.run(for: 60_000)
        pair.world.stopProcess(of: pair.ben)
        let filling = String(repeating: "x", count: 12 << 10)
        for number in 0..<30 { try pair.say("\(number) \(filling)", by: pair.ann) }
        pair.world.run(for: 600_000)
        return pair
    }

    private func numbers(of node: SimulatedNode, in space: SpaceID) throws -> [Int] {
        try node.texts(in: space).compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
    }

    @Test("takes nothing more, and what is said to lie there is what the other one finds")
    func relayedIsThere() throws {
        let pair = try crowded(seed: 266)
        let states = try pair.states(of: pair.ann)
        let relayed = states.prefix { $0 == .relayed }.count
        #expect((1..<30).contains(relayed) && states.dropFirst(relayed).allSatisfy { $0 == .saved })
        let number = try #require(try pair.ann.store.spaces().first { $0.id == pair.space }).number
        #expect(pair.ann.core.relaysFull(of: number) == [pair.relay.key])
        // She never comes back.
        pair.world.stopProcess(of: pair.ann)
        pair.world.start(pair.ben)
        pair.world.run(for: 600_000)
        #expect(try numbers(of: pair.ben, in: pair.space) == Array(0..<relayed))
    }

    @Test("gets the rest the next day, and is not asked all the time until then")
    func nextDay() throws {
        let pair = try crowded(seed: 267)
        var refusedCount = 0
        pair.world.onStep = { step in
            if case .relay(_, .answered(_, .refused(.full))) = step.input { refusedCount += 1 }
        }
        for _ in 0..<10 {
            try pair.say("again", by: pair.ann)
            pair.world.run(for: 60_000)
        }
        #expect(refusedCount == 0, "\(refusedCount) envelopes were put to a drop that is full")
        // As much more goes there each day as there is room for.
        for _ in 0..<3 { pair.world.run(for: Self.day) }
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .relayed })
        pair.world.stopProcess(of: pair.ann)
        pair.world.start(pair.ben)
        pair.world.run(for: 600_000)
        #expect(try numbers(of: pair.ben, in: pair.space) == Array(0..<30))
        #expect(try pair.ben.texts(in: pair.space).count == 40)
    }

    @Test("is tried again once an hour, and at once where its relay was started with more room")
    func moreRoom() throws {
        let pair = try crowded(seed: 269)
        var refused: [UInt64] = []
        pair.world.onStep = { step in
            if case .relay(_, .answered(_, .refused(.full))) = step.input {
                refused.append(pair.world.now)
            }
        }
        pair.world.run(for: 3 * 3_600_000)
        let hours = Set(refused.map { $0 / 3_600_000 })
        #expect((2...3).contains(hours.count) && refused.count < 30, "\(refused)")
        #expect(try pair.states(of: pair.ann).contains(.saved))
        pair.world.stop(pair.relay)
        pair.relay.policy.mailboxByteCountMax = 1 << 20
        pair.world.start(pair.relay)
        pair.world.run(for: 600_000)
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .relayed })
        let number = try #require(try pair.ann.store.spaces().first { $0.id == pair.space }).number
        #expect(pair.ann.core.relaysFull(of: number).isEmpty)
    }

    @Test("Attack 266: a member who fills the drop of a group holds up nothing else at that relay")
    func others() throws {
        let pair = try Pair(seed: 268) { $0.policy.mailboxByteCountMax = 256 << 10 }
        let world = pair.world
        let mallory = try world.addNode("mallory")
        try world.use(pair.relay, by: mallory)
        try world.introduce(pair.ann, mallory)
        world.run(for: 30_000)
        let flooded = try #require(
            try pair.ann.store.spaces().last { $0.kind == .direct && $0.id != pair.space }
        ).id
        world.keepToRelays()
        world.run(for: 60_000)
        world.stopProcess(of: pair.ben)
        let filling = String(repeating: "x", count: 12 << 10)
        for _ in 0..<30 { try world.type(filling, on: mallory, in: flooded) }
        world.run(for: 600_000)
        try world.type("and now? " + filling, on: pair.ann, in: flooded)
        try pair.say("hello", by: pair.ann)
        world.run(for: 10_000)
        #expect(try pair.ann.messages(in: flooded).compactMap(\.state).last == .saved)
        #expect(try pair.states(of: pair.ann).last == .relayed)
        world.stopProcess(of: pair.ann)
        world.start(pair.ben)
        world.run(for: 600_000)
        #expect(try pair.ben.texts(in: pair.space) == ["hello"])
    }
}
