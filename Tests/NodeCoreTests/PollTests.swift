import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ann and ben in a group. Source: Protocol/03-operations.md, "Polls".
@Suite("Polls, as a node does them")
struct PollCoreTests {
    private let world: World
    private let ann, ben: SimulatedNode
    private let space: SpaceID
    private var question = PollQuestion(
        question: "when do we go?", options: ["Friday", "Saturday"], isMultiple: false)

    init() throws {
        world = World(seed: 960)
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        _ = try world.introduce(ann, ben)
        space = try world.group("club", [ann, ben])
        world.run(for: 60_000)
    }

    private func perform(_ command: TogetherCommand, on node: SimulatedNode) throws {
        _ = try world.perform(.together(command), on: node)
        world.run(for: 5_000)
    }

    private func poll(_ node: SimulatedNode) throws -> Poll? {
        try node.observing {
            let record = try #require(try node.store.space(space))
            let roster = try #require(try node.roster(of: record))
            return try Overview.polls(
                in: record.number, roster: roster, store: node.store
            ).last
        }
    }

    private func number(_ node: SimulatedNode) throws -> OperationNumber {
        try #require(try poll(node)).number
    }

    @Test("that are open until a time are closed then by the device that asked, and by no other")
    mutating func until() throws {
        question.until = World.epoch + world.now + 600_000
        try perform(.ask(space, question), on: ann)
        try perform(.vote(number(ben), PollChoices([1])), on: ben)
        world.restart(ann)
        world.run(for: 300_000)
        #expect(try poll(ben)?.closing == nil)
        // Ben's time is over as well, and he closes nothing: of two closes one would be taken back.
        world.partition([ann], [ben])
        world.run(for: 600_000)
        #expect(try poll(ben)?.closing == nil)
        #expect(throws: (any Error).self) {
            try perform(.vote(number(ben), PollChoices([0])), on: ben)
        }
        #expect(try poll(ann)?.closing?.person == ann.identity.person)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        for node in [ann, ben] {
            let shown = try #require(try poll(node))
            #expect(shown.closing != nil && shown.ballots.map(\.choices.places) == [[1]])
        }
    }

    @Test("are answered and closed once, and refused where they cannot be")
    func refusals() throws {
        func refuses(
            _ command: @autoclosure () throws -> TogetherCommand, on node: SimulatedNode
        ) throws {
            let command = try command()
            #expect(throws: (any Error).self, "\(command)") { try perform(command, on: node) }
        }
        func voteCount() throws -> Int {
            let shown = try #require(try poll(ben))
            return try ben.observing {
                let record = try #require(try ben.store.space(space))
                let log = LogTag(
                    OperationHash.log(space: space, device: ben.identity.device, lane: .shared))
                return try Overview.voteCount(
                    of: log, in: shown.reference, record.number, store: ben.store)
            }
        }
        var broken = question
        broken.options = ["alone"]
        try refuses(.ask(space, broken), on: ann)
        broken.options = ["same", "same"]
        try refuses(.ask(space, broken), on: ann)
        broken.options = (0...20).map { "\($0)" }
        try refuses(.ask(space, broken), on: ann)
        broken = question
        broken.until = World.epoch
        try refuses(.ask(space, broken), on: ann)
        try perform(.ask(space, question), on: ann)
        try refuses(.vote(number(ben), PollChoices([0, 1])), on: ben)
        try refuses(.vote(number(ben), PollChoices([2])), on: ben)
        try refuses(.close(number(ben)), on: try world.addNode("cleo"))
        try perform(.vote(number(ben), PollChoices([0])), on: ben)
        #expect(try voteCount() == 1)
        try perform(.vote(number(ben), PollChoices([0])), on: ben)
        #expect(try voteCount() == 1)
        try perform(.close(number(ann)), on: ann)
        try refuses(.close(number(ann)), on: ann)
        try refuses(.vote(number(ben), PollChoices([1])), on: ben)
    }

    @Test("that are taken back are told of, and no word of them is on any disk")
    func withdrawing() throws {
        try perform(.ask(space, question), on: ann)
        try perform(.vote(number(ben), PollChoices([1])), on: ben)
        try perform(.withdraw(number(ann)), on: ann)
        try world.runUntilEqual(within: .minutes(15))
        for node in [ann, ben] {
            #expect(try poll(node) == nil)
            let kept = try node.observing {
                let record = try #require(try node.store.space(space))
                return try node.store.logs(in: record.number).filter { $0.lane == .shared }
                    .flatMap { try node.store.operations(in: $0.number, 0...100, limit: 100) }
                    .filter { [.poll, .vote].contains($0.operation.header.kind) }
            }
            #expect(kept.count == 2 && kept.allSatisfy { $0.operation.payload == nil })
        }
    }
}
