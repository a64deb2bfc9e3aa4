import ParleyFiles

/// Small files of every form, each with a word where it should not stay: "SECRET".
enum MediaSamples {
    static let secret = Array("SECRET".utf8)

    static let all: [(name: String, container: MediaForm.Container, bytes: [UInt8])] = [
        ("jpeg", .jpeg, jpeg()), ("png", .png, png()), ("gif", .gif, gif), ("webp", .webp, webp()),
        ("heic", .isoMedia, heic()), ("mp4", .isoMedia, mp4()), ("jxl", .isoMedia, jxl),
        ("pieces", .isoMedia, pieces()),
        ("webm", .matroska, webm), ("wav", .wav, wav), ("opus", .ogg, opus),
    ]

    static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }
    static func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }
    static func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A block of Exif with an orientation, and more.
    static func exif(_ orientation: Int) -> [UInt8] {
        ascii("II") + little(42, 2) + little(8, 4) + little(2, 2)
            + little(0x010F, 2) + little(2, 2) + little(6, 4) + little(38, 4)
            + little(0x0112, 2) + little(3, 2) + little(1, 4) + little(orientation, 4)
            + little(0, 4) + secret
    }

    // MARK: Pictures

    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker] + big(content.count + 2, 2) + content
    }

    static func jpeg(orientation: Int = 6) -> [UInt8] {
        let head =
            [0xFF, 0xD8] + segment(0xE0, ascii("JFIF\0") + [1, 1, 0, 0, 1, 0, 1, 0, 0])
            + segment(0xE1, ascii("Exif\0\0") + exif(orientation))
            + segment(0xE1, ascii("http:" + "//ns.adobe.com/xap/1.0/\0") + secret)
            + segment(0xE2, ascii("ICC_PROFILE\0") + [1, 1, 9])
            + segment(0xE2, ascii("MPF\0") + secret)
            + segment(0xED, ascii("Photoshop 3.0") + secret)
        let frame = segment(0xFE, secret) + segment(0xDB, [UInt8](repeating: 1, count: 65))
        let scan =
            segment(0xC0, [8] + big(480, 2) + big(640, 2) + [1, 1, 0x11, 0])
            + segment(0xDA, [1, 1, 0, 0, 63, 0]) + [1, 2, 0xFF, 0, 3, 0xFF, 0xD0, 4]
            + segment(0xDA, [1, 1, 0, 0, 63, 0]) + [5, 0xFF, 0xFF, 0xD9]
        return head + frame + scan + secret
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count, 4) + ascii(name) + content + [0, 0, 0, 0]
    }

    static func png(orientation: Int = 6) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", big(640, 4) + big(480, 4) + [8, 2, 0, 0, 0])
            + chunk("tEXt", secret) + chunk("iCCP", [1, 2]) + chunk("eXIf", exif(orientation))
            + chunk("acTL", [0, 0, 0, 1, 0, 0, 0, 0]) + chunk("caBX", secret)
            + chunk("IDAT", [1, 2, 3]) + chunk("IEND", []) + secret
    }

    static let gif: [UInt8] =
        ascii("GIF89a") + little(640, 2) + little(480, 2) + [0x80, 0, 0, 1, 2, 3, 4, 5, 6]
        + [0x21, 0xFF, 11] + ascii("NETSCAPE2.0") + [3, 1, 0, 0, 0]
        + [0x21, 0xFF, 11] + ascii("XMP DataXMP") + [6] + secret + [0]
        + [0x21, 0xFE, 6] + secret + [0] + [0x21, 0xF9, 4, 0, 0, 0, 0, 0]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 1, 2, 3, 4, 5, 6, 2, 2, 0x4C, 1, 0, 0x3B] + secret

    static func riff(_ name: String, _ content: [UInt8]) -> [UInt8] {
        ascii(name) + little(content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
    }

    static func webp(orientation: Int = 6) -> [UInt8] {
        let frame = [UInt8](repeating: 0, count: 16) + riff("VP8L", [0x2F, 0, 0, 0, 0])
        let body =
            ascii("WEBP") + riff("VP8X", [0x2C, 0, 0, 0] + little(639, 3) + little(479, 3))
            + riff("ICCP", [1, 2]) + riff("ANIM", [0, 0, 0, 0, 0, 0]) + riff("ANMF", frame)
            + riff("EXIF", ascii("Exif\0\0") + exif(orientation)) + riff("XMP ", secret)
            + riff("odd ", secret + [1])
        return ascii("RIFF") + little(body.count, 4) + body + secret
    }

    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8, 4) + ascii(name) + content
    }

    static func full(_ name: String, _ content: [UInt8], version: UInt8 = 0) -> [UInt8] {
        box(name, [version, 0, 0, 0] + content)
    }

    static func handler(_ kind: String) -> [UInt8] {
        full("hdlr", big(0, 4) + ascii(kind) + big(0, 12) + secret + [0])
    }

    static func heic() -> [UInt8] {
        let start = box("ftyp", ascii("heic") + big(0, 4) + ascii("mif1"))
        let entries =
            full("infe", big(1, 2) + big(0, 2) + ascii("hvc1") + secret + [0], version: 2)
            + full("infe", big(2, 2) + big(0, 2) + ascii("Exif") + [0], version: 2)
            + full("infe", big(3, 2) + big(0, 2) + ascii("mime") + [0], version: 2)
        let shown = full("ispe", big(640, 4) + big(480, 4)) + full("udes", secret)
        func meta(_ place: Int) -> [UInt8] {
            func item(_ number: Int, _ method: Int, _ place: Int, _ count: Int) -> [UInt8] {
                big(number, 2) + big(method, 2) + big(0, 2) + big(1, 2) + big(place, 4)
                    + big(count, 4)
            }
            let places = full(
                "iloc",
                [0x44, 0x00] + big(3, 2) + item(1, 0, place, 10) + item(2, 0, place + 10, 30)
                    + item(3, 1, 0, 6),
                version: 1)
            return full(
                "meta",
                handler("pict") + full("iinf", big(3, 2) + entries) + places + box("idat", secret)
                    + box("iprp", box("ipco", shown) + box("uuid", secret))
                    + box("udta", secret))
        }
        let place = start.count + meta(0).count + 8
        let data = [UInt8](repeating: 7, count: 10) + secret + secret + secret + secret + secret
        return start + meta(place) + box("mdat", data) + box("mpvd", secret) + box("uuid", secret)
    }

    static let jxl: [UInt8] =
        box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", ascii("jxl "))
        + box("jxlc", [0xFF, 0x0A])
        + box("Exif", secret) + box("xml ", secret) + box("jbrd", secret)

    // MARK: Videos and sound

    /// A box of a track that says how its samples are coded: with the name of a camera.
    static func coding(_ kind: String) -> [UInt8] {
        let maker = big(0, 4) + secret.prefix(4) + big(0, 8)
        let video =
            maker + big(640, 2) + big(480, 2) + big(0, 14) + [6] + secret + big(0, 25)
            + big(24, 2) + [0xFF, 0xFF] + box("avcC", [1, 2, 3, 4]) + box("uuid", secret)
        let sound = maker + big(0, 4) + box("esds", [5, 6, 7, 8]) + box("meta", secret)
        return full(
            "stsd",
            big(1, 4)
                + box("code", big(0, 6) + big(1, 2) + (kind == "soun" ? sound : video)))
    }

    static func track(_ kind: String, samplesAt place: Int, name: [UInt8] = []) -> [UInt8] {
        let table =
            coding(kind) + full("stsz", big(0, 4) + big(2, 4) + big(6, 4) + big(6, 4))
            + full("stsc", big(1, 4) + big(1, 4) + big(2, 4) + big(1, 4))
            + full("stco", big(1, 4) + big(place, 4)) + box("udta", secret)
        let matrix = [0, 1, 0, -1, 0, 0, 0, 0, 1].flatMap { big($0 << 16, 4) }
        let places = full("dref", big(2, 4) + full("url ", secret) + full("alis", secret))
        let media =
            handler("alis") + box("dinf", places) + box("stbl", table) + box("meta", secret)
            + box("gmhd", box("text", secret))
        return box(
            "trak",
            full(
                "tkhd",
                big(9, 4) + big(9, 4) + big(1, 4) + big(0, 24) + matrix
                    + big(640 << 16, 4) + big(480 << 16, 4))
                + box("edts", box("udta", secret))
                + box(
                    "mdia",
                    full("mdhd", big(9, 4) + big(9, 4) + big(1_000, 4) + big(2_500, 4) + big(0, 4))
                        + handler(kind) + box("minf", media))
                + box("udta", secret) + box("meta", secret))
    }

    static func mp4() -> [UInt8] {
        let start = box("ftyp", ascii("isom") + big(0, 4))
        func movie(_ place: Int) -> [UInt8] {
            box(
                "moov",
                full("mvhd", big(9, 4) + big(9, 4) + big(1_000, 4) + big(2_500, 4) + big(0, 80))
                    + track("vide", samplesAt: place) + track("meta", samplesAt: place + 12)
                    + track("soun", samplesAt: place + 30) + track("tmcd", samplesAt: place + 48)
                    + box("udta", box("loci", secret)) + box("meta", secret))
        }
        let place = start.count + movie(0).count + 8
        // What lies between samples, and behind them, belongs to no track.
        let data = [UInt8](repeating: 7, count: 12) + secret + secret + secret
        let sound = [UInt8](repeating: 8, count: 12) + secret + secret + secret + secret
        return start + movie(place) + box("mdat", data + sound) + box("free", secret)
            + box("uuid", secret)
    }

    /// A movie whose samples come in pieces.
    static func pieces() -> [UInt8] {
        let movie = full("mvhd", big(9, 4) + big(9, 4) + big(1_000, 4) + big(0, 84))
        let piece =
            full("mfhd", big(1, 4)) + box("udta", secret)
            + box("traf", full("tfhd", big(1, 4)) + box("uuid", secret) + box("meta", secret))
        return box("ftyp", ascii("isom") + big(0, 4))
            + box("moov", movie + box("mvex", full("trex", big(0, 20)) + box("udta", secret)))
            + box("moof", piece) + box("mdat", [7, 7, 7])
            + box("mfra", full("mfro", big(16, 4)) + box("udta", secret))
    }

    static func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
        id + [0x40 | UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    /// A track with this number, of this kind.
    static func entry(_ number: UInt8, _ kind: UInt8) -> [UInt8] {
        let shown =
            element([0xB0], big(640, 2)) + element([0xBA], big(480, 2)) + element([0xEC], secret)
        return element(
            [0xAE],
            element([0xD7], [number]) + element([0x83], [kind]) + element([0x53, 0x6E], secret)
                + element([0x25, 0x86, 0x88], secret) + element([0x86], ascii("V_VP8"))
                + (kind == 1 ? element([0xE0], shown) : []))
    }

    static let webm: [UInt8] =
        element([0x1A, 0x45, 0xDF, 0xA3], [0x42, 0x82, 0x84] + ascii("webm"))
        + element(
            [0x18, 0x53, 0x80, 0x67],
            element(
                [0x15, 0x49, 0xA9, 0x66],
                element([0x2A, 0xD7, 0xB1], [0x0F, 0x42, 0x40])
                    + element([0x44, 0x89], big(Int(Float(2_500).bitPattern), 4))
                    + element([0x57, 0x41], secret) + element([0x73, 0x84], secret)
                    + element([0x3C, 0x83, 0xAB], secret) + element([0xBF], [1, 2, 3, 4]))
                + element([0x16, 0x54, 0xAE, 0x6B], entry(1, 1) + entry(2, 0x11))
                + element([0x12, 0x54, 0xC3, 0x67], secret + [UInt8](repeating: 1, count: 200))
                + element([0x10, 0x43, 0xA7, 0x70], secret) + element([0xEC], secret)
                + element(
                    [0x1F, 0x43, 0xB6, 0x75],
                    element([0xE7], [0]) + element([0xA3], [0x81, 0, 0, 0x80, 7, 7, 7])
                        + element([0xA3], [0x82, 0, 0, 0x80] + secret)
                        + element([0xA0], element([0xA1], [0x82, 0, 0, 0] + secret))
                        + element([0xA0], element([0xA1], [0x81, 0, 0, 0, 9, 9, 9]))))

    static let wav: [UInt8] =
        ascii("RIFF") + little(44, 4) + ascii("WAVE")
        + riff(
            "fmt ",
            little(1, 2) + little(1, 2) + little(8_000, 4) + little(16_000, 4) + little(2, 2)
                + little(16, 2))
        + riff("data", [UInt8](repeating: 0, count: 40_000))

    static func page(_ time: Int, _ content: [UInt8]) -> [UInt8] {
        ascii("OggS") + [0, 0] + little(time, 8) + little(0, 12) + [1, UInt8(content.count)]
            + content
    }

    static let opus: [UInt8] =
        page(0, ascii("OpusHead") + [1, 1] + little(312, 2) + little(48_000, 4) + [0, 0, 0])
        + page(0, ascii("OpusTags")) + page(120_312, [1, 2, 3])
}

/// Bytes that are read as a file.
struct SampleBytes: PlacedBytes {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var byteCount: UInt64 { UInt64(bytes.count) }

    func bytes(at place: UInt64, count: Int) throws -> [UInt8] {
        Array(bytes[Int(place)..<Int(place) + count])
    }
}

/// A file as it is sent; nil where it is refused.
func cleaned(_ bytes: [UInt8], as container: MediaForm.Container) -> [UInt8]? {
    let file = SampleBytes(bytes)
    // A refusal is an answer.
    guard let form = try? MediaForm.read(file, as: container) else { return nil }
    var edited = EditedFile(file, form.edits)
    return try? edited.next(Int(edited.byteCount))
}
