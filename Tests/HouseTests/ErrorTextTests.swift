import Testing

@Suite("Texts of errors")
struct ErrorTextTests {
    static func fragments(_ text: String) -> [Finding] {
        ErrorTexts.fragments(SourceFile(path: "Sources/A/B.swift", text: text))
    }

    @Test("a message or a hint that is no sentence is found")
    func fragments() {
        #expect(
            Self.fragments(
                """
                throw ValidationError("say what to find")
                NodeError("full", "The disk is full.", hint: "free some space")
                NodeError(
                    "gone", whole: "it is gone")
                """
            ).map(\.line).sorted() == [1, 2, 3])
    }

    @Test("sentences, options, values and comments are none")
    func sentences() {
        #expect(
            Self.fragments(
                #"""
                throw ValidationError("Give the words to find.")
                throw ValidationError("--lines is for standard input.")
                NodeError("full", "\(path) is full.", hint: "`parley files room` shows why.")
                /// - hint: told where there is one
                NodeError(code, message, hint: hint)
                """#
            ).isEmpty)
    }

    @Test("every error says what is wrong, and what to do, in a sentence")
    func all() {
        let found = SourceTree.swift.flatMap(ErrorTexts.fragments)
        #expect(found.isEmpty, "\(list(found))")
    }
}
