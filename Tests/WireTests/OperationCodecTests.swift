import ParleyWire
import Testing

@Suite("Operation codec")
struct OperationCodecTests {
    struct Valid: Decodable {
        let input: String
        let erased: Bool
        let kind, wallClock, clock: UInt64
        let authority: String?
        let dependencies, references: [String]
        let salt, payload, commitment: String?
        let why: String
    }

    struct Hostile: Decodable {
        let input: String
        let erased: Bool
        let refusal: String
        let why: String
    }

    static func valid() throws -> [Valid] { try VectorFile.vectors("operation/valid") }

    @Test("valid vectors read as they say and are written back byte for byte")
    func validVectors() throws {
        for vector in try Self.valid() {
            let input = try #require(bytes(hex: vector.input))
            let operation = try Operation(transferForm: input[...], isErased: vector.erased)
            let header = operation.header
            #expect(header.kind.rawValue == vector.kind, "\(vector.why)")
            #expect(header.wallClock == vector.wallClock, "\(vector.why)")
            #expect(header.clock == vector.clock, "\(vector.why)")
            #expect(header.authority.map { LogTag($0).description } == vector.authority)
            #expect(header.dependencies.map(text) == vector.dependencies, "\(vector.why)")
            #expect(header.references.map(text) == vector.references, "\(vector.why)")
            #expect(operation.payload.map { hex($0) } == vector.payload, "\(vector.why)")
            #expect(operation.isErased == vector.erased)
            if case .erased(let commitment, _, _) = operation.body {
                #expect(commitment.description == vector.commitment)
            }
            #expect(operation.head + operation.tail == input, "\(vector.why)")
            #expect(operation.byteCount == input.count)
            try #expect(remade(operation) == operation, "\(vector.why)")
        }
    }

    @Test("Attack 11: hostile vectors are refused for the reason that they give")
    func hostileVectors() throws {
        let vectors = try VectorFile.vectors("operation/hostile", as: Hostile.self)
        #expect(vectors.count > 20)
        for vector in vectors {
            let input = try #require(bytes(hex: vector.input))
            var refusal: String?
            do {
                _ = try Operation(transferForm: input[...], isErased: vector.erased)
            } catch {
                refusal = EncodingVectorTests.name(of: error)
            }
            #expect(refusal == vector.refusal, "\(vector.why)")
        }
    }

    @Test("what is made is read again as it was", arguments: 1...8 as ClosedRange<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            let (operation, isErased) = try random.operation()
            let bytes = operation.head + operation.tail
            #expect(bytes.count == operation.byteCount, "seed \(seed)")
            let read = try Operation(
                head: operation.head, tail: operation.tail, isErased: isErased)
            #expect(read == operation, "seed \(seed)")
            try #expect(remade(operation) == operation, "seed \(seed)")
        }
    }

    @Test("Attack 12: an operation cut anywhere, or with a byte too many, is refused")
    func cut() throws {
        for vector in try Self.valid() {
            let input = try #require(bytes(hex: vector.input))
            for length in 0..<input.count {
                #expect(throws: DecodingFailure.truncated, "\(vector.why), cut at \(length)") {
                    try Operation(transferForm: input[..<length], isErased: vector.erased)
                }
            }
            #expect(throws: DecodingFailure.trailingBytes(1)) {
                try Operation(transferForm: (input + [0])[...], isErased: vector.erased)
            }
        }
    }

    @Test("a flipped bit is refused, or gives another operation that is written the same way")
    func flippedBits() throws {
        for vector in try Self.valid() {
            let input = try #require(bytes(hex: vector.input))
            for bit in 0..<input.count * 8 {
                var flipped = input
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                guard
                    let operation = try? Operation(
                        transferForm: flipped[...], isErased: vector.erased)
                else { continue }
                #expect(operation.head + operation.tail == flipped, "\(vector.why), bit \(bit)")
                try #expect(remade(operation) == operation, "\(vector.why), bit \(bit)")
            }
        }
    }

    @Test("Attack 13: an operation above its limit is neither made nor read")
    func tooLarge() {
        let header = OperationHeader(kind: .merge, wallClock: 0, clock: 0)
        let payload = [UInt8](repeating: 0, count: Limits.operationByteCountMax)
        let isTooLarge = { (failure: any Error) in
            if case DecodingFailure.tooLarge = failure { true } else { false }
        }
        #expect { try Operation.make(header, payload: payload) } throws: { isTooLarge($0) }
        #expect {
            try Operation(
                transferForm: [UInt8](repeating: 0, count: Limits.epochByteCountMax + 1)[...],
                isErased: false)
        } throws: { isTooLarge($0) }
    }

    @Test("an epoch alone may be larger, up to a limit of its own")
    func epochs() throws {
        func made(_ kind: OperationKind, _ count: Int) throws -> Operation {
            try .make(
                OperationHeader(kind: kind, wallClock: 0, clock: 0),
                payload: [UInt8](repeating: 0, count: count))
        }
        let epoch = OperationKind(rawValue: 7)
        let largest = Limits.epochByteCountMax - 9
        #expect(try made(epoch, largest).byteCount == Limits.epochByteCountMax)
        #expect(throws: DecodingFailure.self) { try made(epoch, largest + 1) }
        #expect(throws: DecodingFailure.self) { try made(.merge, largest) }
    }

    @Test("nothing is made that a reader would refuse")
    func unmakeable() {
        let late = OperationHeader(kind: .merge, wallClock: 7, clock: 7 << 16 - 1)
        #expect(throws: DecodingFailure.self) { try Operation.make(late) }
        let twice = [1, 1].map {
            OperationReference(tag: LogTag($0), sequence: 0, check: Check(high: 0, low: 0))
        }
        let unsorted = OperationHeader(kind: .merge, wallClock: 0, clock: 0, dependencies: twice)
        #expect(throws: DecodingFailure.unsorted(field: "dependencies")) {
            try Operation.make(unsorted)
        }
    }

    /// The same operation, encoded anew from its header.
    private func remade(_ operation: Operation) throws -> Operation {
        switch operation.body {
        case .none:
            return try Operation.make(operation.header)
        case .present(let salt, let payload):
            return try Operation.make(operation.header, salt: salt, payload: payload)
        case .erased(let commitment, let salted, let count):
            return try Operation.make(
                operation.header, salt: [UInt8](repeating: 0, count: salted ? 16 : 0),
                payload: [UInt8](repeating: 0, count: count)
            ).erased(commitment: commitment)
        }
    }

    private func text(_ reference: OperationReference) -> String {
        "\(reference.tag)/\(reference.sequence)/\(reference.check)"
    }
}
