/// What a file is, by how it begins; its name decides nothing.
enum FileKind {
    private static let beginnings: [(offset: Int, bytes: [UInt8], type: String)] = [
        (0, [0xFF, 0xD8, 0xFF], "image/jpeg"),
        (0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
        (0, Array("GIF8".utf8), "image/gif"),
        (8, Array("WEBP".utf8), "image/webp"),
        (4, Array("ftypheic".utf8), "image/heic"), (4, Array("ftypheix".utf8), "image/heic"),
        (4, Array("ftypmif1".utf8), "image/heif"), (4, Array("ftypavif".utf8), "image/avif"),
        (4, Array("ftypqt".utf8), "video/quicktime"), (4, Array("ftypM4A".utf8), "audio/mp4"),
        (4, Array("ftyp".utf8), "video/mp4"),
        (8, Array("WAVE".utf8), "audio/wav"), (0, Array("fLaC".utf8), "audio/flac"),
        (28, Array("OpusHead".utf8), "audio/ogg"), (0, Array("OggS".utf8), "application/ogg"),
        (0, Array("ID3".utf8), "audio/mpeg"), (0, [0xFF, 0xFB], "audio/mpeg"),
        (0, [0x1A, 0x45, 0xDF, 0xA3], "video/webm"),
        (0, Array("%PDF-".utf8), "application/pdf"),
        (0, [0x50, 0x4B, 0x03, 0x04], "application/zip"),
        (0, [0x1F, 0x8B], "application/gzip"), (0, [0x28, 0xB5, 0x2F, 0xFD], "application/zstd"),
        (0, [0xFD, 0x37, 0x7A, 0x58, 0x5A], "application/x-xz"),
        (0, [0x7F, 0x45, 0x4C, 0x46], "application/x-executable"),
    ]

    /// What a file with these first bytes is; empty where that is not known.
    static func type(of start: [UInt8]) -> String {
        for beginning in beginnings
        where start.dropFirst(beginning.offset).starts(with: beginning.bytes) {
            return beginning.type
        }
        return isText(start) ? "text/plain" : ""
    }

    private static func isText(_ start: [UInt8]) -> Bool {
        guard !start.isEmpty,
            !start.contains(where: { $0 < 9 || (14..<32).contains($0) && $0 != 27 })
        else { return false }
        // A character may be cut off at the end.
        return (0...3).contains { String(validating: start.dropLast($0), as: UTF8.self) != nil }
    }
}
