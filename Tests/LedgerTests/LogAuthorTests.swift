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

    @Test("a clock never runs back, and is drawn forward by what was seen")
    func clocks() throws {
        let ben = desk.key()
        let ahead = try desk.write([Desk.draft()], by: ann, at: Desk.now + 5000)[0]
        let seen = try desk.write([Desk.draft()], by: ben, at: Desk.now)[0]
        let clock = { (applied: AppliedOperation) in applied.operation.operation.header.clock }
        #expect(clock(seen) == clock(ahead) + 1)
        #expect(seen.operation.operation.header.wallClock == Desk.now)
        let later = try desk.write([Desk.draft()], by: ben, at: Desk.now - 60_000)[0]
        #expect(clock(later) == clock(seen) + 1)
    }

    @Test("a clock from the far future draws nobody along and is not named")
    func farFuture() throws {
        let ben = desk.key()
        try desk.write([Desk.draft()], by: ann, at: Desk.now + HybridClock.futureMax + 60_000)
        let written = try desk.write([Desk.draft()], by: ben, at: Desk.now)[0]
        #expect(written.operation.operation.header.clock == Desk.now << 16)
        #expect(written.operation.operation.header.dependencies.isEmpty)
        let reply = try desk.write(
            [
                Desk.draft(about: [
                    .init(
                        tag: try #require(try desk.log(of: ann)).tag, sequence: 0,
                        check: try desk.id(0, of: ann).check)
                ])
            ], by: ben, at: Desk.now)[0]
        #expect(reply.operation.operation.header.clock == Desk.now << 16 + 1)
    }

    /// Its clock went wrong later: a reaction to what it wrote before stood above that.
    @Test("what is referred to draws the clock along, however far its log has run ahead since")
    func belowFarFuture() throws {
        let ben = desk.key()
        let early = try desk.write([Desk.draft()], by: ann, at: Desk.now + 60_000)[0]
        try desk.write([Desk.draft()], by: ann, at: Desk.now + HybridClock.futureMax + 60_000)
        let reference = OperationReference(
            tag: try #require(try desk.log(of: ann)).tag, sequence: 0,
            check: try desk.id(0, of: ann).check)
        let reply = try desk.write([Desk.draft(about: [reference])], by: ben, at: Desk.now)[0]
        #expect(
            reply.operation.operation.header.clock
                == early.operation.operation.header.clock + 1)
    }

    @Test("a device whose own clock is wrong still writes an ascending log")
    func wrongClock() throws {
        let clocks = try [Limits.wallClockMax + 5, 3, 0].map {
            try desk.write([Desk.draft()], by: ann, at: $0)[0].operation.operation.header.clock
        }
        #expect(clocks == clocks.sorted() && Set(clocks).count == 3)
    }
}
