import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann. Source: Protocol/05-identity.md, "Preferences".
@Suite("Texts that were begun")
struct UnsentTextTests {
    private let world: World
    private let ann, laptop, phone: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 835)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        space = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        world.run(for: 30_000)
    }

    private func begin(_ text: String, on node: SimulatedNode) throws {
        _ = try world.perform(.keepUnsent(space, text), on: node)
        world.run(for: 5_000)
    }

    private func unsent(_ node: SimulatedNode) throws -> String? {
        try node.observing {
            let own = try #require(node.core.ownSpace)
            return try Overview.unsentText(in: space, ownSpace: own.number, store: node.store)
        }
    }

    @Test("are on all of one's devices and nowhere else, and of two the last holds")
    func devices() throws {
        try begin("I could bring", on: laptop)
        world.run(for: 30_000)
        #expect(try unsent(phone) == "I could bring")
        #expect(try unsent(ann) == nil && ann.texts(in: space).isEmpty)
        world.partition([laptop, ann], [phone])
        try begin("I could bring bread", on: laptop)
        try begin("I could bring salt", on: phone)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        for node in [laptop, phone] { #expect(try unsent(node) == "I could bring salt") }
        try begin("", on: laptop)
        world.run(for: 30_000)
        for node in [laptop, phone] { #expect(try unsent(node) == nil) }
    }

    @Test("end where they are sent, and not with other words")
    func sending() throws {
        try begin("at nine", on: laptop)
        world.run(for: 30_000)
        try world.type("by a program", on: phone, in: space)
        #expect(try unsent(phone) == "at nine")
        try world.type("at nine", on: phone, in: space)
        world.run(for: 30_000)
        for node in [laptop, phone] { #expect(try unsent(node) == nil) }
        #expect(try ann.texts(in: space).count == 2)
    }

    @Test("are of 2,048 bytes at most, of which a longer one changes nothing")
    func bound() throws {
        try begin(String(repeating: "é", count: 1_024), on: laptop)
        #expect(throws: CommandRefusal.tooLong(byteCount: 2_049, limit: 2_048)) {
            try begin(String(repeating: "a", count: 2_049), on: laptop)
        }
        #expect(try unsent(laptop)?.count == 1_024)
    }
}
