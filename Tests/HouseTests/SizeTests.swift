import Testing

@Suite("Sizes")
struct SizeTests {
    static func function(_ lineCount: Int, name: String = "f") -> String {
        let body = Array(repeating: "    if a { b() }", count: lineCount - 2)
        return (["func \(name)() {"] + body + ["}"]).joined(separator: "\n") + "\n"
    }

    static func sample(_ text: String, test: Bool = false) -> SourceFile {
        SourceFile(path: test ? "Tests/ATests/B.swift" : "Sources/A/B.swift", text: text)
    }

    @Test("a function is as long as it looks")
    func lengths() {
        let text = Self.function(60) + Self.function(61, name: "g") + "let a = 1\n"
        let functions = Sizes.functions(in: Self.sample(text))
        #expect(functions.map(\.lineCount) == [60, 61])
        #expect(Sizes.tooLarge(Self.sample(text)).map(\.line) == [61])
    }

    @Test("a signature of many lines counts, and one without a body does not")
    func signatures() {
        let text = """
            protocol P {
                func first(a: Int)
                mutating func second(
                    a: Int
                ) throws(E) -> [Int]
            }
            public init?(
                a: [Int] = [], b: () -> Void = { c() }
            ) throws(E) {
                d()
            }
            """
        let found = Sizes.functions(in: Self.sample(text))
        #expect(found == [Sizes.Function(name: "init", line: 7, lineCount: 5)])
    }

    @Test("a file has a limit, and a test a wider one")
    func files() {
        let lines = String(repeating: "let a = 1\n", count: 401)
        #expect(Sizes.tooLarge(Self.sample(lines)).count == 1)
        #expect(Sizes.tooLarge(Self.sample(String(lines.dropLast(10)))).isEmpty)
        #expect(Sizes.tooLarge(Self.sample(lines, test: true)).isEmpty)
        #expect(Sizes.overHabit(Self.sample(lines, test: true)).count == 1)
    }

    @Test("no file and no function is too large")
    func all() {
        let found = SourceTree.swift.flatMap(Sizes.tooLarge)
        #expect(found.isEmpty, "\(list(found))")
    }

    @Test("what is larger than the habit is listed")
    func habit() {
        let found = SourceTree.swift.flatMap(Sizes.overHabit)
        // A note, no failure: it is here to be read and to be made shorter.
        if !found.isEmpty { print("Larger than the habit:\n\(list(found))") }
    }
}
