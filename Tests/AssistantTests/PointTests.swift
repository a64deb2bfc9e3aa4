import Testing

@testable import ParleyAssistant

@Suite("Key points of a conversation")
struct PointTests {
    static let trip = [
        "ann: We decided to take the night train to the mountains in December.",
        "ben: The night train to the mountains leaves at nine in the evening.",
        "cay: my cat is asleep on the warm kitchen window again today",
        "ben: The train to the mountains has beds for all of us this time.",
        "ann: I'll book beds on the night train for everybody by Friday.",
        "dan: ok",
        "cay: Somebody has to bring the big tent and the cooking pots.",
    ]

    @Test("a summary has so many sentences, in their order, and what was decided among them")
    func summary() {
        let points = Analysis(Talk.said(Self.trip)).points(count: 3)
        #expect(points.count == 3)
        #expect(points.map(\.message) == points.map(\.message).sorted())
        #expect(points.map(\.message).contains(1))
        #expect(!points.map(\.message).contains(3) && !points.map(\.message).contains(6))
    }

    @Test(
        "what one said oneself is nothing that one missed, and what is short is told all the same")
    func missed() {
        func said(_ lines: [String]) -> [SaidMessage] {
            Talk.said(lines).map { message in
                var message = message
                message.isOwn = message.author == "ann"
                return message
            }
        }
        let all = Analysis(said(Self.trip))
        #expect(all.points(count: 9).contains { $0.message == 5 })
        let points = all.points(count: 9, isMissed: true).map(\.message)
        #expect(!points.isEmpty && !points.contains(1) && !points.contains(5), "\(points)")
        let short = Analysis(
            said([
                "ann: I will bring the tent and the stove tomorrow morning", "ben: ok", "dan: yes",
            ]))
        #expect(short.points(count: 3, isMissed: true).isEmpty)
        #expect(short.newest(count: 3).map(\.text) == ["ok", "yes"])
        #expect(short.newest(count: 1).map(\.message) == [3])
    }

    @Test("what is said again is said once")
    func redundancy() {
        let again = (0..<6).map { "p\($0): The night train to the mountains leaves at nine." }
        let points = Analysis(Talk.said(again + Self.trip)).points(count: 4)
        #expect(points.filter { $0.text.contains("leaves at nine.") }.count <= 1)
    }

    @Test("a summary of nothing is empty, and none is longer than it may be")
    func bounds() {
        #expect(Analysis([]).points(count: 5).isEmpty)
        #expect(Analysis(Talk.said(["ann: hi", "ben: "])).points(count: 5).isEmpty)
        let long = (0..<200).map {
            "p\($0 % 7): word\($0) thing\($0) place\($0) item\($0) end\($0)"
        }
        let analysis = Analysis(Talk.said(long))
        #expect(analysis.points(count: 1_000).count == Analysis.pointCountMax)
        #expect(analysis.points(count: 0).isEmpty && analysis.points(count: -1).isEmpty)
    }

    @Test("a sentence that is too long ends where a word does, and says so")
    func longSentence() throws {
        let text = (0..<200).map { "word\($0)" }.joined(separator: " ")
        let point = try #require(Analysis(Talk.said(["ann: \(text)"])).points(count: 1).first)
        #expect(point.isCut && text.hasPrefix(point.text))
        #expect(point.text.utf8.count <= Sentence.shownByteCountMax)
        #expect(text.dropFirst(point.text.count).hasPrefix(" "))
    }

    @Test("what messages mean counts where it is known")
    func vectors() {
        let said = Talk.said([
            "ann: the red bird sings loudly outside", "ben: a crimson animal chants near here",
            "cay: numbers matter greatly for taxes", "dan: another thing about winter coats",
        ])
        let meaning: [Int64: [Float]] = [1: [1, 0], 2: [1, 0], 3: [0, 1], 4: [0, -1]]
        let points = Analysis(said).points(count: 1, vectors: meaning)
        #expect([1, 2].contains(points.first?.message))
    }
}

@Suite("Sentences of a message")
struct SentenceTests {
    static func cut(_ text: String) -> [String] {
        let cutter = SentenceCutter(text)
        return cutter.ranges.map { cutter.text($0) }
    }

    @Test(
        "a message is cut where sentences end",
        arguments: [
            ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
            ("Wait... what?! Yes.", ["Wait...", "what?!", "Yes."]),
            ("Am 5. Dezember um 9. Dann heim.", ["Am 5. Dezember um 9. Dann heim."]),
            ("See e.g. the page. Then go.", ["See e.g. the page.", "Then go."]),
            ("https://a.example/b.html is it.", ["https://a.example/b.html is it."]),
            ("one\ntwo\r\nthree", ["one", "two", "three"]),
            ("(Really.) \"Yes.\" so", ["(Really.)", "\"Yes.\"", "so"]),
            ("一つ。二つ？三つ", ["一つ。", "二つ？", "三つ"]),
            ("run `a. b` now. Go", ["run `a. b` now.", "Go"]),
            ("> quoted. more\nown", ["own"]), ("```\ncode. code\n```\nown", ["own"]),
            ("", []), ("   \n\t\n", []),
        ])
    func cuts(text: String, sentences: [String]) { #expect(Self.cut(text) == sentences) }

    @Test("a message of 64 KiB and one of blanks cost no more than their length")
    func large() {
        let limit = 64 << 10
        #expect(Self.cut(String(repeating: " ", count: 100_000)).isEmpty)
        #expect(Self.cut(String(repeating: "a. ", count: limit / 3)).count == 64)
        #expect(Self.cut(String(repeating: "x", count: limit)).count == 1)
        let joined = String(repeating: "👩‍👩‍👧", count: limit / 18)
        #expect(Self.cut(joined).allSatisfy { joined.hasPrefix($0) })
        let spaced = "I'll send" + String(repeating: " ", count: 100_000) + "the notes"
        for action in Analysis(Talk.said(["ann: \(spaced)"])).actions() {
            #expect(spaced.contains(action.sentence.text) && action.sentence.text.utf8.count <= 400)
        }
    }

    @Test("a language is told by its frequent words, and short words take that of the conversation")
    func languages() {
        func language(_ text: String) -> Bool? {
            Sentence.all(of: Talk.said(["ann: \(text)"])[0], at: 0).first?.language
                .map { "\($0)" == "german" }
        }
        #expect(language("das ist nicht von mir") == true)
        #expect(language("this is not mine") == false)
        #expect(language("Photosynthese") == nil)
        let said = [
            "eva: das ist nicht von mir", "jan: und wir sind auch noch da", "eva: Abgemacht!",
        ]
        #expect(Analysis(Talk.said(said)).decisions().isEmpty)
    }
}
