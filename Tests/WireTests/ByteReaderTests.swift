import ParleyWire
import Testing

@Suite("Byte reader")
struct ByteReaderTests {
    @Test(
        "numbers come back as they were written",
        arguments: [0, 1, 127, 128, 300, 16_383, 16_384, UInt64(UInt32.max), .max])
    func numbers(value: UInt64) throws {
        var writer = ByteWriter()
        writer.number(value)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.number() == value)
        try reader.finish()
    }

    @Test("a number with a second spelling is refused")
    func overlong() {
        var reader = ByteReader([0x80, 0x00])
        #expect(throws: DecodingFailure.overlongNumber) { try reader.number() }
    }

    @Test("a number above 64 bits is refused")
    func tooLarge() {
        var reader = ByteReader([UInt8](repeating: 0xff, count: 9) + [0x02])
        #expect(throws: DecodingFailure.numberTooLarge) { try reader.number() }
    }

    @Test("a count above its limit is refused before anything is read")
    func countLimit() {
        var reader = ByteReader([0xff, 0x7f])
        #expect(throws: DecodingFailure.tooLarge(field: "list", value: 16_383, limit: 10)) {
            try reader.count("list", atMost: 10)
        }
    }

    @Test("identifiers order as their bytes do")
    func identifierOrder() throws {
        let low = try #require(SpaceID([UInt8](repeating: 0, count: 31) + [1]))
        let high = try #require(SpaceID([1] + [UInt8](repeating: 0, count: 31)))
        #expect(low < high)
        #expect(SpaceID(high.bytes) == high)
        #expect(bytes(hex: high.description) == high.bytes)
    }
}
