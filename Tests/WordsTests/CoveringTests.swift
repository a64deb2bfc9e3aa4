import Testing

@testable import ParleyWords

@Suite("A question whose words need not all be there")
struct CoveringTests {
    private static func query(_ text: String) throws -> SearchQuery {
        try SearchQuery(text, at: 1_800_000_000_000)
    }

    @Test("is matched by what has enough of its words, by their weight")
    func weights() throws {
        let query = try Self.query("when does the train leave tomorrow?")
        #expect(query.wanted.count == 3)
        let loose = query.covered(by: [6, 3, 1], atLeast: 0.5)
        #expect(loose.matches(in: "a train goes at nine")?.count == 1)
        #expect(loose.matches(in: "leave it for tomorrow") == nil)
        #expect(loose.matches(in: "trains leave tomorrow")?.count == 3)
        #expect(loose.matches(in: "nothing of it") == nil)
        #expect(query.matches(in: "a train goes at nine") == nil)
        let all = query.covered(by: [1, 1, 1], atLeast: 1)
        #expect(all.matches(in: "the train leaves") == nil)
        #expect(all.matches(in: "tomorrow the train leaves") != nil)
        // Words that weigh nothing leave the query as it was.
        #expect(query.covered(by: [0, 0, 0], atLeast: 0.5) == query)
    }

    @Test("is looked for by terms that every match has, the heaviest alone")
    func narrowing() throws {
        let query = try Self.query("train leave tomorrow")
        #expect(query.narrowing.count == 3)
        let loose = query.covered(by: [6, 3, 1], atLeast: 0.5)
        #expect(loose.narrowing == [query.wantedTerms[0][0]])
        let even = query.covered(by: [1, 1, 1], atLeast: 0.5)
        // A text with the third alone has a third, which is not enough.
        #expect(even.narrowing == [query.wantedTerms[0][0] + query.wantedTerms[1][0]])
        for text in ["train leave", "leave tomorrow", "tomorrow train", "train", "tomorrow"] {
            guard even.matches(in: text) != nil else { continue }
            let terms = Set(Terms.ofText(text))
            #expect(even.narrowing.allSatisfy { !terms.isDisjoint(with: $0) }, "\(text)")
        }
    }

    @Test("must have what was put in quotation marks, and not what is excluded")
    func phrases() throws {
        let query = try Self.query("\"night train\" leave early -bus")
        #expect(query.exactCount == 1)
        let loose = query.covered(by: [1, 1, 1], atLeast: 0.5)
        #expect(loose.matches(in: "the night train leaves at nine") != nil)
        #expect(loose.matches(in: "we leave early") == nil)
        #expect(loose.matches(in: "the night train leaves behind the bus") == nil)
        #expect(loose.narrowing.count == 3)
        // The phrase alone weighs enough: no word is needed beside it.
        let heavy = query.covered(by: [4, 1, 1], atLeast: 0.5)
        #expect(heavy.matches(in: "a night train") != nil)
        #expect(heavy.narrowing.count == 2)
    }

    @Test("is narrowed to an author, a conversation and a time, in place of what it says itself")
    func narrowed() throws {
        var query = try Self.query("key from:ann in:hut after:2026-01-01")
        query.narrow(author: "ben", conversation: "farm", after: 5, before: 9)
        #expect(query.authors == ["ben"] && query.conversations == ["farm"])
        #expect(query.after == 5 && query.before == 9)
        query.narrow(author: nil, conversation: nil, after: nil, before: nil)
        #expect(query.authors == ["ben"] && query.after == 5)
        #expect(try Self.query("who are you").isOfFrequentWords)
        #expect(try !Self.query("who are the owls").isOfFrequentWords)
    }
}
