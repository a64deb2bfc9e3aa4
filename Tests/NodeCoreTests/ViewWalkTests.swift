import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Walking the views of a log")
struct ViewWalkTests {
    /// What ends below a hole tells nothing of what lies above it, though the log begins higher up by
    /// now and nothing counts as missing.
    @Test("What lies above a hole, below where the log begins by now, stays a claim of its own")
    func belowFloor() throws {
        let village = try Village(seed: 911)
        let (ann, ben) = (village.ann, village.ben)
        for count in 0..<8 {
            if count == 4 {
                try village.perform(
                    .setRole(village.group, village.dora.identity.person, .admin), ann)
            }
            try village.type("ann \(count)", ann)
        }
        village.world.run(for: 5_000)
        let record = try village.record(ben)
        try ben.store.begin(.normal)
        var log = try #require(
            try ben.store.logs(in: record.number).first {
                $0.device == ann.identity.device && $0.lane == .content
            })
        #expect(log.end == 8)
        func stored(_ place: UInt64) throws -> StoredOperation {
            try #require(try ben.store.operation(at: place, in: log.number))
        }
        let claims = try (0..<8).map { try stored($0).operation.header.authority }
        #expect(claims[2] != claims[4])
        log.floor = LogPoint(sequence: 8, anchor: log.tip)
        log.spans = [
            Span(first: 1, last: 2, anchor: try stored(0).id, tip: try stored(2).id),
            Span(first: 4, last: 7, anchor: try stored(3).id, tip: try stored(7).id),
        ]
        for view in try ben.store.views(in: log.number, 0...UInt64.max) {
            try ben.store.removeView(at: view.first, in: log.number)
        }
        let judge = try RosterReader.judge(of: record, in: ben.store)
        try ViewWalk.again(through: log, judge, ben.store)
        for place in [1, 2, 4, 5, 6, 7] {
            let view = try ben.store.view(at: UInt64(place), in: log.number)
            #expect(view?.claimed == claims[place], "\(place)")
        }
        ben.store.rollback()
    }
}
