import Parley
import ParleyLocalAPI
import Testing

/// Somebody who is blocked, and a relay that carries what they write.
@Suite("Somebody blocked, with a relay between", .serialized, .timeLimit(.minutes(5)))
struct BlockingProcessTests {
    private func states(of node: NodeProcess, in name: String, _ all: Hidden) async throws
        -> [String]
    {
        try await all.client(node).perform(ReadMessages(conversation: name, limit: 100)).messages
            .filter(\.isOwn).compactMap(\.state)
    }

    private func write(
        _ text: String, to name: String, from node: NodeProcess, _ all: Hidden
    ) async throws {
        try await all.client(node).perform(SendMessages(conversation: name, texts: [text]))
        try await eventually("\(text) is on the relay", on: [node]) {
            let waiting = try await all.client(node).perform(ListOutbox())
            return waiting.allSatisfy { $0.savedCount == 0 } && !waiting.isEmpty
        }
    }

    /// How many messages of the group are there without their words; none has them.
    private func hidden(at node: NodeProcess, _ all: Hidden) async throws -> Int {
        let messages = try await all.client(node).perform(
            ReadMessages(conversation: "club", limit: 100)
        ).messages
        #expect(messages.allSatisfy { $0.isHidden && $0.text == nil })
        return messages.count
    }

    @Test("is heard neither in the conversation of two nor in a group, and comes back after that")
    func relayed() async throws {
        let all = try await Hidden()
        try await all.meet()
        let ann = try await all.client(all.ann)
        try await all.client(all.ben).perform(SetAdditionPolicy(policy: .contacts))
        try await ann.perform(CreateConversation(name: "club", members: ["ben"]))
        try await all.client(all.ben).perform(SendMessages(conversation: "ann", texts: ["before"]))
        try await eventually("both have both", on: [all.ann, all.ben]) {
            let isIn = try await all.client(all.ben).perform(ListConversations()).contains {
                $0.name == "club"
            }
            let texts = try await all.texts(of: all.ann, with: "ben")
            let isKnown = try await states(of: all.ben, in: "ann", all) == ["delivered"]
            return isIn && texts == ["before"] && isKnown
        }
        try await ann.perform(AnswerContact(person: "ben", decision: .block))
        // The link ends first: what is written after that goes through the relay.
        try await eventually("they are apart", on: [all.ben]) {
            try await all.client(all.ben).perform(GetStatus()).links.isEmpty
        }
        try await write("after the block", to: "ann", from: all.ben, all)
        let shown = try await ann.perform(ReadMessages(conversation: "ben", limit: 10))
        try await ann.perform(MarkRead(conversation: "ben", messages: [], last: shown.last))
        try await write("to all", to: "club", from: all.ben, all)
        try await eventually("what is for the group comes", on: [all.ann]) {
            try await hidden(at: all.ann, all) == 1
        }
        #expect(try await all.texts(of: all.ann, with: "ben") == ["before"])
        // Nor does a node that starts read what lies there.
        #expect(try await all.ann.stop() == 0)
        try await all.ann.start(isHidden: true)
        try await write("to all again", to: "club", from: all.ben, all)
        try await eventually("what is for the group comes", on: [all.ann]) {
            try await hidden(at: all.ann, all) == 2
        }
        let quiet = try await all.client(all.ann).perform(GetConversation(conversation: "club"))
        #expect(quiet.unread == 0)
        let found = try await all.ann.run("search", "again")
        #expect(!found.output.contains("to all again"), "\(found.output)")
        let read = try await all.ann.run("read", "club", "--newest")
        #expect(read.output.contains("(hidden: you blocked them)"), "\(read.output)")
        #expect(!read.output.contains("to all"), "\(read.output)")
        #expect(try await all.texts(of: all.ann, with: "ben") == ["before"])
        try await eventually("ben hears of the group alone", on: [all.ben]) {
            try await states(of: all.ben, in: "club", all) == ["delivered", "delivered"]
        }
        #expect(try await states(of: all.ben, in: "ann", all) == ["delivered", "relayed"])
        try await all.client(all.ann).perform(AnswerContact(person: "ben", decision: .unblock))
        try await eventually("ann has what came meanwhile, and ben knows", on: [all.ann, all.ben]) {
            let texts = try await all.texts(of: all.ann, with: "ben")
            let isKnown = try await states(of: all.ben, in: "ann", all).last == "delivered"
            return texts == ["before", "after the block"] && isKnown
        }
        #expect(try await all.texts(of: all.ann, with: "club") == ["to all", "to all again"])
        let club = try await all.client(all.ann).perform(GetConversation(conversation: "club"))
        #expect(club.unread == 2)
        #expect(try await all.ann.stop() == 0)
        #expect(try await all.ben.stop() == 0)
    }

    @Test("what was deleted of the conversation with them does not come back with them")
    func deleted() async throws {
        let pair = try await ProcessPair()
        var (ann, ben) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        func texts(_ node: NodeClient, with name: String) async throws -> [String] {
            try await node.perform(ReadMessages(conversation: name, limit: 50)).messages
                .compactMap(\.text)
        }
        try await ann.perform(SendMessages(conversation: "ben", texts: ["of ann"]))
        try await ben.perform(SendMessages(conversation: "ann", texts: ["of ben"]))
        try await eventually("both have both", on: [pair.ann, pair.ben]) {
            let (mine, theirs) = (
                try await texts(ann, with: "ben"), try await texts(ben, with: "ann")
            )
            return mine.count == 2 && theirs.count == 2
        }
        try await ann.perform(AnswerContact(person: "ben", decision: .block))
        try await ann.perform(DeleteConversation(conversation: "ben"))
        #expect(try await !ann.perform(ListConversations()).contains { $0.name == "ben" })
        try await eventually("they are apart", on: [pair.ben]) {
            try await ben.perform(GetStatus()).links.isEmpty
        }
        try await ben.perform(SendMessages(conversation: "ann", texts: ["meanwhile"]))
        try await ann.perform(AnswerContact(person: "ben", decision: .unblock))
        try await eventually("what was written since comes", on: [pair.ann]) {
            guard try await ann.perform(ListConversations()).contains(where: { $0.name == "ben" })
            else {
                return false
            }
            return try await texts(ann, with: "ben").contains("meanwhile")
        }
        try await ann.perform(SendMessages(conversation: "ben", texts: ["anew"]))
        try await eventually("ben has it", on: [pair.ben]) {
            try await texts(ben, with: "ann") == ["of ann", "of ben", "meanwhile", "anew"]
        }
        #expect(try await texts(ann, with: "ben") == ["meanwhile", "anew"])
        try await pair.stopAndCheck()
        (ann, ben) = (try #require(await pair.ann.client), try #require(await pair.ben.client))
        #expect(try await texts(ann, with: "ben") == ["meanwhile", "anew"])
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }
}
