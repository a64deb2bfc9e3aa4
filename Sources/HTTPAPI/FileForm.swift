internal import Foundation
internal import HTTPTypes

/// How a browser is told to handle a file that others made.
enum FileForm {
    /// Types that are shown in the page, by a file's first bytes: their content is drawn or played,
    /// and never run. All others are saved, as bytes of no type: texts, HTML, SVG and PDF among
    /// them.
    static let shown: Set<String> = [
        "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif",
        "video/mp4", "video/webm", "video/quicktime",
        "audio/ogg", "application/ogg", "audio/mpeg", "audio/mp4", "audio/wav", "audio/flac",
    ]

    /// The headers of a file.
    ///
    /// - Parameters:
    ///   - type: its type, as the node found by its first bytes; empty if that is not known.
    ///   - name: its name, sanitised.
    ///   - isSaved: whether it is to be saved, whatever it is.
    static func fields(_ type: String, called name: String, isSaved: Bool) -> HTTPFields {
        let isShown = shown.contains(type) && !isSaved
        var fields = PageFiles.fields()
        // Also as a page of its own it runs nothing, loads nothing, and is of no origin.
        fields[.contentSecurityPolicy] = "default-src 'none'; sandbox; frame-ancestors 'none'"
        fields[.contentType] = shown.contains(type) ? type : "application/octet-stream"
        fields[.contentDisposition] = disposition(name, isShown: isShown)
        fields[.cacheControl] = "no-store"
        fields[.xContentTypeOptions] = "nosniff"
        return fields
    }

    /// `inline` or `attachment`, with the name twice: for those who read ASCII alone, and whole.
    /// Source: RFC 6266, section 4; RFC 8187, section 3.2.
    static func disposition(_ name: String, isShown: Bool) -> String {
        let plain = String(
            name.unicodeScalars.map { isPlain($0) ? Character($0) : "_" })
        let whole = name.utf8.map { isPlainByte($0) ? String(UnicodeScalar($0)) : escaped($0) }
            .joined()
        let kind = isShown ? "inline" : "attachment"
        return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(whole)"
    }

    /// What ends no quoted text and is in every character set. Some programs decode a percent sign there.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        (0x20...0x7E).contains(scalar.value) && !"\"\\%".unicodeScalars.contains(scalar)
    }

    private static func escaped(_ byte: UInt8) -> String {
        "%" + String(Int(byte) + 0x100, radix: 16).suffix(2).uppercased()
    }

    /// `attr-char`. Source: RFC 8187, section 3.2.1.
    private static func isPlainByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$&+-.^_`|~".utf8.contains(byte)
        }
    }
}
