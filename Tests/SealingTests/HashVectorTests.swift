import Foundation
@testable import ParleySealing
import ParleyWire
import Testing

/// The vectors of `Protocol/02-encoding.md`, "Hashes", made by another implementation.
@Suite("Hash vectors")
struct HashVectorTests {
    struct Vector: Decodable {
        let label: String
        let message: String?
        let key: String?
        let context: String?
        let result: String
        let why: String
    }

    struct File: Decodable {
        let vectors: [Vector]
    }

    static let labels: [String: Label] = [
        "lp1/op": .op, "lp1/body": .body, "lp1/ks/row": .row, "lp1/ks/nonce": .rowNonce,
    ]

    @Test("hashes and derived keys are those of another implementation")
    func vectors() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("Protocol/Vectors/hashing/hashes.json")
        let vectors = try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).vectors
        #expect(vectors.count > 5)
        for vector in vectors {
            let label = try #require(Self.labels[vector.label])
            #expect(try Self.result(of: vector, label) == vector.result, "\(vector.why)")
        }
    }

    static func result(of vector: Vector, _ label: Label) throws -> String {
        if let message = vector.message {
            let hash: Digest = digest(label, try #require(bytes(hex: message)))
            return hash.description
        }
        let key = try #require(vector.key.flatMap { bytes(hex: $0) })
        let context = try #require(vector.context.flatMap { bytes(hex: $0) })
        let count = vector.result.count / 2
        return hex(derive(key: key, label, context: context, byteCount: count))
    }
}
