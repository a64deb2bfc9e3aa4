/// A box of an ISO media file: HEIF, AVIF, MP4 and MOV consist of them.
struct ISOBox {
    private static let countMax = 1 << 16

    let name: String
    /// Where its length stands.
    let start: UInt64
    /// Where its content begins.
    let content: UInt64
    /// The place behind it.
    let end: UInt64

    /// The boxes that fill a part of a file.
    ///
    /// - Throws: ``FormFailure/broken`` where they do not fill it exactly.
    static func all(in file: any PlacedBytes, _ start: UInt64, _ end: UInt64) throws -> [ISOBox] {
        var boxes: [ISOBox] = []
        var place = start
        while place < end {
            // QuickTime ends some lists with a zero.
            if end - place == 4 { return boxes }
            var reader = FormReader(file, from: place, to: end)
            var count = try reader.bigEndian(4)
            let name = try reader.name()
            switch count {
            case 0: count = end - place
            case 1: count = try reader.bigEndian(8)
            default: break
            }
            guard count >= reader.place - place, count <= end - place, boxes.count < countMax else {
                throw FormFailure.broken
            }
            boxes.append(
                ISOBox(name: name, start: place, content: reader.place, end: place + count))
            place += count
        }
        return boxes
    }

    /// The boxes within it, behind so many bytes of its own.
    func boxes(in file: any PlacedBytes, after byteCount: UInt64 = 0) throws -> [ISOBox] {
        guard end - content >= byteCount else { throw FormFailure.broken }
        return try ISOBox.all(in: file, content + byteCount, end)
    }

    /// Reads its content from a place of it on.
    func reader(of file: any PlacedBytes, at place: UInt64 = 0) throws -> FormReader {
        guard end - content >= place else { throw FormFailure.broken }
        return FormReader(file, from: content + place, to: end)
    }
}

extension [ISOBox] {
    /// The first box of this name.
    func first(_ name: String) -> ISOBox? { first { $0.name == name } }
}

extension MediaForm {
    /// Makes a box one that says nothing: nothing behind it moves, so that every place that the file names
    /// stays right.
    mutating func silence(_ box: ISOBox) {
        replace(box.start + 4, box.start + 8, by: Array("free".utf8))
        blank(box.content, box.end)
    }
}
