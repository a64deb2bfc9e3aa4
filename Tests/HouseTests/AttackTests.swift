import Testing

@Suite("Attacks")
struct AttackTests {
    @Test("a number is read from a test's name, a table and a reference")
    func reads() {
        let test = SourceFile(
            path: "a.swift", text: "@Test(\"Attack \u{37}: a frame\")\n@Test(\"Attack 8 of ten\")")
        #expect(Attacks.tested(in: [test]) == [7: ["a.swift"]])
        let page =
            "# Page\n## Attacks by number\n| n | x |\n|---|---|\n| 7 | a |\n## B\n| 8 | b |\n"
        #expect(Attacks.listed(in: page) == [7])
        #expect(Attacks.cited(in: "`T`: A7, A9–11. AEAD A5x A3–2") == [7, 9, 10, 11])
    }

    @Test("every attack of the page on threats has a test of its number, and the reverse")
    func numbers() throws {
        let page = try #require(SourceTree.read("Protocol/07-threats.md"))
        let listed = Attacks.listed(in: page)
        // Those of the page are in Python.
        let tests = SourceTree.files.filter {
            $0.path.hasPrefix("Tests/") && !$0.isGenerated && !Self.isMe($0)
        }
        let tested = Attacks.tested(in: tests)
        #expect(listed == listed.sorted() && Set(listed).count == listed.count)
        let waiting = Attacks.listed(in: page, under: "Attacks that wait")
        for number in listed { #expect(tested[number] != nil, "no test of attack \(number)") }
        for (number, paths) in tested.sorted(by: { $0.key < $1.key }) {
            #expect(
                (listed + waiting).contains(number),
                "attack \(number) of \(paths) is not on the page")
        }
        for number in Attacks.cited(in: page) {
            #expect((listed + waiting).contains(number), "A\(number) is named and not listed")
        }
    }

    private static func isMe(_ file: SourceFile) -> Bool {
        file.path == "Tests/HouseTests/AttackTests.swift"
    }
}
