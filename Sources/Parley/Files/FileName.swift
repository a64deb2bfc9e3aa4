import Foundation
import ParleyWire

/// Sanitised names of files: other people's names are never used for files on disk as they are.
enum FileName {
    /// The name of a file if nothing is left of its own.
    static let unnamed = "file"

    /// A name without a path, without marks that nobody sees or that turn the direction, in one form of
    /// Unicode, and no longer than file systems take. Its last ending stays.
    static func harmless(_ name: String) -> String {
        let last =
            name.precomposedStringWithCanonicalMapping
            .split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        var kept = String.UnicodeScalarView()
        for scalar in last.unicodeScalars {
            kept.append(isHarmless(scalar) ? scalar : "_")
        }
        var text = String(kept).trimmingCharacters(in: .whitespaces)
        // A name that begins with a dot is hidden, and one that begins with a hyphen an option.
        text = String(text.drop { $0 == "." || $0 == "-" || $0.isWhitespace })
        text = text.trimmingCharacters(in: .whitespaces.union(["."]))
        if VisibleName.isBlank(text) { return unnamed }
        return shortened(text)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            // Emoji are joined by one of these.
            scalar.value == 0x200D
        default: !":*?\"<>|".unicodeScalars.contains(scalar)
        }
    }

    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > Limits.fileNameByteCountMax else { return text }
        let ending = text.lastIndex(of: ".").map { String(text[$0...]) } ?? ""
        let kept = ending.utf8.count <= 32 ? ending : ""
        var start = String(text.dropLast(kept.count))
        while start.utf8.count + kept.utf8.count > Limits.fileNameByteCountMax {
            start.removeLast()
        }
        return start + kept
    }

    /// The name with another ending.
    static func ending(_ name: String, in ending: String) -> String {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        return shortened("\(dot > name.startIndex ? name[..<dot] : name[...]).\(ending)")
    }

    /// The name with a number before its ending, as "photo (2).jpg".
    static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
            return shortened("\(name) (\(number))")
        }
        return shortened("\(name[..<dot]) (\(number))\(name[dot...])")
    }
}
