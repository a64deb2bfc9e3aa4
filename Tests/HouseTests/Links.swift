import Foundation

/// Whether what a page or a comment points to is there.
struct Links: Sendable {
    /// The text of a file of the repository, or nil; a folder has the empty text.
    let read: @Sendable (String) -> String?

    /// Relative links of a page that lead nowhere.
    func dead(in file: SourceFile) -> [Finding] {
        Self.links(in: file.text).compactMap { target, line in
            guard !target.contains("://"), !target.hasPrefix("mailto:") else { return nil }
            let parts = target.split(
                separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let path =
                parts[0].isEmpty ? file.path : Self.resolve(String(parts[0]), from: file.path)
            guard let text = read(path) else {
                return Finding(path: file.path, line: line, what: "dead link: \(target)")
            }
            guard parts.count == 2 else { return nil }
            let anchors = Self.headings(of: text).map(Self.anchor)
            guard !anchors.contains(String(parts[1])) else { return nil }
            return Finding(path: file.path, line: line, what: "no such heading: \(target)")
        }
    }

    /// Cited sections, as in `Protocol/02-encoding.md`, "Primitives", that do not exist.
    func deadCitations(in file: SourceFile) -> [Finding] {
        Self.citations(in: file.text).compactMap { citation in
            guard let text = read(citation.path) else {
                return Finding(
                    path: file.path, line: citation.line, what: "no such page: \(citation.path)")
            }
            guard let heading = citation.heading, !Self.headings(of: text).contains(heading)
            else { return nil }
            return Finding(
                path: file.path, line: citation.line,
                what: "\(citation.path) has no section \"\(heading)\"")
        }
    }

    /// A page that is named, with the section where one is.
    struct Citation: Equatable {
        let path: String
        let heading: String?
        let line: Int
    }

    static func citations(in text: String) -> [Citation] {
        // A citation may run over the end of a comment's line.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in line.trimmed.drop { $0 == "/" }.trimmed }
        var found: [Citation] = []
        for (index, line) in lines.enumerated() {
            var rest = line
            while let start = rest.range(of: "Protocol/") {
                rest = rest[start.upperBound...]
                guard rest.first?.isNumber == true else { continue }
                let name = rest.prefix { $0.isLetter || $0.isNumber || "-_./".contains($0) }
                let next = index + 1 < lines.count ? " " + lines[index + 1] : ""
                let after = String(rest[name.endIndex...]) + next
                let path = "Protocol/" + (name.last == "." ? name.dropLast() : name)
                found.append(
                    Citation(path: path, heading: heading(after: after), line: index + 1))
            }
        }
        return found
    }

    /// The quoted words right after a page's name.
    private static func heading(after text: String) -> String? {
        let separators: Set<Character> = ["`", ",", " "]
        let rest = text.drop { separators.contains($0) }
        guard rest.first == "\"", rest.startIndex > text.startIndex else { return nil }
        let words = rest.dropFirst().prefix { $0 != "\"" }
        return words.endIndex < rest.endIndex ? String(words) : nil
    }

    /// Targets of `[text](target)` outside of code.
    static func links(in markdown: String) -> [(target: String, line: Int)] {
        var isCode = false
        var found: [(String, Int)] = []
        for (index, line) in markdown.split(
            separator: "\n", omittingEmptySubsequences: false
        ).enumerated() {
            if line.trimmed.hasPrefix("```") { isCode.toggle() }
            if isCode { continue }
            var rest = withoutCode(line)[...]
            while let start = rest.range(of: "](") {
                rest = rest[start.upperBound...]
                let target = rest.prefix { $0 != ")" && $0 != " " }
                found.append((String(target), index + 1))
            }
        }
        return found
    }

    private static func withoutCode(_ line: Substring) -> String {
        let parts = line.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 0 }.map { String(parts[$0]) }.joined(separator: "_")
    }

    static func headings(of markdown: String) -> [String] {
        markdown.split(separator: "\n").filter { $0.hasPrefix("#") }.map {
            $0.drop { $0 == "#" }.trimmed.replacingOccurrences(of: "`", with: "")
        }
    }

    /// What a heading is called in a link, by the rule that forges share.
    static func anchor(_ heading: String) -> String {
        String(
            heading.lowercased().compactMap { character in
                if character == " " { return "-" }
                return character.isLetter || character.isNumber || "-_".contains(character)
                    ? character : nil
            })
    }

    private static func resolve(_ target: String, from path: String) -> String {
        var parts = path.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") where part != "." {
            if part == ".." {
                _ = parts.popLast()
            } else {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }
}
