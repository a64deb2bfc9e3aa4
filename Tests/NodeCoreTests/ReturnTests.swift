import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// What was changed before somebody was out, or while they were, once they are back.
@Suite("Who comes back")
struct ReturnTests {
    private func number(
        of text: String, _ node: SimulatedNode, _ village: Village
    ) throws -> OperationNumber {
        try #require(try node.messages(in: village.group).first { $0.text == text }).number
    }

    private func waiting(_ node: SimulatedNode, _ village: Village) throws -> WaitingCounts {
        let (record, roster) = (try village.record(node), try village.roster(node))
        return try node.observed {
            try Overview.waitingCounts(
                of: record, roster: roster, ownPerson: node.identity.person, in: node.store)
        }
    }

    @Test("what no one will be given is told as older than all others, and waits for nobody")
    func earlier() throws {
        let village = try Village(seed: 921, memberCount: 2)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        try village.type("at six", ann)
        world.run(for: 5_000)
        world.partition([ben], [ann, village.cara, village.dora])
        world.run(for: 100_000)
        try village.perform(.edit(number(of: "at six", ann, village), text: "at seven"), ann)
        try village.type("alone", ann)
        #expect(try waiting(ann, village).total == 2)
        try village.remove(ben, by: ann)
        village.settle()
        try village.add(ben, by: ann)
        village.settle()
        try village.type("again", ann)
        village.settle()
        #expect(try village.texts(ben) == ["at six", "again"])
        let messages = try ann.messages(in: village.group)
        #expect(messages.map(\.text) == ["at seven", "alone", "again"])
        #expect(messages[0].waiting.map(\.subject) == [.edit])
        #expect(messages[0].waiting.map(\.state) == [.earlier])
        #expect(messages[1].state == .earlier)
        #expect(messages[2].state ?? .saved >= .delivered)
        #expect(try waiting(ann, village).total == 0)
    }
}
