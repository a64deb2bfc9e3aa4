import Foundation
import Testing

@testable import ParleySearch

/// A file of golden vectors.
struct Golden: Decodable {
    struct Row: Decodable, CustomTestStringConvertible {
        var text: String
        var pieces: [Int32]
        var vector: String

        var testDescription: String { String(text.prefix(24)) }

        /// The numbers of the vector.
        var numbers: [Float] {
            let bytes = [UInt8](Data(base64Encoded: vector) ?? Data())
            return stride(from: 0, to: bytes.count, by: 2).map {
                Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32767
            }
        }
    }
    var rows: [Row]

    init(_ name: String) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Protocol/Vectors/search/\(name).json")
        self = try JSONDecoder().decode(Golden.self, from: Data(contentsOf: file))
    }
}

@Suite("MiniLM", .enabled(if: Installed.has(.miniLM), "the model is not installed"))
struct MiniLMTests {
    @Test("gives the pieces and, in full, the vectors of the reference")
    func golden() throws {
        let weights = try MiniLM.Weights(
            folder: Installed.folder(.miniLM), precision: .full)
        let rows = try Golden("minilm").rows
        #expect(rows.count > 20)
        for row in rows {
            #expect(MiniLM.pieces(of: row.text, weights) == row.pieces, "\(row.text.prefix(40))")
        }
        let vectors = MiniLM(weights).embed(rows.map(\.text))
        for (row, vector) in zip(rows, vectors) {
            #expect(Vectors.cosine(row.numbers, vector) > 0.9999, "\(row.text.prefix(40))")
        }
    }

    @Test("stays close to the reference in bytes")
    func bytes() throws {
        let weights = try MiniLM.Weights(folder: Installed.folder(.miniLM), precision: .bytes)
        let rows = try Golden("minilm").rows
        for (row, vector) in zip(rows, MiniLM(weights).embed(rows.map(\.text))) {
            #expect(Vectors.cosine(row.numbers, vector) > 0.985, "\(row.text.prefix(40))")
        }
    }
}

@Suite("USE-m3", .enabled(if: Installed.has(.useM3), "the model is not installed"))
struct MultilingualEncoderTests {
    @Test("gives the pieces and the vectors of the reference")
    func golden() throws {
        let weights = try MultilingualEncoder.Weights(folder: Installed.folder(.useM3))
        let rows = try Golden("use-m3").rows
        #expect(rows.count > 20)
        for row in rows {
            #expect(
                MultilingualEncoder.pieces(of: row.text, weights) == row.pieces,
                "\(row.text.prefix(40))")
        }
        let vectors = MultilingualEncoder(weights).embed(rows.map(\.text))
        for (row, vector) in zip(rows, vectors) {
            #expect(Vectors.cosine(row.numbers, vector) > 0.9999, "\(row.text.prefix(40))")
        }
    }
}
