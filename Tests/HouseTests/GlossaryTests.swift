import Testing

@Suite("The glossary")
struct GlossaryTests {
    static let sample = Glossary(
        markdown: """
            | term | meaning | not |
            |---|---|---|
            | relay | a program that stores | broker, Hub |
            | node | the program | |
            """)

    @Test("rows are read with the words that do not stand for them")
    func rows() {
        #expect(
            Self.sample.rows == [
                Glossary.Row(term: "relay", not: ["broker", "hub"]),
                Glossary.Row(term: "node", not: []),
            ])
    }

    @Test("a word that does not stand for a term is found in identifiers, and on pages anywhere")
    func words() {
        func lines(_ path: String, _ text: String) -> [Int] {
            Self.sample.strangers(in: SourceFile(path: path, text: text)).map(\.line)
        }
        let source = """
            let messageBroker = 1
            let hubs = relay // a broker
            let brokerage = "hub"
            struct HubLink {}
            """
        #expect(lines("Sources/A/B.swift", source) == [1, 2, 4])
        #expect(
            lines("Protocol/03-operations.md", "Each broker\nstores, and the\nHubs.") == [1, 3])
        #expect(lines("Protocol/03-operations.md", "github, the relay") == [])
    }

    @Test("no identifier and no page has a word that the glossary has another one for")
    func all() throws {
        let page = try #require(SourceTree.read("Protocol/01-glossary.md"))
        let glossary = Glossary(markdown: page)
        #expect(glossary.rows.count > 60 && glossary.rows.flatMap(\.not).count > 20)
        let files =
            SourceTree.swift.filter { $0.path.hasPrefix("Sources/") }
            + SourceTree.markdown.filter {
                $0.path.hasPrefix("Protocol/") && $0.path != "Protocol/01-glossary.md"
            }
        let found = files.flatMap(glossary.strangers)
        #expect(found.isEmpty, "\(list(found))")
    }
}
