import ParleyWire

@testable import WireTests

extension Decoder {
    static let wire: [Decoder] = [
        Decoder(
            name: "operation", sources: ["Sources/Wire/Operation+Codec.swift": 1],
            inputs: { try operations(erased: false) },
            decode: { bytes in
                let read = try? Operation(transferForm: bytes[...], isErased: false)
                return read.map { $0.head + $0.tail }
            }),
        Decoder(
            name: "erased operation", sources: [:], inputs: { try operations(erased: true) },
            decode: { bytes in
                let read = try? Operation(transferForm: bytes[...], isErased: true)
                return read.map { $0.head + $0.tail }
            }),
        Decoder(
            name: "frame",
            sources: ["Sources/Wire/Frame+Codec.swift": 1, "Sources/Wire/Run.swift": 1],
            // Two compressions of one run are the same run.
            hasOneSpelling: false,
            inputs: { try frames() },
            decode: { bytes in (try? Frame.decode(bytes))??.encoded() }),
        Decoder(
            name: "piece of a file", sources: ["Sources/Wire/BlobFrames.swift": 1],
            // The rest of the frame is not read.
            hasOneSpelling: false,
            inputs: { try frames().filter { BlobPiece(in: $0) != nil } },
            decode: { bytes in BlobPiece(in: bytes).map { _ in bytes } }),
        Decoder(
            name: "message of multicast DNS", sources: ["Sources/Wire/DNSMessage+Codec.swift": 3],
            // Names may refer to others, and what is not known is left out.
            hasOneSpelling: false,
            inputs: { DNSMessageTests.samples.map(\.encoded) + [DNSMessageTests.compressed] },
            decode: { bytes in (try? DNSMessage.decode(bytes))?.encoded }),
    ]

    /// Frames of every kind, some with runs that are compressed.
    static func frames() throws -> [[UInt8]] {
        var random = SeededRandom(seed: 56)
        var frames = try random.frames() + random.frames()
        var run = try random.run()
        run.operations = try (0..<40).map { _ in try random.operation().operation }
        (run.first, run.heads) = (0, [])
        let space = random.identifier() as SpaceID
        frames.append(.operations(Operations(space: space, endsAnswer: true, runs: [run, run])))
        let fork = try ForkProof(space: space, left: random.run(), right: random.run())
        frames.append(.fork(fork))
        return frames.map { $0.encoded() }
    }

    private static func operations(erased: Bool) throws -> [[UInt8]] {
        var random = SeededRandom(seed: 57)
        var found: [[UInt8]] = []
        while found.count < 24 {
            let (operation, isErased) = try random.operation()
            if isErased == erased { found.append(operation.head + operation.tail) }
        }
        return found
    }
}
