import Testing

@testable import ParleyAssistant

@Suite("Questions that nobody answered")
struct QuestionTests {
    static func open(_ lines: String...) -> [Int64] {
        Analysis(Talk.said(lines + ["dan: -"])).openQuestions().map(\.sentence.message)
    }

    @Test(
        "a question stays open while nobody speaks of it",
        arguments: [
            ("Does anybody have a spare rope?", "the weather looks fine"),
            ("Wer bringt die Musik mit?", "es regnet schon wieder"),
            ("¿Quién tiene las llaves del sótano?", "hace mucho frío aquí"),
        ])
    func unanswered(question: String, other: String) {
        #expect(Self.open("ann: \(question)", "ben: \(other)") == [1])
    }

    @Test(
        "an answer closes it",
        arguments: [
            ("Does anybody have a spare rope?", "I have a spare rope"),
            ("Does anybody have a spare rope?", "ann: yes, two"),
            ("Does anybody have a spare rope?", "@ann me"),
            ("Wer bringt die Musik mit?", "die Musik bringe ich mit"),
            ("Wer bringt die Musik mit?", "Ann, ich"),
            ("¿Quién tiene las llaves del sótano?", "las llaves del sótano están aquí"),
        ])
    func answered(question: String, answer: String) {
        #expect(Self.open("ann: \(question)", "ben: \(answer)").isEmpty)
        // Not one's own words, and not somebody else's question.
        #expect(Self.open("ann: \(question)", "ann: \(answer)") == [1])
    }

    @Test("a reply closes it, and a reply to something else does not")
    func replies() {
        var said = Talk.said(["cay: it rains", "ann: who has the rope?", "ben: me", "dan: hm"])
        said[2].replyTo = 2
        #expect(Analysis(said).openQuestions().isEmpty)
        said[2].replyTo = 1
        #expect(Analysis(said).openQuestions().map(\.sentence.message) == [2])
    }

    @Test("whoever asked closes it with thanks")
    func thanks() {
        #expect(Self.open("ann: who has the rope?", "ben: hm", "ann: never mind, found it").isEmpty)
        #expect(Self.open("eva: Wer hat das Seil?", "ben: hm", "eva: hat sich erledigt").isEmpty)
        #expect(Self.open("luz: ¿Quién tiene la cuerda?", "leo: hm", "luz: ya está").isEmpty)
    }

    @Test("between two the next words of the other answer it")
    func direct() {
        let said = Talk.said(["ann: where are you?", "ben: on the bus"])
        #expect(Analysis(said).openQuestions().isEmpty)
        let asked = Talk.said(["ann: where are you now?", "ben: why do you ask?"])
        #expect(Analysis(asked).openQuestions().map(\.sentence.message) == [1, 2])
    }

    @Test(
        "what asks nothing is no question",
        arguments: [
            "how are you?", "right?", "really?", "ok?", "Wie geht's?", "oder?", "¿Qué tal?",
            "¿verdad?",
            "> who has the rope?", "`who has it?`", "look at https://a.example/?q=rope", "?", "???",
        ])
    func idle(text: String) { #expect(Self.open("ann: \(text)", "ben: hm").isEmpty, "\(text)") }

    @Test("a question to the reader is told as such, and waits for them")
    func toReader() {
        var said = Talk.said([
            "me: I have the rope", "ann: which one is it?", "cay: @me, when do we go?",
        ])
        said[0].isOwn = true
        said[1].replyTo = 1
        said[2].mentionsReader = true
        let analysis = Analysis(said)
        #expect(analysis.openQuestions().map(\.isToReader) == [true, true])
        let urgent = analysis.urgent(for: "me", isDirect: false, count: 10)
        #expect(urgent.map(\.reason) == [.question, .mention])
    }

    @Test("a task for the reader waits for them")
    func tasks() {
        let people = [AddressedPerson(id: "1", name: "bob"), AddressedPerson(id: "2", name: "cay")]
        let urgent = Analysis(
            Talk.said(["ann: I'll book the hut", "ann: bob will call the guide tomorrow"]),
            people: people
        ).urgent(for: "1", isDirect: false, count: 10)
        #expect(urgent.map(\.reason) == [.task] && urgent.map(\.sentence.message) == [2])
    }
}
