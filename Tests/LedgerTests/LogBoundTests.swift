import ParleyLedger
import ParleyWire
import Testing

@Suite("What counts of a log")
struct LogBoundTests {
    private func log(_ spans: [ClosedRange<UInt64>]) -> LogRecord {
        LogRecord(
            number: LogNumber(1), space: SpaceNumber(1), id: id(1), device: id(2), lane: .content,
            spans: spans.map {
                Span(
                    first: $0.lowerBound, last: $0.upperBound, anchor: id(100 + $0.lowerBound),
                    tip: id(101 + $0.upperBound))
            })
    }

    private func id<S>(_ number: UInt64) -> Identifier<S> {
        Identifier { $0.storeBytes(of: number.bigEndian, as: UInt64.self) }
    }

    @Test("of a fork and a limit the lower one bounds")
    func lower() {
        var one = log([0...50])
        one.proven = LogPoint(sequence: 30, anchor: id(9))
        one.limit = LogPoint(sequence: 20, anchor: id(8))
        #expect(one.agreed.end == 20)
        #expect(one.agreed.tip == id(8))
        #expect(one.endsAtBound)
        one.limit = LogPoint(sequence: 40, anchor: id(8))
        #expect(one.agreed.end == 30)
        one.proven = nil
        #expect(one.agreed.end == 40)
        #expect(one.end == 51)
    }

    @Test("a forked log counts as far as others vouch for it, and lacks what they name beyond")
    func vouched() {
        var one = log([0...50])
        one.proven = LogPoint(sequence: 30, anchor: id(9))
        #expect(one.agreed.end == 30)
        #expect(one.endsAtBound && one.intakeEnd == one.proven)
        one.vouched = VouchedPart(end: nil, namedEnd: 45)
        #expect(one.agreed.end == 30)
        #expect(!one.endsAtBound && one.intakeEnd == nil)
        #expect(one.awaitsBranch)
        one.vouched = VouchedPart(end: LogPoint(sequence: 40, anchor: id(8)), namedEnd: 40)
        #expect(one.agreed.end == 40)
        #expect(one.agreed.tip == id(8))
        #expect(one.endsAtBound && one.intakeEnd == one.fork)
        #expect(!one.awaitsBranch)
        #expect(one.withoutBranch.end == 30)
        // Without a proof nothing is asked.
        one.proven = nil
        #expect(one.agreed.end == 51)
        #expect(!one.lacksVouched)
    }

    @Test("a log cut at nothing counts as empty and lacks nothing")
    func nothing() {
        var one = log([0...50])
        one.limit = LogPoint(sequence: 0, anchor: id(1))
        #expect(one.agreed.end == 0)
        #expect(one.agreed.isWhole)
        #expect(one.endsAtBound)
    }

    @Test("a newcomer's log begins at its floor as if the rest were held")
    func floor() {
        var one = log([])
        one.begin(at: LogPoint(sequence: 10, anchor: id(7)))
        #expect(one.end == 10)
        #expect(one.tip == id(7))
        #expect(one.isWhole)
        #expect(one.wholeThrough == 9)
        #expect(one.coveredEnd == 10)
        one.spans = log([20...30]).spans
        #expect(one.gap == 10...19)
        #expect(!one.isWhole)
        one.spans = log([10...30]).spans
        #expect(one.isWhole)
        #expect(one.wholeThrough == 30)
    }

    @Test("what was held before a floor is neither missing nor in the way")
    func again() {
        var one = log([0...5, 20...30])
        one.begin(at: LogPoint(sequence: 10, anchor: id(7)))
        #expect(one.gap == 10...19)
        one.spans = log([0...5]).spans
        #expect(one.end == 10)
        #expect(one.tip == id(7))
        #expect(one.isWhole)
    }

    @Test("who comes back is to name what it saw right below its floor, a newcomer nothing")
    func named() {
        var back = log([0...9])
        back.begin(at: LogPoint(sequence: 10, anchor: id(7)))
        #expect(back.coveredEnd == 9)
        var behind = log([0...5])
        behind.begin(at: LogPoint(sequence: 10, anchor: id(7)))
        #expect(behind.coveredEnd == 10)
    }

    @Test("a bound below the floor ends the log there")
    func boundBelowFloor() {
        var one = log([])
        one.begin(at: LogPoint(sequence: 10, anchor: id(7)))
        one.limit = LogPoint(sequence: 4, anchor: id(8))
        #expect(one.agreed.end == 4)
        #expect(one.agreed.tip == id(8))
    }
}
