import ParleyFiles

/// The type of a file, by its first bytes; its name decides nothing.
public enum FileKind {
    /// So many bytes of its beginning tell it.
    public static let startByteCount = 512

    private static let beginnings: [(offset: Int, bytes: [UInt8], type: String)] = [
        (0, [0xFF, 0xD8, 0xFF], "image/jpeg"),
        (0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
        (0, Array("GIF87a".utf8), "image/gif"), (0, Array("GIF89a".utf8), "image/gif"),
        (8, Array("WEBP".utf8), "image/webp"),
        (4, Array("ftypheic".utf8), "image/heic"), (4, Array("ftypheix".utf8), "image/heic"),
        (4, Array("ftypmif1".utf8), "image/heif"), (4, Array("ftypavif".utf8), "image/avif"),
        (4, Array("ftypqt".utf8), "video/quicktime"), (4, Array("ftypM4A".utf8), "audio/mp4"),
        (4, Array("ftypcrx ".utf8), "image/x-raw"), (4, Array("ftyphevc".utf8), "image/heic"),
        (4, Array("ftypmsf1".utf8), "image/heif"), (4, Array("ftypavis".utf8), "image/avif"),
        (4, Array("ftyp".utf8), "video/mp4"), (4, Array("moov".utf8), "video/quicktime"),
        (4, Array("mdat".utf8), "video/quicktime"), (4, Array("wide".utf8), "video/quicktime"),
        (4, Array("JXL \r\n".utf8), "image/jxl"),
        (0, Array("II*\0".utf8), "image/tiff"), (0, Array("MM\0*".utf8), "image/tiff"),
        (0, Array("IIRO\u{8}\0".utf8), "image/x-raw"),
        (0, Array("IIRS\u{8}\0".utf8), "image/x-raw"),
        (0, Array("IIU\0".utf8), "image/x-raw"), (0, Array("FUJIFILMCCD-RAW".utf8), "image/x-raw"),
        (0, Array("FOVb".utf8), "image/x-raw"),
        (0, Array("8BPS\0\u{1}".utf8), "image/vnd.adobe.photoshop"),
        // Kinds that nobody here cleans, to be refused: JPEG 2000, JPEG XR, BigTIFF, raw pictures, what
        // programs for pictures keep, and pictures of doctors and astronomers.
        (4, Array("jP  \r\n\u{87}\n".unicodeScalars.map { UInt8($0.value) }), "image/jp2"),
        (0, [0xFF, 0x4F, 0xFF, 0x51], "image/jp2"), (0, [0x49, 0x49, 0xBC, 0x01], "image/jxr"),
        (0, Array("II+\0".utf8), "image/tiff"), (0, Array("MM\0+".utf8), "image/tiff"),
        (6, Array("HEAPCCDR".utf8), "image/x-raw"), (0, Array("\0MRM".utf8), "image/x-raw"),
        (0, Array("gimp xcf".utf8), "image/x-xcf"), (0, [0x76, 0x2F, 0x31, 0x01], "image/x-exr"),
        (0, Array("8BPS\0\u{2}".utf8), "image/vnd.adobe.photoshop"),
        (0, [0x8A, 0x4D, 0x4E, 0x47], "video/x-mng"), (0, [0x8B, 0x4A, 0x4E, 0x47], "image/x-jng"),
        (0, [0x42, 0x50, 0x47, 0xFB], "image/bpg"), (0, Array("FLIF".utf8), "image/flif"),
        (0, Array("#?RADIANCE".utf8), "image/vnd.radiance"),
        (0, Array("SIMPLE  =".utf8), "image/fits"), (128, Array("DICM".utf8), "image/dicom"),
        (0, Array(".RMF\0".utf8), "video/vnd.rn-realmedia"), (0, [0, 0, 1, 0xB3], "video/mpeg"),
        (0, [0x06, 0x0E, 0x2B, 0x34], "video/mxf"),
        (8, Array("AVI ".utf8), "video/x-msvideo"), (0, Array("FLV\u{1}".utf8), "video/x-flv"),
        (0, [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], "video/x-ms-asf"),
        (0, [0, 0, 1, 0xBA], "video/mpeg"),
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

    /// The type of a file with these first bytes; empty if it is not known.
    public static func type(of start: [UInt8]) -> String {
        for beginning in beginnings
        where start.dropFirst(beginning.offset).starts(with: beginning.bytes)
            && mayStandBefore(beginning.offset, start)
        {
            return beginning.type
        }
        // A stream of packets, as cameras write it, with a time before each or without.
        for (offset, length) in [(0, 188), (4, 192)]
        where start.count > offset + 2 * length
            && (0...2).allSatisfy({ start[offset + $0 * length] == 0x47 })
        { return "video/mp2t" }
        return isText(start) ? "text/plain" : ""
    }

    /// A word within a text is no sign: something has to stand before it.
    private static func mayStandBefore(_ offset: Int, _ start: [UInt8]) -> Bool {
        switch offset {
        // A length, which no file has that begins with a letter.
        case 4: start[0] == 0
        case 8: start.starts(with: Array("RIFF".utf8))
        case 28: start.starts(with: Array("OggS".utf8))
        default: true
        }
    }

    /// The container format of this type; nil if it is not parsed.
    static func container(of type: String) -> MediaForm.Container? {
        switch type {
        case "image/jpeg": .jpeg
        case "image/png": .png
        case "image/gif": .gif
        case "image/webp": .webp
        case "image/heic", "image/heif", "image/avif", "image/jxl", "video/mp4", "video/quicktime",
            "audio/mp4":
            .isoMedia
        case "video/webm": .matroska
        case "audio/wav": .wav
        case "audio/ogg": .ogg
        default: nil
        }
    }

    /// Whether files of this type may contain metadata about where and with what they were made.
    static func mayTellPlaces(_ type: String) -> Bool {
        type.hasPrefix("image/") || type.hasPrefix("video/") || type == "audio/mp4"
    }

    /// Whether a file with this name, whose first bytes say nothing, is called as pictures and videos are.
    static func isCalledPicture(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return pictureEndings.contains(name[name.index(after: dot)...].lowercased())
    }

    private static let pictureEndings: Set<String> = [
        "jpg", "jpeg", "png", "gif", "webp", "heic", "heif", "avif", "jxl", "tif", "tiff", "jp2",
        "j2k",
        "jpx", "jpf", "jxr", "wdp", "hdp", "bmp", "tga", "pcx", "psd", "psb", "xcf", "kra", "exr",
        "hdr",
        "dcm", "fits", "dng", "nef", "nrw", "cr2", "cr3", "crw", "arw", "srf", "sr2", "raf", "orf",
        "rw2",
        "pef", "srw", "x3f", "mrw", "dcr", "kdc", "erf", "3fr", "iiq", "mos", "rwl", "gpr", "insp",
        "mp4", "m4v", "mov", "mkv", "webm", "avi", "mts", "m2ts", "mpg", "mpeg", "vob", "wmv",
        "flv",
        "mxf", "3gp", "3g2", "ogv", "rm", "dv", "insv", "lrv", "braw", "r3d",
    ]

    private static func isText(_ start: [UInt8]) -> Bool {
        guard !start.isEmpty,
            !start.contains(where: { $0 < 9 || (14..<32).contains($0) && $0 != 27 })
        else { return false }
        // A character may be cut off at the end.
        return (0...3).contains { String(validating: start.dropLast($0), as: UTF8.self) != nil }
    }
}
