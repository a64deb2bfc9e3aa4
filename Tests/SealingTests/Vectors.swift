import Foundation
import ParleyWire
import Testing

/// Reads the very files that the protocol's pages link to.
enum Vectors {
    struct File<Case: Decodable>: Decodable {
        let cases: [Case]
    }

    static func cases<Case: Decodable>(_ path: String, as: Case.Type = Case.self) throws -> [Case] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let url = root.appendingPathComponent("Protocol/Vectors/\(path)")
        return try JSONDecoder().decode(File<Case>.self, from: Data(contentsOf: url)).cases
    }
}

/// Bytes that a vector writes in hex.
struct Hex: Decodable, Equatable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let decoded = ParleyWire.bytes(hex: text)
        bytes = try #require(decoded)
    }
}

/// The same bytes in every run: SplitMix64.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
