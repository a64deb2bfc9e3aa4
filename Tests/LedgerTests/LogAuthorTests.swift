@testable import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@Suite("Log author")
struct LogAuthorTests {
    let desk: Desk
    let ann: DeviceSigningKey

    init() throws {
        desk = try Desk(seed: 3)
        ann = desk.key()
    }

    private func heads(of key: DeviceSigningKey) throws -> [UInt64] {
        let log = try #require(try desk.log(of: key))
        return try desk.store.heads(in: log.number, 0...1 << 40).map(\.sequence)
    }

    @Test("one signature covers a flush, and one every 256 operations")
    func headsByCount() throws {
        let drafts = (0..<600).map { Desk.draft(UInt8(truncatingIfNeeded: $0)) }
        try desk.write(drafts, by: ann)
        #expect(try heads(of: ann) == [255, 511, 599])
        try desk.write([Desk.draft()], by: ann)
        #expect(try heads(of: ann) == [255, 511, 599, 600])
    }

    @Test("large operations are signed every 32 KiB")
    func headsBySize() throws {
        try desk.write((0..<7).map { _ in Desk.draft(byteCount: 11_000) }, by: ann)
        #expect(try heads(of: ann) == [2, 5, 6])
    }

    @Test("what may be erased is salted, each time anew, and the rest is not")
    func salts() throws {
        let applied = try desk.write(
            [Desk.draft(), Desk.draft(), Desk.draft(isErasable: false)], by: ann)
        let salts = applied.map { applied -> [UInt8] in
            if case .present(let salt, _) = applied.operation.operation.body { salt } else { [] }
        }
        #expect(salts.map(\.count) == [16, 16, 0])
        #expect(salts[0] != salts[1])
    }

    @Test("content carries the authority that it was written under, control and receipts none")
    func authority() throws {
        let applied = try desk.write(Lane.allCases.map { Desk.draft(lane: $0) }, by: ann)
        let authorities = applied.map { $0.operation.operation.header.authority }
        #expect(authorities == [nil, 42, nil, 42, 42])
    }

    @Test("an operation names the heads that nobody has named, and its own log goes without saying")
    func dependencies() throws {
        let ben = desk.key()
        let first = try desk.write([Desk.draft()], by: ann)[0]
        let second = try desk.write([Desk.draft()], by: ben)[0]
        let expected = OperationReference(
            tag: first.operation.tag, sequence: 0, check: first.operation.id.check)
        #expect(second.operation.operation.header.dependencies == [expected])
        let third = try desk.write([Desk.draft()], by: ben)[0]
        #expect(third.operation.operation.header.dependencies.isEmpty)
    }

