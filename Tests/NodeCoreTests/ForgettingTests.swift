import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Deleting a conversation")
struct ForgettingTests {
    @Test("that one left leaves nothing here, and a return begins no second history")
    func groups() throws {
        let village = try Village(seed: 821)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        for count in 0..<5 { try village.type("ben \(count)", ben) }
        world.run(for: 3_000)
        #expect(village.refusal(.deleteConversation(village.group), ben) == .stillMember)
        let record = try village.record(ben)
        try village.perform(.leave(village.group), ben)
        world.run(for: 3_000)
        try village.perform(.deleteConversation(village.group), ben)
        #expect(try ben.store.space(village.group) == nil)
        #expect(try ben.store.space(record.number) == nil)
        #expect(try ben.store.logs(in: record.number).isEmpty)
        #expect(try ben.store.messages(in: record.number, before: nil, limit: 9).isEmpty)
        for purpose in SecretPurpose.allCases {
            #expect(try ben.store.secrets(purpose, in: record.number).isEmpty)
        }
        world.restart(ben)
        world.run(for: 60_000)
        #expect(try ben.store.space(village.group) == nil, "nobody brings it back by themselves")
        #expect(ben.core.rejoin == nil)
        #expect(try village.texts(ann).count == 5)
        try village.add(ben, by: ann)
        world.run(for: 10_000)
        let back = try village.record(ben)
        #expect(back.number != record.number)
        try village.type("ben is back", ben)
        village.settle()
        #expect(try village.texts(ann).last == "ben is back")
        #expect(try ann.store.forks().isEmpty && ben.store.forks().isEmpty)
        #expect(try village.texts(ben) == ["ben is back"])
    }

