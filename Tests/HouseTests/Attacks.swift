import Foundation

/// The attacks that have a number, in the tests and in the page on threats.
enum Attacks {
    /// The numbers of all tests whose name begins with one, with the files that they stand in.
    static func tested(in files: [SourceFile]) -> [Int: [String]] {
        var found: [Int: [String]] = [:]
        for file in files {
            let start = file.path.hasSuffix(".py") ? "def test_attack_" : "\"Attack "
            for number in numbers(after: start, in: file.text) {
                found[number, default: []].append(file.path)
            }
        }
        return found
    }

    /// The numbers in the first column of the page's table of attacks, or of those that
    /// wait for something else to be built.
    static func listed(in page: String, under title: String = "Attacks by number") -> [Int] {
        section(title, of: page).split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| ") else { return nil }
            return Int(line.dropFirst(2).prefix { $0.isNumber })
        }
    }

    /// Every number that the other tables refer to as a test: `A14` or `A14–18`.
    static func cited(in page: String) -> [Int] {
        page.split { !($0.isLetter || $0.isNumber || $0 == "–") }.flatMap { word -> [Int] in
            guard word.hasPrefix("A") else { return [] }
            let ends = word.dropFirst().split(separator: "–", omittingEmptySubsequences: false)
                .map { Int($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil else { return [] }
            return ends.count <= 2 && first <= last ? Array(first...last) : []
        }
    }

    private static func section(_ title: String, of page: String) -> String {
        guard let start = page.range(of: "## \(title)\n") else { return "" }
        let rest = page[start.upperBound...]
        return String(rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)])
    }

    private static func numbers(after mark: String, in text: String) -> [Int] {
        text.components(separatedBy: mark).dropFirst().compactMap { rest in
            let digits = rest.prefix { $0.isNumber }
            let end = rest.dropFirst(digits.count)
            return end.hasPrefix(": ") || end.hasPrefix("_") ? Int(digits) : nil
        }
    }
}
