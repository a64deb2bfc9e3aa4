import Foundation
import ParleyWire

/// A page's description of itself, from its first bytes.
///
/// Nothing is run and nothing is built: tags are read one after the other, and of those only the few that
/// speak of the page, up to the end of its head.
struct LinkPage: Equatable {
    private(set) var title = ""
    private(set) var description = ""
    private(set) var site = ""
    /// The address of a picture, as it stands there.
    private(set) var picture: String?
    /// The priority of a finding: tags meant for previews go before others.
    private var ranks: [String: Int] = [:]

    /// The description in a page; nil for one that is not text, or has none.
    init?(_ bytes: [UInt8]) {
        // A character may be cut off where the page was.
        let text = (0...3).lazy.compactMap {
            String(validating: bytes.dropLast($0), as: UTF8.self)
        }.first
        guard let text else { return nil }
        var scanner = TagScanner(text)
        while let tag = scanner.next() {
            switch tag.name {
            case "title": note("title", scanner.text(until: "title"), rank: 1)
            case "script", "style", "noscript", "template", "svg":
                _ = scanner.text(until: tag.name)
            case "meta": read(tag.attributes)
            case "body", "/head":
                if !title.isEmpty { return }
            default: break
            }
        }
        if title.isEmpty { return nil }
    }

    private mutating func read(_ attributes: [String: String]) {
        let name = attributes["property"] ?? attributes["name"] ?? ""
        guard let content = attributes["content"], name.utf8.count <= TagScanner.nameByteCountMax
        else { return }
        switch name.lowercased() {
        case "og:title": note("title", content, rank: 3)
        case "twitter:title": note("title", content, rank: 2)
        case "og:description": note("description", content, rank: 3)
        case "twitter:description": note("description", content, rank: 2)
        case "description": note("description", content, rank: 1)
        case "og:site_name": note("site", content, rank: 1)
        case "og:image:secure_url": note("picture", content, rank: 3)
        case "og:image", "og:image:url": note("picture", content, rank: 2)
        case "twitter:image": note("picture", content, rank: 1)
        default: break
        }
    }

    private mutating func note(_ field: String, _ raw: String, rank: Int) {
        guard rank > ranks[field] ?? 0 else { return }
        switch field {
        case "title": title = Self.line(raw, Limits.linkTitleByteCountMax)
        case "description": description = Self.line(raw, Limits.linkDescriptionByteCountMax)
        case "site": site = Self.line(raw, Limits.linkSiteByteCountMax)
        default:
            let address = TagScanner.decoded(Self.start(raw, Limits.linkAddressByteCountMax))
                .trimmingCharacters(in: .whitespacesAndNewlines)
            picture = address.utf8.count <= Limits.linkAddressByteCountMax ? address : nil
        }
        ranks[field] = rank
    }

    private static func line(_ raw: String, _ byteCountMax: Int) -> String {
        cleaned(TagScanner.decoded(start(raw, byteCountMax)), byteCountMax)
    }

    /// The part of a text that may count: characters can be written by names longer than they are.
    ///
    /// A run of marks is one character of any size, and what compares, composes or shortens it takes a time
    /// that grows with its square: only scalars are safe to count.
    private static func start(_ text: String, _ byteCountMax: Int) -> String {
        let scalars = text.unicodeScalars.drop { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(scalars.prefix(4 * byteCountMax)))
    }

    /// One line, without marks that nobody sees or that turn the direction, of so many bytes.
    static func cleaned(_ text: String, _ byteCountMax: Int) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in start(text, byteCountMax).precomposedStringWithCanonicalMapping.unicodeScalars
        {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: kept.append(" ")
            case .format, .surrogate, .privateUse, .unassigned:
                // Emoji are joined by one of these.
                if scalar.value == 0x200D { kept.append(scalar) }
            default: kept.append(scalar)
            }
        }
        let line = String(kept).split(separator: " ").joined(separator: " ")
        guard line.utf8.count > byteCountMax else { return line }
        var byteCount = 0
        let end = line.indices.first { index in
            byteCount += line[index].utf8.count
            return byteCount > byteCountMax - 3
        }
        return line[..<(end ?? line.endIndex)] + "…"
    }
}