    @Test("with somebody who was blocked can be had again, empty, once they are a contact")
    func direct() throws {
        let world = World(seed: 822)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let space = try world.introduce(ann, ben)
        try world.type("hello", on: ann, in: space)
        world.run(for: 3_000)
        #expect(throws: CommandRefusal.stillMember) {
            try world.perform(.deleteConversation(space), on: ann)
        }
        _ = try world.perform(.keepUnsent(space, "what I began to write"), on: ann)
        try ann.decide(.block, about: ben)
        _ = try world.perform(.deleteConversation(space), on: ann)
        let own = try #require(ann.core.ownSpace).number
        #expect(try Overview.unsentText(in: space, ownSpace: own, store: ann.store) == nil)
        #expect(try ann.conversations().isEmpty)
        world.run(for: 30_000)
        try ann.decide(.unblock, about: ben)
        world.run(for: 700_000)
        #expect(try ann.store.space(space) != nil)
        #expect(try ann.texts(in: space).isEmpty)
        try world.type("again", on: ann, in: space)
        world.run(for: 5_000)
        #expect(try ben.texts(in: space) == ["hello", "again"])
        try world.type("fresh", on: ben, in: space)
        world.run(for: 5_000)
        #expect(try ann.texts(in: space) == ["again", "fresh"])
        world.restart(ann)
        world.run(for: 60_000)
        #expect(ann.core.rejoin == nil)
        #expect(try ann.texts(in: space) == ["again", "fresh"])
        #expect(try ben.store.forks().isEmpty)
    }

    @Test("comes back without what was deleted where newcomers are given everything")
    func everything() throws {
        let village = try Village(seed: 826)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        try village.perform(
            .changeSettings(village.group, SpaceSettings(history: .all)), ann)
        world.run(for: 3_000)
        for node in [ann, ben, cara] { try village.type("before, of \(node.name)", node) }
        world.run(for: 3_000)
        try village.perform(.leave(village.group), ben)
        world.run(for: 3_000)
        try village.perform(.deleteConversation(village.group), ben)
        try village.type("meanwhile", cara)
        world.run(for: 3_000)
        try village.add(ben, by: ann)
        world.run(for: 10_000)
        try village.type("welcome", cara)
        village.settle()
        #expect(try village.texts(ben) == ["meanwhile", "welcome"])
        #expect(try village.texts(cara).count == 5)
        world.restart(ben)
        world.run(for: 60_000)
        #expect(ben.core.rejoin == nil)
        try village.type("and on", ben)
        village.settle()
        #expect(try village.texts(ben) == ["meanwhile", "welcome", "and on"])
        #expect(try village.texts(ann).last == "and on")
        #expect(try ann.store.forks().isEmpty && ben.store.forks().isEmpty)
    }

    @Test("comes back with the name that oneself gave it")
    func named() throws {
        let village = try Village(seed: 827)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        try village.perform(.setRole(village.group, ben.person, .owner), ann)
        try village.perform(
            .changeSettings(village.group, SpaceSettings(history: .all)), ann)
        world.run(for: 3_000)
        try village.perform(.rename(village.group, "due"), ben)
        world.run(for: 3_000)
        try village.perform(.leave(village.group), ben)
        world.run(for: 3_000)
        try village.perform(.deleteConversation(village.group), ben)
        try village.add(ben, by: ann)
        village.settle()
        for node in [ann, ben] {
            let number = try village.record(node).number
            #expect(try Overview.name(of: number, in: node.store) == "due")
        }
    }

    @Test("that came back is not deleted any more, for a later device either")
    func later() throws {
        let world = World(seed: 825)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let space = try world.introduce(ann, ben)
        try world.type("hello", on: ann, in: space)
        world.run(for: 3_000)
        try ann.decide(.block, about: ben)
        _ = try world.perform(.deleteConversation(space), on: ann)
        #expect(try deleted(ann).map(\.topic) == [space.bytes])
        world.run(for: 30_000)
        let phone = try world.addDevice("phone", of: ann)
        world.run(for: 30_000)
        #expect(try deleted(phone).map(\.topic) == [space.bytes])
        try ann.decide(.unblock, about: ben)
        world.run(for: 700_000)
        for device in [ann, phone] { #expect(try deleted(device).isEmpty) }
        #expect(try ann.texts(in: space).isEmpty, "deleted is deleted")
        #expect(try phone.texts(in: space) == ["hello"], "it has never had it")
        // What was written stays with one though the other person is no contact any more.
        try ann.decide(.block, about: ben)
        world.run(for: 30_000)
        let tablet = try world.addDevice("tablet", of: ann)
        world.run(for: 200_000)
        #expect(try tablet.texts(in: space) == ["hello"])
    }

    private func deleted(_ node: SimulatedNode) throws -> [Preference] {
        let own = try #require(node.core.ownSpace)
        return try Overview.preferences(.deleted, ownSpace: own.number, in: node.store)
    }

    @Test("waits until somebody knows that one left")
    func untold() throws {
        let village = try Village(seed: 823)
        let (world, ben) = (village.world, village.ben)
        world.partition([ben], [village.ann, village.cara, village.dora])
        world.run(for: 100_000)
        try village.perform(.leave(village.group), ben)
        #expect(village.refusal(.deleteConversation(village.group), ben) == .untold)
        village.settle()
        try village.perform(.deleteConversation(village.group), ben)
        #expect(try !village.members(village.ann).contains("ben"))
    }

    @Test("needs nobody linked where somebody has said, or shown, that they know it")
    func told() throws {
        let village = try Village(seed: 825)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        func told() throws -> [String]? {
            let (record, roster) = (try village.record(ben), try village.roster(ben))
            let leave = try ben.observed { try ben.core.toldLeave(record, roster, ben.store) }
            return leave?.devices.compactMap { device in
                village.nodes.first { $0.identity.device == device }?.name
            }.sorted()
        }
        // Cara hears of it on a link, and ann from cara.
        world.partition([ben], [ann, village.dora])
        world.run(for: 100_000)
        #expect(try told() == nil)
        try village.perform(.leave(village.group), ben)
        #expect(try told() == [])
        world.run(for: 30_000)
        #expect(try told() == ["cara"])
        world.cut(ben, cara)
        world.run(for: 100_000)
        #expect(try told() == ["cara"])
        world.heal(ben, ann)
        world.run(for: 100_000)
        #expect(try told() == ["ann", "cara"])
        world.isolate(ben)
        world.restart(ben)
        world.run(for: 100_000)
        try village.perform(.deleteConversation(village.group), ben)
    }

    @Test("undone with its step, everything is there")
    func undone() throws {
        let village = try Village(seed: 824)
        let (world, ben) = (village.world, village.ben)
        try village.type("hello", ben)
        world.run(for: 3_000)
        let before = try ben.digest(of: village.group)
        let record = try village.record(ben)
        try ben.store.begin(.full)
        try ben.store.removeSpace(record.number)
        #expect(try ben.store.space(village.group) == nil)
        ben.store.rollback()
        #expect(try ben.digest(of: village.group) == before)
    }
}
