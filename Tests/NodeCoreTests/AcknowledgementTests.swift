import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// What tells that something is delivered. Source: `Protocol/06-sync.md`, "ACK".
@Suite("Acknowledgements")
struct AcknowledgementTests {
    /// How much waits for somebody's word, as its author is shown it.
    private func waitingCount(of node: SimulatedNode, in space: SpaceID) throws -> Int {
        try node.observing {
            let record = try #require(try node.store.space(space))
            let roster = try #require(try node.roster(of: record))
            return try Overview.waitingCounts(
                of: record, roster: roster, ownPerson: node.identity.person,
                device: node.identity.device,
                known: NodeCore.wordsKnown(
                    of: record, by: node.identity.device, in: node.store),
                in: node.store
            ).total
        }
    }

    @Test(
        "that are lost with the node that owed them, or with the one that waits, are asked for",
        arguments: [false, true])
    func lost(byAuthor: Bool) throws {
        // From before the poll comes until after the acknowledgement is there.
        for step in 1...8 {
            let world = World(seed: 961)
            let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
            _ = try world.introduce(ann, ben)
            let space = try world.group("club", [ann, ben])
            world.run(for: 60_000)
            let question = PollQuestion(
                question: "when?", options: ["Friday", "Saturday"], isMultiple: false)
            _ = try world.perform(.together(.ask(space, question)), on: ann)
            (byAuthor ? ann : ben).plannedDeath = PlannedDeath(
                stepCount: step, point: .afterCommit, isLosingPower: false, downtime: 1_000)
            world.run(for: 90_000)
            let isHeld = try ben.observing {
                let record = try #require(try ben.store.space(space))
                let roster = try #require(try ben.roster(of: record))
                return try Overview.polls(
                    in: record.number, roster: roster, store: ben.store
                ).count == 1
            }
            #expect(isHeld)
            #expect(try waitingCount(of: ann, in: space) == 0, "ended at step \(step)")
        }
    }
}
