import Parley
import ParleyConversation
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Mentions".
@Suite("Whom a text means")
struct MentionResolverTests {
    private static func person(_ first: UInt8, _ last: UInt8 = 0) -> PersonID {
        PersonID { ($0[0], $0[31]) = (first, last) }
    }

    private let resolver = MentionResolver(among: [
        .init(person: person(1), names: ["Ben"], publicName: "Ben"),
        .init(person: person(2), names: ["Ben Miller"], publicName: "Ben Miller"),
        .init(person: person(3), names: ["boss", "Cara"], publicName: "Cara"),
        .init(person: person(4), names: ["Tom"], publicName: "Tom"),
        .init(person: person(5), names: ["tom", "Tom"], publicName: "Tom"),
    ])

    private func whom(_ text: String) throws -> [PersonID] {
        try resolver.resolve(text).mentions.persons.map(\.person)
    }

    @Test("the longest name after a sign that stands at the start of a word, in whatever letters")
    func names() throws {
        #expect(
            try whom("@ben, and @BEN MILLER: hello (@Ben)") == [1, 2, 1].map { Self.person($0) })
        #expect(try whom("write to ann@ben and @bender and @ ben and @nobody").isEmpty)
        #expect(try whom("@ben's") == [Self.person(1)])
        let found = try resolver.resolve("ä @ben!")
        #expect(found.text == "ä @ben!")
        #expect(found.mentions.persons == [.init(Self.person(1), at: 3..<7)])
    }

    @Test("everybody, beside persons")
    func everyone() throws {
        let found = try resolver.resolve("@everyone, and above all @Cara")
        #expect(found.mentions.everyone)
        #expect(found.mentions.persons.map(\.person) == [Self.person(3)])
        #expect(try !resolver.resolve("@everyones").mentions.everyone)
    }

    @Test("Attack 184: what one calls somebody stands in no text: their own name does")
    func alias() throws {
        let found = try resolver.resolve("ask @boss twice, @boss")
        #expect(found.text == "ask @Cara twice, @Cara")
        #expect(found.mentions.persons.map(\.place) == [4..<9, 17..<22])
    }

    @Test("of two of one name nobody is meant before it is said which")
    func ambiguous() throws {
        let error = #expect(throws: NodeError.self) { try whom("hello @tom") }
        #expect(error?.code == "ambiguous")
        #expect(error?.message.contains("“@tom” matches 2") == true, "\(error?.message ?? "")")
        #expect(try whom("@\(Self.person(4).short), hello") == [Self.person(4)])
        #expect(try whom("@Tom (\(Self.person(5).short)) hello") == [Self.person(5)])
        let found = try resolver.resolve("@\(Self.person(5).short)")
        #expect(found.text == "@Tom")
    }

    @Test("no more of them than a text has room for")
    func tooMany() throws {
        let most = Array(repeating: "@ben", count: Limits.mentionCountMax)
        #expect(try whom(most.joined(separator: " ")).count == Limits.mentionCountMax)
        let error = #expect(throws: NodeError.self) {
            try whom((most + ["@cara"]).joined(separator: " "))
        }
        #expect(error?.code == "too-many-mentions")
    }
}
