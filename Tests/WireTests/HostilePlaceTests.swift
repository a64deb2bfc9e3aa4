import ParleyWire
import Testing

@Suite("Places that no log can have")
struct HostilePlaceTests {
    /// One operation that named the last number there is stopped every node that merged it.
    @Test("are refused in what an operation names", arguments: [UInt64.max, 1 << 62])
    func references(place: UInt64) {
        let cause = OperationReference(
            tag: LogTag(1), sequence: place, check: Check(high: 0, low: 0))
        #expect(throws: DecodingFailure.forbidden(field: "place")) {
            try Operation.make(
                OperationHeader(
                    kind: OperationKind(rawValue: 64), wallClock: 1, clock: 1 << 16,
                    dependencies: [cause]))
        }
    }

    /// All of lane 0 is in memory: a member who wrote a million small operations into it had every other
    /// member hold them there.
    @Test(
        "Attack 297: a log of lane 0 ends at its bound, one of any other lane goes on",
        arguments: [(4095, 1, true), (4095, 2, false), (4096, 1, false), (1 << 40, 1, false)])
    func longControlLog(first: UInt64, count: Int, isTaken: Bool) throws {
        let device = try #require(DeviceID([UInt8](repeating: 3, count: 32)))
        let space = try #require(SpaceID([UInt8](repeating: 4, count: 32)))
        let operation = try Operation.make(
            OperationHeader(kind: OperationKind(rawValue: 64), wallClock: 1, clock: 1 << 16))
        for lane in [Lane.control, .receipts] {
            let run = Run(
                device: device, lane: lane, first: first, anchor: nil,
                operations: Array(repeating: operation, count: count), heads: [])
            let frame = Frame.operations(Operations(space: space, endsAnswer: false, runs: [run]))
            let isRead = (try? Frame.decode(frame.encoded())) != nil
            #expect(isRead == (isTaken || lane != .control), "\(lane)")
        }
    }

    /// A frame of a quarter megabyte could hold a thousand runs that open to half a megabyte each.
    @Test("Attack 13: a frame does not open to much more than one run may")
    func openedRuns() throws {
        let device = try #require(DeviceID([UInt8](repeating: 3, count: 32)))
        let space = try #require(SpaceID([UInt8](repeating: 4, count: 32)))
        let operation = try Operation.make(
            OperationHeader(kind: OperationKind(rawValue: 64), wallClock: 1, clock: 1 << 16),
            payload: [UInt8](repeating: 0, count: 24 << 10))
        let run = Run(
            device: device, lane: .content, first: 0, anchor: nil,
            operations: Array(repeating: operation, count: 16), heads: [])
        let frame = Frame.operations(
            Operations(
                space: space, endsAnswer: false, runs: Array(repeating: run, count: 100)))
        let bytes = frame.encoded()
        #expect(bytes.count < Limits.frameByteCountMax)
        #expect(throws: DecodingFailure.self) { try Frame.decode(bytes) }
    }
}
