import Foundation

/// A file of this repository, with what the checks ask of it.
struct SourceFile: Sendable {
    /// From the root of the repository, as in `Sources/Wire/ByteReader.swift`.
    let path: String
    /// The file as it is.
    let text: String
    /// The same lines with comments and strings blanked; the text itself unless it is Swift.
    let code: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
        code = path.hasSuffix(".swift") ? SwiftText.code(of: text) : text
    }

    /// The folder under `Sources` or `Simulations`; the harness is the room `Simulation`.
    var room: String? {
        let parts = path.split(separator: "/")
        if parts.count > 2, parts[0] == "Sources" { return String(parts[1]) }
        // The example is a package of its own, as somebody else would write it.
        guard parts.count > 2, parts[0] == "Simulations", parts[1] != "Example" else { return nil }
        return parts[1] == "Harness" ? "Simulation" : String(parts[1])
    }

    var isTest: Bool { path.hasPrefix("Tests/") || path.contains("/Tests/") }

    /// Written by a generator from a file that is itself checked.
    var isGenerated: Bool { path.hasSuffix(".pb.swift") }

    var lines: [Substring] { Self.lines(of: text) }
    var codeLines: [Substring] { Self.lines(of: code) }

    /// Bytes are looked at, not characters: that takes a tenth of the time, and a line ends at neither's middle.
    private static func lines(of text: String) -> [Substring] {
        text.utf8.split(separator: 10, omittingEmptySubsequences: false).map(Substring.init)
    }
}

/// The repository that this test was built from.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Every readable text file, in order of path; nothing hidden, nothing that is built.
    static let files: [SourceFile] = paths.compactMap { path in
        read(path).map { SourceFile(path: path, text: $0) }
    }

    static let paths: [String] = topLevel.sorted().flatMap { entry -> [String] in
        // What is hidden is git's, the compiler's or CI's; of these only the last two are ours.
        if entry.hasPrefix("."), ![".ci", ".swift-format"].contains(entry) { return [] }
        return below(entry)
    }

    static var topLevel: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []  // empty fails a test
    }

    static var swift: [SourceFile] {
        files.filter { $0.path.hasSuffix(".swift") && !$0.isGenerated }
    }

    static var markdown: [SourceFile] { files.filter { $0.path.hasSuffix(".md") } }

    /// What is linked into products: the rooms and the simulator.
    static var products: [SourceFile] {
        swift.filter { $0.path.hasPrefix("Sources/") || $0.path.hasPrefix("Simulations/") }
            .filter { !$0.isTest }
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root + "/" + path)
    }

    static func file(_ path: String) -> SourceFile? { files.first { $0.path == path } }

    static func read(_ path: String) -> String? {
        FileManager.default.contents(atPath: root + "/" + path)
            .flatMap { String(bytes: $0, encoding: .utf8) }
    }

    private static func below(_ entry: String) -> [String] {
        let full = root + "/" + entry
        guard let names = FileManager.default.enumerator(atPath: full) else { return [entry] }
        let found = names.compactMap { $0 as? String }.sorted()
            .filter { !$0.contains("/.build/") }.map { entry + "/" + $0 }
        return found.isEmpty ? [entry] : found.filter { !isFolder($0) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var folder: ObjCBool = false
        return FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &folder)
            && folder.boolValue
    }
}

/// A rule that is broken, and where.
struct Finding: Equatable, CustomStringConvertible {
    let path: String
    /// Counted from 1.
    let line: Int
    let what: String

    var description: String { "\(path):\(line): \(what)" }
}

/// One finding a line, for the message of a failed expectation.
func list(_ findings: [Finding]) -> String {
    findings.map(\.description).joined(separator: "\n")
}

extension StringProtocol {
    /// Whether the word stands here with nothing of an identifier on either side.
    func containsWord(_ word: String) -> Bool {
        var rest = self[...]
        while let found = rest.range(of: word) {
            let before = self[..<found.lowerBound].last
            let after = self[found.upperBound...].first
            if !(before?.isIdentifier ?? false), !(after?.isIdentifier ?? false) { return true }
            rest = self[found.upperBound...]
        }
        return false
    }
}

extension Character {
    fileprivate var isIdentifier: Bool { isLetter || isNumber || self == "_" }
}
