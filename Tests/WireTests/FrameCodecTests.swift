import ParleyWire
import Testing

@Suite("Frame codec")
struct FrameCodecTests {
    struct Valid: Decodable {
        let input, value, why: String
    }

    struct Hostile: Decodable {
        let input, refusal, why: String
    }

    static func valid() throws -> [Valid] { try VectorFile.vectors("frame/valid") }

    @Test("valid vectors read as they say and are written back byte for byte")
    func validVectors() throws {
        for vector in try Self.valid() {
            let input = try #require(bytes(hex: vector.input))
            let frame = try #require(try Frame.decode(input), "\(vector.why)")
            #expect(frame.vectorText == vector.value, "\(vector.why)")
            #expect(frame.encoded() == input, "\(vector.why)")
        }
    }

    @Test("Attack 11: frames: hostile vectors are refused for the reason that they give")
    func hostileVectors() throws {
        let vectors = try VectorFile.vectors("frame/hostile", as: Hostile.self)
        #expect(vectors.count > 30)
        for vector in vectors {
            let input = try #require(bytes(hex: vector.input))
            var refusal: String?
            do {
                if try Frame.decode(input) == nil { refusal = "unknown" }
            } catch {
                refusal = EncodingVectorTests.name(of: error)
            }
            #expect(refusal == vector.refusal, "\(vector.why)")
        }
    }

    @Test("every frame is read as it was written", arguments: 1...8 as ClosedRange<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            for frame in try random.frames() {
                #expect(try Frame.decode(frame.encoded()) == frame, "seed \(seed)")
            }
        }
    }

    @Test("compressed runs come back, and together grow no further than one may")
    func compressed() throws {
        var random = SeededRandom(seed: 9)
        let header = OperationHeader(
            kind: OperationKind(rawValue: 64), wallClock: 1, clock: 1 << 16)
        let operation = try Operation.make(
            header, payload: [UInt8](repeating: 7, count: 20_000))
        let run = Run(
            device: random.identifier(), lane: .content, first: 0, anchor: nil,
            operations: Array(
                repeating: operation, count: Limits.uncompressedOperationCountMax + 1),
            heads: [])
        var operations = Operations(space: random.identifier(), endsAnswer: false, runs: [run])
        var shorter = run
        shorter.operations = try (0..<30).map { _ in try random.operation().operation }
        operations.runs.append(shorter)
        let frame = Frame.operations(operations)
        #expect(frame.encoded().count < 20_000)
        #expect(try Frame.decode(frame.encoded()) == frame)
        // 640,000 bytes would follow from a few hundred.
        operations.runs = [run, run]
        let bomb = Frame.operations(operations).encoded()
        #expect(bomb.count < 1000)
        #expect(throws: DecodingFailure.self) { try Frame.decode(bomb) }
    }

    @Test(
        "Attack 12: a frame cut anywhere, or with a byte too many, is refused", arguments: [11, 12])
    func cut(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let vectors = try Self.valid().compactMap { bytes(hex: $0.input) }
        for input in try vectors + random.frames().map({ $0.encoded() }) {
            for length in 0..<input.count {
                #expect(throws: DecodingFailure.self, "seed \(seed), cut at \(length)") {
                    try Frame.decode(Array(input[..<length]))
                }
            }
            #expect(throws: DecodingFailure.trailingBytes(1)) { try Frame.decode(input + [0]) }
        }
    }

    @Test("a flipped bit is refused, or gives another frame that is written the same way")
    func flippedBits() throws {
        for vector in try Self.valid() {
            let input = try #require(bytes(hex: vector.input))
            for bit in 0..<input.count * 8 {
                var flipped = input
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                guard let frame = try? Frame.decode(flipped) else { continue }
                #expect(frame.encoded() == flipped, "\(vector.why), bit \(bit)")
            }
        }
    }

    @Test("arbitrary bytes never crash the decoder", arguments: [13, 14, 15])
    func noise(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<3000 {
            let type = UInt8(random.next() % 23)
            let input = [type] + random.bytes(Int(random.next() % 120))
            guard let frame = try? Frame.decode(input) else { continue }
            #expect(frame.encoded() == input, "seed \(seed)")
        }
    }

    @Test("Attack 13: a frame above its limit is refused whatever it holds")
    func tooLarge() {
        let input = [UInt8](repeating: 0x12, count: Limits.frameByteCountMax + 1)
        #expect(
            throws: DecodingFailure.tooLarge(
                field: "frame", value: UInt64(input.count),
                limit: UInt64(Limits.frameByteCountMax))
        ) { try Frame.decode(input) }
    }
}

