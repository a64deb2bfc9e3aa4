import Testing

@Suite("Links")
struct LinkTests {
    static let sample = Links { path in
        [
            "Protocol/02-encoding.md": "# Encoding\n## Primitives\n### The `op` kinds, all\n",
            "Sources/README.md": "# Rooms\n", "Sources": "",
        ][path]
    }
    static let real = Links { path in
        SourceTree.read(path) ?? (SourceTree.exists(path.isEmpty ? "." : path) ? "" : nil)
    }

    @Test(
        "a link that leads somewhere is left alone",
        arguments: [
            "[a](02-encoding.md)", "[a](02-encoding.md#primitives)", "[a](../Sources/README.md)",
            "[a](02-encoding.md#the-op-kinds-all)", "[a](../Sources)", "[a](#b)\n# B",
            "[a](https://example.org/x)", "`[a](gone.md)`", "```\n[a](gone.md)\n```",
        ])
    func alive(text: String) {
        let file = SourceFile(path: "Protocol/01-a.md", text: text)
        let links = Links { $0 == file.path ? text : Self.sample.read($0) }
        #expect(links.dead(in: file).isEmpty)
    }

    @Test(
        "a dead link is found",
        arguments: ["[a](gone.md)", "x [a](02-encoding.md#gone) y", "[`b`](../gone)", "[a](#gone)"])
    func dead(text: String) {
        let file = SourceFile(path: "Protocol/01-a.md", text: text)
        let links = Links { $0 == file.path ? text : Self.sample.read($0) }
        #expect(links.dead(in: file).count == 1)
    }

    @Test(
        "a citation is read with its section, over the end of a line too",
        arguments: [
            "/// Source: `Protocol/02-encoding.md`, \"Primitives\".",
            "/// Source: `Protocol/02-encoding.md`,\n    /// \"Primitives\".",
            "See Protocol/02-encoding.md, \"Primitives\".",
            "// `Protocol/02-encoding.md, \"Primitives\"`",
        ])
    func citations(text: String) {
        let found = Links.citations(in: text)
        #expect(found.map(\.heading) == ["Primitives"])
        #expect(found.map(\.path) == ["Protocol/02-encoding.md"])
        let file = SourceFile(path: "Sources/Wire/A.swift", text: text)
        #expect(Self.sample.deadCitations(in: file).isEmpty)
    }

    @Test(
        "a citation of what is not there is found",
        arguments: [
            "// `Protocol/02-encoding.md`, \"Gone\"", "// `Protocol/09-gone.md`",
            "// Protocol/02, \"Primitives\"", "// Protocol/09-gone.md.",
        ])
    func deadCitations(text: String) {
        let file = SourceFile(path: "Sources/Wire/A.swift", text: text)
        #expect(Self.sample.deadCitations(in: file).count == 1)
    }

    @Test("a page that is named without a section has only to be there")
    func wholePage() {
        let found = Links.citations(in: "`Protocol/02-encoding.md` and \"more\"")
        #expect(found == [Links.Citation(path: "Protocol/02-encoding.md", heading: nil, line: 1)])
    }

    @Test("every link of every page leads somewhere")
    func pages() {
        let found = SourceTree.markdown.flatMap(Self.real.dead)
        #expect(found.isEmpty, "\(list(found))")
    }

    @Test("every cited section exists")
    func sections() {
        let files = SourceTree.files.filter { !$0.path.hasPrefix("Tests/HouseTests/") }
        let found = files.flatMap(Self.real.deadCitations)
        #expect(found.isEmpty, "\(list(found))")
    }
}
