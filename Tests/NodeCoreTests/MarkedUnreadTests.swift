import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann. Source: Protocol/05-identity.md, "Preferences".
@Suite("Conversations that are marked as unread")
struct MarkedUnreadTests {
    private let world: World
    private let ann, laptop, phone: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 833)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        space = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        for text in ["milk", "bread"] { try world.type(text, on: ann, in: space) }
        world.run(for: 30_000)
    }

    private func isMarked(_ node: SimulatedNode) throws -> Bool {
        try node.observing {
            let own = try #require(node.core.ownSpace)
            return try Overview.isMarkedUnread(space, ownSpace: own.number, in: node.store)
        }
    }

    private func unreadCount(_ node: SimulatedNode) throws -> Int {
        let record = try #require(try node.store.space(space))
        let roster = try #require(try node.roster(of: record))
        return try Overview.unreadCount(
            of: record, roster: roster, ownPerson: node.identity.person, in: node.store)
    }

    private func read(on node: SimulatedNode) throws {
        let shown = try node.messages(in: space, limit: .max).map(\.number)
        _ = try world.perform(.markRead(space, ShownMessages(shown)), on: node)
        world.run(for: 30_000)
    }

    @Test("are so on all of one's devices until one reads, and no receipt is taken back")
    func devices() throws {
        try read(on: laptop)
        let states = try ann.messages(in: space, limit: .max).map(\.state)
        #expect(states.allSatisfy { $0 == .read })
        _ = try world.perform(.markUnread(space, isOn: true), on: laptop)
        world.run(for: 30_000)
        #expect(try isMarked(laptop) && isMarked(phone) && !isMarked(ann))
        #expect(try unreadCount(laptop) == 0 && unreadCount(phone) == 0)
        #expect(try ann.messages(in: space, limit: .max).map(\.state) == states)
        // All of it is read already: that one looked at it is enough.
        try read(on: phone)
        #expect(try !isMarked(laptop) && !isMarked(phone))
    }

    @Test("stay so with what others do, and end where one says so")
    func others() throws {
        _ = try world.perform(.markUnread(space, isOn: true), on: phone)
        try world.type("salt", on: ann, in: space)
        world.run(for: 30_000)
        #expect(try isMarked(laptop) && unreadCount(laptop) == 3)
        _ = try world.perform(.markUnread(space, isOn: false), on: laptop)
        world.run(for: 30_000)
        #expect(try !isMarked(laptop) && !isMarked(phone) && unreadCount(phone) == 3)
        #expect(throws: CommandRefusal.unknownConversation) {
            let none = SpaceID { $0[0] = 9 }
            _ = try world.perform(.markUnread(none, isOn: true), on: laptop)
        }
    }
}
