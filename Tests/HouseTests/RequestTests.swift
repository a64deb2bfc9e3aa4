import Testing

/// What can be asked of a node is declared once and listed once.
@Suite("Requests are listed")
struct RequestListTests {
    /// Types that a file declares to be requests.
    static func declared(in code: String) -> [String] {
        code.matches(of: /(?:struct|enum|class|extension)\s+(\w+)\s*:[^{]*\bNodeRequest\b/)
            .map { String($0.1) }
    }

    /// Types that the list names.
    static func listed(in code: String) -> [String] {
        code.matches(of: /\b(\w+)\.self\b/).map { String($0.1) }
    }

    @Test("a declaration is seen, whatever else the type is")
    func sight() {
        let code = "struct A: NodeRequest {}\nenum B: Equatable, NodeRequest {}\nfunc f(_: C)"
        #expect(Self.declared(in: code) == ["A", "B"])
        #expect(Self.listed(in: "[A.self, B.self]") == ["A", "B"])
    }

    @Test("every request that is declared is in the list, and no other")
    func all() throws {
        let files = SourceTree.swift.filter { $0.path.hasPrefix("Sources/") }
        let list = try #require(files.first { $0.path.hasSuffix("/NodeRequests.swift") })
        let declared = files.flatMap { Self.declared(in: $0.code) }
        #expect(declared.sorted() == Self.listed(in: list.code).sorted())
        #expect(declared.count > 5)
    }
}
