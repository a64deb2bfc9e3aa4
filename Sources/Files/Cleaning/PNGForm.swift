/// PNG: chunks with a name. Those that make the picture stay, with its colours and its movement.
enum PNGForm {
    private static let chunkCountMax = 1 << 20
    private static let kept: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "sBIT", "sRGB", "cICP", "mDCV",
        "cLLI", "bKGD", "hIST", "pHYs", "sPLT", "acTL", "fcTL", "fdAT",
    ]
    /// Where a colour profile is.
    private static let profile = "iCCP"

    static func read(_ file: any PlacedBytes, keepsColours: Bool) throws -> MediaForm {
        var reader = FormReader(file)
        var form = MediaForm()
        guard try reader.bytes(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] else {
            throw FormFailure.broken
        }
        var orientation: UInt8 = 1
        for index in 0..<chunkCountMax {
            let start = reader.place
            let count = try reader.bigEndian(4)
            let name = try reader.name()
            guard count < 1 << 31, (index == 0) == (name == "IHDR") else {
                throw FormFailure.broken
            }
            if name == "IHDR" {
                guard count == 13 else { throw FormFailure.broken }
                form.width = UInt32(try reader.bigEndian(4))
                form.height = UInt32(try reader.bigEndian(4))
                try reader.skip(5 + 4)
            } else if name == "eXIf", orientation == 1, count < FormReader.partByteCountMax {
                orientation = Orientation.read(try reader.bytes(Int(count)))
                try reader.skip(4)
                let exif = Orientation.exif(orientation)
                form.replace(
                    start, reader.place, by: orientation == 1 ? [] : chunk("eXIf", exif))
            } else {
                try reader.skip(count + 4)
                let isKept = kept.contains(name) || (name == profile && keepsColours)
                if !isKept { form.drop(start, reader.place) }
            }
            if name == "IEND" {
                form.drop(reader.place, file.byteCount)
                form.turn(by: orientation)
                return form
            }
        }
        throw FormFailure.broken
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let checked = Array(name.utf8) + content
        return bigEndianBytes(UInt64(content.count), 4) + checked
            + bigEndianBytes(UInt64(checksum(checked)), 4)
    }

    /// CRC-32, as PNG takes it.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = .max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~sum
    }
}
