import Foundation
@testable import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@Suite("Operation hashes")
struct OperationHashTests {
    struct File: Decodable {
        let space, device, log, beginning, begun: String
        let vectors: [Vector]
    }

    struct Vector: Decodable {
        let input: String
        let erased: Bool
        let commitment: String?
        let previous, id, why: String
    }

    static func file() throws -> File {
        let url = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Protocol/Vectors/operation/valid.json")
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
    }

    @Test("identifiers and commitments are those that another program computed")
    func vectors() throws {
        for vector in try Self.file().vectors {
            let input = try #require(bytes(hex: vector.input))
            let previous = try #require(bytes(hex: vector.previous).flatMap(OperationID.init))
            let operation = try Operation(transferForm: input[...], isErased: vector.erased)
            let commitment = OperationHash.commitment(of: operation)
            #expect(commitment?.description == vector.commitment, "\(vector.why)")
            let id = OperationHash.operation(operation, after: previous)
            #expect(id.description == vector.id, "\(vector.why)")
        }
    }

    @Test("spaces and logs are named as another program names them")
    func names() throws {
        let file = try Self.file()
        let device = try #require(bytes(hex: file.device).flatMap(DeviceID.init))
        let beginning = try #require(bytes(hex: file.beginning))
        let begun = OperationHash.space(
            begunBy: try Operation(transferForm: beginning[...], isErased: false))
        #expect(begun.description == file.begun)
        let space = try #require(bytes(hex: file.space).flatMap(SpaceID.init))
        let log = OperationHash.log(space: space, device: device, lane: .content)
        #expect(log.description == file.log)
    }
}

@Suite("Causality")
struct CausalityTests {
    private func header(
        _ causes: [OperationReference], about: [OperationReference] = []
    ) -> OperationHeader {
        OperationHeader(
            kind: .merge, wallClock: 0, clock: 0, dependencies: causes, references: about)
    }

    @Test("an operation waits for what it names, in its causes and in what it is about")
    func ready() throws {
        let desk = try Desk(seed: 4)
        let ann = desk.key()
        try desk.write(3, by: ann)
        let log = try #require(try desk.log(of: ann))
        let reference = { (place: UInt64, check: Check) in
            OperationReference(tag: log.tag, sequence: place, check: check)
        }
        let isReady = { (header: OperationHeader) in
            try Causality.missing(
                header, lane: .content, in: desk.space.number, store: desk.store
            ).isEmpty
        }
        let tip = reference(2, log.tip.check)
        #expect(try isReady(header([tip])))
        #expect(try isReady(header([], about: [tip])))
        #expect(try !isReady(header([reference(3, log.tip.check)])))
        #expect(try !isReady(header([], about: [reference(3, log.tip.check)])))
        #expect(try !isReady(header([reference(2, Check(high: 0, low: 0))])), "another branch")
        let unknown = OperationReference(tag: LogTag(1), sequence: 0, check: log.tip.check)
        #expect(try !isReady(header([unknown])))
    }

    @Test("what is named is noted once and never taken back")
    func cover() throws {
        let desk = try Desk(seed: 5)
        let ann = desk.key()
        try desk.write(3, by: ann)
        let log = try #require(try desk.log(of: ann))
        try desk.store.begin(.normal)
        for place in [2, 0] as [UInt64] {
            let cause = OperationReference(
                tag: log.tag, sequence: place, check: Check(high: 0, low: 0))
            try Causality.cover(
                header([cause]), lane: .content, in: desk.space.number, store: desk.store)
        }
        try desk.store.commit()
        #expect(try desk.log(of: ann)?.coveredEnd == 3)
        #expect(try desk.log(of: ann)?.controlCoveredEnd == 0)
    }
}

@Suite("Hybrid clock")
struct HybridClockTests {
    @Test("far future begins ten minutes ahead")
    func farFuture() {
        let now = Desk.now
        #expect(!HybridClock.isFarFuture((now + HybridClock.futureMax) << 16 | 0xffff, at: now))
        #expect(HybridClock.isFarFuture((now + HybridClock.futureMax + 1) << 16, at: now))
    }

