@testable import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

/// A log whose author signs whatever they please, at whatever place.
private struct HostileLog {
    let key: DeviceSigningKey
    let space: SpaceID
    let id: LogID

    init(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        key = DeviceSigningKey.generate(using: &random)
        space = try #require(SpaceID([UInt8](repeating: 7, count: 32)))
        id = OperationHash.log(space: space, device: key.device, lane: .content)
    }

    /// A signed run of these places; `branch` tells contents apart.
    func run(
        _ places: ClosedRange<UInt64>, after anchor: OperationID, branch: UInt8 = 0
    ) throws -> (run: Run, tip: OperationID) {
        var tip = anchor
        var operations: [Operation] = []
        for place in places {
            let operation = try Operation.make(
                OperationHeader(
                    kind: OperationKind(rawValue: 64), wallClock: place & 0xffff,
                    clock: (place & 0xffff) << 16, authority: 0),
                payload: [branch, 1])
            tip = OperationHash.operation(operation, after: tip)
            operations.append(operation)
        }
        let head = OperationHash.sign(
            log: id, sequence: places.upperBound, operation: tip, with: key)
        let run = Run(
            device: key.device, lane: .content, first: places.lowerBound,
            anchor: places.lowerBound == 0 ? nil : anchor, operations: operations, heads: [head])
        return (run, tip)
    }

    var record: LogRecord {
        LogRecord(
            number: LogNumber(1), space: SpaceNumber(1), id: id, device: key.device,
            lane: .content)
    }
}

@Suite("Runs of a hostile author")
struct HostileRunTests {
    /// The newest part was taken, another above it, and then the beginning: the third span
    /// stopped the node.
    @Test("never open a third span")
    func thirdSpan() throws {
        let log = try HostileLog(seed: 1)
        var record = log.record
        let start = OperationID(reinterpreting: log.id)
        let low = try log.run(0...5, after: start)
        for places in [10...20, 25...30] as [ClosedRange<UInt64>] {
            let run = try log.run(places, after: low.tip).run
            for piece in try OperationVerifier.verify(run, in: log.space, held: record.spans) {
                record.hold(piece)
            }
        }
        #expect(record.spans.count == 2)
        #expect(throws: RunRejection.wouldLeaveGap) {
            try OperationVerifier.verify(low.run, in: log.space, held: record.spans)
        }
    }

    @Test("begin below the only span that is held")
    func beginning() throws {
        let log = try HostileLog(seed: 2)
        var record = log.record
        let low = try log.run(0...5, after: OperationID(reinterpreting: log.id))
        for run in [try log.run(10...20, after: low.tip).run, low.run] {
            for piece in try OperationVerifier.verify(run, in: log.space, held: record.spans) {
                record.hold(piece)
            }
        }
        #expect(record.spans.map(\.first) == [0, 10])
    }

    /// A run that waited for its causes was once joined to a branch that came meanwhile: the log
    /// then held a chain that no other node could verify.
    @Test("that waited do not join another branch")
    func otherBranch() throws {
        let log = try HostileLog(seed: 3)
        let start = OperationID(reinterpreting: log.id)
        let one = try log.run(0...4, after: start, branch: 1)
        let two = try log.run(0...4, after: start, branch: 2)
        let rest = try log.run(5...6, after: two.tip, branch: 2)
        var record = log.record
        let waited = try #require(
            try OperationVerifier.verify(rest.run, in: log.space, held: []).first)
        for piece in try OperationVerifier.verify(one.run, in: log.space, held: []) {
            record.hold(piece)
        }
        #expect(!record.canHold(waited))
    }
}