extension Frame {
    /// The frame as the vectors write it.
    fileprivate var vectorText: String {
        switch self {
        case .hello(let hello):
            "hello capabilities=\(hello.capabilities) wallClock=\(hello.wallClock) "
                + "generation=\(LogTag(hello.generation)) credit=\(hello.credit)"
        case .spaces(let spaces):
            (["spaces salt=\(LogTag(spaces.salt))"]
                + spaces.entries.map {
                    "\(LogTag($0.hash)):\($0.digests.control),\($0.digests.content),"
                        + "\($0.digests.receipts)"
                }).joined(separator: " ")
        case .frontier(let front): front.vectorText
        case .want(let want):
            (["want \(want.space) limit=\(want.limit)"]
                + want.ranges.map { "\($0.tag):\($0.first)-\($0.last)" }).joined(separator: " ")
        case .operations(let operations):
            (["ops \(operations.space)"] + (operations.endsAnswer ? ["ends"] : [])
                + operations.runs.map(\.vectorText)).joined(separator: " ")
        case .acknowledge(let acknowledgement):
            (["ack \(acknowledgement.space)"]
                + acknowledgement.entries.map { "\($0.tag):\($0.sequence):\($0.check)" })
                .joined(separator: " ")
        case .credit(let bytes): "credit \(bytes)"
        case .error(let error): "error \(error.rawValue)"
        case .bye: "bye"
        case .introduce(let introduction):
            "introduce card=\(hex(introduction.card))"
                + (introduction.redemption.map {
                    " invite=\(LogTag($0.invite)) proof=\($0.proof)"
                } ?? "")
                + (introduction.join.map {
                    " join=\($0.space) by=\($0.invite) signature=\(hex($0.signature.bytes))"
                        + " consent=\(hex($0.consent.bytes))"
                        + $0.departures.map { " after=\($0)" }.joined()
                } ?? "") + (introduction.isRequest ? " asks" : "")
                + (introduction.isContact ? " knows" : "")
        case .heartbeat(let digest): "heartbeat \(digest)"
        case .signal(let bytes): "signal \(hex(bytes))"
        case .blobAsk(let blobs): (["blob ask"] + blobs.map(\.description)).joined(separator: " ")
        case .blobHave(let holding):
            (["blob have \(holding.blob)"] + holding.ranges.map { "\($0.first)-\($0.last)" })
                .joined(separator: " ")
        case .blobWant(let want):
            switch want.part {
            case .section(let index): "blob want \(want.blob) section \(index)"
            case .chunks(let first, let count): "blob want \(want.blob) chunks \(first) \(count)"
            }
        case .blobSection(let section):
            "blob section \(section.blob) size=\(section.size) sections="
                + section.sections.map(\.description).joined(separator: ",")
                + " index=\(section.index) leaves="
                + section.leaves.map(\.description).joined(separator: ",")
        case .blobChunk(let chunk):
            "blob chunk \(chunk.blob) index=\(chunk.index) \(hex(chunk.bytes))"
        case .fork(let proof):
            "fork \(proof.space) \(proof.left.vectorText) \(proof.right.vectorText)"
        }
    }
}

extension Frontier {
    fileprivate var vectorText: String {
        (["front \(space)"] + (isComplete ? ["complete"] : []) + (asksForMissing ? ["asks"] : [])
            + entries.map { "\($0.tag):\($0.sequence):\($0.check)" }
            + ownTips.map {
                "own=\($0.tag):\($0.sequence):\($0.operation):\(hex($0.signature.bytes))"
            }).joined(separator: " ")
    }
}

extension Run {
    fileprivate var vectorText: String {
        "\(device)/\(lane.rawValue) first=\(first)" + (anchor.map { " anchor=\($0)" } ?? "")
            + " ops=\(operations.count) heads=\(heads.count)"
    }
}