    @Test("the next clock is above all that was seen and stays writable")
    func next() {
        #expect(HybridClock.next(wallClock: 5, after: 0) == 5 << 16)
        #expect(HybridClock.next(wallClock: 5, after: 9 << 16) == 9 << 16 + 1)
        #expect(HybridClock.next(wallClock: 5, after: Limits.clockMax) == Limits.clockMax - 1)
    }
}

@Suite("Log records")
struct LogRecordTests {
    private func held(_ ranges: [ClosedRange<UInt64>]) throws -> LogRecord {
        let desk = try Desk(seed: 6)
        let ann = desk.key()
        try desk.write(30, by: ann)
        var log = try #require(try desk.log(of: ann))
        log.spans = []
        for range in ranges {
            log.hold(try desk.span(range, of: ann), tipClock: range.upperBound)
        }
        return log
    }

    @Test("stretches that touch become one, in whatever order they come")
    func joining() throws {
        let log = try held([0...4, 10...14, 5...9])
        #expect(log.spans.map { $0.first...$0.last } == [0...14])
        #expect(log.isWhole && log.gap == nil && log.wholeThrough == 14 && log.end == 15)
    }

    @Test("a hole is told with its ends, and the tip is that of the newest stretch")
    func gap() throws {
        let log = try held([0...4, 10...14])
        #expect(log.gap == 5...9 && !log.isWhole && log.wholeThrough == 4 && log.end == 15)
        #expect(log.holds(4) && !log.holds(5) && log.holds(14))
        let top = try held([10...14])
        #expect(top.gap == 0...9 && top.wholeThrough == nil)
    }

    @Test("backfill does not change the clock of the tip")
    func tipClock() throws {
        #expect(try held([10...14, 0...9]).tipClock == 14)
        #expect(try held([0...4, 5...9]).tipClock == 9)
    }
}

@Suite("Log audit")
struct LogAuditTests {
    @Test("a sound log has no broken and no unsigned operation")
    func sound() throws {
        let desk = try Desk(seed: 7)
        let ann = desk.key()
        try desk.write((0..<300).map { _ in Desk.draft() }, by: ann)
        let log = try #require(try desk.log(of: ann))
        var audit = LogAudit()
        try audit.check(log, in: desk.store)
        #expect(audit.operationCount == 300 && audit.brokenCount == 0)
        #expect(audit.headCount == 2 && audit.unsignedCount == 0)
        #expect(log.heldCount == 300)
    }

    @Test("an erased payload leaves the log sound")
    func erased() throws {
        let desk = try Desk(seed: 8)
        let ann = desk.key()
        let applied = try desk.write((0..<3).map { _ in Desk.draft() }, by: ann)
        let commitment = try #require(
            OperationHash.commitment(of: applied[1].operation.operation))
        try desk.store.begin(.full)
        try desk.store.erase(applied[1].number, commitment: commitment)
        try desk.store.commit()
        var audit = LogAudit()
        try audit.check(try #require(try desk.log(of: ann)), in: desk.store)
        #expect(audit.brokenCount == 0 && audit.unsignedCount == 0)
    }

    @Test("a payload that was changed on the disk is found, and a signature that was lost")
    func broken() throws {
        let desk = try Desk(seed: 9)
        let ann = desk.key()
        let applied = try desk.write((0..<3).map { _ in Desk.draft() }, by: ann)
        try desk.store.begin(.full)
        try desk.store.erase(
            applied[1].number, commitment: Digest(reinterpreting: ann.device))
        let other = try #require(SignatureBytes([UInt8](repeating: 1, count: 64)))
        try desk.store.addHead(
            SignedHead(sequence: 2, signature: other), in: applied[0].log.number)
        try desk.store.commit()
        var audit = LogAudit()
        try audit.check(try #require(try desk.log(of: ann)), in: desk.store)
        #expect(audit.brokenCount == 1 && audit.unsignedCount == 1)
    }
}
