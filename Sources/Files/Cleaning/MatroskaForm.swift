/// WebM and Matroska: elements within elements, whose lengths stand before them.
///
/// As in MP4 nothing moves: metadata becomes an element without meaning.
enum MatroskaForm {
    private static let (header, segment): (UInt64, UInt64) = (0x1A45_DFA3, 0x1853_8067)
    private static let (info, duration, scale): (UInt64, UInt64, UInt64) = (
        0x1549_A966, 0x4489, 0x2A_D7B1
    )
    private static let (tracks, track, video): (UInt64, UInt64, UInt64) = (0x1654_AE6B, 0xAE, 0xE0)
    private static let (width, height): (UInt64, UInt64) = (0xB0, 0xBA)
    /// Tags, files that came along, when it was made, its title, and the programs that made it.
    private static let silenced: Set<UInt64> = [
        0x1254_C367, 0x1941_A469, 0x4461, 0x7BA9, 0x5741, 0x4D80,
    ]
    private static let elementCountMax = 1 << 20

    private struct Element {
        let id: UInt64
        let start: UInt64
        let content: UInt64
        let end: UInt64
    }

    static func read(_ file: any PlacedBytes) throws -> MediaForm {
        var form = MediaForm()
        let roots = try elements(file, 0, file.byteCount)
        guard roots.first?.id == header, let body = roots.dropFirst().first, body.id == segment
        else {
            throw FormFailure.broken
        }
        form.drop(body.end, file.byteCount)
        for element in try elements(file, body.content, body.end) {
            switch element.id {
            case _ where silenced.contains(element.id): silence(element, &form)
            case info: try readInfo(file, element, &form)
            case tracks:
                for track in try elements(file, element.content, element.end)
                where track.id == Self.track {
                    try measure(file, track, &form)
                }
            default: break
            }
        }
        return form
    }

    private static func readInfo(
        _ file: any PlacedBytes, _ info: Element, _ form: inout MediaForm
    ) throws {
        var (length, unit): (Double, UInt64) = (0, 1_000_000)
        for element in try elements(file, info.content, info.end) {
            var reader = FormReader(file, from: element.content, to: element.end)
            let count = Int(min(element.end - element.content, 9))
            switch element.id {
            case _ where silenced.contains(element.id): silence(element, &form)
            case scale where count <= 8: unit = try reader.bigEndian(count)
            case duration where count == 4:
                length = Double(Float(bitPattern: UInt32(try reader.bigEndian(4))))
            case duration where count == 8: length = Double(bitPattern: try reader.bigEndian(8))
            default: break
            }
        }
        let milliseconds = length * Double(unit) / 1_000_000
        if milliseconds.isFinite, milliseconds > 0, milliseconds < 4e9 {
            form.duration = UInt32(milliseconds)
        }
    }

    private static func measure(
        _ file: any PlacedBytes, _ track: Element, _ form: inout MediaForm
    ) throws {
        let video = try elements(file, track.content, track.end).first { $0.id == Self.video }
        guard let video, form.width == 0 else { return }
        for element in try elements(file, video.content, video.end) {
            guard element.end - element.content <= 4 else { continue }
            var reader = FormReader(file, from: element.content, to: element.end)
            let value = UInt32(try reader.bigEndian(Int(element.end - element.content)))
            if element.id == width { form.width = value }
            if element.id == height { form.height = value }
        }
    }

    /// Makes an element one that says nothing, of the same length.
    private static func silence(_ element: Element, _ form: inout MediaForm) {
        let byteCount = element.end - element.start
        // One byte says what it is; the shortest has two.
        let head =
            byteCount < 128
            ? [0xEC, 0x80 | UInt8(byteCount - 2)]
            : [0xEC, 0x01] + bigEndianBytes(byteCount - 9, 7)
        form.replace(element.start, element.start + UInt64(head.count), by: head)
        form.blank(element.start + UInt64(head.count), element.end)
    }

    private static func elements(
        _ file: any PlacedBytes, _ start: UInt64, _ end: UInt64
    ) throws -> [Element] {
        var found: [Element] = []
        var place = start
        while place < end {
            guard found.count < elementCountMax else { throw FormFailure.uncleanable }
            var reader = FormReader(file, from: place, to: end)
            let first = try reader.byte()
            guard first >= 0x10 else { throw FormFailure.broken }
            var id = UInt64(first)
            for _ in 0..<first.leadingZeroBitCount { id = id << 8 | UInt64(try reader.byte()) }
            let head = try reader.byte()
            guard head > 0 else { throw FormFailure.broken }
            let more = head.leadingZeroBitCount
            var count = UInt64(head) & (1 << UInt64(7 - more) - 1)
            for _ in 0..<more { count = count << 8 | UInt64(try reader.byte()) }
            if count == 1 << UInt64(7 * (more + 1)) - 1 {
                // A stream that was recorded live does not know its length: for the whole file that
                // does not matter, for a part it would be a guess.
                guard id == segment else { throw FormFailure.uncleanable }
                count = end - reader.place
            }
            guard count <= end - reader.place else { throw FormFailure.broken }
            found.append(
                Element(id: id, start: place, content: reader.place, end: reader.place + count))
            place = reader.place + count
        }
        return found
    }
}
