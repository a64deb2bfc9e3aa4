import Foundation
import ParleyWire

/// Reads the very files that the protocol's pages link to.
enum VectorFile {
    struct Content<Vector: Decodable>: Decodable {
        let vectors: [Vector]
    }

    static func vectors<Vector: Decodable>(
        _ path: String, as: Vector.Type = Vector.self
    ) throws -> [Vector] {
        let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Protocol/Vectors")
        let data = try Data(contentsOf: folder.appendingPathComponent(path + ".json"))
        return try JSONDecoder().decode(Content<Vector>.self, from: data).vectors
    }
}

/// The same numbers in every run (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// A number of any size, small ones as likely as large ones, below `limit`.
    mutating func number(below limit: UInt64 = .max) -> UInt64 {
        min(next() >> UInt64.random(in: 0..<64, using: &self), limit - 1)
    }

    mutating func identifier<Subject>() -> Identifier<Subject> {
        let bytes = bytes(32)
        return Identifier { $0.copyBytes(from: bytes) }
    }

    mutating func check() -> Check { Check(high: next(), low: next()) }

    /// Ascending numbers, none twice.
    mutating func ascending(atMost count: Int) -> [UInt64] {
        let numbers = (0..<Int.random(in: 0...count, using: &self)).map { _ in next() }
        return Set(numbers).sorted()
    }

    mutating func pick() -> Bool { Bool.random(using: &self) }
}
