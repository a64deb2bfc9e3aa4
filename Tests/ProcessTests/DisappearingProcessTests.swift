import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Source: Protocol/03-operations.md, "Disappearing messages".
@Suite("Messages that disappear, between processes", .timeLimit(.minutes(5)))
struct DisappearingProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        try await node.run(words)
    }

    /// Sends one message that disappears six seconds after it is read, and none after that.
    private func sendSecret(from ann: NodeProcess, to ben: NodeProcess) async throws {
        _ = try await run("conversations", "disappear", "log", "6s", at: ann)
        _ = try await run("send", "log", "secret", at: ann)
        try await eventually("ben has it", on: [ann, ben]) {
            try await run("conversations", at: ben).output.contains("1 new")
        }
        _ = try await run("conversations", "disappear", "log", "--off", at: ann)
    }

    @Test("are said to, are gone on both sides after their time, and from the search; others stay")
    func gone() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        _ = try await run("send", "log", "this stays", at: ann)
        let refused = try await run("conversations", "disappear", "log", "1h", at: ben)
        #expect(
            refused.status == 1 && refused.output.contains("Only an owner or an admin"),
            "\(refused)")
        for wrong in ["0s", "400d", "soon", "-1d", "99999999999999999999w"] {
            let told = try await run("conversations", "disappear", "log", wrong, at: ann)
            #expect(told.status == 64, "\(wrong): \(told.output)")
        }
        let set = try await run("conversations", "disappear", "log", "6s", at: ann)
        #expect(set.output == "log  new messages disappear 6 seconds after they were read\n")
        _ = try await run("send", "log", "the heron flies at dawn", at: ann)
        try await eventually("ben has it", on: [ann, ben]) {
            try await run("conversations", at: ben).output.contains("2 new")
        }
        #expect(try await run("conversations", at: ben).output.contains("disappearing"))
        let shown = try await run("read", "log", at: ben).output
        #expect(shown.contains("the heron flies at dawn"), "\(shown)")
        #expect(shown.contains("(disappears "), "\(shown)")
        try await eventually("nobody has it any more", on: [ann, ben]) {
            for node in [ann, ben] {
                let read = try await run("read", "log", "--newest", at: node).output
                guard read.contains("this stays"), !read.contains("heron") else { return false }
            }
            return true
        }
        for node in [ann, ben] {
            #expect(try await !run("search", "heron", at: node).output.contains("flies"))
            #expect(try await run("search", "stays", at: node).output.contains("«stays»"))
        }
        #expect(
            try await run("conversations", "disappear", "log", "--off", at: ann).output
                == "log  new messages stay\n")
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }

    @Test("are answered, and what answers them says that they have disappeared")
    func answered() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        try await sendSecret(from: ann, to: ben)
        let client = try #require(await ben.client)
        let page = try await client.perform(ReadMessages(conversation: "log", limit: 9))
        let message = try #require(page.messages.last { $0.text == "secret" })
        #expect(message.lifetime == 6)
        let number = String(message.number)
        let edited = try await run("pin", number, at: ben)
        #expect(edited.status == 1 && edited.output.contains("That message disappears"))
        _ = try await run("read", "log", at: ben)
        try await eventually("the setting has come", on: [ann, ben]) {
            try await !run("conversations", at: ben).output.contains("disappearing")
        }
        _ = try await run("reply", "log", number, "noted", at: ben)
        try await eventually("it is gone", on: [ann, ben]) {
            try await run("read", "log", "--newest", at: ben).output.contains("(disappeared) noted")
        }
        let gone = try await run("react", number, "👍", at: ben)
        #expect(gone.status == 1 && gone.output.contains("has disappeared"), "\(gone.output)")
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }

    /// Once the one was refused though it was done, and the other knew no message that `read` shows.
    @Test("are deleted by who wrote them, with a word that says so, and `why` tells who has them")
    func deletedAndExplained() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        _ = try await run("conversations", "disappear", "log", "1h", at: ann)
        _ = try await run("send", "log", "take this back", at: ann)
        try await eventually("ben has it", on: [ann, ben]) {
            try await run("conversations", at: ben).output.contains("1 new")
        }
        let client = try #require(await ann.client)
        func newest() async throws -> MessageView {
            try #require(
                try await client.perform(ReadMessages(conversation: "log", limit: 1)).messages.last)
        }
        let first = try await newest()
        for node in [ann, ben] {
            let why = try await run("why", first.id, at: node)
            #expect(why.status == 0 && why.output.contains("counts: "), "\(why)")
        }
        #expect(try await run("why", "\(first.number)", at: ann).output.contains("delivered"))

        _ = try await run("offline", "on", at: ann)
        let deleted = try await run("delete", "\(first.number)", at: ann)
        #expect(deleted.status == 0, "\(deleted)")
        #expect(deleted.output.contains("(deleted)"), "\(deleted)")
        #expect(deleted.output.contains("(deleted, not yet delivered)"), "\(deleted)")
        #expect(!deleted.output.contains("disappears"), "\(deleted)")
        // The deletion is explained, to whom it has come.
        let why = try await run("why", "\(first.number)", at: ann)
        #expect(why.status == 0 && why.output.contains("deletion"), "\(why)")
        let twice = try await run("delete", "\(first.number)", at: ann)
        #expect(twice.status == 1 && twice.output.contains("has disappeared"), "\(twice)")

        _ = try await run("send", "log", "and this", at: ann)
        let second = try await newest()
        let told = try await run("delete", "\(second.number)", "--json", at: ann)
        #expect(told.status == 0 && !told.output.contains("unknown-message"), "\(told)")
        #expect(told.output.contains("\"isDeleted\":true"), "\(told)")
        #expect(!told.output.contains("and this"), "\(told)")
        _ = try await run("offline", "off", at: ann)
        try await eventually("ben has neither", on: [ann, ben]) {
            try await !run("read", "log", "--newest", at: ben).output.contains("take this back")
        }
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }

    @Test("are told by `why` and by threads as what has disappeared, once they have")
    func goneIsSaid() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        try await sendSecret(from: ann, to: ben)
        let client = try #require(await ann.client)
        let message = try #require(
            try await client.perform(ReadMessages(conversation: "log", limit: 1)).messages.last)
        let number = "\(message.number)"
        _ = try await run("reply", "log", number, "noted", at: ann)
        try await eventually("it is gone", on: [ann, ben]) {
            try await run("read", "log", "--newest", at: ann).output.contains("(disappeared) noted")
        }
        let why = try await run("why", number, at: ann)
        #expect(why.status == 1 && why.output.contains("That message has disappeared."), "\(why)")
        let threads = try await run("threads", "log", at: ann).output
        #expect(threads.contains("(the first message has disappeared)"), "\(threads)")
        let answer = try #require(
            try await client.perform(ReadMessages(conversation: "log", limit: 1)).messages.last)
        let thread = try await run("thread", answer.id, at: ann).output
        #expect(thread.contains("(the first message has disappeared)"), "\(thread)")
        #expect(!thread.contains("is not here"), "\(thread)")
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }
}
