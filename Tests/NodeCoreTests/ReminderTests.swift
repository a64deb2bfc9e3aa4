import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann. Source: Protocol/05-identity.md, "Reminders".
@Suite("Reminders of a person")
struct ReminderTests {
    private let world: World
    private let ann, laptop, phone: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 1021)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        space = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        try world.type("the hut is full", on: ann, in: space)
        world.run(for: 30_000)
    }

    private var wall: UInt64 { World.epoch + world.now }

    private func reminders(_ node: SimulatedNode) throws -> [Reminder] {
        try node.observing {
            let own = try #require(node.core.ownSpace)
            return try Overview.reminders(ownSpace: own.number, in: node.store)
        }
    }

    /// For how many reminders a device rang, by its log of events.
    private func ringCount(_ node: SimulatedNode) throws -> Int {
        try node.observing {
            try EventLog.page(from: .init(generation: 0, entry: 1), limit: 10_000, in: node.store)
                .events.count {
                    if case .reminder = $0.event.change { true } else { false }
                }
        }
    }

    @discardableResult
    private func remind(
        _ text: String, about number: OperationNumber? = nil, in time: UInt64,
        on node: SimulatedNode
    ) throws -> Reminder.ID {
        let command = ReminderCommand.add(text: text, about: number, at: wall + time)
        guard case .reminder(let id) = try world.perform(.remind(command), on: node) else {
            return try #require(nil as Reminder.ID?, "no reminder was noted")
        }
        return id
    }

    @Test("are known on all devices, and ring once, on the device that they name")
    func ringing() throws {
        let message = try #require(try laptop.messages(in: space, limit: .max).last)
        try remind("", about: message.number, in: 600_000, on: laptop)
        world.run(for: 60_000)
        let known = try #require(try reminders(phone).first)
        #expect(known.subject?.operation == message.reference && known.subject?.space == space)
        #expect(known.device == laptop.identity.device && known.state == .waiting)
        world.run(for: 600_000)
        for node in [laptop, phone] { #expect(try reminders(node).map(\.state) == [.rung]) }
        #expect(try ringCount(laptop) == 1 && ringCount(phone) == 0)
        world.restart(laptop)
        world.run(for: 4_000_000)
        #expect(try ringCount(laptop) == 1 && ringCount(phone) == 0)
        // Nobody else hears of it.
        for space in try ann.store.spaces() {
            for log in try ann.store.logs(in: space.number) {
                let held = try ann.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                let texts = held.compactMap { $0.operation.payload }
                #expect(!texts.contains { $0.count > 100 && $0.first == 8 && $0[1] == 16 })
            }
        }
    }

    @Test("of a device that was off at the time ring when it is on again, once")
    func late() throws {
        try remind("call", in: 600_000, on: laptop)
        world.run(for: 60_000)
        world.stopProcess(of: laptop)
        world.run(for: 3_600_000)
        #expect(try reminders(phone).map(\.state) == [.waiting] && ringCount(phone) == 0)
        world.startAll()
        world.run(for: 60_000)
        #expect(try ringCount(laptop) == 1)
        #expect(try reminders(phone).map(\.state) == [.rung])
    }

    @Test("ring where the person took them, and not where they would have rung")
    func moving() throws {
        let id = try remind("call", in: 600_000, on: laptop)
        world.run(for: 60_000)
        _ = try world.perform(.remind(.take(id)), on: phone)
        world.run(for: 1_000_000)
        #expect(try ringCount(laptop) == 0 && ringCount(phone) == 1)
        // Apart, the laptop does not hear of it: then both ring.
        let other = try remind("call again", in: 600_000, on: laptop)
        world.run(for: 60_000)
        world.partition([laptop], [phone])
        _ = try world.perform(.remind(.take(other)), on: phone)
        world.run(for: 1_000_000)
        #expect(try ringCount(laptop) == 1 && ringCount(phone) == 2)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        for node in [laptop, phone] { #expect(try reminders(node).map(\.state) == [.rung, .rung]) }
    }

    @Test("follow the clock of the device, and a clock that is set back makes none ring twice")
    func clocks() throws {
        try remind("call", in: 86_400_000, on: laptop)
        world.run(for: 60_000)
        laptop.clock.skew = 86_400_000
        world.run(for: 70_000)
        #expect(try ringCount(laptop) == 1)
        laptop.clock.skew = -86_400_000
        world.run(for: 7_400_000)
        laptop.clock.skew = 0
        world.run(for: 90_000_000)
        #expect(try ringCount(laptop) == 1)
    }

    @Test("with which the person is done, or that they ended, ring no more")
    func ending() throws {
        let (one, other) = (
            try remind("one", in: 600_000, on: laptop), try remind("other", in: 600_000, on: laptop)
        )
        world.run(for: 60_000)
        _ = try world.perform(.remind(.finish(one)), on: phone)
        _ = try world.perform(.remind(.remove(other)), on: phone)
        world.run(for: 1_000_000)
        #expect(try reminders(laptop).map(\.state) == [.done])
        #expect(try ringCount(laptop) == 0 && ringCount(phone) == 0)
        #expect(throws: (any Error).self) {
            try world.perform(.remind(.finish(other)), on: laptop)
        }
    }

    @Test("are refused where they are empty, too long, over already or too many")
    func refusals() throws {
        for (text, time) in [
            (" ", 60_000), (String(repeating: "x", count: 1_025), 60_000), ("x", 0),
        ] as [(String, UInt64)] {
            #expect(throws: (any Error).self) { try remind(text, in: time, on: laptop) }
        }
        #expect(throws: (any Error).self) {
            try remind("", about: OperationNumber(1), in: 60_000, on: laptop)
        }
        for number in 0..<Limits.reminderCountMax {
            try remind("\(number)", in: 600_000, on: laptop)
        }
        #expect(throws: (any Error).self) { try remind("more", in: 600_000, on: laptop) }
    }
}
