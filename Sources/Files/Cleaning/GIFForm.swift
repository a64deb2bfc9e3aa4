/// GIF: blocks. Pictures, their times and their rounds stay; comments and what programs add go.
enum GIFForm {
    private static let blockCountMax = 1 << 20
    /// Of what programs add: how often it is played, and its colours.
    private static let kept: Set<String> = ["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"]

    static func read(_ file: any PlacedBytes) throws -> MediaForm {
        var reader = FormReader(file)
        var form = MediaForm()
        guard ["GIF87a", "GIF89a"].contains(formName(try reader.bytes(6))) else {
            throw FormFailure.broken
        }
        form.width = UInt32(try reader.littleEndian(2))
        form.height = UInt32(try reader.littleEndian(2))
        let flags = try reader.byte()
        try reader.skip(2 + colourByteCount(flags))
        for _ in 0..<blockCountMax {
            // A file whose end is missing shows all the same.
            guard !reader.isAtEnd else { return form }
            let start = reader.place
            switch try reader.byte() {
            case 0x3B:
                form.drop(reader.place, file.byteCount)
                return form
            case 0x2C:
                try reader.skip(8)
                let flags = try reader.byte()
                try reader.skip(colourByteCount(flags) + 1)
                _ = try parts(&reader)
            case 0x21:
                let label = try reader.byte()
                let first = try parts(&reader)
                let isKept = label == 0xF9 || (label == 0xFF && kept.contains(formName(first)))
                if !isKept { form.drop(start, reader.place) }
            default: throw FormFailure.broken
            }
        }
        throw FormFailure.broken
    }

    private static func colourByteCount(_ flags: UInt8) -> UInt64 {
        flags & 0x80 == 0 ? 0 : 3 << (UInt64(flags & 7) + 1)
    }

    /// Goes past the parts of a block; returns the first of them.
    private static func parts(_ reader: inout FormReader) throws -> [UInt8] {
        var count = Int(try reader.byte())
        guard count > 0 else { return [] }
        let first = try reader.bytes(count)
        while true {
            count = Int(try reader.byte())
            if count == 0 { return first }
            try reader.skip(UInt64(count))
        }
    }
}
