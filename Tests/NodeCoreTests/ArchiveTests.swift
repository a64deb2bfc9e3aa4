import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann. Source: Protocol/05-identity.md, "Preferences".
@Suite("Conversations that are put away")
struct ArchiveTests {
    private let world: World
    private let ann, laptop, phone: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 832)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        space = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        for text in ["milk", "bread"] { try world.type(text, on: ann, in: space) }
        world.run(for: 30_000)
    }

    private func isArchived(_ node: SimulatedNode) throws -> Bool {
        try node.observing {
            let record = try #require(try node.store.space(space))
            let roster = try #require(try node.roster(of: record))
            return try Overview.summary(
                of: record, roster: roster, ownPerson: node.identity.person,
                ownSpace: node.core.ownSpace?.number, in: node.store
            ).isArchived
        }
    }

    private func archive(on node: SimulatedNode, _ isOn: Bool = true) throws {
        _ = try world.perform(.archive(space, isOn: isOn), on: node)
        world.run(for: 30_000)
    }

    @Test("are so on all of one's devices and for nobody else, until one takes them back")
    func devices() throws {
        try archive(on: laptop)
        #expect(try isArchived(laptop) && isArchived(phone) && !isArchived(ann))
        try archive(on: phone, false)
        #expect(try !isArchived(laptop) && !isArchived(phone))
    }

    @Test("come back with what is new, whoever writes it, and not with what is read or changed")
    func new() throws {
        try archive(on: laptop)
        let milk = try #require(
            try laptop.messages(in: space, limit: .max).first { $0.text == "milk" })
        _ = try world.perform(.markRead(space, ShownMessages([milk.number])), on: phone)
        _ = try world.perform(.react(milk.number, Reaction(emoji: "👍", isOn: true)), on: laptop)
        try ann.delete("bread", in: space)
        world.run(for: 30_000)
        #expect(try isArchived(laptop) && isArchived(phone))
        try world.type("salt", on: ann, in: space)
        world.run(for: 30_000)
        #expect(try !isArchived(laptop) && !isArchived(phone))
        try archive(on: phone)
        #expect(try isArchived(laptop) && isArchived(phone))
        try world.type("thanks", on: laptop, in: space)
        #expect(try !isArchived(laptop))
    }

    @Test("Attack 183: come back with a message that stands below one of a clock that is ahead")
    func aheadOfTime() throws {
        let ahead = Archive(stand: 1 << 59, unreadCount: 2)
        let record = try #require(try laptop.store.space(space))
        let newest = try #require(
            try laptop.store.messages(in: record.number, before: nil, limit: 1).first)
        #expect(ahead.covers(newest: newest.order, unreadCount: 2))
        #expect(!ahead.covers(newest: newest.order, unreadCount: 3))
        let now = Archive(stand: newest.order.stand, unreadCount: 2)
        #expect(now.covers(newest: newest.order, unreadCount: 0))
        #expect(
            !Archive(stand: newest.order.stand - 1, unreadCount: 2).covers(
                newest: newest.order, unreadCount: 0))
        #expect(Archive(now.bytes) == now)
        #expect(Archive(Array(now.bytes.dropLast())) == nil && Archive(now.bytes + [0]) == nil)
    }

    @Test("of two devices that were apart the last word holds")
    func apart() throws {
        world.partition([laptop, ann], [phone])
        try archive(on: laptop)
        try archive(on: phone)
        try archive(on: phone, false)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        #expect(try !isArchived(laptop) && !isArchived(phone))
    }
}
