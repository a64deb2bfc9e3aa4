import Foundation
import ParleyWire
import Testing

/// The vectors that `Protocol/02-encoding.md`, "Vectors" points to, read from the very files.
@Suite("Encoding vectors")
struct EncodingVectorTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let `as`: String
        let input: String
        let limit: Int?
        let value: String?
        let refusal: String?
        let why: String

        var testDescription: String { "\(`as`) \(input.prefix(24)): \(why)" }
    }

    struct File: Decodable {
        let vectors: [Vector]
    }

    static func load(_ name: String) throws -> [Vector] {
        let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Protocol/Vectors/encoding")
        let data = try Data(contentsOf: folder.appendingPathComponent(name + ".json"))
        return try JSONDecoder().decode(File.self, from: data).vectors
    }

    @Test(
        "every vector reads as it says, and writes back the same bytes",
        arguments: [
            "numbers", "fixed", "counted",
        ])
    func vectors(name: String) throws {
        let vectors = try Self.load(name)
        #expect(vectors.count >= 10)
        for vector in vectors {
            let input = try #require(bytes(hex: vector.input))
            #expect((vector.value == nil) != (vector.refusal == nil), "\(vector.why)")
            do {
                let (value, rewritten) = try Self.read(vector, from: input)
                #expect(value == vector.value, "\(vector.testDescription)")
                #expect(rewritten == input, "\(vector.testDescription)")
            } catch {
                #expect(Self.name(of: error) == vector.refusal, "\(vector.testDescription)")
            }
        }
    }

    @Test(
        "every valid vector is refused when cut anywhere",
        arguments: [
            "numbers", "fixed", "counted",
        ])
    func cut(name: String) throws {
        for vector in try Self.load(name) where vector.value != nil {
            let input = try #require(bytes(hex: vector.input))
            for length in 0..<input.count {
                #expect(throws: DecodingFailure.truncated, "\(vector.why), cut at \(length)") {
                    try Self.read(vector, from: Array(input[..<length]))
                }
            }
        }
    }

    /// The value as the vectors write it, and the bytes that the writer makes of it.
    static func read(
        _ vector: Vector, from input: [UInt8]
    ) throws(DecodingFailure) -> (String, [UInt8]) {
        var reader = ByteReader(input)
        var writer = ByteWriter()
        let text: String
        switch vector.as {
        case "number":
            let value = try reader.number()
            writer.number(value)
            text = String(value)
        case "byte":
            let value = try reader.byte()
            writer.byte(value)
            text = String(value)
        case "counted":
            let count = try reader.count("vector", atMost: vector.limit ?? 0)
            let value = try reader.slice(count)
            writer.counted(value)
            text = hex(value)
        default: text = try fixed(vector.as, &reader, &writer)
        }
        try reader.finish()
        return (text, writer.bytes)
    }

    private static func fixed(
        _ kind: String, _ reader: inout ByteReader, _ writer: inout ByteWriter
    ) throws(DecodingFailure) -> String {
        switch kind {
        case "u16":
            let value = try reader.uint16()
            writer.uint16(value)
            return String(value)
        case "u32":
            let value = try reader.uint32()
            writer.uint32(value)
            return String(value)
        case "u64":
            let value = try reader.uint64()
            writer.uint64(value)
            return String(value)
        case "identifier":
            let value: Digest = try reader.identifier()
            writer.identifier(value)
            return value.description
        case "check":
            let value = try reader.check()
            writer.check(value)
            return value.description
        default:
            Issue.record("no such primitive: \(kind)")
            return ""
        }
    }

    /// The word that vectors use for a refusal.
    static func name(of failure: DecodingFailure) -> String {
        switch failure {
        case .truncated: "truncated"
        case .trailingBytes: "trailingBytes"
        case .overlongNumber: "overlongNumber"
        case .numberTooLarge: "numberTooLarge"
        case .tooLarge: "tooLarge"
        case .unknownFlags: "unknownFlags"
        case .unknownVersion: "unknownVersion"
        case .forbidden: "forbidden"
        case .unsorted: "unsorted"
        }
    }
}
