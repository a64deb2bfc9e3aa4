/// What may stay within a track and a piece of a movie; everything else becomes a box that says nothing.
extension ISOMediaForm {
    private static let known: [String: Set<String>] = [
        "mvex": ["mehd", "trex", "trep", "leva"],
        "edts": ["elst"],
        "tapt": ["clef", "prof", "enof"],
        "minf": ["vmhd", "smhd", "nmhd", "sthd", "gmhd", "hdlr", "dinf", "stbl"],
        "gmhd": ["gmin"],
        "dinf": ["dref"],
        "stbl": [
            "stsd", "stts", "ctts", "cslg", "stss", "stps", "stsh", "stdp", "stsc", "stsz", "stz2",
            "stco", "co64", "sgpd", "sbgp", "sdtp", "padb", "subs", "saiz", "saio",
        ],
        "wave": ["frma", "enda", "esds", "alac", "mp4a", "chan"],
        "moof": ["mfhd", "traf", "pssh"],
        "traf": [
            "tfhd", "tfdt", "trun", "sdtp", "sgpd", "sbgp", "subs", "saiz", "saio", "senc",
        ],
        "mfra": ["tfra", "mfro"],
    ]
    /// How samples are coded, and how they are shown or heard.
    private static let coding: Set<String> = [
        "avcC", "hvcC", "lhvC", "hvcE", "avcE", "vvcC", "vpcC", "av1C", "evcC", "esds", "glbl",
        "jp2h",
        "dvcC", "dvvC", "dvwC", "d263", "bitr", "colr", "nclc", "pasp", "clap", "fiel", "gama",
        "chrm",
        "btrt", "mdcv", "clli", "cclv", "SmDm", "CoLL", "amve", "ccst", "auxi", "st3d", "vexu",
        "ACLR", "APRG", "ARES", "ADHR", "sinf", "wave", "dOps", "dac3", "dec3", "dac4", "dfLa",
        "alac",
        "chan", "chnl", "srat", "pinf", "ddts", "dmlp", "mhaC", "damr", "dawp", "pcmC",
    ]

    /// Silences what is not known within a box, and what names places and programs in what is.
    mutating func keepKnown(_ box: ISOBox, of kind: String = "") throws {
        guard let names = Self.known[box.name] else { return }
        for part in try box.boxes(in: file) {
            switch part.name {
            case let name where !names.contains(name): silenceAll(part)
            case "hdlr": try blankNames(part)
            case "dref": try blankPlaces(part)
            case "stsd": try readCoding(part, of: kind)
            default: try keepKnown(part, of: kind)
            }
        }
    }

    /// QuickTime ends some lists with a box without a name, and nothing in it.
    private mutating func silenceAll(_ part: ISOBox) {
        if part.name != "????" || part.content < part.end { form.silence(part) }
    }

    /// The maker's mark, and what the program or the camera calls itself.
    mutating func blankNames(_ handler: ISOBox) throws {
        let names = try handler.reader(of: file, at: 12).place
        form.blank(names, handler.end)
    }

    /// Where samples lay on the disk of who made the file.
    mutating func blankPlaces(_ list: ISOBox) throws {
        for place in try list.boxes(in: file, after: 8) where place.end - place.content > 4 {
            form.blank(place.content + 4, place.end)
        }
    }

    private mutating func readCoding(_ list: ISOBox, of kind: String) throws {
        var reader = try list.reader(of: file)
        let isSecond = try reader.byte() > 0
        for entry in try list.boxes(in: file, after: 8) {
            var reader = try entry.reader(of: file, at: 8)
            let version = try reader.bigEndian(2)
            try reader.skip(2)
            // The maker's mark.
            form.blank(reader.place, reader.place + 4)
            var byteCount: UInt64 = 28
            if kind == "soun" {
                // QuickTime's have more fields of their own.
                if !isSecond { byteCount += version == 1 ? 16 : version == 2 ? 36 : 0 }
            } else {
                byteCount = 78
                let name = try entry.reader(of: file, at: 42).place
                guard entry.end - entry.content >= byteCount else { throw FormFailure.broken }
                form.blank(name, name + 32)
            }
            for part in try entry.boxes(in: file, after: byteCount) {
                if Self.coding.contains(part.name) {
                    try keepKnown(part)
                } else {
                    silenceAll(part)
                }
            }
        }
    }

    /// Blanks what lies among the samples and is none.
    ///
    /// - Parameter samples: where those are that stay; nil where that is not known.
    mutating func blankBetween(_ samples: [Range<UInt64>]?) {
        // Pieces and pictures are found by other tables.
        guard let samples, !samples.isEmpty,
            !boxes.contains(where: { $0.name == "moof" || $0.name == "meta" })
        else { return }
        var rest = samples.sorted { $0.lowerBound < $1.lowerBound }[...]
        for box in data {
            var place = box.content
            while let next = rest.first, next.lowerBound < box.end {
                if next.lowerBound > place { form.blank(place, next.lowerBound) }
                place = min(max(place, next.upperBound), box.end)
                _ = rest.popFirst()
            }
            form.blank(place, box.end)
        }
    }
}
