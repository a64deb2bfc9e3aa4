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
