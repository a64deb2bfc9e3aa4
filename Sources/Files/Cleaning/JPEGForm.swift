/// JPEG: segments, and between them entropy-coded data.
///
/// Of the segments that describe a picture, those with its format and the colour profile stay. Data
/// after the end is removed: phones put videos and further pictures there, with all their metadata.
enum JPEGForm {
    private static let segmentCountMax = 65_536

    static func read(_ file: any PlacedBytes, keepsColours: Bool) throws -> MediaForm {
        var reader = FormReader(file)
        var form = MediaForm()
        guard try reader.bytes(2) == [0xFF, 0xD8] else { throw FormFailure.broken }
        var orientation: UInt8 = 1
        var hasScan = false
        for _ in 0..<segmentCountMax {
            // A file whose end is missing shows all the same.
            if reader.isAtEnd, hasScan {
                form.turn(by: orientation)
                return form
            }
            let start = reader.place
            guard try reader.byte() == 0xFF else { throw FormFailure.broken }
            var marker = try reader.byte()
            while marker == 0xFF { marker = try reader.byte() }
            if marker == 0xD9 {
                form.drop(reader.place, file.byteCount)
                form.turn(by: orientation)
                return form
            }
            if marker == 0x01 || (0xD0...0xD7).contains(marker) { continue }
            guard marker >= 0xC0 else { throw FormFailure.broken }
            let length = try reader.bigEndian(2)
            guard length >= 2 else { throw FormFailure.broken }
            let content = try reader.bytes(Int(length) - 2)
            switch marker {
            case 0xDA:
                hasScan = true
                try skipScan(&reader)
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard content.count >= 5 else { throw FormFailure.broken }
                form.height = UInt32(content[1]) << 8 | UInt32(content[2])
                form.width = UInt32(content[3]) << 8 | UInt32(content[4])
            case 0xE1 where orientation == 1 && content.starts(with: Array("Exif\0\0".utf8)):
                orientation = Orientation.read(content)
                let kept = orientation == 1 ? [] : segment(orientation)
                form.replace(start, reader.place, by: kept)
            case 0xE0...0xEF, 0xFE, 0xF0...0xFD:
                if !isKept(marker, content, keepsColours) { form.drop(start, reader.place) }
            default: break
            }
        }
        throw FormFailure.broken
    }

    /// Skips entropy-coded data to the next marker.
    private static func skipScan(_ reader: inout FormReader) throws {
        while try reader.find(0xFF) {
            let place = reader.place
            _ = try reader.byte()
            guard !reader.isAtEnd else { return }
            var next = try reader.byte()
            while next == 0xFF, !reader.isAtEnd { next = try reader.byte() }
            if next == 0 || (0xD0...0xD7).contains(next) { continue }
            reader.goBack(to: place)
            return
        }
    }

    private static func isKept(_ marker: UInt8, _ content: [UInt8], _ keepsColours: Bool) -> Bool {
        switch marker {
        // Without a small picture in it.
        case 0xE0: content.starts(with: Array("JFIF\0".utf8)) && content.count == 14
        case 0xE2: keepsColours && content.starts(with: Array("ICC_PROFILE\0".utf8))
        case 0xEE: content.starts(with: Array("Adobe".utf8)) && content.count == 12
        default: false
        }
    }

    private static func segment(_ orientation: UInt8) -> [UInt8] {
        let content = Array("Exif\0\0".utf8) + Orientation.exif(orientation)
        return [0xFF, 0xE1] + bigEndianBytes(UInt64(content.count + 2), 2) + content
    }
}
