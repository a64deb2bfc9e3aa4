import Testing

@testable import ParleyAssistant

/// Numbers from a seed, the same everywhere.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

@Suite("What holds of everything that the assistant says")
struct PropertyTests {
    static let parts = [
        "I'll send the notes", "by Friday", "ben: can you check", "who has the rope?",
        "we decided to go",
        "ok", "agreed", "Ich schicke das morgen", "¿Puedes llamar?", "> quoted", "`code`", "```",
        "\n",
        "\u{202E}abc", "👩‍👩‍👧‍👦", "e\u{301}\u{301}\u{301}", "\u{0}", "，。？", "    ", "the night train",
        "...", "'", "’", ":", "todo:", "@ben", "@", "2026-12-05", "5 Dec", "in 999999999 days", "ﷺ",
        "ß", "İ",
        "\u{FEFF}", "\u{D7FF}", String(repeating: "a", count: 300), "?", "¿", "a.b.c.", "1.",
        "z.B.",
    ]

    static func talk(_ seed: UInt64) -> [SaidMessage] {
        var random = Seeded(seed)
        return (0..<Int.random(in: 0...60, using: &random)).map { index in
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }.joined(separator: Bool.random(using: &random) ? " " : "")
            let author = ["ann", "ben", "cay", "dan"].randomElement(using: &random) ?? ""
            return SaidMessage(
                number: Int64(index * 3 + 1), author: author, name: author,
                time: UInt64.random(in: 0...(.max), using: &random),
                offset: Int.random(in: (.min)...(.max), using: &random), text: text,
                replyTo: Bool.random(using: &random)
                    ? Int64.random(in: 0...200, using: &random) : nil,
                reactionCount: Int.random(in: -1...9, using: &random),
                mentionsReader: Bool.random(using: &random), isOwn: author == "dan")
        }
    }

    static func sentences(_ said: [SaidMessage]) -> [CitedSentence] {
        let analysis = Analysis(said)
        return analysis.points(count: 7) + analysis.actions().map(\.sentence)
            + analysis.decisions().map(\.sentence) + analysis.openQuestions().map(\.sentence)
            + analysis.urgent(for: "dan", isDirect: false, count: 10).map(\.sentence)
    }

    @Test(
        "every line is part of the message that it names", arguments: 1...60 as ClosedRange<UInt64>)
    func cited(seed: UInt64) {
        let said = Self.talk(seed)
        for sentence in Self.sentences(said) {
            let message = said.first { $0.number == sentence.message }
            let bytes = Array(message?.text.utf8 ?? "".utf8)
            let part = Array(sentence.text.utf8)
            let isPart =
                part.count <= bytes.count
                && (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
            #expect(isPart && !part.isEmpty, "seed \(seed): \(sentence)")
        }
        let analysis = Analysis(said)
        for decision in analysis.decisions() {
            guard let agreement = decision.agreement else { continue }
            #expect(said.contains { $0.number == agreement }, "seed \(seed)")
        }
        for action in analysis.actions() {
            #expect(action.doer.map { name in said.contains { $0.author == name } } ?? true)
            #expect((0...CivilDay.last).contains(action.due ?? 0), "seed \(seed)")
        }
    }

    @Test("a message that goes is in no result", arguments: 61...100 as ClosedRange<UInt64>)
    func deleted(seed: UInt64) {
        let said = Self.talk(seed)
        for sentence in Self.sentences(said).prefix(8) {
            let rest = said.filter { $0.number != sentence.message }
            let named = Self.sentences(rest).map(\.message)
            #expect(!named.contains(sentence.message), "seed \(seed)")
            #expect(
                Analysis(rest).decisions().allSatisfy { $0.agreement != sentence.message },
                "seed \(seed)")
        }
    }

    @Test("the same messages give the same lines", arguments: 101...110 as ClosedRange<UInt64>)
    func determined(seed: UInt64) {
        let said = Self.talk(seed)
        #expect(Self.sentences(said) == Self.sentences(said), "seed \(seed)")
    }

    @Test("of more messages than are looked at, the newest count")
    func newest() {
        let said = (0..<Analysis.messageCountMax + 10).map { index in
            SaidMessage(
                number: Int64(index), author: "ann", name: "ann", time: Talk.noon,
                text: index < 10 ? "I'll send the notes" : "fine")
        }
        #expect(Analysis(said).actions().isEmpty)
        #expect(Analysis(Array(said.dropLast(10))).actions().count == 10)
    }
}
