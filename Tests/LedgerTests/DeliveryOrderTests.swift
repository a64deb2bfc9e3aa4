import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@Suite("Runs in any order")
struct DeliveryOrderTests {
    @Test(
        "Attack 17: runs that come twice, crossed and backwards give the same log",
        arguments: 1...24 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) throws {
        let desk = try Desk(seed: 17)
        let key = desk.key()
        try desk.write(40, by: key)
        var runs: [Run] = []
        for first in stride(from: UInt64(0), to: 40, by: 5) {
            // Some overlap their neighbour.
            let last = min(39, first + 4 + (first / 5) % 2 * 3)
            runs.append(
                try desk.run(first...last, of: key, heads: [last], bringsAnchor: first > 0))
        }
        var random = SeededRandom(seed: seed)
        var record = LogRecord(
            number: LogNumber(1), space: SpaceNumber(1),
            id: OperationHash.log(space: desk.space.id, device: key.device, lane: .content),
            device: key.device, lane: .content)
        // What would leave a second hole is refused and comes again, as it is asked for again.
        for _ in 0..<runs.count * 2 {
            for run in (runs + runs).shuffled(using: &random) {
                deliver(run, in: desk.space.id, to: &record)
            }
        }
        #expect(record.spans == [try desk.span(0...39, of: key)], "seed \(seed)")
    }

    private func deliver(_ run: Run, in space: SpaceID, to record: inout LogRecord) {
        do throws(RunRejection) {
            for piece in try OperationVerifier.verify(run, in: space, held: record.spans)
            where record.canHold(piece) {
                record.hold(piece)
            }
        } catch {
            #expect(error == .wouldLeaveGap)
        }
    }
}
