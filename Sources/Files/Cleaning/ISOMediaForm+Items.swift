/// Pictures of HEIF and AVIF: items, and where they lie.
extension ISOMediaForm {
    private static let parts: Set<String> = [
        "hdlr", "pitm", "iinf", "iloc", "iref", "iprp", "idat", "dinf", "grpl", "ipro",
    ]
    /// Items that are pictures, or put together from some.
    private static let pictures: Set<String> = [
        "hvc1", "av01", "jpeg", "avc1", "vvc1", "lhv1", "grid", "iden", "iovl", "tmap", "unci",
        "j2k1",
    ]
    /// How pictures are coded, put together and shown: what they are called, and when they were made, is
    /// not among it.
    private static let properties: Set<String> = [
        "ispe", "pixi", "colr", "pasp", "clap", "irot", "imir", "iscl", "rloc", "auxC", "lsel",
        "a1op",
        "a1lx", "hvcC", "lhvC", "av1C", "avcC", "vvcC", "evcC", "jpgC", "j2kH", "cmpd", "cmpC",
        "uncC",
        "clli", "mdcv", "cclv", "amve", "oinf", "tols", "rref",
    ]
    private static let itemCountMax = 65_536
    private static let empty: [String: [UInt8]] = [
        "Exif": [0, 0, 0, 0, 0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0],
        "mime": Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8),
    ]

    /// Blanks the items that are no pictures.
    ///
    /// - Returns: whether the box tells of pictures.
    mutating func readItems(_ meta: ISOBox) throws -> Bool {
        // In QuickTime it has no version before its boxes.
        guard let parts = try? meta.boxes(in: file, after: 4), let handler = parts.first("hdlr")
        else { return false }
        var reader = try handler.reader(of: file, at: 8)
        guard try reader.name() == "pict" else { return false }
        try blankNames(handler)
        for part in parts where !Self.parts.contains(part.name) { form.silence(part) }
        var others: [UInt64: String] = [:]
        for (item, kind) in try items(parts) where !Self.pictures.contains(kind) {
            others[item] = kind
        }
        if !others.isEmpty { try blank(others, parts) }
        for box in parts where box.name == "iprp" { try readProperties(box) }
        for box in parts where box.name == "dinf" { try keepKnown(box) }
        return true
    }

    /// Every item with its kind. Their names are blanked.
    private mutating func items(_ parts: [ISOBox]) throws -> [(UInt64, String)] {
        guard let list = parts.first("iinf") else { return [] }
        var reader = try list.reader(of: file)
        let isLong = try reader.bigEndian(4) >> 24 > 0
        _ = try reader.bigEndian(isLong ? 4 : 2)
        return try list.boxes(in: file, after: isLong ? 8 : 6).map { entry in
            var reader = try entry.reader(of: file)
            let version = try reader.bigEndian(4) >> 24
            guard entry.name == "infe", version == 2 || version == 3 else {
                throw FormFailure.uncleanable
            }
            let item = try reader.bigEndian(version == 2 ? 2 : 4)
            try reader.skip(2)
            let kind = try reader.name()
            form.blank(reader.place, entry.end)
            return (item, kind)
        }
    }

    /// Blanks these items, wherever they lie.
    private mutating func blank(_ items: [UInt64: String], _ parts: [ISOBox]) throws {
        guard let list = parts.first("iloc") else { throw FormFailure.broken }
        var reader = try list.reader(of: file)
        let version = try reader.bigEndian(4) >> 24
        let sizes = try reader.bigEndian(2)
        let (placeSize, lengthSize) = (Int(sizes >> 12 & 15), Int(sizes >> 8 & 15))
        let (baseSize, indexSize) = (Int(sizes >> 4 & 15), version > 0 ? Int(sizes & 15) : 0)
        guard version <= 2, [placeSize, lengthSize, baseSize, indexSize].allSatisfy({ $0 <= 8 })
        else { throw FormFailure.uncleanable }
        let count = try reader.bigEndian(version == 2 ? 4 : 2)
        guard count <= Self.itemCountMax else { throw FormFailure.uncleanable }
        for _ in 0..<count {
            let item = try reader.bigEndian(version == 2 ? 4 : 2)
            let method = version > 0 ? try reader.bigEndian(2) & 15 : 0
            let source = try reader.bigEndian(2)
            let base = try reader.bigEndian(baseSize)
            for _ in 0..<(try reader.bigEndian(2)) {
                try reader.skip(UInt64(indexSize))
                let place = try reader.bigEndian(placeSize)
                let length = try reader.bigEndian(lengthSize)
                guard let kind = items[item] else { continue }
                let (start, isTooFar) = base.addingReportingOverflow(place)
                guard !isTooFar, length > 0, source == 0 else { throw FormFailure.uncleanable }
                try blank(kind, start, length, method, parts)
            }
        }
    }

    private mutating func blank(
        _ kind: String, _ place: UInt64, _ count: UInt64, _ method: UInt64, _ parts: [ISOBox]
    ) throws {
        switch method {
        case 0:
            try blankData(place, count)
            // Where a reader looks for something it finds what says nothing.
            let head = Self.empty[kind] ?? []
            guard !head.isEmpty, count >= head.count else { return }
            _ = form.edits.popLast()
            form.replace(place, place + UInt64(head.count), by: head)
            form.blank(place + UInt64(head.count), place + count)
        case 1:
            guard let data = parts.first("idat"), place <= data.end - data.content,
                count <= data.end - data.content - place
            else { throw FormFailure.broken }
            form.blank(data.content + place, data.content + place + count)
        default: throw FormFailure.uncleanable
        }
    }

    /// Silences what is not known of pictures, and reads how large the largest is.
    private mutating func readProperties(_ properties: ISOBox) throws {
        let isMeasured = form.width > 0
        for list in try properties.boxes(in: file) where list.name != "ipma" {
            guard list.name == "ipco" else {
                form.silence(list)
                continue
            }
            for box in try list.boxes(in: file) {
                if !Self.properties.contains(box.name) { form.silence(box) }
                guard box.name == "ispe", !isMeasured else { continue }
                var reader = try box.reader(of: file, at: 4)
                let (width, height) = (try reader.bigEndian(4), try reader.bigEndian(4))
                if width * height > UInt64(form.width) * UInt64(form.height) {
                    (form.width, form.height) = (UInt32(width), UInt32(height))
                }
            }
        }
    }
}
