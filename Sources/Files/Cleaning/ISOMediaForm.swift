/// HEIF, AVIF, JPEG XL, MP4 and MOV: boxes within boxes.
///
/// Nothing is cut out, because absolute offsets occur all over the file: removed parts are filled
/// with zeros. Tracks that are neither video nor audio are removed with their data: cameras store
/// their track, their settings and the time of day in such.
struct ISOMediaForm {
    private static let top: Set<String> = [
        "ftyp", "styp", "mdat", "sidx", "ssix", "pdin", "wide",
    ]
    /// Of JPEG XL, whose boxes lie side by side.
    private static let stillParts: Set<String> = ["JXL ", "ftyp", "jxll", "jxlc", "jxlp", "jxli"]
    /// Raw pictures of a camera, which hold their data elsewhere.
    private static let rawBrand = "crx "

    /// Where more of them hold data than this, nobody looks for a part in each.
    private static let dataCountMax = 256

    let file: any PlacedBytes
    let boxes: [ISOBox]
    /// Those with video and audio.
    let data: [ISOBox]
    var form = MediaForm()
    /// Where the samples of the tracks are that stay; nil where that is not known of all.
    var samples: [Range<UInt64>]? = []

    private init(_ file: any PlacedBytes) throws {
        self.file = file
        boxes = try ISOBox.all(in: file, 0, file.byteCount)
        data = boxes.filter { $0.name == "mdat" }
    }

    static func read(_ file: any PlacedBytes) throws -> MediaForm {
        var media = try ISOMediaForm(file)
        return try media.read()
    }

    private mutating func read() throws -> MediaForm {
        if boxes.first?.name == "JXL " {
            for box in boxes where !Self.stillParts.contains(box.name) { form.silence(box) }
            return form
        }
        guard let first = boxes.first, ["ftyp", "wide", "mdat", "moov"].contains(first.name) else {
            throw FormFailure.broken
        }
        if first.name == "ftyp" {
            var reader = try first.reader(of: file)
            if try reader.name() == Self.rawBrand { throw FormFailure.uncleanable }
        }
        for box in boxes {
            switch box.name {
            case "moov": try readMovie(box)
            case "moof", "mfra": try keepKnown(box)
            case "meta":
                if try !readItems(box) { form.silence(box) }
            case let name where Self.top.contains(name): break
            default: form.silence(box)
            }
        }
        blankBetween(samples)
        // Four bytes that are no box.
        if let last = boxes.last { form.blank(last.end, file.byteCount) }
        return form
    }

    /// Fills a part of what is seen and heard with zeros.
    mutating func blankData(_ start: UInt64, _ count: UInt64) throws {
        guard count > 0 else { return }
        guard data.count <= Self.dataCountMax else { throw FormFailure.uncleanable }
        let isWithin = data.contains {
            start >= $0.content && start <= $0.end && count <= $0.end - start
        }
        guard isWithin else { throw FormFailure.broken }
        form.blank(start, start + count)
    }
}
