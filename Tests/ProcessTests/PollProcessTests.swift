import Parley
import ParleyLocalAPI
import Testing

@Suite("Polls at the command line", .serialized, .timeLimit(.minutes(3)))
struct PollProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("a poll is answered by both, closed with a result that stays, and taken back")
    func polling() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let asked = try await run(
            "poll", "new", "club", "when shall we meet?", "Friday", "Saturday", at: all.ben)
        #expect(asked.contains("when shall we meet?  (one answer)"), "\(asked)")
        try await eventually("ann is asked", on: [all.ann]) {
            try await ann.perform(ListPolls(toAnswer: true)).count == 1
        }
        let poll = try #require(try await ann.perform(ListPolls()).first)
        #expect(poll.title == "club" && poll.author == "ben" && poll.mayClose)
        let read = try await run("read", "club", "--newest", at: all.ann)
        #expect(read.contains("– ben asks: when shall we meet?  (poll #"), "\(read)")
        for name in ["\(poll.number)", poll.id] {
            let mistaken = try await Program.run("react", name, "👍", "--home", all.ann.home)
            #expect(mistaken.status == 1)
            #expect(
                mistaken.output.contains("#\(poll.number) is not a message, but a poll."),
                "\(mistaken)")
            #expect(mistaken.output.contains("poll show"), "\(mistaken)")
        }
        _ = try await run("poll", "vote", poll.id, "2", at: all.ann)
        try await eventually("ben sees it", on: [all.ben]) {
            try await ben.perform(ListPolls()).first?.options.map(\.names) == [[], ["ann"]]
        }
        _ = try await run("poll", "vote", poll.id, "1", at: all.ben)
        let closed = try await run("poll", "close", poll.id, at: all.ben)
        #expect(closed.contains("closed by ben, 2 answered"), "\(closed)")
        try await eventually("ann sees the result", on: [all.ann]) {
            try await ann.perform(GetPoll(poll: MessageReference(poll.id))).state == "closed"
        }
        let late = try await Program.run("poll", "vote", poll.id, "1", "--home", all.ann.home)
        #expect(late.status == 1 && late.output.contains("That poll is closed."), "\(late)")
        let told = try await run("poll", "show", poll.id, "--json", at: all.ann)
        #expect(told.contains("\"closedBy\":\"ben\"") && told.contains("\"names\":[\"ann\"]"))
        #expect(told.contains("\"mayAnswer\":false"), "\(told)")
        try await eventually("both see the same", on: [all.ann, all.ben]) {
            func digest(_ node: NodeClient) async throws -> String? {
                try await node.perform(ListDigests()).first { $0.name == "club" }?.digest
            }
            let (seen, other) = (try await digest(ann), try await digest(ben))
            return seen != nil && seen == other
        }
        #expect(try await run("poll", "delete", poll.id, at: all.ann).contains("deleted: when"))
        try await eventually("it is gone", on: [all.ben]) {
            try await ben.perform(ListPolls()).isEmpty
        }
        let gone = try await Program.run("poll", "show", poll.id, "--home", all.ben.home)
        #expect(gone.status == 1 && gone.output.contains("There is no such poll."), "\(gone)")
    }
}
