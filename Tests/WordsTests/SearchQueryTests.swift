import Testing

@testable import ParleyWords

@Suite("A search")
struct SearchQueryTests {
    static let now: UInt64 = 1_800_000_000_000

    static func query(_ text: String, typing: Bool = false) throws -> SearchQuery {
        try SearchQuery(text, at: now, isTyping: typing)
    }

    @Test("asks for all words but the frequent ones")
    func words() throws {
        let query = try Self.query("when are we meeting?")
        #expect(query.wanted == [.word(Array("meeting".utf8))])
        #expect(query.question == "when are we meeting?")
        #expect(query.matches(in: "the meetings move") != nil)
        #expect(try Self.query("to be or not to be").wanted.count == 6)
        #expect(try Self.query("red car").matches(in: "a red bus") == nil)
    }

    @Test("takes phrases, exact words and what must not be there")
    func phrases() throws {
        let phrase = try Self.query("\"same room as\" -monday")
        #expect(phrase.isExact)
        #expect(phrase.matches(in: "in the SAME room, as ever") != nil)
        #expect(phrase.matches(in: "the room same as") == nil)
        #expect(phrase.matches(in: "same room as on Mondays") == nil)
        #expect(try Self.query("\"server\"").matches(in: "servers") == nil)
        #expect(try Self.query("x -\"a b\"").matches(in: "x a b") == nil)
        #expect(try Self.query("x -\"a b\"").matches(in: "x b a") != nil)
    }

    @Test("takes conditions of author, place and time")
    func conditions() throws {
        let query = try Self.query(
            "pizza from:ann FROM:\"Ben B\" in:hut before:2026-02 after:2025-12-31 has:link")
        #expect(query.authors == ["ann", "Ben B"])
        #expect(query.conversations == ["hut"])
        #expect(query.before == 1_769_904_000_000)
        #expect(query.after == 1_767_139_200_000)
        #expect(query.has == ["link"])
        #expect(query.question == "pizza")
        #expect(try Self.query("after:7d").after == Self.now - 7 * 86_400_000)
        #expect(try Self.query("after:today").after == 1_799_971_200_000)
    }

    @Test("refuses what is no day, nothing one can have, and what is too long")
    func refusals() {
        #expect(throws: SearchQuery.Refusal.noDay("2026-02-30")) {
            try Self.query("before:2026-02-30")
        }
        #expect(throws: SearchQuery.Refusal.noDay("soon")) { try Self.query("after:soon") }
        #expect(throws: SearchQuery.Refusal.unknownHas("hope")) { try Self.query("has:hope") }
        #expect(throws: SearchQuery.Refusal.tooLong) {
            try Self.query(String(repeating: "a", count: 1025))
        }
    }

    @Test("finds by the beginning of the last word while one types")
    func typing() throws {
        #expect(try Self.query("data bas", typing: true).matches(in: "the database") == nil)
        #expect(try Self.query("the datab", typing: true).matches(in: "the databases") != nil)
        #expect(try Self.query("the datab ", typing: true).matches(in: "the databases") == nil)
        #expect(try Self.query("datab").matches(in: "the databases") == nil)
        #expect(try Self.query("the da", typing: true).matches(in: "the databases") != nil)
        #expect(try Self.query("the -da", typing: true).matches(in: "the databases") != nil)
        #expect(try Self.query("the -dat", typing: true).matches(in: "the databases") == nil)
        let query = try Self.query("datab", typing: true)
        #expect(query.narrowing == [[.beginning(Array("datab".utf8))]])
        #expect(try Self.query("databas", typing: true).narrowing == query.narrowing)
    }

    @Test("in scripts without blanks asks for letters that stand together")
    func unspaced() throws {
        let query = try Self.query("会议")
        #expect(query.matches(in: "明天的会议改到三点") != nil)
        #expect(query.matches(in: "会不会议论") != nil)
        #expect(query.matches(in: "议会") == nil)
    }

    @Test("tells what to mark, in bytes of the text")
    func marks() throws {
        let text = "Die Brücke: brücken über dem Fluß"
        let marks = try #require(try Self.query("brücke").matches(in: text))
        let bytes = Array(text.utf8)
        #expect(marks.map { String(decoding: bytes[$0], as: UTF8.self) } == ["Brücke", "brücken"])
    }

    @Test("narrows by terms that every text that matches has", arguments: 1...20)
    func narrowing(seed: UInt64) throws {
        let vocabulary = [
            "server", "servers", "Straße", "strasse", "café", "会议室", "meeting", "встреча",
            "v2.14.3", "can't", "🎉", "reunião", "http://a.example/x", "Ωmega", "데이터베이스",
        ]
        var state = seed &* 0x9e37_79b9_7f4a_7c15
        func draw(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        for _ in 0..<50 {
            let text = (0...draw(6)).map { _ in vocabulary[draw(vocabulary.count)] }
                .joined(separator: " ")
            let word = vocabulary[draw(vocabulary.count)]
            let query = try Self.query(
                draw(2) == 0 ? word : String(word.prefix(1 + draw(5))), typing: draw(2) == 0)
            let terms = Set(Terms.ofText(text))
            guard query.matches(in: text) != nil else { continue }
            #expect(
                query.narrowing.allSatisfy { !terms.isDisjoint(with: $0) },
                "seed \(seed): \(query) matches “\(text)”, whose terms do not")
        }
    }

    @Test("that says nothing is none, unless somebody is about to say it")
    func empty() throws {
        for text in ["", "  ", "\"\""] {
            #expect(throws: SearchQuery.Refusal.empty) { try SearchQuery(text, at: 0) }
            #expect(try SearchQuery(text, at: 0, isTyping: true).isEmpty)
        }
        #expect(throws: SearchQuery.Refusal.missing("from")) {
            try SearchQuery("key from:", at: 0)
        }
        #expect(try SearchQuery("key from:", at: 0, isTyping: true).authors.isEmpty)
    }
}
