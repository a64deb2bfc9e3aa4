import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ben knows two who have one name; then one of them takes ben's.
@Suite("Two persons of one name", .serialized, .timeLimit(.minutes(3)))
struct NamesakeProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("bear the start of their identifier wherever one of them is shown")
    func everywhere() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ben, all.ann, named: "ann")
        try await all.meet(all.ben, all.cara, named: "cara")
        let (ann, ben, cara) = (
            try await all.client(all.ann), try await all.client(all.ben),
            try await all.client(all.cara)
        )
        let persons = try await [ann.perform(GetStatus()).person, cara.perform(GetStatus()).person]
        try await cara.perform(RenameSelf(name: "Ann"))
        let shown = ["ann (\(persons[0].prefix(8)))", "Ann (\(persons[1].prefix(8)))"]
        try await eventually("ben sees the name", on: [all.ben]) {
            try await Set(ben.perform(ListConversations()).map(\.name)) == Set(shown)
        }
        try await ben.perform(CreateConversation(name: "mix", members: persons))
        for (client, text) in [(ann, "the right key"), (cara, "which key")] {
            try await eventually("they are in", on: [all.ann, all.cara]) {
                try await client.perform(ListConversations()).contains { $0.name == "mix" }
            }
            try await client.perform(SendMessages(conversation: "mix", texts: [text]))
        }
        try await eventually("ben has both", on: [all.ben]) {
            try await all.texts("mix", of: all.ben).count == 2
        }
        for words in [
            ["read", "mix", "--newest"], ["search", "key"], ["conversations"], ["status"],
        ] {
            let program = try Program(words + ["--home", all.ben.home])
            #expect(try await program.ended() == 0)
            for name in shown { #expect(program.output.contains(name), "\(program.output)") }
        }
        let said = try await run("ask", "who has the right key", at: all.ben)
        #expect(said.contains("– \(shown[0]) in mix"), "\(said)")
        // Ann, who never met cara, sees that cara's name could be her own.
        let seen = try await run("read", "mix", "--newest", at: all.ann)
        #expect(seen.contains(shown[1]), "\(seen)")
        // A bare name still means what it did, and fits two; as it is shown it fits one.
        let both = try await Program.run("read", "ann", "--home", all.ben.home)
        #expect(both.status == 1 && both.output.contains("matches 2"), "\(both.output)")
        for name in shown { #expect(both.output.contains(name), "\(both.output)") }
        _ = try await run("send", shown[1], "to you", at: all.ben)
        _ = try await run("send", "ben", "alone", at: all.cara)

        try await cara.perform(RenameSelf(name: "Ben"))
        let posing = "Ben (\(persons[1].prefix(8)))"
        try await eventually("ben sees his name", on: [all.ben]) {
            try await ben.perform(ListConversations()).contains { $0.name == posing }
        }
        let own = try await run("read", posing, "--newest", at: all.ben)
        let person = try await ben.perform(GetStatus()).person
        #expect(own.contains("\(posing)  alone"), "\(own)")
        #expect(own.contains("ben (\(person.prefix(8)))  to you"), "\(own)")
        // Now that nobody else is called so, ann is ann.
        #expect(try await ben.perform(ListConversations()).contains { $0.name == "ann" })
        try await all.end()
    }

    @Test("Attack 120: groups that look like another conversation are listed with that one")
    func groups() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        #expect(try await !run("conversations", at: all.ann).contains("looks the same"))
        // The last letter of the second one is Cyrillic.
        for name in ["trip", "tri\u{440}", "Ben", "trip (2025)"] {
            try await ann.perform(CreateConversation(name: name, members: []))
        }
        let listed = try await ann.perform(ListConversations())
        func shown(_ name: String) throws -> String {
            let one = try #require(listed.first { $0.name == name })
            return "\(name) (\(one.id.prefix(8)))"
        }
        let (latin, mixed) = (try shown("trip"), try shown("tri\u{440}"))
        let (group, person) = (try shown("Ben"), try shown("ben"))
        let found = Dictionary(uniqueKeysWithValues: listed.map { ($0.name, $0.resembles) })
        #expect(
            found == [
                "trip": [mixed], "tri\u{440}": [latin], "Ben": [person], "ben": [],
                "trip (2025)": [],
            ])
        let said = try await run("conversations", at: all.ann)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let warning =
            "\(group) is not \(person), whose name looks the same: tell them apart by the "
            + "identifier"
        #expect(said.contains(warning), "\(said)")
        #expect(
            said.contains("\(latin) is not \(mixed)") != said.contains("\(mixed) is not \(latin)"),
            "\(said)")
        try await all.end()
    }
}
