/// WebM and Matroska: elements within elements, whose lengths stand before them.
///
/// As in MP4 nothing moves: what is not known to be part of what is seen and heard becomes an element without
/// meaning, and so do tracks that are neither video nor sound, with their blocks.
struct MatroskaForm {
    private static let (header, segment): (UInt64, UInt64) = (0x1A45_DFA3, 0x1853_8067)
    private static let (duration, scale): (UInt64, UInt64) = (0x4489, 0x2A_D7B1)
    private static let (tracks, track): (UInt64, UInt64) = (0x1654_AE6B, 0xAE)
    private static let (number, kind): (UInt64, UInt64) = (0xD7, 0x83)
    private static let (video, width, height): (UInt64, UInt64, UInt64) = (0xE0, 0xB0, 0xBA)
    private static let (group, block, simple): (UInt64, UInt64, UInt64) = (0xA0, 0xA1, 0xA3)
    private static let (cluster, void): (UInt64, UInt64) = (0x1F43_B675, 0xEC)
    private static let elementCountMax = 1 << 20
    private static let trackCountMax = 1_024

    /// What may stay within an element: of those that are not named here everything. None stands within
    /// itself, so steps down are few.
    private static let known: [UInt64: Set<UInt64>] = [
        // The form's version and name.
        header: [0x4286, 0x42F7, 0x42F2, 0x42F3, 0x4282, 0x4287, 0x4285],
        // Places, what holds for all, tracks, pieces, and places once more.
        segment: [0x114D_9B74, 0x1549_A966, tracks, cluster, 0x1C53_BB6B],
        0x114D_9B74: [0x4DBB],
        0x4DBB: [0x53AB, 0x53AC],
        // How long a unit of time is, and how long all of it is.
        0x1549_A966: [scale, duration],
        tracks: [track],
        // Number, kind, flags, durations, language, coding, and what is said of video or sound.
        track: [
            number, 0x73C5, kind, 0xB9, 0x88, 0x55AA, 0x55AB, 0x55AC, 0x55AD, 0x55AE, 0x55AF, 0x9C,
            0x6DE7, 0x6DF8, 0x23_E383, 0x23_4E7A, 0x23_314F, 0x55EE, 0x41E4, 0x22_B59C, 0x22_B59D,
            0x86, 0x63A2, 0x56AA, 0x56BB, video, 0xE1, 0x6D80,
        ],
        0x41E4: [0x41F0, 0x41E7, 0x41ED],
        video: [
            0x9A, 0x9D, 0x53B8, 0x53C0, width, height, 0x54AA, 0x54BB, 0x54CC, 0x54DD, 0x54B0,
            0x54BA, 0x54B2, 0x54B3, 0x2E_B524, 0x55B0, 0x7670,
        ],
        0x55B0: Set(0x55B1...0x55BD).union([0x55D0]),
        0x55D0: Set(0x55D1...0x55DA),
        0x7670: Set(0x7671...0x7675),
        0xE1: [0xB5, 0x78B5, 0x9F, 0x6264, 0x52F1],
        // Compression of blocks.
        0x6D80: [0x6240],
        0x6240: [0x5031, 0x5032, 0x5033, 0x5034],
        0x5034: [0x4254, 0x4255],
        // A time, sizes, and blocks.
        cluster: [0xE7, 0xA7, 0xAB, simple, group],
        group: [block, 0x75A1, 0x9B, 0xFA, 0xFB, 0xA4, 0x75A2],
        0x75A1: [0xA6],
        0xA6: [0xEE, 0xA5],
        // Times and the places of their blocks.
        0x1C53_BB6B: [0xBB],
        0xBB: [0xB3, 0xB7],
        0xB7: [0xF7, 0xF1, 0xF0, 0xB2, 0x5378, 0xEA, 0xDB],
        0xDB: [0x96],
    ]

    private struct Element {
        let id: UInt64
        let start: UInt64
        let content: UInt64
        let end: UInt64
    }

    /// One for the whole file: it looks at a window of it at a time.
    private var reader: FormReader
    private var form = MediaForm()
    /// Numbers of the tracks that stay.
    private var kept: Set<UInt64> = []
    private var (length, unit): (Double, UInt64) = (0, 1_000_000)

    private init(_ file: any PlacedBytes) { reader = FormReader(file) }

    static func read(_ file: any PlacedBytes) throws -> MediaForm {
        var matroska = MatroskaForm(file)
        return try matroska.read(file.byteCount)
    }

    private mutating func read(_ byteCount: UInt64) throws -> MediaForm {
        let roots = try elements(0, byteCount)
        guard let first = roots.first, first.id == Self.header, let body = roots.dropFirst().first,
            body.id == Self.segment
        else { throw FormFailure.broken }
        form.drop(body.end, byteCount)
        try keepKnown(first)
        let parts = try elements(body.content, body.end)
        // Which blocks stay is known once all tracks are, wherever these stand.
        for part in parts where part.id == Self.tracks { try readTracks(part) }
        for part in parts where part.id != Self.tracks { try keep(part, in: Self.segment) }
        let milliseconds = length * Double(unit) / 1_000_000
        if milliseconds.isFinite, milliseconds > 0, milliseconds < 4e9 {
            form.duration = UInt32(milliseconds)
        }
        return form
    }

