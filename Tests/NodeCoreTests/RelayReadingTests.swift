import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

/// What waits on a relay for who was away, and who wrote it is gone when it is fetched.
@Suite("Reading mailboxes")
struct RelayReadingTests {
    /// Fills an envelope of 4 KiB, of which 32 are a page.
    private static let filler = String(repeating: "so much was to be told ", count: 100)
    private static let day: UInt64 = 86_400_000

    /// Lets ann write, each message in an envelope of its own, while ben is away.
    private func write(_ numbers: Range<Int>, in pair: Pair) throws {
        for number in numbers {
            try pair.say("\(number) \(Self.filler)", by: pair.ann)
            pair.world.run(for: 200)
        }
    }

    private func numbers(of node: SimulatedNode, in pair: Pair) throws -> [Int] {
        try node.texts(in: pair.space).compactMap { Int($0.prefix { $0.isNumber }) }
    }

    @Test("the mailboxes of many days come one after the other, and nothing is left out")
    func order() throws {
        let pair = try Pair(seed: 31)
        pair.world.stopProcess(of: pair.ben)
        for day in 0..<4 {
            try write(day * 100..<day * 100 + 100, in: pair)
            pair.world.run(for: Self.day)
        }
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .relayed })
        pair.world.stopProcess(of: pair.ann)
        pair.world.start(pair.ben)
        pair.world.run(for: 20_000)
        #expect(try numbers(of: pair.ben, in: pair) == Array(0..<400))
    }

    @Test("what comes under the epoch that is used is told at once, however many others were made")
    func manyEpochs() throws {
        let world = World(seed: 33)
        let relay = world.addRelay("relay")
        var nodes: [SimulatedNode] = []
        for number in 0..<6 {
            let node = try world.addNode("member \(number)")
            try world.use(relay, by: node)
            nodes.append(node)
        }
        try world.introduce(nodes)
        let others = nodes.dropFirst().map(\.identity.person)
        let reply = try world.perform(.createGroup(name: "all", members: others), on: nodes[0])
        guard case .space(let number) = reply, let group = try nodes[0].store.space(number)?.id
        else { throw CommandRefusal.unknownConversation }
        world.run(for: 60_000)
        // Each makes an epoch of their own, which the others have not seen.
        for node in nodes { world.stopProcess(of: node) }
        world.run(for: 8 * Self.day)
        for node in nodes {
            world.start(node)
            try world.type("so many days", on: node, in: group)
            world.run(for: 10_000)
            world.stopProcess(of: node)
        }
        world.startAll()
        world.run(for: 600_000)
        world.keepToRelays()
        for (place, node) in nodes.enumerated() {
            // A new connection subscribes to what is of use now.
            world.stopProcess(of: node)
            world.run(for: 5_000)
            world.start(node)
            world.run(for: 20_000)
            let text = "live \(place)"
            try world.type(text, on: nodes[(place + 1) % nodes.count], in: group)
            world.run(for: 5_000)
            #expect(try node.texts(in: group).last == text, "\(node.name)")
        }
    }

    @Test("the newest are shown before the older ones were fetched, then these")
    func newestFirst() throws {
        let pair = try Pair(seed: 32)
        pair.world.stopProcess(of: pair.ben)
        try write(0..<300, in: pair)
        pair.world.run(for: 5_000)
        pair.world.stopProcess(of: pair.ann)
        pair.world.start(pair.ben)
        var shown: [Int] = []
        for _ in 0..<1_000 where shown.last != 299 {
            pair.world.run(for: 5)
            shown = try numbers(of: pair.ben, in: pair)
        }
        #expect(shown.last == 299)
        #expect(shown.count < 150, "\(shown.count) were fetched first")
        pair.world.run(for: 20_000)
        #expect(try numbers(of: pair.ben, in: pair) == Array(0..<300))
        // What was opened ahead was opened again in its turn: no chain has a gap.
        pair.world.start(pair.ann)
        try pair.say("300", by: pair.ann)
        pair.world.run(for: 20_000)
        #expect(try numbers(of: pair.ben, in: pair).last == 300)
    }
}
