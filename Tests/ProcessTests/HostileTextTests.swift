import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("Texts that are as long as they can be", .serialized, .timeLimit(.minutes(6)))
struct HostileTextTests {
    /// Six bytes of JSON each: once 42 edits, or 43 messages, of these were more than a line of the
    /// local socket may have, and nothing of the conversation could be read.
    @Test("a contact cannot make a conversation unreadable, by edits or by messages")
    func readable() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (try #require(await pair.ann.client), try #require(await pair.ben.client))
        let text = "." + String(repeating: "\u{1}", count: 32 << 10 - 1)
        let begin = try await ben.perform(ReadChanges(limit: 1)).cursor
        let first = try #require(
            try await ann.perform(SendMessages(conversation: "log", texts: ["first"])).first)
        for count in 0..<42 {
            try await ann.perform(
                EditMessage(
                    message: MessageReference(first.number), text: "\(count)" + text.dropLast(4)))
        }
        for _ in 0..<43 {
            try await ann.perform(SendMessages(conversation: "log", texts: [text]))
        }
        try await ann.perform(SendMessages(conversation: "log", texts: ["last"]))
        try await eventually("ben has all", on: [pair.ben]) {
            let page = try await ben.perform(ReadMessages(conversation: "log", limit: 1))
            return page.messages.last?.text == "last"
        }
        let all = try await everyMessage(of: ben, in: "log")
        #expect(all.count == 45)
        #expect(all.last?.text?.hasPrefix("41") == true)
        var (versions, from): (Int, Int?) = (0, 0)
        while let next = from {
            let page = try await ben.perform(
                GetMessageHistory(
                    message: MessageReference(try #require(all.last).number), from: next))
            versions += page.versions.count
            from = page.next
        }
        #expect(versions == 43)
        for command in [["read", "log", "--limit", "200"], ["edits", "\(all[44].number)"]] {
            let shown = try await Program.run(arguments: command + ["--home", pair.ben.home])
            #expect(shown.status == 0, "\(shown.output.suffix(300))")
        }
        var (told, cursor, isEnd) = (0, begin, false)
        while !isEnd {
            let page = try await ben.perform(ReadChanges(after: cursor, limit: 200))
            told += page.changes.count { $0.isNew == true }
            (cursor, isEnd) = (page.cursor, page.isEnd)
        }
        #expect(told == 45)
    }

    /// Once it took five seconds.
    @Test("a node stops at once, whoever is connected and takes nothing")
    func stops() async throws {
        let pair = try await ProcessPair()
        let ben = try #require(await pair.ben.client)
        let untaken = try await ben.changes(after: nil)
        let follower = try Program(["follow", "--json", "--home", pair.ben.home])
        try await follower.says(#""kind":"start""#)
        let clock = ContinuousClock()
        let begin = clock.now
        #expect(try await pair.ben.stop() == 0)
        #expect(clock.now - begin < .seconds(3))
        #expect(try await follower.ended() == 1)
        withExtendedLifetime(untaken) {}
    }

    @Test("a reaction is one emoji, and who says another text is told so")
    func reactions() async throws {
        let pair = try await ProcessPair()
        let ann = try #require(await pair.ann.client)
        let sent = try await ann.perform(SendMessages(conversation: "log", texts: ["hello"]))
        let number = "\(try #require(sent.first).number)"
        for text in ["abc", "\u{202E}", "👍👍", "a sentence is no reaction"] {
            let refused = try await pair.ann.run("react", number, text)
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.output.contains("A reaction must be one emoji"), "\(refused.output)")
            #expect(refused.output.contains("parley reply"), "\(refused.output)")
        }
        let done = try await pair.ann.run("react", number, "👩‍🚒")
        #expect(done.status == 0 && done.output.contains("👩‍🚒 ann"), "\(done.output)")
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }
}

extension Program {
    fileprivate static func run(
        arguments: [String]
    ) async throws -> (status: Int32, output: String) {
        let program = try Program(arguments)
        let status = try await program.ended()
        return (status, program.output)
    }
}
