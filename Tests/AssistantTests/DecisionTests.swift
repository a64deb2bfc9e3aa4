import Testing

@testable import ParleyAssistant

@Suite("Decisions that messages make")
struct DecisionTests {
    @Test(
        "a decision is found",
        arguments: [
            "We decided to take the train.", "we have agreed on the second weekend",
            "Decided: the hut it is", "Let's go with Postgres", "ok, we'll use the old road",
            "The meeting is postponed to Monday", "we're going with the blue one", "Friday it is",
            "The launch is cancelled", "The plan is to meet at nine", "final decision: no rope",
            "Wir haben uns auf Freitag geeinigt", "Beschlossen: wir nehmen den Zug",
            "Dann machen wir das am Montag", "Das Treffen wird auf Montag verschoben",
            "Wir nehmen das rote Zelt", "Hemos decidido ir en tren", "Decidido: vamos en tren",
            "Al final nos quedamos con la casa grande", "Quedamos en vernos el lunes",
            "La reunión queda aplazada", "Se cancela la cena",
        ])
    func found(text: String) {
        let decisions = Talk.analysis("ann: \(text)", "ben: hm").decisions()
        #expect(decisions.map(\.sentence.text).first.map(text.hasPrefix) == true, "\(text)")
    }

    @Test(
        "what decides nothing is none",
        arguments: [
            "We haven't decided yet", "have we decided on the hut?", "if we decide to go, I call",
            "let's see", "let's move on", "let's take this offline", "what it is",
            "I decided to stay home", "that's not been decided", "we will see", "yes it is",
            "when the budget is approved we can go", "> We decided to take the train.",
            "Wir haben noch nicht entschieden", "wenn wir uns geeinigt haben", "mal sehen",
            "Haben wir uns auf Freitag geeinigt?", "Aún no hemos decidido", "¿Hemos decidido algo?",
            "a ver", "Vamos a ver",
        ])
    func nearMisses(text: String) {
        #expect(Talk.analysis("ann: \(text)", "ben: hm").decisions().isEmpty, "\(text)")
    }

    @Test(
        "a proposal counts once somebody else agrees",
        arguments: [
            ("How about the second weekend, then", "sounds good"),
            ("I suggest we take the bus", "agreed"),
            ("Wollen wir den Bus nehmen", "einverstanden"),
            ("Propongo ir en autobús", "de acuerdo"),
            ("Shall we meet at nine?", "ok"), ("¿Qué tal si vamos el lunes?", "me parece bien"),
        ])
    func agreed(proposal: String, answer: String) {
        let said = ["ann: \(proposal)", "ben: \(answer)"]
        let found = Analysis(Talk.said(said)).decisions()
        #expect(
            found.map(\.sentence.message) == [1] && found.map(\.agreement) == [2], "\(proposal)")
        // Nobody agrees with oneself, and nobody who asks agrees.
        #expect(Talk.analysis("ann: \(proposal)", "ann: \(answer)").decisions().isEmpty)
        #expect(Talk.analysis("ann: \(proposal)", "ben: \(answer)?").decisions().isEmpty)
        #expect(Talk.analysis("ann: \(proposal)", "ben: no").decisions().isEmpty)
    }

    @Test("who replies to something else agrees to that")
    func elsewhere() {
        var said = Talk.said(["cay: is it cold?", "ann: I suggest we take the bus", "ben: agreed"])
        said[2].replyTo = 1
        #expect(Analysis(said).decisions().isEmpty)
        said[2].replyTo = 2
        #expect(Analysis(said).decisions().map(\.agreement) == [3])
    }
}
