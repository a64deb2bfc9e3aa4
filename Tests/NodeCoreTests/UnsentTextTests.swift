import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleyConversation
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

    private func foldAnew(_ node: SimulatedNode) throws {
        try node.store.begin(.full)
        try node.store.setValue(nil, .profile, Array("views".utf8))
        try node.store.commit()
        world.restart(node)
    }

    /// What a device still stores of texts that were begun.
    private func words(_ node: SimulatedNode) throws -> [String] {
        try node.observing {
            let own = try #require(node.core.ownSpace)
            return try node.store.logs(in: own.number).flatMap { log in
                try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                    .filter { $0.operation.header.kind == .passingPreference }
                    .compactMap { $0.operation.payload.flatMap { Preference(payload: $0) } }
                    .compactMap { UnsentText.text($0.value) }
            }
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

    @Test("are ended by name: what another device began meanwhile is still there")
    func apart() throws {
        world.partition([laptop, ann], [phone])
        try begin("see you at", on: laptop)
        try begin("a later thought", on: phone)
        try world.type("see you at", on: laptop, in: space)
        #expect(try unsent(laptop) == nil)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        try foldAnew(laptop)
        for node in [laptop, phone] { #expect(try unsent(node) == "a later thought") }
        try begin("", on: laptop)
        world.run(for: 30_000)
        for node in [laptop, phone] {
            #expect(try unsent(node) == nil)
            #expect(try words(node).isEmpty)
        }
    }

    @Test("hold no more once a later one was sent, also where that one comes erased")
    func earlier() throws {
        world.partition([laptop, ann], [phone])
        try begin("an earlier thought", on: phone)
        try begin("see you at", on: laptop)
        try world.type("see you at", on: laptop, in: space)
        #expect(try unsent(phone) == "an earlier thought")
        // The text that was sent is on no disk any more.
        try foldAnew(laptop)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        for node in [laptop, phone] {
            #expect(try unsent(node) == nil)
            #expect(try words(node).isEmpty)
        }
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
