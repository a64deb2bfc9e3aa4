import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ann, who made the group, and ben, a member. Source: Protocol/03-operations.md, "Decisions".
@Suite("Decisions, as a node does them")
struct DecisionCoreTests {
    private let world: World
    private let ann, ben: SimulatedNode
    private let space: SpaceID
    private let train = DecisionProposal(title: "we take the train", tags: ["travel"])

    init() throws {
        world = World(seed: 1020)
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        _ = try world.introduce(ann, ben)
        space = try world.group("club", [ann, ben])
        world.run(for: 60_000)
    }

    private func perform(_ command: TogetherCommand, on node: SimulatedNode) throws {
        _ = try world.perform(.together(command), on: node)
        world.run(for: 5_000)
    }

    private func refuses(
        _ command: @autoclosure () throws -> TogetherCommand, on node: SimulatedNode
    ) throws {
        let command = try command()
        #expect(throws: (any Error).self, "\(command)") { try perform(command, on: node) }
    }

    private func decisions(_ node: SimulatedNode) throws -> [Decision] {
        try node.observing {
            let record = try #require(try node.store.space(space))
            let roster = try #require(try node.roster(of: record))
            return try Overview.decisions(in: record.number, roster: roster, store: node.store)
        }
    }

    private func number(_ place: Int, _ node: SimulatedNode) throws -> OperationNumber {
        try #require(try decisions(node).dropFirst(place).first).number
    }

    private func operationCount(_ node: SimulatedNode) throws -> Int {
        try node.observing {
            let record = try #require(try node.store.space(space))
            return try node.store.logs(in: record.number).filter { $0.lane == .shared }
                .flatMap { try node.store.operations(in: $0.number, 0...100, limit: 100) }.count
        }
    }

    @Test("are approved by all, settled by who proposed them or an admin, and said once")
    func life() throws {
        try perform(.propose(space, train, from: nil), on: ben)
        try perform(.approve(number(0, ann), true), on: ann)
        try perform(.settle(number(0, ann), .rejected), on: ann)
        #expect(try decisions(ben).map(\.settling) == [Settling(.rejected)])
        try perform(.settle(number(0, ben), .accepted), on: ben)
        let count = try operationCount(ben)
        try perform(.settle(number(0, ben), .accepted), on: ben)
        try perform(.approve(number(0, ann), true), on: ann)
        #expect(try operationCount(ben) == count)
        try perform(.propose(space, train, from: nil), on: ann)
        // Ben neither proposed the second one nor is an admin.
        try refuses(.settle(number(1, ben), .accepted), on: ben)
        try refuses(.withdraw(number(1, ben)), on: ben)
        try perform(.settle(number(0, ben), .superseded, by: number(1, ben)), on: ben)
        try refuses(.settle(number(1, ann), .superseded, by: number(0, ann)), on: ann)
        try refuses(.settle(number(1, ann), .superseded, by: number(1, ann)), on: ann)
        try refuses(.settle(number(1, ann), .superseded), on: ann)
        try world.runUntilEqual(within: .minutes(15))
        for node in [ann, ben] {
            let shown = try #require(try decisions(node).first)
            #expect(shown.approvers == [ann.identity.person])
            #expect(shown.settling.successor == (try decisions(node).last?.reference))
        }
    }

    @Test("are made from the result of a poll that was closed, and stay where that is taken back")
    func fromPoll() throws {
        let question = PollQuestion(question: "how?", options: ["train", "bus"], isMultiple: false)
        try perform(.ask(space, question), on: ann)
        func poll(_ node: SimulatedNode) throws -> OperationNumber {
            try node.observing {
                let record = try #require(try node.store.space(space))
                let roster = try #require(try node.roster(of: record))
                let polls = try Overview.polls(
                    in: record.number, roster: roster, store: node.store)
                return try #require(polls.first).number
            }
        }
        try refuses(.propose(space, train, from: poll(ben)), on: ben)
        try perform(.close(poll(ann)), on: ann)
        try perform(.propose(space, train, from: poll(ben)), on: ben)
        #expect(try decisions(ann).first?.source != nil)
        try perform(.withdraw(poll(ann)), on: ann)
        try world.runUntilEqual(within: .minutes(15))
        for node in [ann, ben] { #expect(try decisions(node).map(\.proposal) == [train]) }
    }

    @Test("are refused where they are empty, too long, or from what is not there")
    func refusals() throws {
        for proposal in [
            DecisionProposal(title: " "), DecisionProposal(title: "a", tags: [" "]),
            DecisionProposal(title: String(repeating: "x", count: 1_025)),
            DecisionProposal(title: "a", text: String(repeating: "x", count: 8_193)),
            DecisionProposal(title: "a", tags: [String(repeating: "x", count: 65)]),
            DecisionProposal(title: "a", tags: (0...16).map { "\($0)" }),
        ] {
            try refuses(.propose(space, proposal, from: nil), on: ann)
        }
        try refuses(.propose(space, train, from: OperationNumber(1)), on: ann)
        try refuses(.approve(OperationNumber(1), true), on: ann)
        #expect(try decisions(ann).isEmpty)
    }

    @Test("that are taken back leave no word on any disk")
    func withdrawing() throws {
        try perform(.propose(space, train, from: nil), on: ben)
        try perform(.approve(number(0, ann), true), on: ann)
        try perform(.withdraw(number(0, ann)), on: ann)
        try world.runUntilEqual(within: .minutes(15))
        for node in [ann, ben] {
            #expect(try decisions(node).isEmpty)
            let kept = try node.observing {
                let record = try #require(try node.store.space(space))
                return try node.store.logs(in: record.number).filter { $0.lane == .shared }
                    .flatMap { try node.store.operations(in: $0.number, 0...100, limit: 100) }
                    .filter { $0.operation.header.kind == .decision }
            }
            #expect(kept.count == 1 && kept.allSatisfy { $0.operation.payload == nil })
        }
    }
}
