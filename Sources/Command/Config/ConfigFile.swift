import Foundation
import Parley

/// Changes one key in the text of a configuration, and leaves everything else as its author wrote it.
struct ConfigFile {
    let path: String

    /// Sets a key, or removes it.
    ///
    /// - Throws: ``NodeError`` where the file is no TOML, or cannot be written.
    func set(_ key: ConfigKey, to value: ConfigValue?) throws {
        // A link stays a link: its target is written.
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let old = try text(at: place)
        let new: String
        do throws(TOMLDocument.Fault) {
            new = try Self.text(old, with: key.name, set: value)
            _ = try TOMLDocument(new)
        } catch {
            throw ConfigFault(path: path, place: error.place, what: error.what).nodeError
        }
        guard new != old else { return }
        do {
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try Data(new.utf8).write(to: place, options: .atomic)
        } catch {
            throw NodeError("config-not-written", "\(path) cannot be written: \(error).")
        }
    }

    private func text(at place: URL) throws -> String {
        guard FileManager.default.fileExists(atPath: place.path) else { return "" }
        guard let data = try? Data(contentsOf: place),  // why not is no help
            data.count <= Configuration.byteCountMax,
            let text = String(validating: data, as: UTF8.self)
        else { throw ConfigFault(path: path, what: "it cannot be read").nodeError }
        return text
    }

    /// The text with a key set, or without it.
    static func text(
        _ text: String, with name: String, set value: ConfigValue?
    ) throws(TOMLDocument.Fault) -> String {
        let document = try TOMLDocument(text)
        var scalars = Array(text.unicodeScalars)
        if let entry = document.entries.first(where: { $0.name == name }) {
            if let value {
                scalars.replaceSubrange(entry.item.span, with: value.text.unicodeScalars)
            } else {
                scalars.removeSubrange(try line(of: entry, in: scalars))
            }
            return TOMLReader.text(scalars[...])
        }
        guard let value else { return text }
        let path = name.split(separator: ".").map(String.init)
        let (table, key) = (Array(path.dropLast()), path[path.count - 1])
        if let heading = document.tables.first(where: { $0.path == table }) {
            let isOpen = scalars.last != "\n" && heading.bodyStart == scalars.count
            let line = (isOpen ? "\n" : "") + "\(key) = \(value.text)\n"
            scalars.insert(contentsOf: line.unicodeScalars, at: heading.bodyStart)
        } else if table.isEmpty || document.entries.contains(where: { $0.path.starts(with: table) })
        {
            // Above all tables, where a key may stand with its whole path.
            scalars.insert(contentsOf: "\(name) = \(value.text)\n".unicodeScalars, at: 0)
        } else {
            let isOpen = !scalars.isEmpty && scalars.last != "\n"
            let heading = (isOpen ? "\n" : "") + (scalars.isEmpty ? "" : "\n")
            let lines = heading + "[\(table.joined(separator: "."))]\n\(key) = \(value.text)\n"
            scalars += Array(lines.unicodeScalars)
        }
        return TOMLReader.text(scalars[...])
    }

    /// The lines that an entry takes, its comment included.
    private static func line(
        of entry: TOMLDocument.Entry, in scalars: [Unicode.Scalar]
    ) throws(TOMLDocument.Fault) -> Range<Int> {
        var start = entry.item.span.lowerBound
        while start > 0, scalars[start - 1] != "\n" { start -= 1 }
        var end = entry.item.span.upperBound
        while end < scalars.count, scalars[end] != "\n" { end += 1 }
        let rest = scalars[entry.item.span.upperBound..<end].drop { $0 == " " || $0 == "\t" }
        let isAlone = rest.isEmpty || rest.first == "#" || rest.first == "\r"
        let key = scalars[start...].drop { $0 == " " || $0 == "\t" }.startIndex
        guard isAlone, entry.place.column == key - start + 1 else {
            throw .init(
                place: entry.place, what: "\(entry.name) shares its line: remove it by hand")
        }
        return start..<min(end + 1, scalars.count)
    }
}
