import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("Holes that are filled in part")
struct HoleFillingTests {
    private static let time: UInt64 = 1_767_225_700_000
    private typealias Link = (id: OperationID, operation: Operation)

    /// 25 operations of a liar, of which some name causes, by their places.
    private func chain(
        of liar: SimulatedNode, _ forgery: Forgery, naming causes: [Int: OperationReference] = [:]
    ) throws -> [Link] {
        var chain: [Link] = []
        for place in 0..<25 {
            let header = OperationHeader(
                kind: OperationKind(rawValue: 64), wallClock: Self.time, clock: Self.time << 16,
                authority: forgery.authority,
                dependencies: causes[place].map { [$0] } ?? [])
            let operation = try Operation.make(
                header, salt: liar.randomBytes(Limits.saltByteCount), payload: [1])
            let before =
                chain.last?.id ?? OperationID(reinterpreting: forgery.id(of: .content))
            chain.append((OperationHash.operation(operation, after: before), operation))
        }
        return chain
    }

    private func run(
        _ places: ClosedRange<Int>, of chain: [Link], _ liar: SimulatedNode, _ forgery: Forgery,
        isSigned: Bool
    ) -> Run {
        let head = forgery.signed(
            UInt64(places.upperBound), chain[places.upperBound].id, in: forgery.id(of: .content))
        return Run(
            device: liar.identity.device, lane: .content, first: UInt64(places.lowerBound),
            anchor: places.lowerBound == 0 ? nil : chain[places.lowerBound - 1].id,
            operations: chain[places].map(\.operation), heads: isSigned ? [head] : [])
    }

    /// Its lower part was stored, as far as its causes were held: a third stretch of the log, which
    /// nothing that came later could ever join.
    @Test("what fills a hole from its top is held whole, or waits")
    func whole() throws {
        let village = try Village(seed: 331)
        let (world, ann, eve) = (village.world, village.ann, village.dora)
        world.run(for: 10_000)
        let isShown = try world.forge(eve, in: village.group) { forgery in
            let control = OperationHash.log(
                space: forgery.space.id, device: ann.identity.device, lane: .control)
            let cause = OperationReference(
                tag: LogTag(control), sequence: 99, check: Check(high: 1, low: 1))
            let chain = try chain(of: eve, forgery, naming: [15: cause])
            for places in [20...24, 0...4, 10...19] {
                let run = run(places, of: chain, eve, forgery, isSigned: places != 10...19)
                world.show(run, of: village.group, from: eve, to: ann)
                world.run(for: 100)
            }
            return true
        }
        #expect(isShown)
        let record = try village.record(ann)
        let spans = try ann.observed {
            try ann.store.logs(in: record.number)
                .first { $0.device == eve.identity.device && $0.lane == .content }?.spans
        }
        #expect(spans?.map { $0.first...$0.last } == [0...4, 20...24])
    }

    /// Whoever said that it holds more was asked alone, and may say so at all times: ben, who fills the
    /// hole, holds no more than ann.
    @Test("a member who says at all times that it holds more hides nobody who fills a hole")
    func hidden() throws {
        let village = try Village(seed: 332, memberCount: 3)
        let (world, ann, ben, eve) = (village.world, village.ann, village.ben, village.cara)
        world.run(for: 10_000)
        var tag: LogTag?
        let isShown = try world.forge(eve, in: village.group) { forgery in
            let chain = try chain(of: eve, forgery)
            tag = LogTag(forgery.id(of: .content))
            let top = run(20...24, of: chain, eve, forgery, isSigned: true)
            world.show(top, of: village.group, from: eve, to: ann)
            world.run(for: 2_000)
            let rest = run(0...19, of: chain, eve, forgery, isSigned: false)
            world.show(rest, of: village.group, from: eve, to: ben)
            world.run(for: 100)
            return true
        }
        #expect(isShown)
        world.cut(ben, eve)
        let log = try #require(tag)
        func spans(_ node: SimulatedNode) throws -> [ClosedRange<UInt64>] {
            let record = try village.record(node)
            let spans = try node.observed { try node.store.log(log, in: record.number)?.spans }
            return spans?.map { $0.first...$0.last } ?? []
        }
        #expect(try spans(ben) == [0...24])
        for place in 0..<240 {
            let entry = Frontier.Entry(
                tag: log, sequence: 1_000 + UInt64(place), check: Check(high: 1, low: 1))
            let claim = Frontier(
                space: village.group, isComplete: false, asksForMissing: false, entries: [entry])
            world.inject(.frontier(claim), from: eve, to: ann)
            world.run(for: 500)
        }
        #expect(try spans(ann) == [0...24])
    }
}
