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

    @Test("what is named is noted, by what counts and as far as it counts")
    func cover() throws {
        let desk = try Desk(seed: 5)
        let ann = desk.key()
        let ben = desk.key()
        try desk.write(3, by: ann)
        try desk.write(1, by: ben)
        try desk.store.begin(.normal)
        let naming = try #require(try desk.log(of: ben))
        var named = try #require(try desk.log(of: ann))
        let (tip, other) = (named.tip.check, Check(high: 0, low: 0))
        #expect(named.coveredEnd == 3, "ben has seen it")
        named.coveredEnd = 0
        try desk.store.update(named)
        func cover(
            _ place: UInt64, _ check: Check, at sequence: UInt64, in log: LogRecord
        ) throws -> UInt64? {
            let cause = OperationReference(tag: named.tag, sequence: place, check: check)
            try Causality.cover(header([cause]), at: sequence, in: log, store: desk.store)
            return try desk.log(of: ann)?.coveredEnd
        }
        #expect(try cover(2, other, at: 0, in: naming) == 0, "another branch of it")
        #expect(try cover(2, tip, at: 0, in: naming) == 3)
        #expect(try cover(0, other, at: 0, in: naming) == 3)
        #expect(try desk.log(of: ann)?.controlCoveredEnd == 0)
        var cut = naming
        cut.limit = LogPoint(sequence: 1, anchor: naming.tip)
        #expect(try cover(8, other, at: 1, in: cut) == 3, "above a cut nobody names anything")
        named.coveredEnd = 3
        named.limit = LogPoint(sequence: 5, anchor: named.tip)
        try desk.store.update(named)
        #expect(try cover(3, other, at: 0, in: cut) == 4)
        #expect(try cover(8, other, at: 0, in: naming) == 5, "the last below it is still to come")
        (named.coveredEnd, named.limit) = (0, LogPoint(sequence: 3, anchor: named.tip))
        try desk.store.update(named)
        #expect(try cover(8, other, at: 0, in: naming) == 0, "a name up there may be invented")
        #expect(try cover(2, other, at: 0, in: naming) == 0, "another branch of it")
        #expect(try cover(2, tip, at: 0, in: naming) == 3)
        try desk.store.commit()
    }
}
