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

    /// Texts, and who became what, in the order in which a screen shows them.
    private func shown(_ node: SimulatedNode, _ village: Village) throws -> [String] {
        let record = try village.record(node)
        var lines: [(order: OrderKey, isLine: Int, text: String)] = []
        for message in try node.messages(in: village.group) {
            lines.append((message.order, 0, message.text ?? ""))
        }
        let events = try node.observed {
            try MembershipHistory.events(of: record, in: node.store)
        }
        for event in events {
            guard case .becameRole = event.change else { continue }
            lines.append((try #require(event.place), 1, "made admin"))
        }
        lines.sort { ($0.order, $0.isLine) < ($1.order, $1.isLine) }
        return lines.map(\.text)
    }

    @Test("lines between messages stand where they stood, whatever a clock says")
    func lines() throws {
        let village = try Village(seed: 922, memberCount: 3)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        func say(_ text: String, _ node: SimulatedNode) throws {
            try village.type(text, node)
            world.run(for: 3_000)
        }
        try say("one", ann)
        try village.perform(.setRole(village.group, ben.identity.person, .admin), ann)
        world.run(for: 3_000)
        try say("two", ann)
        ben.clock.skew = 400 * 86_400_000
        try say("from future", ben)
        try say("three", ann)
        let before = ["one", "made admin", "two", "from future", "three"]
        #expect(try shown(cara, village) == before)
        try village.perform(.leave(village.group), cara)
        world.run(for: 3_000)
        try say("four", ann)
        try village.add(cara, by: ann)
        world.run(for: 3_000)
        try say("five", ann)
        village.settle()
        #expect(try shown(ann, village) == before + ["four", "five"])
        #expect(try shown(cara, village) == before + ["five"])
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

    /// How many deletions a node has written into the group.
    private func deletionCount(_ node: SimulatedNode, _ village: Village) throws -> Int {
        let record = try village.record(node)
        return try node.observed {
            let name = OperationHash.log(
                space: record.id, device: node.identity.device, lane: .content)
            let log = try #require(try node.store.log(LogTag(name), in: record.number))
            return try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                .count(where: { $0.operation.header.kind == .delete })
        }
    }

    @Test(
        "Attack 175: what was deleted is gone with who comes back, and not deleted again and again",
        arguments: [false, true])
    func deleted(leaves: Bool) throws {
        let village = try Village(seed: 922, memberCount: 3)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        for (text, node) in [("my PIN is 1234", ann), ("of cara", cara), ("stays", ann)] {
            try village.type(text, node)
            world.run(for: 5_000)
        }
        world.partition([ben], [ann, cara, village.dora])
        world.run(for: 100_000)
        let pin = try number(of: "my PIN is 1234", ann, village)
        try village.perform(.delete(pin), ann)
        if leaves {
            try village.perform(.leave(village.group), ben)
        } else {
            try village.remove(ben, by: ann)
        }
        village.settle()
        // What he cannot hold he need not hear of.
        try village.type("while he was out", ann)
        try village.perform(.delete(number(of: "while he was out", ann, village)), ann)
        try village.perform(.delete(number(of: "of cara", cara, village)), cara)
        village.settle()
        #expect(try deletionCount(ann, village) == 2)
        try village.add(ben, by: ann)
        village.settle()
        #expect(try village.texts(ben) == ["(deleted)", "(deleted)", "stays"])
        #expect(try deletionCount(ann, village) == 4, "the own one, and cara's as an admin")
        #expect(try waiting(ann, village).total == 0)
        #expect(village.refusal(.delete(pin), ann) == .deleted)
        try village.remove(ben, by: ann)
        village.settle()
        try village.add(ben, by: ann)
        village.settle()
        #expect(try deletionCount(ann, village) == 4, "he has said that he has them")
    }

    @Test("what is more than is deleted anew may be deleted again by who wrote it")
    func again() throws {
        let village = try Village(seed: 923, memberCount: 2)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        let count = NodeCore.deletedAnewCountMax + 2
        for number in 0..<count { try village.type("word \(number)", ann) }
        village.settle()
        let numbers = try ann.messages(in: village.group).map(\.number)
        world.partition([ben], [ann, village.cara, village.dora])
        world.run(for: 100_000)
        for number in numbers { try village.perform(.delete(number), ann) }
        try village.remove(ben, by: ann)
        village.settle()
        try village.add(ben, by: ann)
        village.settle()
        func held() throws -> [String] { try village.texts(ben).filter { $0 != "(deleted)" } }
        #expect(try held() == ["word 0", "word 1"])
        #expect(village.refusal(.delete(numbers[2]), ann) == .deleted)
        try village.perform(.delete(numbers[0]), ann)
        village.settle()
        #expect(try held() == ["word 1"])
        #expect(village.refusal(.delete(numbers[0]), ann) == .deleted)
    }
}
