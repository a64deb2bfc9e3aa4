/// Videos: a movie with tracks.
extension ISOMediaForm {
    private static let movie: Set<String> = [
        "iods", "ctab", "clip", "pssh",
    ]
    private static let track: Set<String> = [
        "tkhd", "edts", "mdia", "tref", "tapt", "load", "imap", "clip", "matt",
    ]
    /// Video and audio.
    private static let shown: Set<String> = ["vide", "soun", "pict", "auxv"]
    /// Samples of a track that goes.
    private static let sampleCountMax = 1 << 22

    mutating func readMovie(_ movie: ISOBox) throws {
        for box in try movie.boxes(in: file) {
            switch box.name {
            case "mvhd":
                try readTimes(box, isMovie: true)
            case "trak":
                try readTrack(box)
            case "mvex":
                try keepKnown(box)
            case let name where Self.movie.contains(name): break
            default: form.silence(box)
            }
        }
    }

    /// Blanks when it was made and changed, and reads how long it is.
    private mutating func readTimes(_ box: ISOBox, isMovie: Bool = false) throws {
        var reader = try box.reader(of: file)
        let isLong = try reader.bigEndian(4) >> 24 == 1
        let times = reader.place
        try reader.skip(isLong ? 16 : 8)
        form.blank(times, reader.place)
        guard isMovie else { return }
        let scale = try reader.bigEndian(4)
        let length = try reader.bigEndian(isLong ? 8 : 4)
        // All ones is “not known”.
        guard scale > 0, length < (isLong ? 1 << 53 : UInt64(UInt32.max)) else { return }
        form.duration = UInt32(clamping: length / scale * 1_000 + length % scale * 1_000 / scale)
    }

    private mutating func readTrack(_ track: ISOBox) throws {
        let boxes = try track.boxes(in: file)
        guard let media = boxes.first("mdia") else { throw FormFailure.broken }
        let parts = try media.boxes(in: file)
        guard let handler = parts.first("hdlr") else { throw FormFailure.broken }
        var reader = try handler.reader(of: file, at: 8)
        let kind = try reader.name()
        guard Self.shown.contains(kind) else { return try remove(track, parts) }
        try blankNames(handler)
        for box in boxes {
            if Self.track.contains(box.name) {
                try keepKnown(box)
            } else {
                form.silence(box)
            }
        }
        for box in parts {
            switch box.name {
            case "mdhd": try readTimes(box)
            case "minf": try keepKnown(box, of: kind)
            case "hdlr", "elng": break
            default: form.silence(box)
            }
        }
        for box in boxes where box.name == "tkhd" {
            try readTimes(box)
            if kind == "vide" { try measure(box) }
        }
        noteSamples(parts, of: kind)
    }

    /// How large a video is shown.
    private mutating func measure(_ header: ISOBox) throws {
        var reader = try header.reader(of: file)
        let isLong = try reader.bigEndian(4) >> 24 == 1
        try reader.skip((isLong ? 32 : 20) + 16)
        let matrix = try (0..<9).map { _ in try reader.bigEndian(4) }
        let width = UInt32(try reader.bigEndian(4) >> 16)
        let height = UInt32(try reader.bigEndian(4) >> 16)
        guard UInt64(width) * UInt64(height) > UInt64(form.width) * UInt64(form.height) else {
            return
        }
        (form.width, form.height) = (width, height)
        if matrix[0] == 0, matrix[4] == 0 { form.turn(by: 6) }
    }

    // MARK: Tracks that go

    private mutating func remove(_ track: ISOBox, _ media: [ISOBox]) throws {
        // Pieces of it may lie anywhere then.
        guard !boxes.contains(where: { $0.name == "moof" }) else { throw FormFailure.uncleanable }
        let table = try media.first("minf")?.boxes(in: file).first("stbl")?.boxes(in: file)
        guard let table else { throw FormFailure.uncleanable }
        for part in try sampleRanges(table) {
            try blankData(part.lowerBound, UInt64(part.count))
        }
        form.silence(track)
    }

    // MARK: Samples

    /// Notes where the samples of a track are that stays.
    private mutating func noteSamples(_ media: [ISOBox], of kind: String) {
        // Where tables are of another form, what lies between samples is not looked for.
        let table = try? media.first("minf")?.boxes(in: file).first("stbl")?.boxes(in: file)
        // Notes on samples lie among them.
        guard let table, table.first("saio") == nil, let sizes = table.first("stsz"),
            // In QuickTime the size of a sample of sound may be that of a part of it.
            let size = try? sizes.reader(of: file, at: 4).first(4), kind != "soun" || size == 0,
            // As above.
            let ranges = try? sampleRanges(table)
        else {
            samples = nil
            return
        }
        samples?.append(contentsOf: ranges)
    }

    /// Where the samples of a track are: a part for each chunk.
    private func sampleRanges(_ table: [ISOBox]) throws -> [Range<UInt64>] {
        let sizes = try sampleSizes(table)
        let chunks = try chunkPlaces(table)
        let runs = try chunkRuns(table)
        guard chunks.isEmpty || runs.first?.first == 1 else { throw FormFailure.broken }
        var ranges: [Range<UInt64>] = []
        var (sample, run) = (0, 0)
        for (index, place) in chunks.enumerated() {
            // Each run holds until the next one begins.
            while run + 1 < runs.count, runs[run + 1].first <= index + 1 { run += 1 }
            let count = min(runs[run].count, sizes.count - sample)
            let byteCount = sizes[sample..<sample + count].reduce(0) { $0 + UInt64($1) }
            let (end, isTooFar) = place.addingReportingOverflow(byteCount)
            guard !isTooFar else { throw FormFailure.broken }
            if byteCount > 0 { ranges.append(place..<end) }
            sample += count
        }
        // What is nowhere cannot be found.
        guard sample == sizes.count else { throw FormFailure.broken }
        return ranges
    }

    private func sampleSizes(_ table: [ISOBox]) throws -> [UInt32] {
        guard let box = table.first("stsz") else { throw FormFailure.uncleanable }
        var reader = try box.reader(of: file, at: 4)
        let size = UInt32(try reader.bigEndian(4))
        let count = try reader.bigEndian(4)
        guard count <= Self.sampleCountMax else { throw FormFailure.uncleanable }
        if size > 0 { return Array(repeating: size, count: Int(count)) }
        return try (0..<count).map { _ in UInt32(try reader.bigEndian(4)) }
    }

    private func chunkPlaces(_ table: [ISOBox]) throws -> [UInt64] {
        let isLong = table.first("co64") != nil
        guard let box = table.first("co64") ?? table.first("stco") else {
            throw FormFailure.uncleanable
        }
        var reader = try box.reader(of: file, at: 4)
        let count = try reader.bigEndian(4)
        guard count <= Self.sampleCountMax else { throw FormFailure.uncleanable }
        return try (0..<count).map { _ in try reader.bigEndian(isLong ? 8 : 4) }
    }

    /// How many samples chunks have, from a chunk on.
    private func chunkRuns(_ table: [ISOBox]) throws -> [(first: Int, count: Int)] {
        guard let box = table.first("stsc") else { throw FormFailure.uncleanable }
        var reader = try box.reader(of: file, at: 4)
        let count = try reader.bigEndian(4)
        guard count <= Self.sampleCountMax else { throw FormFailure.uncleanable }
        return try (0..<count).map { _ in
            let run = (first: Int(try reader.bigEndian(4)), count: Int(try reader.bigEndian(4)))
            try reader.skip(4)
            return run
        }
    }
}
