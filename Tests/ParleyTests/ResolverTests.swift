import Parley
import Testing

@Suite("Which thing a text means")
struct ResolverTests {
    private let victim = "42bc5fac" + String(repeating: "0", count: 56)
    private let attacker = "99aa0000" + String(repeating: "1", count: 56)

    private func meant(_ text: String, _ things: [(name: String, identifier: String)]) throws
        -> String?
    {
        var resolver = Resolver<String>(text)
        for thing in things {
            resolver.consider(thing.identifier, name: thing.name, identifier: thing.identifier)
        }
        return try resolver.thing()
    }

    @Test("Attack 120: an identifier, or eight digits of one, never means a name")
    func identifiers120() throws {
        for text in ["42bc5fac", "42BC5FAC", " 42bc5fac ", String(victim.prefix(20)), victim] {
            // The attacker is called as the victim's identifier begins, or as the whole of it.
            #expect(try meant(text, [("Ben", victim), (text, attacker)]) == victim)
            #expect(try meant(text, [(text, attacker)]) == nil)
        }
    }

    @Test("what is longer than any name and identifier means nothing, not even what is called so")
    func long() throws {
        let text = String(repeating: "x ", count: 50_000)
        #expect(try meant(text, [(text, victim)]) == nil)
        let name = String(repeating: "é", count: 128)
        #expect(try meant("\(name) (42bc5fac)", [(name, victim)]) == victim)
    }

    @Test("fewer digits may mean a name, and two that fit are refused with both shown")
    func few() throws {
        #expect(try meant("42bc", [("Ben", victim), ("Ann", attacker)]) == victim)
        #expect(try meant("dada", [("Dada", attacker)]) == attacker)
        for (text, names) in [
            ("42bc", ("Ben", "42bc")), ("ben", ("Ben", "ben")), ("Ben", ("Ben", "Ben")),
            ("ann  lee", ("Ann Lee", "ann lee")),
        ] {
            let error = #expect(throws: NodeError.self) {
                try meant(text, [(names.0, victim), (names.1, attacker)])
            }
            #expect(error?.code == "ambiguous")
            #expect(error?.message.contains("(42bc5fac)") == true)
            #expect(error?.message.contains("(99aa0000)") == true)
        }
    }

    @Test("what a stranger named counts where it alone bears the text letter by letter")
    func yielding() throws {
        func meant(_ text: String, own: String?, strange: String) throws -> String? {
            var resolver = Resolver<String>(text)
            if let own { resolver.consider("own", names: [own], identifiers: [victim]) }
            resolver.consider(
                "strange", names: [strange], identifiers: [attacker], yields: true)
            return try resolver.thing()
        }
        #expect(try meant("pals", own: "pals", strange: "pals") == "own")
        #expect(try meant("Pals", own: "pals", strange: "PALS") == "own")
        #expect(try meant("pals", own: "pals", strange: "Pals") == "own")
        #expect(try meant("pals", own: nil, strange: "Pals") == "strange")
        let error = #expect(throws: NodeError.self) {
            try meant("Pals", own: "pals", strange: "Pals")
        }
        #expect(error?.code == "ambiguous")
    }

    @Test("what is shown of two identifiers tells them apart")
    func alike() throws {
        let near =
            "42bc5fac" + String(repeating: "0", count: 20) + String(repeating: "1", count: 36)
        let error = #expect(throws: NodeError.self) {
            try meant("42bc5fac", [("", victim), ("", near)])
        }
        #expect(error?.message.contains(victim.prefix(32)) == true)
        #expect(error?.message.contains(near.prefix(32)) == true)
    }

    @Test("what has no name is meant by none")
    func nameless() throws {
        #expect(try meant("", [("", victim)]) == nil)
        #expect(try meant("abc", [("", "abc0" + victim.dropFirst(4))]) == nil)
    }
}
