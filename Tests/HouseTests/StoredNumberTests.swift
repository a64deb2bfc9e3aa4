import Testing

/// Numbers that are stored or sent mean one thing: two features that were built apart must not share one.
@Suite("Stored numbers are used once")
struct StoredNumberTests {
    /// Types whose values are declared all over the code, each with its number.
    static let types = ["EntryField", "OperationKind", "PreferenceKey"]

    /// The numbers that declarations of values of a type give, in their order.
    static func numbers(of type: String, in code: String) -> [String] {
        code.matches(of: /static let \w+ = (\w+)\(rawValue: (\d+)\)/)
            .filter { $0.1 == type }.map { String($0.2) }
    }

    @Test("a number that is given twice is found")
    func sight() {
        let code = """
            static let one = EntryField(rawValue: 4)
            public static let kind = OperationKind(rawValue: 4)
            static let other = EntryField(rawValue: 4)
            """
        #expect(Self.numbers(of: "EntryField", in: code) == ["4", "4"])
        #expect(Self.numbers(of: "OperationKind", in: code) == ["4"])
    }

    @Test("no number of any of these types is given twice", arguments: types)
    func unique(type: String) {
        let files = SourceTree.swift.filter { $0.path.hasPrefix("Sources/") }
        let numbers = files.flatMap { Self.numbers(of: type, in: $0.code) }
        let twice = Dictionary(grouping: numbers, by: \.self).filter { $0.value.count > 1 }.keys
        #expect(twice.sorted().isEmpty)
        #expect(numbers.count > 3, "\(type)")
    }
}
