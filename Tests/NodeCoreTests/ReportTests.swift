import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ann, the owner of a group, and ben and cara in it. Source: Protocol/03-operations.md, "Reports".
@Suite("Reports")
struct ReportTests {
    private let world: World
    private let ann, ben, cara: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 1357)
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        cara = try world.addNode("cara")
        space = try world.group("club", [ann, ben, cara])
    }

    private func reports(_ node: SimulatedNode) throws -> [GivenReport] {
        try node.observing {
            try node.store.spaces().filter { $0.kind == .direct }.flatMap { space in
                let roster = try #require(try node.roster(of: space))
                return try Overview.reports(in: space.number, roster: roster, store: node.store)
            }
        }
    }

    private func pair(_ one: SimulatedNode, _ other: SimulatedNode) throws -> SpaceID {
        try #require(try world.conversation(of: one, and: other))
    }

    @Test("reach the admin with their words, nobody else, and the last of a message stands")
    func reaching() throws {
        try world.type("spam", on: cara, in: space)
        world.run(for: 5_000)
        let spam = try #require(
            try ben.observing { try ben.messages(in: space).first { $0.text == "spam" } })
        for text in ["look", "look again"] {
            _ = try world.perform(
                .report(spam.number, text: text, to: [try pair(ann, ben)]), on: ben)
            world.run(for: 5_000)
        }
        let told = try reports(ann)
        #expect(told.map(\.report) == [Report(of: spam.reference, in: space)])
        #expect(told.map(\.author) == [ben.identity.person])
        let words = try #require(told.first?.words)
        let shown = try ann.observing { try ann.messages(in: try pair(ann, ben)) }
        #expect(shown.first { $0.number == words }?.text == "look again")
        #expect(shown.map(\.text) == ["look", "look again"])
        #expect(try reports(cara).isEmpty)
    }

    @Test("go to nobody who is no admin, and of no message that is not in a group")
    func refused() throws {
        let spam = try world.type("spam", on: cara, in: space)
        let direct = try pair(ben, cara)
        let said = try world.type("hello", on: ben, in: direct)
        world.run(for: 5_000)
        let number = try #require(
            try ben.observing { try ben.messages(in: space).first { $0.text == "spam" }?.number })
        #expect(throws: CommandRefusal.unknownPerson) {
            try world.perform(.report(number, text: "look", to: [direct]), on: ben)
        }
        #expect(throws: CommandRefusal.unknownMessage) {
            try world.perform(.report(said, text: "look", to: [try pair(ann, ben)]), on: ben)
        }
        #expect(throws: CommandRefusal.empty) {
            try world.perform(.report(number, text: "", to: [try pair(ann, ben)]), on: ben)
        }
        _ = spam
        #expect(try reports(ann).isEmpty && reports(cara).isEmpty)
    }
}
