import Testing

@testable import ParleyAssistant

@Suite("Tasks that messages give")
struct ActionTests {
    /// Everything of one message by ann, to whom ben and cay listen.
    static func found(_ text: String, with others: [String] = ["ben", "cay"]) -> [ActionSuggestion]
    {
        let people = others.map { AddressedPerson(id: $0, name: $0) }
        return Analysis(Talk.said(["ann: \(text)"]), people: people).actions()
    }

    @Test(
        "a task is found, with who and until when",
        arguments: [
            ("I'll send the notes by Friday.", "ann", "2026-12-04"),
            ("I’ll book the hut tomorrow", "ann", "2026-11-28"),
            ("ok, I will write the report", "ann", nil),
            ("I'm going to call the plumber on Monday", "ann", "2026-11-30"),
            ("leave that to me", "ann", nil),
            ("ben: can you check the road?", "ben", nil),
            ("Ben, could you please send me the list by 5 Dec?", "ben", "2026-12-05"),
            ("@cay please review the draft", "cay", nil),
            ("ben will bring the rope on 2026-12-01", "ben", "2026-12-01"),
            ("cay to write the minutes", "cay", nil),
            ("ben needs to sign the form in 2 days", "ben", "2026-11-29"),
            ("Someone should update the page", nil, nil),
            ("Can somebody order the tickets?", nil, nil),
            ("TODO: pay the bill by the end of the month", nil, "2026-11-30"),
            ("we need to renew the certificate", nil, nil),
            ("Don't forget to water the plants tomorrow", nil, "2026-11-28"),
        ] as [(String, String?, String?)])
    func english(text: String, doer: String?, due: String?) throws {
        try check(text, doer, due)
    }

    @Test(
        "German",
        arguments: [
            ("Ich schicke dir das bis Freitag.", "ann", "2026-12-04"),
            ("Ich kümmere mich um die Einladungen", "ann", nil),
            ("ich werde morgen die Karten kaufen", "ann", "2026-11-28"),
            ("Das mache ich übermorgen", "ann", "2026-11-29"),
            ("Kannst du bitte die Rechnung bezahlen, Ben?", nil, nil),
            ("Ben, kannst du den Raum buchen?", "ben", nil),
            ("Ben übernimmt die Kasse", "ben", nil),
            ("Jemand muss noch die Getränke bestellen", nil, nil),
            ("Wir müssen den Vertrag bis zum 5. Dezember unterschreiben", nil, "2026-12-05"),
            ("Vergesst nicht, die Schlüssel mitzubringen", nil, nil),
            ("Aufgabe: das Protokoll schreiben", nil, nil),
        ] as [(String, String?, String?)])
    func german(text: String, doer: String?, due: String?) throws {
        try check(text, doer, due)
    }

    @Test(
        "Spanish",
        arguments: [
            ("Yo me encargo de la comida", "ann", nil),
            ("Te mando el informe mañana", "ann", "2026-11-28"),
            ("Voy a llamar al casero el lunes", "ann", "2026-11-30"),
            ("Prepararé la lista para el viernes", "ann", "2026-12-04"),
            ("Ben, ¿puedes enviar la factura?", "ben", nil),
            ("Por favor, revisad el documento antes del 5 de diciembre", nil, "2026-12-05"),
            ("Alguien tiene que comprar las entradas", nil, nil),
            ("Hay que reservar la sala", nil, nil),
            ("No olvides traer las llaves", nil, nil),
            ("Tarea: escribir el acta", nil, nil),
        ] as [(String, String?, String?)])
    func spanish(text: String, doer: String?, due: String?) throws {
        try check(text, doer, due)
    }

    private func check(_ text: String, _ doer: String?, _ due: String?) throws {
        let action = try #require(Self.found(text).first, "\(text)")
        #expect(action.doer == doer, "\(text)")
        let day = due.flatMap(Self.day)
        #expect(action.due == day?.number, "\(text)")
        #expect(text.contains(action.sentence.text))
    }

    static func day(_ text: String) -> CivilDay? {
        let parts = text.split(separator: "-").compactMap { Int($0) }
        return CivilDay(year: parts[0], month: parts[1], day: parts[2])
    }

    @Test(
        "what only looks like a task is none",
        arguments: [
            "I will be back", "I'll be right there", "I'll see you tomorrow", "I'll bet it works",
            "I will never send that", "I won't write the report", "did you send the report?",
            "Will I have to pay?", "if I can send it, good", "I was ill yesterday", "well done",
            "thanks for the notes", "please", "let me know", "I sent the notes yesterday",
            "what do you have to pay there?", "should I call them?", "you should see this",
            "the book is on the table", "they will send it, I think", "How can I write a test?",
            "Ich bin gleich wieder da", "Ich mache gerade Pause", "Ich frage mich, was das soll",
            "Was muss ich bezahlen?", "danke fürs Schicken", "wenn ich das bezahlen muss",
            "guten Morgen", "Ya estoy en casa", "Voy a dormir", "¿Qué tengo que pagar?",
            "gracias por enviarlo", "si puedo enviarlo, bien", "la mañana fue larga", "Vamos a ver",
        ])
    func nearMisses(text: String) { #expect(Self.found(text).isEmpty, "\(text)") }

    @Test(
        "quoted lines and code are nobody's words",
        arguments: [
            "> I'll send the notes by Friday.", "  > ben will write the report",
            "```\nI'll send the notes\n```", "`I'll send the notes`", "    I will send the notes",
            "\tplease review the draft", "[22:42:41] <ben> I'll send the notes",
        ])
    func quotes(text: String) { #expect(Self.found(text).isEmpty, "\(text)") }

    @Test("between two, who is asked is the other one")
    func direct() {
        let found = Self.found("can you send the list?", with: ["ben"])
        #expect(found.map(\.doer) == ["ben"])
        #expect(Self.found("can you send the list?").map(\.doer) == [nil])
    }

    @Test("who is asked in a reply is the author of what it replies to")
    func reply() {
        var said = Talk.said(["ben: the list is ready", "ann: can you send it?", "cay: hm"])
        said[1].replyTo = 1
        #expect(Analysis(said).actions().map(\.doer) == ["ben"])
    }

    @Test("a name that two have is nobody's")
    func namesakes() {
        let people = [AddressedPerson(id: "1", name: "Ben"), AddressedPerson(id: "2", name: "ben")]
        let found = Analysis(Talk.said(["ann: ben will send the list"]), people: people).actions()
        #expect(found.allSatisfy { $0.doer == nil })
    }

    @Test("of one message every task is its own")
    func several() {
        let found = Self.found("I'll book the hut. Also, ben, can you call the guide?")
        #expect(found.map(\.sentence.ordinal) == [0, 1])
        #expect(found.map(\.doer) == ["ann", "ben"])
    }

    @Test("tomorrow is a day of the author's clock")
    func zones() {
        let late: UInt64 = Talk.noon + 11 * 3_600_000
        for (offset, day) in [(0, 28), (2 * 3_600, 29), (-12 * 3_600, 28)] {
            let said = Talk.said(["ann: I'll call them tomorrow"], offset: offset, at: late)
            let due = Analysis(said).actions().first?.due
            #expect(due == CivilDay(year: 2026, month: 11, day: day)?.number)
        }
    }
}
