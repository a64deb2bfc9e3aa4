/// WebP: chunks within RIFF.
enum WebPForm {
    private static let chunkCountMax = 1 << 16
    private static let kept: Set<String> = ["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF"]
    private static let (profileFlag, exifFlag, labelFlag): (UInt8, UInt8, UInt8) = (
        0x20, 0x08, 0x04
    )

    static func read(_ file: any PlacedBytes, keepsColours: Bool) throws -> MediaForm {
        var head = FormReader(file)
        guard try head.name() == "RIFF" else { throw FormFailure.broken }
        let end = try head.littleEndian(4) + 8
        guard try head.name() == "WEBP", end <= file.byteCount, end >= 12 else {
            throw FormFailure.broken
        }
        var reader = FormReader(file, from: 12, to: end)
        var form = MediaForm()
        var (orientation, flags, flagsPlace): (UInt8, UInt8, UInt64?) = (1, 0, nil)
        var tail: [UInt8] = []
        for _ in 0..<chunkCountMax where !reader.isAtEnd {
            let start = reader.place
            let name = try reader.name()
            let count = try reader.littleEndian(4)
            let content = reader.place
            switch name {
            case "VP8X":
                flags = try reader.byte()
                flagsPlace = content
                try reader.skip(3)
                form.width = UInt32(try reader.littleEndian(3)) + 1
                form.height = UInt32(try reader.littleEndian(3)) + 1
            case "VP8 ", "VP8L":
                if form.width == 0 { try measure(&reader, isLossless: name == "VP8L", &form) }
            case "EXIF" where count < FormReader.partByteCountMax:
                orientation = Orientation.read(try reader.bytes(Int(count)))
            case "ANMF": try checkFrame(file, content, count, end)
            default: break
            }
            reader.goBack(to: content)
            try reader.skip(count)
            // A last chunk of odd length may lack the byte that makes it even.
            let isKept = kept.contains(name) || (name == "ICCP" && keepsColours)
            if !isKept { form.drop(start, reader.place) }
            if count % 2 == 1, !reader.isAtEnd {
                try reader.skip(1)
                if !isKept { form.drop(reader.place - 1, reader.place) }
            } else if count % 2 == 1, isKept {
                tail = [0]
            }
        }
        guard reader.isAtEnd, form.width > 0 else { throw FormFailure.broken }
        // Only where flags stand may Exif.
        if flagsPlace == nil { orientation = 1 }
        if orientation > 1 {
            let exif = Orientation.exif(orientation)
            tail += Array("EXIF".utf8) + littleEndianBytes(UInt64(exif.count), 4) + exif
        }
        if let flagsPlace {
            let cleared = exifFlag | labelFlag | (keepsColours ? 0 : profileFlag)
            form.replace(
                flagsPlace, flagsPlace + 1,
                by: [flags & ~cleared | (orientation > 1 ? exifFlag : 0)])
        }
        finish(&form, tail, end, file.byteCount)
        form.turn(by: orientation)
        return form
    }

    /// What comes last, and the length that all has then.
    private static func finish(
        _ form: inout MediaForm, _ tail: [UInt8], _ end: UInt64, _ byteCount: UInt64
    ) {
        let gone = form.edits.filter { $0.with == .bytes([]) }.reduce(0) { $0 + $1.end - $1.start }
        if end < byteCount || !tail.isEmpty { form.replace(end, byteCount, by: tail) }
        form.replace(4, 8, by: littleEndianBytes(end - gone - 8 + UInt64(tail.count), 4))
    }

    private static func measure(
        _ reader: inout FormReader, isLossless: Bool, _ form: inout MediaForm
    ) throws {
        if isLossless {
            guard try reader.byte() == 0x2F else { throw FormFailure.broken }
            let bits = UInt32(try reader.littleEndian(4))
            (form.width, form.height) = (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        } else {
            try reader.skip(3)
            guard try reader.bytes(3) == [0x9D, 0x01, 0x2A] else { throw FormFailure.broken }
            form.width = UInt32(try reader.littleEndian(2)) & 0x3FFF
            form.height = UInt32(try reader.littleEndian(2)) & 0x3FFF
        }
    }

    /// Refuses a picture of a moving one that holds anything but its points.
    private static func checkFrame(
        _ file: any PlacedBytes, _ start: UInt64, _ count: UInt64, _ end: UInt64
    ) throws {
        guard count >= 16, count <= end - start else { throw FormFailure.broken }
        var reader = FormReader(file, from: start + 16, to: start + count)
        while !reader.isAtEnd {
            let name = try reader.name()
            let count = try reader.littleEndian(4)
            guard ["ALPH", "VP8 ", "VP8L"].contains(name) else { throw FormFailure.uncleanable }
            try reader.skip(count)
            if count % 2 == 1, !reader.isAtEnd { try reader.skip(1) }
        }
    }
}
