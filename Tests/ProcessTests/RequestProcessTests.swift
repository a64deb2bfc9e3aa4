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
        let before = try await all.client(all.ann).perform(ReadChanges(limit: 1)).cursor
        let card = try await all.client(all.ann).perform(GetCard()).text
        for asker in [all.ben, all.cara] {
            try await all.client(asker).perform(RequestContact(card: card))
        }
        try await eventually("ann is asked", on: [all.ann]) {
            try await all.client(all.ann).perform(GetStatus()).requests.count == 2
        }
        let ben = String(try await all.client(all.ben).perform(GetStatus()).person.prefix(8))
        let cara = String(try await all.client(all.cara).perform(GetStatus()).person.prefix(8))
        let accept = "parley contact accept --home \(home) \(ben)"
        let decline = "parley contact decline --home \(home) \(ben)"
        for words in ["contacts", "conversations"] {
            let shown = try await run(words).output
            #expect(
                shown.contains("ben asks to be your contact: \(accept), or \(decline)\n"),
                "\(shown)")
            #expect(shown.contains("cara asks to be your contact: "))
            // There is nothing to read yet, and so nothing in the list.
            #expect(!shown.contains("No conversations yet"))
        }
        #expect(try await run("conversations", "--json").output == "[]\n")
        #expect(try await run("status").output.contains("ben: parley contacts --home \(home)"))
        let follow = try Program(["follow", "--home", home, "--after", before])
        try await follow.says("ben sent you a contact request: \(accept)")
        let sent = try await run("send", "ben", "hello")
        #expect(sent.status == 1 && sent.output.contains(accept), "\(sent.output)")
        // The words as they are shown answer it.
        let words = accept.split(separator: " ").dropFirst().map(String.init)
        let accepted = try Program(words)
        #expect(try await accepted.ended() == 0, "\(accepted.output)")
        #expect(try await run("contact", "decline", cara).status == 0)
        try await eventually("ben has the conversation", on: [all.ben]) {
            try await all.client(all.ben).perform(ListConversations()).map(\.name) == ["ann"]
        }
        let left = try await run("conversations").output
        #expect(left.hasPrefix("ben ") && !left.contains("asks"), "\(left)")
        #expect(try await all.client(all.cara).perform(ListConversations()).isEmpty)
        // A command that another test runs in this very process may ignore SIGTERM from then on, and
        // what is started inherits that.
        follow.signal(SIGKILL)
        try await follow.ended()
        try await all.end()
    }

    @Test("waits on a relay for who is away, and so does the answer")
    func apart() async throws {
        let all = try await Hidden()
        var cards: [String] = []
        for node in [all.ann, all.ben] {
            let client = try await node.start(isHidden: true)
            try await client.perform(AddRelay(text: all.text))
            try await eventually("the relay is reached", on: [node]) {
                try await client.perform(ListRelays()).first?.state == "connected"
            }
            cards.append(try await client.perform(GetCard()).text)
            #expect(try await node.stop() == 0)
        }
        // Said while no node runs: it goes once one does.
        let asked = try await Program.run("contact", "request", cards[0], "--home", all.ben.home)
        #expect(asked.status == 0, "\(asked.output)")
        #expect(
            asked.output.contains("You can write to ann now: they get it once they accept."),
            "\(asked.output)")
        let first = try await Program.run("send", "ann", "may I?", "--home", all.ben.home)
        #expect(first.status == 0, "\(first.output)")
        let ben = try await all.ben.start(isHidden: true)
        try await eventually("the relay has it", on: [all.ben]) {
            let said = try await ben.perform(ReadMessages(conversation: "ann", limit: 9)).messages
            return try await ben.perform(ListContacts()).first?.notices.isEmpty == false
                && said.map(\.state) == ["relayed"]
        }
        let waiting = try await Program.run("contacts", "--home", all.ben.home)
        #expect(
            waiting.output.contains(
                "A relay has your contact request to ann, who gets it when they are next online, "
                    + "if they have not had it. You are told only if they accept."),
            "\(waiting.output)")
        #expect(try await all.ben.stop() == 0)

        let ann = try await all.ann.start(isHidden: true)
        try await eventually("ann is asked", on: [all.ann]) {
            try await ann.perform(GetStatus()).requests == ["ben"]
        }
        try await ann.perform(AnswerContact(person: "ben", decision: .accept))
        #expect(try await all.texts(of: all.ann, with: "ben") == ["may I?"])
        try await ann.perform(SendMessages(conversation: "ben", texts: ["welcome"]))
        try await eventually("the relay has the answer", on: [all.ann]) {
            try await ann.perform(ReadMessages(conversation: "ben", limit: 9)).messages
                .compactMap(\.state) == ["relayed"]
        }
        #expect(try await all.ann.stop() == 0)

        try await all.ben.start(isHidden: true)
        try await eventually("ben has the answer", on: [all.ben]) {
            let isHere = try await all.client(all.ben).perform(ListConversations()).contains {
                $0.name == "ann"
            }
            guard isHere else { return false }
            return try await all.texts(of: all.ben, with: "ann") == ["may I?", "welcome"]
        }
        #expect(try await all.client(all.ben).perform(ListContacts()).map(\.state) == ["accepted"])
        #expect(try await all.ben.stop() == 0)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }
}