    @Test("control names control alone, and receipts name nothing and are never named")
    func lanes() throws {
        let ben = desk.key()
        try desk.write(Lane.allCases.map { Desk.draft(lane: $0) }, by: ann)
        let applied = try desk.write(
            [.control, .receipts].map { Desk.draft(lane: $0) }, by: ben)
        let controlTag = try #require(try desk.log(of: ann, lane: .control)).tag
        #expect(applied[0].operation.operation.header.dependencies.map(\.tag) == [controlTag])
        #expect(applied[1].operation.operation.header.dependencies.isEmpty)
        let content = try desk.write([Desk.draft()], by: ben)[0]
        let receiptTag = try #require(try desk.log(of: ann, lane: .receipts)).tag
        #expect(
            !content.operation.operation.header.dependencies.contains { $0.tag == receiptTag })
    }

    @Test("more open heads than one operation may name are tied together first")
    func merging() throws {
        for _ in 0..<40 {
            // Each in a desk of its own would be concurrent; here what they name is forgotten.
            let key = desk.key()
            try desk.write([Desk.draft()], by: key)
        }
        try desk.store.begin(.normal)
        for var log in try desk.store.logs(in: desk.space.number) {
            log.coveredEnd = 0
            try desk.store.update(log)
        }
        try desk.store.commit()
        let applied = try desk.write([Desk.draft()], by: ann)
        let headers = applied.map { $0.operation.operation.header }
        #expect(headers.map(\.kind.rawValue) == [0, 0, 64])
        #expect(headers.map(\.dependencies.count) == [16, 16, 8])
        #expect(try heads(of: ann) == [2])
    }

    @Test("what only a log has named that was cut is named, and what counts of that log")
    func cut() throws {
        let (ben, cara) = (desk.key(), desk.key())
        let seen = try desk.write([Desk.draft()], by: ann)[0]
        try desk.write(2, by: cara)
        let tag = try #require(try desk.log(of: cara)).tag
        for (count, expected) in [(1, [tag]), (0, [seen.operation.tag])] as [(UInt64, [LogTag])] {
            try desk.store.begin(.normal)
            var log = try #require(try desk.log(of: cara))
            let anchor = count == 0 ? OperationID(reinterpreting: log.id) : try desk.id(0, of: cara)
            log.limit = LogPoint(sequence: count, anchor: anchor)
            try desk.store.update(log)
            _ = try StandSettling.again(desk.space.number, by: StandRule(), in: desk.store)
            try desk.store.commit()
            let written = try desk.write([Desk.draft()], by: ben)[0]
            #expect(written.operation.operation.header.dependencies.map(\.tag) == expected)
            let next = try desk.write([Desk.draft()], by: ben)[0]
            #expect(next.operation.operation.header.dependencies.isEmpty)
        }
    }

    @Test("Attack 373: a place invented before its author was put out leaves nothing unnamed")
    func inventedBeforeCut() throws {
        let (ben, dan, eve) = (desk.key(), desk.key(), desk.key())
        try desk.write(1, by: ben)
        let tag = try #require(try desk.log(of: ben)).tag
        let invented = OperationReference(
            tag: tag, sequence: Limits.placeMax - 1, check: Check(high: 1, low: 2))
        try desk.write([Desk.draft(about: [invented])], by: eve)
        let seen = try desk.write([Desk.draft()], by: dan)[0]
        // Ben has seen both, and alone names what Dan said.
        try desk.write(1, by: ben)
        try desk.store.begin(.normal)
        var log = try #require(try desk.log(of: ben))
        log.limit = LogPoint(sequence: log.end, anchor: log.tip)
        try desk.store.update(log)
        _ = try StandSettling.again(desk.space.number, by: StandRule(), in: desk.store)
        try desk.store.commit()
        let next = try desk.write([Desk.draft()], by: ann, at: Desk.now - 60_000)[0]
        #expect(next.operation.operation.header.dependencies.map(\.tag).contains(tag))
        #expect(next.orderKey.stand > seen.orderKey.stand)
    }

    @Test("what was seen stands above, whatever its clock, and is named")
    func seen() throws {
        let ben = desk.key()
        let ahead = try desk.write([Desk.draft()], by: ann, at: Desk.now + 400 * 86_400_000)[0]
        let seen = try desk.write([Desk.draft()], by: ben, at: Desk.now)[0]
        #expect(seen.operation.operation.header.dependencies.count == 1)
        #expect(seen.operation.operation.header.clock == Desk.now << 16)
        #expect(seen.orderKey > ahead.orderKey)
        let later = try desk.write([Desk.draft()], by: ben, at: Desk.now - 60_000)[0]
        #expect(later.operation.operation.header.wallClock == Desk.now - 60_000)
        #expect(later.orderKey > seen.orderKey)
    }

    @Test("a device whose own clock is wrong still writes an ascending log")
    func wrongClock() throws {
        let keys = try [Limits.wallClockMax + 5, 3, 0].map {
            try desk.write([Desk.draft()], by: ann, at: $0)[0].orderKey
        }
        #expect(keys == keys.sorted() && Set(keys).count == 3)
    }
}
