import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleyConversation
@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann.
/// Source: Protocol/05-identity.md, "Scheduled messages".
@Suite("Messages that are sent later")
struct ScheduledTests {
    private let world: World
    private let ann, laptop, phone: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 1031)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        space = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        world.run(for: 30_000)
    }

    private var wall: UInt64 { World.epoch + world.now }

    private func scheduled(_ node: SimulatedNode) throws -> [ScheduledMessage] {
        try node.observing {
            let own = try #require(node.core.ownSpace)
            return try Overview.scheduled(ownSpace: own.number, in: node.store)
        }
    }

    private func texts(_ node: SimulatedNode) throws -> [String] {
        try node.observing {
            try node.messages(in: space, limit: .max).compactMap(\.text)
        }
    }

    @discardableResult
    private func schedule(
        _ text: String, in time: UInt64, on node: SimulatedNode
    ) throws -> ScheduledMessage.ID {
        let command = ScheduleCommand.add(TextMessage(text: text), to: space, at: wall + time)
        guard case .scheduled(let id) = try world.perform(.schedule(command), on: node) else {
            return try #require(nil as ScheduledMessage.ID?, "nothing was scheduled")
        }
        return id
    }

    @Test("are known on all own devices, and said once, by the device that they name, in time")
    func sending() throws {
        try schedule("good morning", in: 600_000, on: laptop)
        world.run(for: 500_000)
        for node in [laptop, phone] { #expect(try scheduled(node).map(\.state) == [.waiting]) }
        for node in [ann, laptop, phone] { #expect(try texts(node).isEmpty) }
        world.run(for: 120_000)
        for node in [ann, laptop, phone] { #expect(try texts(node) == ["good morning"]) }
        for node in [laptop, phone] { #expect(try scheduled(node).isEmpty) }
        world.restart(laptop)
        world.run(for: 4_000_000)
        #expect(try texts(ann) == ["good morning"])
    }

    @Test("Attack 350: no device makes another one speak, not even an own one")
    func planted() throws {
        let (id, time) = (ScheduledMessage.ID(7), wall + 600_000)
        let planted = ScheduledMessage(
            id, at: time, on: laptop.identity.device, to: space, TextMessage(text: "I give up"))
        let own = try #require(phone.core.ownSpace)
        let isShown = try world.forge(phone, in: own.id) { forgery in
            let run = try forgery.run(
                planted.preference.draft(), at: wall, naming: try forgery.causes(of: .shared))
            return try world.show(run, by: forgery, in: own.id)
        }
        #expect(isShown)
        world.run(for: 30_000)
        for node in [laptop, phone] { #expect(try scheduled(node).isEmpty) }
        world.run(for: 4_000_000)
        for node in [ann, laptop, phone] { #expect(try texts(node).isEmpty) }
    }

    @Test("Attack 351: nothing stays of the words that were moved, sent or given up, on any device")
    func erased() throws {
        let id = try schedule("good morning", in: 600_000, on: laptop)
        world.run(for: 5_000)
        _ = try world.perform(.schedule(.move(id, at: wall + 900_000)), on: phone)
        world.run(for: 5_000)
        for node in [laptop, phone] { #expect(try wordCount(node) == 1) }
        world.run(for: 1_000_000)
        #expect(try texts(ann) == ["good morning"])
        for node in [laptop, phone] {
            #expect(try wordCount(node) == 0)
            #expect(try node.observing { try node.store.values(.missingBody) }.isEmpty)
        }
    }

    /// How many notes of one's own still hold words.
    private func wordCount(_ node: SimulatedNode) throws -> Int {
        try node.observing {
            let own = try #require(node.core.ownSpace)
            var count = 0
            for log in try node.store.logs(in: own.number) where log.lane == .shared {
                count += try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                    .compactMap { $0.operation.payload.flatMap(Preference.init(payload:)) }
                    .count { [.scheduled, .unsent].contains($0.key) && !$0.value.isEmpty }
            }
            return count
        }
    }

    @Test("of a device that was off are sent when it is on again, once, however often it dies")
    func late() throws {
        try schedule("late", in: 600_000, on: laptop)
        world.run(for: 60_000)
        world.stopProcess(of: laptop)
        world.run(for: 3_600_000)
        #expect(try texts(ann).isEmpty)
        world.startAll()
        for _ in 0..<5 {
            world.run(for: 3)
            world.restart(laptop)
        }
        world.run(for: 120_000)
        for node in [ann, laptop, phone] { #expect(try texts(node) == ["late"]) }
    }

    @Test("are sent where the person moved them, at the new time; a deleted one never is")
    func moving() throws {
        let id = try schedule("moved", in: 600_000, on: laptop)
        let gone = try schedule("gone", in: 600_000, on: laptop)
        world.run(for: 60_000)
        _ = try world.perform(.schedule(.move(id, at: wall + 2_000_000)), on: phone)
        _ = try world.perform(.schedule(.remove(gone)), on: phone)
        world.run(for: 1_000_000)
        #expect(try texts(ann).isEmpty)
        #expect(try scheduled(laptop).map(\.device) == [phone.identity.device])
        world.run(for: 1_200_000)
        #expect(try texts(ann) == ["moved"])
        let now = try schedule("now", in: 600_000, on: laptop)
        _ = try world.perform(.schedule(.send(now)), on: laptop)
        world.run(for: 30_000)
        #expect(try texts(ann) == ["moved", "now"] && scheduled(laptop).isEmpty)
    }

    @Test("that cannot be sent stay, say so, and can be sent once that is mended")
    func failing() throws {
        let id = try schedule("are you there?", in: 600_000, on: laptop)
        _ = try world.perform(.answerContact(ann.person, .block), on: laptop)
        world.run(for: 700_000)
        #expect(try scheduled(laptop).map(\.state) == [.failed])
        world.run(for: 4_000_000)
        #expect(try texts(laptop).isEmpty)
        #expect(throws: CommandRefusal.blocked) {
            try world.perform(.schedule(.send(id)), on: laptop)
        }
        #expect(throws: CommandRefusal.blocked) {
            try world.perform(.schedule(.move(id, at: wall + 600_000)), on: laptop)
        }
        #expect(try scheduled(laptop).map(\.state) == [.failed])
        _ = try world.perform(.answerContact(ann.person, .unblock), on: laptop)
        _ = try world.perform(.schedule(.send(id)), on: laptop)
        world.run(for: 120_000)
        #expect(try texts(ann) == ["are you there?"] && scheduled(phone).isEmpty)
    }

    @Test("are refused where they are past, empty, too long, too many, or for no conversation")
    func refused() throws {
        func refusal(_ text: String, at time: UInt64, in space: SpaceID) -> CommandRefusal? {
            let command = ScheduleCommand.add(TextMessage(text: text), to: space, at: time)
            do {
                _ = try world.perform(.schedule(command), on: laptop)
                return nil
            } catch { return error }
        }
        let soon = wall + 60_000
        #expect(refusal("a", at: wall, in: space) == .together(.alreadyOver))
        #expect(refusal("a", at: .max, in: space) == .impossibleTime)
        #expect(refusal(" ", at: soon, in: space) == .empty)
        #expect(refusal("a", at: soon, in: SpaceID { _ in }) == .unknownConversation)
        let limit = ScheduledMessage.messageByteCountMax
        let long = refusal(String(repeating: "x", count: limit), at: soon, in: space)
        #expect(long.map { if case .tooLong(_, limit) = $0 { true } else { false } } == true)
        for _ in 0..<Limits.scheduledCountMax {
            #expect(refusal("x", at: soon + 86_400_000, in: space) == nil)
        }
        #expect(
            refusal("x", at: soon, in: space)
                == .together(.tooManyScheduled(limit: Limits.scheduledCountMax)))
        #expect(throws: CommandRefusal.together(.unknownScheduled)) {
            try world.perform(.schedule(.remove(.init(1))), on: laptop)
        }
    }
}
