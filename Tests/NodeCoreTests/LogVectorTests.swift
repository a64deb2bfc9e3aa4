import ParleyLedger
import ParleyReconciliation
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// The vectors of `Protocol/03-operations.md` for one log: what runs prove, and what counts.
@Suite("Log vectors")
struct LogVectorTests {
    struct File<Case: Decodable>: Decodable {
        let space, device, log: Hex
        let lane: UInt8
        let vectors: [Case]

        func record(_ held: HeldLog) throws -> LogRecord {
            try held.record(
                log.identifier(), of: device.identifier(), lane: try #require(Lane(rawValue: lane)))
        }
    }

    struct RunCase: Decodable {
        struct Stretch: Decodable, Equatable {
            let first: UInt64
            let operations: [String]
        }

        let why: String
        let input: Hex
        let new: [Stretch]?
        let refusal: String?
        let place: UInt64?
    }

    /// A case beside what is held when it comes, which stands in the same object.
    struct Held<Case: Decodable>: Decodable {
        let log: HeldLog
        let value: Case

        init(from decoder: any Decoder) throws {
            log = try HeldLog(from: decoder)
            value = try Case(from: decoder)
        }
    }

    @Test("runs prove what the vectors say, and are refused for the reason that they give")
    func runs() throws {
        let file = try Vectors.read("operation/runs", as: File<Held<RunCase>>.self)
        for vector in file.vectors {
            let (expected, why) = (vector.value, vector.value.why)
            let log = try file.record(vector.log)
            guard case .operations(let frame) = try Frame.decode(expected.input.bytes) else {
                Issue.record("\(why): no OPS frame")
                continue
            }
            let run = try #require(frame.runs.first)
            do {
                let pieces = try NodeCore.verify(
                    run, in: frame.space, against: log, limit: log.limit)
                let new = pieces.map { piece in
                    RunCase.Stretch(
                        first: piece.first, operations: piece.operations.map(\.id.description))
                }
                #expect(new == expected.new, "\(why)")
            } catch {
                #expect(Self.name(of: error) == expected.refusal, "\(why)")
                if case .forked(let place) = error { #expect(place == expected.place, "\(why)") }
            }
        }
    }

    struct BoundCase: Decodable {
        struct Tip: Decodable {
            let place: UInt64
            let operation: Hex
        }

        let why: String
        let tip: Tip?
        let missing: [UInt64]?
        let digest: String
    }

    @Test("forks, cuts and floors leave of a log what the vectors say")
    func bounds() throws {
        let file = try Vectors.read("operation/bounds", as: File<Held<BoundCase>>.self)
        for vector in file.vectors {
            let (expected, why) = (vector.value, vector.value.why)
            let log = try file.record(vector.log)
            let agreed = log.agreed
            #expect(agreed.end == expected.tip.map { $0.place + 1 } ?? 0, "\(why)")
            if let tip = expected.tip {
                #expect(agreed.tip.bytes == tip.operation.bytes, "\(why)")
            }
            let missing = agreed.gap.map { [$0.lowerBound, $0.upperBound] }
            #expect(missing == expected.missing, "\(why)")
            let digest = try Self.digest(of: log, in: file.space)
            #expect(digest.description == expected.digest, "\(why)")
        }
    }

    /// The digest of a space in which this log alone is held.
    private static func digest(of log: LogRecord, in space: Hex) throws -> Check {
        let store = MemoryStore()
        try store.begin(.normal)
        let record = try store.addSpace(space.identifier(), kind: .group)
        var stored = try store.addLog(log.id, device: log.device, lane: log.lane, in: record.number)
        (stored.spans, stored.proven) = (log.spans, log.proven)
        (stored.limit, stored.floor) = (log.limit, log.floor)
        try store.update(stored)
        try store.commit()
        return try FrontierDigests(of: record.number, in: store).content
    }

    private static func name(of rejection: RunRejection) -> String {
        switch rejection {
        case .unproven: "unproven"
        case .unsigned: "unsigned"
        case .anchorMissing: "anchorMissing"
        case .wouldLeaveGap: "wouldLeaveGap"
        case .forked: "forked"
        }
    }
}
