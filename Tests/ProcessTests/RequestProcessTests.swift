import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Somebody has a person's card alone, and asks with it: nothing is written yet.
@Suite("A card that comes without a message", .serialized, .timeLimit(.minutes(3)))
struct RequestProcessTests {
    @Test("is shown wherever one looks for people, with what answers it")
    func shown() async throws {
        let all = try await Neighbours()
        let home = all.ann.home
        func run(_ words: String...) async throws -> (status: Int32, output: String) {
            let program = try Program(words + ["--home", home])
            return (try await program.ended(), program.output)
        }
        let before = try await all.client(all.ann).changes(after: nil, limit: 1).cursor
        let card = try await all.client(all.ann).card().text
        for asker in [all.ben, all.cara] {
            _ = try await all.client(asker).requestContact(card: card, alias: nil)
        }
        try await eventually("ann is asked", on: [all.ann]) {
            try await all.client(all.ann).status().requests.count == 2
        }
        let ben = String(try await all.client(all.ben).status().person.prefix(8))
        let cara = String(try await all.client(all.cara).status().person.prefix(8))
        let accept = "parley contact accept --home \(home) \(ben)"
        let decline = "parley contact decline --home \(home) \(ben)"
        for words in ["contacts", "conversations"] {
            let shown = try await run(words).output
            #expect(
                shown.contains("ben asks to be your contact: \(accept), or \(decline)\n"),
                "\(shown)")
            #expect(shown.contains("cara asks to be your contact: "))
            // There is nothing to read yet, and so nothing in the list.
            #expect(!shown.contains("none yet"))
        }
        #expect(try await run("conversations", "--json").output == "[]\n")
        #expect(try await run("status").output.contains("ben: parley contacts --home \(home)"))
        let follow = try Program(["follow", "--home", home, "--after", before])
        try await follow.says("ben asks to be your contact: \(accept)")
        let sent = try await run("send", "ben", "hello")
        #expect(sent.status == 1 && sent.output.contains(accept), "\(sent.output)")
        // The words as they are shown answer it.
        let words = accept.split(separator: " ").dropFirst().map(String.init)
        let accepted = try Program(words)
        #expect(try await accepted.ended() == 0, "\(accepted.output)")
        #expect(try await run("contact", "decline", cara).status == 0)
        try await eventually("ben has the conversation", on: [all.ben]) {
            try await all.client(all.ben).conversations().map(\.name) == ["ann"]
        }
        let left = try await run("conversations").output
        #expect(left.hasPrefix("ben ") && !left.contains("asks"), "\(left)")
        #expect(try await all.client(all.cara).conversations().isEmpty)
        follow.signal(SIGTERM)
        try await follow.ended()
        try await all.end()
    }
}
