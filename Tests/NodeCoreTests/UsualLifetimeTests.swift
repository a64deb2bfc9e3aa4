import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyConversation
@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann.
/// Source: Protocol/05-identity.md, "Preferences".
@Suite("How long messages stay in conversations that one begins")
struct UsualLifetimeTests {
    private let world: World
    private let ann, laptop, phone: SimulatedNode
    private let old: SpaceID

    init() throws {
        world = World(seed: 1355)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        old = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        world.run(for: 30_000)
    }

    private func lifetime(_ space: SpaceID, at node: SimulatedNode) throws -> UInt64? {
        try node.observing {
            let record = try #require(try node.store.space(space))
            return try Overview.messageLifetime(of: record.number, in: node.store)
        }
    }

    private func usual(_ node: SimulatedNode) throws -> UInt64? {
        try node.observing {
            try Overview.usualLifetime(ownSpace: node.core.ownSpace?.number, in: node.store)
        }
    }

    @Test("is the same on all of one's devices, and changes no conversation that exists")
    func devices() throws {
        _ = try world.perform(.setUsualLifetime(seconds: 600), on: laptop)
        world.run(for: 10_000)
        for node in [laptop, phone] { #expect(try usual(node) == 600) }
        let group = try world.group("club", [phone, ann])
        world.run(for: 10_000)
        for node in [ann, laptop, phone] { #expect(try lifetime(group, at: node) == 600) }
        #expect(try lifetime(old, at: laptop) == nil && lifetime(old, at: ann) == nil)
        let others = try world.group("hers", [ann, laptop])
        #expect(try lifetime(others, at: laptop) == nil)
        // Dan takes no part in what ben set; of the two whoever takes the invite begins.
        let dan = try world.addNode("dan")
        let begun = try world.introduce(dan, phone)
        for node in [dan, phone] { #expect(try lifetime(begun, at: node) == 600) }
        let eve = try world.addNode("eve")
        let answered = try world.introduce(laptop, eve)
        #expect(try lifetime(answered, at: laptop) == nil)
        _ = try world.perform(.setUsualLifetime(seconds: 0), on: phone)
        world.run(for: 10_000)
        #expect(try usual(laptop) == nil)
        let later = try world.group("later", [laptop, ann])
        #expect(try lifetime(later, at: ann) == nil)
        #expect(try lifetime(group, at: ann) == 600)
    }

    @Test("Attack 355: none, centuries, or what is no number are no setting")
    func bounds() throws {
        #expect(throws: CommandRefusal.impossibleLifetime(limit: Limits.lifetimeSecondsMax)) {
            try world.perform(.setUsualLifetime(seconds: Limits.lifetimeSecondsMax + 1), on: laptop)
        }
        let wrong: [Preference] = [
            Preference(.lifetime, number: 0), Preference(.lifetime, number: 31_536_001),
            Preference(.lifetime, number: .max), Preference(.lifetime, [1]),
            Preference(.lifetime, [UInt8](repeating: 1, count: 9)),
            Preference(.lifetime, about: old.bytes, number: 600),
        ]
        for said in wrong {
            let own = try #require(laptop.core.ownSpace)
            let author = try LogAuthor(
                key: laptop.identity.key, space: own,
                authority: laptop.observing { try #require(try laptop.roster(of: own)).authority },
                wallClock: World.epoch + world.now)
            var random = SeededRandom(seed: 7)
            try laptop.store.begin(.full)
            _ = try author.append([said.draft()], to: laptop.store, using: &random)
            try laptop.store.setValue(nil, .profile, Array("views".utf8))
            try laptop.store.commit()
            world.restart(laptop)
            world.run(for: 10_000)
            for node in [laptop, phone] { #expect(try usual(node) == nil) }
        }
        let group = try world.group("club", [laptop, ann])
        #expect(try lifetime(group, at: ann) == nil)
    }
}
