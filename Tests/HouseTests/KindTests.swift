import Testing

/// The table of kinds in `Protocol/03-operations.md`.
struct KindTable {
    struct Row: Equatable {
        let kinds: ClosedRange<Int>
        /// The suites that test them.
        let suites: [String]
    }

    let rows: [Row]

    init(markdown: String) {
        let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false)
        let table = lines.drop { $0 != "## Kinds" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        rows = table.flatMap { line -> [Row] in
            let cells = line.split(separator: "|")
            guard line.hasPrefix("|"), let first = cells.first, let last = cells.last else {
                return []
            }
            let suites = last.split(separator: ",").map { cell in
                String(cell.filter { $0.isLetter || $0.isNumber })
            }
            // "33 Mute, 34 Contact" and "1–15" are rows of several.
            return first.split(separator: ",").compactMap { name in
                let numbers = (name.split(separator: " ").first ?? "").split(separator: "–")
                guard let low = numbers.first.flatMap({ Int($0) }),
                    let high = numbers.last.flatMap({ Int($0) }), low <= high
                else { return nil }
                return Row(kinds: low...high, suites: suites)
            }
        }
    }

    /// The numbers that source text declares as kinds of operations.
    static func declared(in source: String) -> Set<Int> {
        Set(
            source.components(between: "= OperationKind(rawValue: ", and: ")").compactMap {
                Int($0)
            })
    }
}

extension String {
    fileprivate func components(between start: String, and end: Character) -> [String] {
        ranges(of: start).map { String(self[$0.upperBound...].prefix { $0 != end }) }
    }
}

@Suite("The table of kinds")
struct KindTests {
    @Test("rows are read with the suites that test their kinds")
    func rows() {
        let table = KindTable(
            markdown: """
                ## Kinds

                | kind | lane | tests |
                |---|---|---|
                | 1–15 | 0 | `A` |
                | 33 Mute, 34 Contact | 4, own space | `B`, `C` |

                ## More
                | 7 | 0 | `D` |
                """)
        #expect(
            table.rows == [
                .init(kinds: 1...15, suites: ["A"]), .init(kinds: 33...33, suites: ["B", "C"]),
                .init(kinds: 34...34, suites: ["B", "C"]),
            ])
        #expect(KindTable.declared(in: "static let a = OperationKind(rawValue: 12)") == [12])
    }

    @Test("each kind that the program knows is in it once, with suites that are there")
    func all() throws {
        let table = KindTable(
            markdown: try #require(SourceTree.read("Protocol/03-operations.md")))
        let declared = SourceTree.swift.filter { $0.path.hasPrefix("Sources/") }
            .map { KindTable.declared(in: $0.text) }.reduce(into: Set()) { $0.formUnion($1) }
        #expect(declared.count > 40)
        for kind in declared.sorted() {
            #expect(table.rows.count { $0.kinds.contains(kind) } == 1, "kind \(kind)")
        }
        let names = SourceTree.swift.filter { $0.path.hasPrefix("Tests/") }
            .compactMap { $0.path.split(separator: "/").last }
        for row in table.rows {
            #expect(!row.suites.isEmpty)
            #expect(row.kinds.lowerBound < 16 || declared.contains(row.kinds.lowerBound))
            for suite in row.suites {
                #expect(names.contains("\(suite).swift"), "\(suite), of kind \(row.kinds)")
            }
        }
    }
}
