import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// Where the past of a newcomer begins in a log of which a part is missing.
@Suite("Horizons over a hole")
struct HorizonTests {
    private static let day: UInt64 = 86_400_000

    /// Ben's log of eight words of ann, one a day, of which these parts are held.
    private func last(
        before days: UInt64, holding parts: [ClosedRange<UInt64>], at stands: [UInt64]
    ) throws -> UInt64? {
        let village = try Village(seed: 912)
        let (ann, ben) = (village.ann, village.ben)
        for count in 0..<8 { try village.type("ann \(count)", ann) }
        village.world.run(for: 5_000)
        let record = try village.record(ben)
        try ben.store.begin(.normal)
        defer { ben.store.rollback() }
        var log = try #require(
            try ben.store.logs(in: record.number).first {
                $0.device == ann.identity.device && $0.lane == .content
            })
        #expect(log.end == 8)
        let original = log
        func id(_ place: UInt64) throws -> OperationID {
            guard place > 0 else { return OperationID(reinterpreting: original.id) }
            return try #require(try ben.store.operation(at: place - 1, in: original.number)).id
        }
        log.spans = try parts.map {
            Span(
                first: $0.lowerBound, last: $0.upperBound, anchor: try id($0.lowerBound),
                tip: try id($0.upperBound + 1))
        }
        for place in 0..<8 {
            let stored = try #require(try ben.store.header(at: UInt64(place), in: log.number))
            try ben.store.setStand(
                Stand(value: stands[place] * Self.day << 16), of: stored.number)
        }
        let found = try log.last(before: days * Self.day, ben.store)
        if let found { #expect(found.operation == (try id(found.sequence + 1))) }
        return found?.sequence
    }

    @Test("what lies in a hole is taken for older, and so is what lies below")
    func olderBelow() throws {
        let stands: [UInt64] = [10, 11, 12, 13, 14, 15, 16, 17]
        #expect(try last(before: 16, holding: [0...2, 5...7], at: stands) == 5)
        #expect(try last(before: 14, holding: [0...2, 5...7], at: stands) == 4)
        #expect(try last(before: 18, holding: [0...2, 5...7], at: stands) == 7)
        #expect(try last(before: 14, holding: [5...7], at: stands) == 4)
    }

    @Test("unless what is held below the hole is newer")
    func newerBelow() throws {
        let stands: [UInt64] = [10, 11, 12, 13, 14, 15, 16, 17]
        #expect(try last(before: 12, holding: [0...2, 5...7], at: stands) == 1)
        #expect(try last(before: 10, holding: [0...2, 5...7], at: stands) == nil)
    }

    /// Above a hole stands begin anew. A search over all that is held found a place below it, and gave away
    /// what stands before the time above it.
    @Test("nothing above a hole is given that is older, though what lies below it is newer")
    func anewAbove() throws {
        let stands: [UInt64] = [60, 61, 62, 63, 64, 12, 13, 14]
        #expect(try last(before: 13, holding: [0...4, 6...7], at: stands) == nil)
        #expect(try last(before: 14, holding: [0...4, 6...7], at: stands) == 6)
        #expect(try last(before: 20, holding: [0...4, 6...7], at: stands) == 7)
    }
}
