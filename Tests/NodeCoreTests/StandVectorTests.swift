import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyLedger

/// The vectors of `Protocol/03-operations.md`, "Order", worked out by another program.
@Suite("Vectors of where operations stand")
struct StandVectorTests {
    struct File: Decodable {
        let vectors: [Case]
    }

    struct Case: Decodable {
        struct Log: Decodable {
            let device: Hex
            let lane: UInt8
            let owner: UInt8?
            let operations: [Hex]
            /// Of each operation where it stands and the greatest clock of another person it had seen.
            let stands: [[UInt64]]
        }

        let why: String
        let space: Hex
        let began: UInt64?
        let logs: [Log]
    }

    @Test("in whatever order operations come, they stand where the vectors say")
    func stands() throws {
        let file = try Vectors.read("view/stands", as: File.self)
        #expect(file.vectors.count >= 30)
        var random = SeededRandom(seed: 125)
        for vector in file.vectors {
            for _ in 0..<4 { try look(at: vector, &random) }
        }
    }

    private func look(at vector: Case, _ random: inout SeededRandom) throws {
        let store = MemoryStore()
        try store.begin(.normal)
        let space = try store.addSpace(vector.space.identifier(), kind: .group)
        var rule = StandRule(beganAt: vector.began)
        var pieces: [(log: LogRecord, operation: VerifiedOperation)] = []
        var expected: [LogTag: [[UInt64]]] = [:]
        for log in vector.logs {
            let device: DeviceID = try log.device.identifier()
            rule.owners[device] = try log.owner.map {
                try #require(PersonID([UInt8](repeating: $0, count: 32)))
            }
            let lane = try #require(Lane(rawValue: log.lane))
            let id = OperationHash.log(space: space.id, device: device, lane: lane)
            let record = try store.addLog(id, device: device, lane: lane, in: space.number)
            var previous = OperationID(reinterpreting: id)
            for (place, bytes) in log.operations.enumerated() {
                let operation = try Operation(transferForm: bytes.bytes[...], isErased: false)
                previous = OperationHash.operation(operation, after: previous)
                pieces.append(
                    (
                        record,
                        VerifiedOperation(
                            id: previous, tag: record.tag, sequence: UInt64(place),
                            operation: operation)
                    ))
            }
            expected[record.tag] = log.stands
        }
        // Each log in its order, the logs in any.
        while !pieces.isEmpty {
            let chosen = Int.random(in: pieces.indices, using: &random)
            let tag = pieces[chosen].log.tag
            guard let first = pieces.firstIndex(where: { $0.log.tag == tag }) else { return }
            let piece = pieces.remove(at: first)
            try keep(piece.operation, in: piece.log.number, rule, store)
        }
        _ = try StandSettling.settle(space.number, by: rule, in: store)
        for log in try store.logs(in: space.number) where log.lane.carriesAuthority {
            let found = try store.headers(in: log.number, 0...UInt64.max, limit: .max).map {
                [$0.stand.value, $0.stand.witness]
            }
            #expect(found == expected[log.tag], "\(vector.why)")
        }
    }

    private func keep(
        _ operation: VerifiedOperation, in number: LogNumber, _ rule: StandRule,
        _ store: MemoryStore
    ) throws {
        var log = try #require(try store.log(number))
        let taken = VerifiedRun(
            log: log.id, device: log.device, lane: log.lane, operations: [operation],
            anchor: log.tip, heads: [], isBackfill: false)
        let (run, settledEnd) = try taken.placed(in: log, by: rule, store)
        _ = try store.insert(run.operations, in: number)
        log.hold(run)
        log.order.settledEnd = settledEnd
        try store.update(log)
    }
}
