/// WAV: chunks within RIFF. Nothing is taken out of it.
enum WAVForm {
    static func read(_ file: any PlacedBytes) throws -> MediaForm {
        var form = MediaForm()
        var reader = FormReader(file)
        guard try reader.name() == "RIFF" else { throw FormFailure.broken }
        try reader.skip(4)
        guard try reader.name() == "WAVE" else { throw FormFailure.broken }
        var bytesPerSecond: UInt64 = 0
        for _ in 0..<1_024 where reader.end - reader.place >= 8 {
            let name = try reader.name()
            var count = try reader.littleEndian(4)
            let content = reader.place
            if name == "fmt " {
                try reader.skip(8)
                bytesPerSecond = try reader.littleEndian(4)
                reader.goBack(to: content)
            }
            // Who recorded into a pipe did not know how long it would be.
            count = min(count, reader.end - content)
            if name == "data" {
                guard bytesPerSecond > 0 else { throw FormFailure.broken }
                form.duration = UInt32(clamping: count * 1_000 / bytesPerSecond)
                return form
            }
            try reader.skip(count)
            if count % 2 == 1, !reader.isAtEnd { try reader.skip(1) }
        }
        throw FormFailure.broken
    }
}

/// Opus in Ogg: pages. Nothing is taken out of it.
enum OggForm {
    /// Opus counts its time so many times a second.
    private static let rate: UInt64 = 48_000
    /// A page, and a part of the one before.
    private static let tailByteCount: UInt64 = 128 * 1_024
    private static let sign = Array("OggS".utf8)

    static func read(_ file: any PlacedBytes) throws -> MediaForm {
        var form = MediaForm()
        var reader = FormReader(file)
        guard try reader.bytes(4) == sign else { throw FormFailure.broken }
        try reader.skip(24)
        guard formName(try reader.bytes(8)) == "OpusHead" else { throw FormFailure.broken }
        try reader.skip(2)
        let skipped = try reader.littleEndian(2)
        let count = min(tailByteCount, file.byteCount)
        let tail = try file.bytes(at: file.byteCount - count, count: Int(count))
        // The last page says how much was heard by then.
        for place in stride(from: tail.count - 27, through: 0, by: -1)
        where tail[place] == sign[0] && tail[place..<place + 4].elementsEqual(sign) {
            let time = tail[place + 6..<place + 14].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            // All ones is a page on which nothing ends.
            guard time < 1 << 62 else { continue }
            form.duration = UInt32(clamping: (time - min(time, skipped)) / (rate / 1_000))
            return form
        }
        throw FormFailure.broken
    }
}