    private mutating func keepKnown(_ element: Element) throws {
        guard Self.known[element.id] != nil else { return }
        for part in try elements(element.content, element.end) { try keep(part, in: element.id) }
    }

    /// Keeps a part of an element if it is known, and what is known of it.
    private mutating func keep(_ part: Element, in parent: UInt64) throws {
        guard Self.known[parent]?.contains(part.id) == true else { return silence(part) }
        switch part.id {
        case Self.simple, Self.block:
            if try !isKept(part) { silence(part) }
        case Self.group:
            let parts = try elements(part.content, part.end)
            let block = parts.first { $0.id == Self.block }
            guard let block, try isKept(block) else { return silence(part) }
            for inner in parts { try keep(inner, in: Self.group) }
        case Self.scale, Self.duration: try readTime(part)
        default: try keepKnown(part)
        }
    }

    /// Whether a block is one of a track that stays: its number stands first.
    private mutating func isKept(_ block: Element) throws -> Bool {
        reader.move(to: block.content)
        return kept.contains(try size(until: block.end).value)
    }

    private mutating func readTracks(_ tracks: Element) throws {
        for track in try elements(tracks.content, tracks.end) {
            guard track.id == Self.track else {
                silence(track)
                continue
            }
            let parts = try elements(track.content, track.end)
            // Video, sound, and both in one.
            guard let number = try value(of: Self.number, in: parts),
                let kind = try value(of: Self.kind, in: parts), (1...3).contains(kind),
                kept.count < Self.trackCountMax
            else {
                silence(track)
                continue
            }
            kept.insert(number)
            for part in parts { try keep(part, in: Self.track) }
            let video = parts.first { $0.id == Self.video }
            guard let video, form.width == 0 else { continue }
            let measures = try elements(video.content, video.end)
            form.width = UInt32(clamping: try value(of: Self.width, in: measures) ?? 0)
            form.height = UInt32(clamping: try value(of: Self.height, in: measures) ?? 0)
        }
    }

    /// The number that an element of these holds.
    private mutating func value(of id: UInt64, in elements: [Element]) throws -> UInt64? {
        guard let element = elements.last(where: { $0.id == id }),
            element.end - element.content <= 8
        else { return nil }
        reader.move(to: element.content)
        return try reader.bigEndian(Int(element.end - element.content))
    }

    private mutating func readTime(_ element: Element) throws {
        let count = Int(min(element.end - element.content, 9))
        reader.move(to: element.content)
        switch element.id {
        case Self.scale where count <= 8: unit = try reader.bigEndian(count)
        case Self.duration where count == 4:
            length = Double(Float(bitPattern: UInt32(try reader.bigEndian(4))))
        case Self.duration where count == 8:
            length = Double(bitPattern: try reader.bigEndian(8))
        default: break
        }
    }

    /// Makes an element one that says nothing, of the same length.
    private mutating func silence(_ element: Element) {
        if element.id == Self.void { return form.blank(element.content, element.end) }
        let byteCount = element.end - element.start
        // One byte says what it is; the shortest has two.
        let head =
            byteCount < 128
            ? [0xEC, 0x80 | UInt8(byteCount - 2)]
            : [0xEC, 0x01] + bigEndianBytes(byteCount - 9, 7)
        form.replace(element.start, element.start + UInt64(head.count), by: head)
        form.blank(element.start + UInt64(head.count), element.end)
    }

    private mutating func elements(_ start: UInt64, _ end: UInt64) throws -> [Element] {
        var found: [Element] = []
        reader.move(to: start)
        while reader.place < end {
            guard found.count < Self.elementCountMax else { throw FormFailure.uncleanable }
            let place = reader.place
            let first = try reader.byte()
            guard first >= 0x10 else { throw FormFailure.broken }
            var id = UInt64(first)
            for _ in 0..<first.leadingZeroBitCount { id = id << 8 | UInt64(try reader.byte()) }
            var (count, isKnown) = try size(until: end)
            if !isKnown {
                // A stream that was recorded live does not know its length: for the whole file that
                // does not matter, for a part it would be a guess.
                guard id == Self.segment else { throw FormFailure.uncleanable }
                count = end - reader.place
            }
            guard count <= end - reader.place else { throw FormFailure.broken }
            found.append(
                Element(id: id, start: place, content: reader.place, end: reader.place + count))
            try reader.skip(count)
        }
        return found
    }

    /// The next number of as many bytes as it says, within a part of the file, and whether it says one.
    private mutating func size(until end: UInt64) throws -> (value: UInt64, isKnown: Bool) {
        let head = try reader.byte()
        guard head > 0 else { throw FormFailure.broken }
        let more = head.leadingZeroBitCount
        var count = UInt64(head) & (1 << UInt64(7 - more) - 1)
        for _ in 0..<more { count = count << 8 | UInt64(try reader.byte()) }
        guard reader.place <= end else { throw FormFailure.broken }
        return (count, count != 1 << UInt64(7 * (more + 1)) - 1)
    }
}
