extension AssistantSet {
    /// A few invented conversations, so that something is measured without a file.
    public static var examples: AssistantSet {
        var set = AssistantSet()
        set.talks = [
            talk(
                "the hut",
                [
                    ("ann", "Who comes to the hut in December?", []),
                    ("ben", "I do. The road may be closed, though.", []),
                    ("cay", "Let's go with the second weekend.", ["decision"]),
                    ("ben", "ok", []),
                    ("ann", "I'll book the hut by Friday.", ["action"]),
                    ("cay", "ben, can you check the road on Thursday?", ["action"]),
                    ("ben", "sure, will do", []),
                    ("ann", "I will be back in an hour.", []),
                    ("cay", "Does anybody have a spare rope?", ["question"]),
                    ("ben", "The weather looks fine so far.", []),
                ]),
            talk(
                "das Fest",
                [
                    ("eva", "Wir haben uns auf den 12. Dezember geeinigt.", ["decision"]),
                    ("jan", "Ich schicke morgen die Einladungen raus.", ["action"]),
                    ("eva", "Kannst du bitte auch Getränke bestellen, Jan?", ["action"]),
                    ("jan", "Mache ich.", []),
                    ("eva", "Ich bin gleich wieder da.", []),
                    ("jan", "Wer bringt die Musik mit?", ["question"]),
                ]),
            talk(
                "la mudanza",
                [
                    ("luz", "Hemos decidido alquilar la furgoneta grande.", ["decision"]),
                    ("leo", "Yo me encargo de las cajas.", ["action"]),
                    ("luz", "¿Puedes llamar al casero antes del lunes?", ["action"]),
                    ("leo", "Vale, claro.", []),
                    ("luz", "Ya estoy en casa.", []),
                    ("leo", "¿Quién tiene las llaves del sótano?", ["question"]),
                ]),
        ]
        return set
    }

    private static func talk(_ name: String, _ lines: [(String, String, [String])]) -> Talk {
        var talk = Talk(name: name, judged: ["action", "decision", "question"])
        for (index, line) in lines.enumerated() {
            talk.messages.append(
                Message(
                    conversation: name, id: Int64(index + 1), author: line.0,
                    time: 1_795_000_000_000 + UInt64(index) * 60_000, text: line.1,
                    labels: line.2))
        }
        return talk
    }
}
