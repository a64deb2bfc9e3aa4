import Foundation
import Testing

@Suite("Limits")
struct LimitTests {
    /// Names and values of `Limits`, as its source writes them.
    static func declared(in code: String) -> [String] {
        code.split(separator: "\n").compactMap { line in
            let words = line.trimmed
            guard words.hasPrefix("public static let "), let equals = words.range(of: " = ")
            else { return nil }
            let name = words.dropFirst("public static let ".count).prefix { $0.isLetter }
            return "`\(name)` | `\(words[equals.upperBound...])`"
        }
    }

    @Test("a limit is read with its value")
    func reads() {
        let code = "enum Limits {\n    public static let aMax: UInt64 = 1 << 43\n    let b = 2\n}"
        #expect(Self.declared(in: code) == ["`aMax` | `1 << 43`"])
    }

    @Test("the page on encoding lists every label, and no other")
    func labels() throws {
        let source = try #require(SourceTree.read("Sources/Sealing/Labels.swift"))
        let page = try #require(SourceTree.read("Protocol/02-encoding.md"))
        func quoted(_ text: String, after mark: String, until end: Character) -> Set<String> {
            Set(
                text.components(separatedBy: mark).dropFirst().map {
                    String($0.prefix { $0 != end })
                })
        }
        let labels = quoted(source, after: "Label(\"", until: "\"")
        #expect(labels.count > 40)
        #expect(
            quoted(page, after: "\n| `lp1/", until: "`")
                == Set(labels.map { String($0.dropFirst(4)) }))
    }

    @Test("the page on encoding lists every limit with its value, and no other")
    func page() throws {
        let source = try #require(SourceTree.file("Sources/Wire/Limits.swift"))
        let page = try #require(SourceTree.read("Protocol/02-encoding.md"))
        let limits = Self.declared(in: source.code)
        #expect(limits.count > 10)
        for limit in limits { #expect(page.contains("| \(limit) |"), "not listed: \(limit)") }
        let listed = page.split(separator: "\n").filter {
            $0.hasPrefix("| `") && ($0.contains("Max`") || $0.contains("ByteCount`"))
        }
        #expect(listed.count == limits.count)
    }
}