/// Reads the tags of a page, one after the other.
struct TagScanner {
    /// A tag: its name in small letters, with its slash where it ends something.
    struct Tag {
        var name: String
        var attributes: [String: String] = [:]
    }

    private static let attributeCountMax = 64
    /// Names beyond it, and names in values, mean nothing here.
    static let nameByteCountMax = 64
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    /// The next tag; comments are passed over.
    mutating func next() -> Tag? {
        while let open = rest.firstIndex(of: 0x3C) {
            rest = rest[rest.index(after: open)...]
            if rest.starts(with: "!--".utf8) {
                guard let end = rest.firstRange(of: Array("-->".utf8)) else { return nil }
                rest = rest[end.upperBound...]
                continue
            }
            let name = word { $0 == 0x2F || Self.isLetter($0) }
            if !name.isEmpty { return tag(name.lowercased()) }
        }
        return nil
    }

    private mutating func tag(_ name: String) -> Tag {
        var tag = Tag(name: name)
        for _ in 0..<Self.attributeCountMax {
            _ = word { Self.isBlank($0) || $0 == 0x2F }
            guard let first = rest.first, first != 0x3E else { break }
            let attribute = word { !Self.isBlank($0) && $0 != 0x3D && $0 != 0x3E && $0 != 0x2F }
            if attribute.isEmpty {
                // A sign that begins no name.
                rest = rest.dropFirst()
                continue
            }
            _ = word(Self.isBlank)
            var value = ""
            if rest.first == 0x3D {
                rest = rest.dropFirst()
                _ = word(Self.isBlank)
                value = self.value()
            }
            guard attribute.utf8.count <= Self.nameByteCountMax else { continue }
            let key = attribute.lowercased()
            if tag.attributes[key] == nil { tag.attributes[key] = value }
        }
        return tag
    }

    private mutating func value() -> String {
        guard let quote = rest.first, quote == 0x22 || quote == 0x27 else {
            return word { !Self.isBlank($0) && $0 != 0x3E }
        }
        rest = rest.dropFirst()
        let value = word { $0 != quote }
        rest = rest.dropFirst()
        return value
    }

    /// The part before the tag that ends this; everything left if none does.
    mutating func text(until name: String) -> String {
        if let close = rest.firstIndex(of: 0x3E) { rest = rest[rest.index(after: close)...] }
        let start = rest.startIndex
        var place = rest
        let sign = Array("/\(name)".utf8)
        while let open = place.firstIndex(of: 0x3C) {
            let after = place[place.index(after: open)...]
            if after.prefix(sign.count).map({ $0 | 0x20 }) == sign.map({ $0 | 0x20 }) {
                let text = String(Substring(rest[start..<open]))
                rest = after
                return text
            }
            place = after
        }
        defer { rest = rest[rest.endIndex...] }
        return String(Substring(rest))
    }

    /// The following part of this kind.
    private mutating func word(_ isPart: (UInt8) -> Bool) -> String {
        let end = rest.firstIndex { !isPart($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(Substring(rest[..<end]))
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

    private static let names: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "ndash": "–",
        "mdash": "—", "hellip": "…", "rsquo": "’", "lsquo": "‘", "ldquo": "“", "rdquo": "”",
        "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß",
        "eacute": "é", "egrave": "è", "agrave": "à", "ccedil": "ç", "copy": "©", "reg": "®",
        "euro": "€", "laquo": "«", "raquo": "»", "middot": "·", "bull": "•", "times": "×",
    ]

    /// A text with the characters that are written by a name or a number.
    static func decoded(_ text: String) -> String {
        guard text.contains("&") else { return text }
        var result = ""
        var rest = text[...]
        while let mark = rest.firstIndex(of: "&") {
            result += rest[..<mark]
            rest = rest[mark...]
            let end = rest.prefix(12).firstIndex(of: ";")
            if let end, let character = character(rest[rest.index(after: mark)..<end]) {
                result += character
                rest = rest[rest.index(after: end)...]
            } else {
                result += "&"
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }

    private static func character(_ name: Substring) -> String? {
        guard name.hasPrefix("#") else { return names[String(name)] }
        let digits = name.dropFirst()
        let isHex = digits.hasPrefix("x") || digits.hasPrefix("X")
        let number = isHex ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }
}
