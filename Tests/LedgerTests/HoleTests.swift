import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyLedger

@Suite("Holes of a log")
struct HoleTests {
    private func record(_ spans: [ClosedRange<UInt64>]) throws -> LogRecord {
        let id = try #require(LogID([UInt8](repeating: 1, count: 32)))
        let device = try #require(DeviceID([UInt8](repeating: 2, count: 32)))
        let mark = OperationID(reinterpreting: id)
        return LogRecord(
            number: LogNumber(1), space: SpaceNumber(1), id: id, device: device, lane: .content,
            spans: spans.map {
                Span(first: $0.lowerBound, last: $0.upperBound, anchor: mark, tip: mark)
            })
    }

    @Test("a log that begins at 0 and has one span is whole")
    func whole() throws {
        let log = try record([0...9])
        #expect(log.isWhole && log.gap == nil && log.wholeThrough == 9 && log.end == 10)
    }

    @Test("a hole lies below the newest part")
    func hole() throws {
        let log = try record([0...9, 20...29])
        #expect(!log.isWhole && log.gap == 10...19 && log.wholeThrough == 9 && log.end == 30)
        #expect(log.holds(25) && !log.holds(15))
    }

    @Test("what is missing below a place lies between its span and the one before, or the base")
    func gapBelow() throws {
        var log = try record([5...9, 20...29, 40...49])
        #expect(log.gap(below: 7) == 0..<5 && log.gap(below: 5) == 0..<5)
        #expect(log.gap(below: 29) == 10..<20 && log.gap(below: 40) == 30..<40)
        #expect(log.gap(below: 15) == nil && log.gap(below: 50) == nil)
        #expect(try record([0...9]).gap(below: 3) == nil)
        // Nobody gives this device what lies below its horizon.
        let mark = OperationID(reinterpreting: log.id)
        log.begin(at: LogPoint(sequence: 5, anchor: mark), below: Stand())
        #expect(log.gap(below: 7) == nil && log.gap(below: 25) == 10..<20)
        log.begin(at: LogPoint(sequence: 15, anchor: mark), below: Stand())
        #expect(log.gap(below: 25) == 15..<20)
    }

    @Test("a log of which only the newest part is held is whole through nothing")
    func top() throws {
        let log = try record([20...29])
        #expect(log.gap == 0...19 && log.wholeThrough == nil)
    }

    /// A run of these places, each with nothing in it.
    private func run(_ places: ClosedRange<UInt64>) throws -> VerifiedRun {
        let space = try #require(SpaceID([UInt8](repeating: 7, count: 32)))
        var random = SeededRandom(seed: 5)
        let key = DeviceSigningKey.generate(using: &random)
        let log = OperationHash.log(space: space, device: key.device, lane: .content)
        let operation = try Operation.make(
            OperationHeader(
                kind: OperationKind(rawValue: 64), wallClock: 1, clock: 1 << 16, authority: 0),
            payload: [1])
        let anchor = OperationID(reinterpreting: log)
        var last = anchor
        for _ in places { last = OperationHash.operation(operation, after: last) }
        let run = Run(
            device: key.device, lane: .content, first: places.lowerBound,
            anchor: places.lowerBound == 0 ? nil : anchor,
            operations: Array(repeating: operation, count: places.count),
            heads: [
                OperationHash.sign(
                    log: log, sequence: places.upperBound, operation: last, with: key)
            ])
        return try #require(try OperationVerifier.verify(run, in: space, held: []).first)
    }

    /// What waited for its causes was dropped where newer operations of its log had come ahead of it, and
    /// nobody sent it again.
    @Test(
        "what is lacking of a run is what lies in no span and below no floor",
        arguments: [
            ([0...4, 10...14], 5...9, [5...9]), ([0...4, 10...14], 3...11, [5...9]),
            ([5...9], 0...14, [0...4, 10...14]), ([0...14], 3...5, []), ([], 0...2, [0...2]),
            ([0...4], 5...6, [5...6]),
        ] as [([ClosedRange<UInt64>], ClosedRange<UInt64>, [ClosedRange<UInt64>])])
    func lacking(
        held: [ClosedRange<UInt64>], places: ClosedRange<UInt64>, expected: [ClosedRange<UInt64>]
    ) throws {
        let parts = try record(held).lacking(try run(places))
        #expect(parts.map { $0.first...$0.last } == expected)
        for part in parts {
            #expect(part.isBackfill == held.contains { $0.lowerBound > part.last })
        }
    }

    @Test("nothing below the floor is lacking")
    func lackingAboveFloor() throws {
        var log = try record([])
        log.floor = LogPoint(sequence: 3, anchor: OperationID(reinterpreting: log.id))
        #expect(log.lacking(try run(0...5)).map { $0.first...$0.last } == [3...5])
        #expect(log.lacking(try run(0...2)).isEmpty)
    }
}
