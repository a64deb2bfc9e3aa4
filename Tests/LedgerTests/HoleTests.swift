import ParleyLedger
import ParleyWire
import Testing

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

    @Test("a log of which only the newest part is held is whole through nothing")
    func top() throws {
        let log = try record([20...29])
        #expect(log.gap == 0...19 && log.wholeThrough == nil)
    }
}
