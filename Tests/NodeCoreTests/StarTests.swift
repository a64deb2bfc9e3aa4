import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann. Source: Protocol/03-operations.md, "Stars".
@Suite("Stars")
struct StarTests {
    private let world: World
    private let ann, laptop, phone: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 831)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        space = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        for text in ["milk", "bread", "salt"] { try world.type(text, on: ann, in: space) }
        world.run(for: 30_000)
    }

    private func star(_ text: String, isOn: Bool = true, on node: SimulatedNode) throws {
        let message = try #require(
            try node.messages(in: space, limit: .max).last { $0.text == text })
        _ = try world.perform(.star(message.number, isOn: isOn), on: node)
    }

    /// What a device knows to be marked, in the order in which it was, by its text.
    private func starred(_ node: SimulatedNode) throws -> [String?] {
        try node.observing {
            let own = try #require(node.core.ownSpace)
            let shown = try node.messages(in: space, limit: .max)
            return try Overview.stars(ownSpace: own.number, in: node.store).map { star in
                shown.first { $0.reference == star.message }?.text
            }
        }
    }

    @Test("are known on all of one's devices, and nobody else is told")
    func devices() throws {
        try star("salt", on: laptop)
        world.run(for: 5_000)
        try star("milk", on: phone)
        world.run(for: 30_000)
        for node in [laptop, phone] { #expect(try starred(node) == ["salt", "milk"]) }
        #expect(try starred(ann).isEmpty)
        for space in try ann.store.spaces() {
            for log in try ann.store.logs(in: space.number) {
                let held = try ann.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                #expect(!held.contains { $0.operation.header.kind == .star })
            }
        }
        try star("salt", isOn: false, on: phone)
        world.run(for: 30_000)
        for node in [laptop, phone] { #expect(try starred(node) == ["milk"]) }
    }

    @Test("of two devices that were apart the last word holds, whoever hears it first")
    func apart() throws {
        try star("bread", on: laptop)
        world.run(for: 30_000)
        world.partition([laptop, ann], [phone])
        try star("bread", isOn: false, on: laptop)
        world.run(for: 5_000)
        try star("bread", isOn: false, on: phone)
        world.run(for: 5_000)
        try star("bread", on: phone)
        try star("milk", on: laptop)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        for node in [laptop, phone] { #expect(try starred(node) == ["bread", "milk"]) }
        world.restart(phone)
        world.run(for: 5_000)
        #expect(try starred(phone) == ["bread", "milk"])
    }

    @Test("are refused for what was deleted, and say nothing twice")
    func refusals() throws {
        try star("bread", on: laptop)
        let own = try #require(laptop.core.ownSpace)
        let count = try laptop.store.logs(in: own.number).map(\.end)
        try star("bread", on: laptop)
        #expect(try laptop.store.logs(in: own.number).map(\.end) == count)
        let milk = try #require(
            try laptop.messages(in: space, limit: .max).first { $0.text == "milk" })
        try ann.delete("milk", in: space)
        world.run(for: 5_000)
        #expect(throws: CommandRefusal.deleted) {
            _ = try world.perform(.star(milk.number, isOn: true), on: laptop)
        }
        #expect(throws: CommandRefusal.unknownMessage) {
            _ = try world.perform(.star(OperationNumber(1), isOn: true), on: laptop)
        }
        // One that was marked before can be let go.
        try ann.delete("bread", in: space)
        world.run(for: 5_000)
        #expect(try starred(laptop) == [nil])
        let bread = try #require(
            try laptop.messages(in: space, limit: .max).first {
                $0.reference != milk.reference && $0.text == nil
            })
        _ = try world.perform(.star(bread.number, isOn: false), on: laptop)
        #expect(try starred(laptop) == [])
    }
}
