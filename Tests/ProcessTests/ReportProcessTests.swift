import Parley
import ParleyLocalAPI
import Testing

/// Source: Protocol/03-operations.md, "Reports".
@Suite("Reports at the command line", .timeLimit(.minutes(3)))
struct ReportProcessTests {
    private func number(
        of text: String, at node: NodeProcess, in all: Neighbours
    ) async throws -> String {
        let page = try await all.client(node).perform(
            ReadMessages(conversation: "club", limit: 9))
        return String(try #require(page.messages.last { $0.text == text }).number)
    }

    @Test("a message is reported to the admin alone, who lists it until the report is deleted")
    func reporting() async throws {
        let all = try await Neighbours()
        let (ann, ben, cara) = (all.ann, all.ben, all.cara)
        try await all.gather(in: "club", saying: "welcome")
        try await all.meet(ann, cara, named: "cara")
        #expect(try await ann.run(["group", "add", "club", "cara"]).status == 0)
        try await eventually("cara is in", on: [ann, cara]) {
            try await all.client(cara).perform(ListConversations()).contains { $0.name == "club" }
        }
        _ = try await cara.run(["send", "club", "buy my things"])
        try await eventually("ben has it", on: [ann, ben, cara]) {
            try await all.texts("club", of: ben).contains("buy my things")
        }
        #expect(try await ann.run(["group", "reports"]).output.contains("nothing was reported"))
        let spam = try await number(of: "buy my things", at: ben, in: all)
        let sent = try await ben.run(["group", "report", spam, "this is spam"])
        #expect(sent.output == "reported to ann\n", "\(sent)")
        try await eventually("ann has it", on: [ann, ben]) {
            try await ann.run(["group", "reports", "club"]).output.contains("this is spam")
        }
        let told = try await ann.run(["group", "reports"]).output
        #expect(told.hasPrefix("club, reported by ben\n"), "\(told)")
        #expect(told.contains("buy my things") && told.contains("cara"), "\(told)")
        #expect(try await ann.run(["conversations"]).output.contains("1 new"))
        for node in [ben, cara] {
            #expect(try await node.run(["group", "reports"]).output.contains("nothing was"))
        }
        let page = try await all.client(ann).perform(ListReports(limit: 9))
        let report = try #require(page.reports.first)
        #expect(report.message?.text == "buy my things" && report.reporter == "ben")
        _ = try await ann.run(["delete", String(report.words.number), "--for-me"])
        #expect(try await ann.run(["group", "reports"]).output.contains("nothing was reported"))
        try await all.end()
    }

    @Test(
        "one's own message, one of the only admin, and one in no group are refused, with the reason"
    )
    func refused() async throws {
        let all = try await Neighbours()
        let (ann, ben) = (all.ann, all.ben)
        try await all.gather(in: "club", saying: "welcome")
        let welcome = try await number(of: "welcome", at: ben, in: all)
        let alone = try await ben.run(["group", "report", welcome])
        #expect(alone.status == 1 && alone.output.contains("no other admin"), "\(alone)")
        let mine = try await number(of: "welcome", at: ann, in: all)
        let own = try await ann.run(["group", "report", mine])
        #expect(own.status == 1 && own.output.contains("That message is yours"), "\(own)")
        _ = try await ann.run(["send", "ben", "hello"])
        try await eventually("ben has it", on: [ann, ben]) {
            try await all.texts("ann", of: ben) == ["hello"]
        }
        let page = try await all.client(ben).perform(ReadMessages(conversation: "ann", limit: 1))
        let hello = try #require(page.messages.last)
        #expect(try await ben.run(["group", "report", hello.id]).status == 1)
        try await all.end()
    }
}
