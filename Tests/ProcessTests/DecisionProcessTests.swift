import Parley
import ParleyLocalAPI
import Testing

@Suite("Decisions at the command line", .serialized, .timeLimit(.minutes(3)))
struct DecisionProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("the result of a poll is proposed, approved, accepted, replaced and taken back")
    func deciding() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        _ = try await run("poll", "new", "club", "how do we go?", "train", "bus", at: all.ben)
        let poll = try #require(try await ben.perform(ListPolls()).first)
        _ = try await run("poll", "vote", poll.id, "1", at: all.ben)
        let early = try await Program.run(
            "decision", "propose", "club", "--from-poll", poll.id, "--home", all.ben.home)
        let way = "parley poll close --home \(all.ben.home) \(poll.number)` closes it."
        #expect(early.status == 1 && early.output.contains(way), "\(early)")
        _ = try await run("poll", "close", poll.id, at: all.ben)
        let proposed = try await run(
            "decision", "propose", "club", "--from-poll", poll.id, "--tag", "travel", at: all.ben)
        #expect(proposed.contains("how do we go? train  (proposed)"), "\(proposed)")
        #expect(proposed.contains("from the poll \(poll.id)"), "\(proposed)")
        try await eventually("ann sees it", on: [all.ann]) {
            try await ann.perform(ListDecisions()).decisions.count == 1
        }
        let decision = try #require(try await ann.perform(ListDecisions()).decisions.first)
        #expect(decision.place == "club" && decision.author == "ben" && decision.maySettle)
        let read = try await run("read", "club", "--newest", at: all.ann)
        #expect(read.contains("– ben proposes: how do we go? train  (decision #"), "\(read)")
        _ = try await run("decision", "approve", decision.id, at: all.ann)
        try await eventually("ben sees that ann approves", on: [all.ben]) {
            try await ben.perform(ListDecisions()).decisions.first?.approvers == ["ann"]
        }
        let accepted = try await run("decision", "accept", decision.id, at: all.ben)
        #expect(accepted.contains("(accepted by ben)"), "\(accepted)")
        try await eventually("ann sees that it holds", on: [all.ann]) {
            try await ann.perform(ListDecisions(state: "accepted")).decisions.count == 1
        }
        let other = try await run(
            "decision", "propose", "club", "we stay", "--json", at: all.ann)
        let found = try await ann.perform(ListDecisions(state: "proposed", limit: 5))
        let next = try #require(found.decisions.first)
        #expect(other.contains("\"title\":\"we stay\""), "\(other)")
        _ = try await run("decision", "supersede", decision.id, next.id, at: all.ann)
        try await eventually("both see the same", on: [all.ann, all.ben]) {
            func digest(_ node: NodeClient) async throws -> String? {
                try await node.perform(ListDigests()).first { $0.name == "club" }?.digest
            }
            let (seen, other) = (try await digest(ann), try await digest(ben))
            return seen != nil && seen == other
        }
        let tagged = try await run("decision", "list", "club", "--tag", "Travel", at: all.ben)
        #expect(tagged.contains("(superseded, says ann)") && !tagged.contains("\n\n"), "\(tagged)")
        #expect(tagged.contains("in its place: \(next.id), “we stay”"), "\(tagged)")
        let page = try await ann.perform(ListDecisions(conversation: "club", limit: 1))
        #expect(page.decisions.map(\.title) == ["we stay"])
        let rest = try await ann.perform(ListDecisions(limit: 1, from: page.next))
        #expect(rest.decisions.map(\.id) == [decision.id])
        _ = try await run("poll", "delete", poll.id, at: all.ben)
        let gone = try await run("decision", "delete", next.id, at: all.ann)
        #expect(gone.contains("deleted: we stay"), "\(gone)")
        try await eventually("it is gone", on: [all.ben]) {
            let left = try await ben.perform(ListDecisions()).decisions
            return left.map(\.id) == [decision.id] && left[0].successorTitle == nil
        }
    }
}
