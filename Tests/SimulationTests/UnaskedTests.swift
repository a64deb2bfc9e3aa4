import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleySimulation

/// What members do in lane 0 that nobody asked for.
@Suite("Lies in the control log")
struct UnaskedTests {
    @Test("honest nodes end equal whatever a control operation names of other lanes")
    func anotherLane() throws {
        let quartet = try Quartet(seed: 112)
        let (world, eve, group) = (quartet.world, quartet.eve, quartet.group)
        var lies = 0
        try quartet.live { round in
            if round % 3 == 1, try world.nameAnotherLane(eve, in: group) { lies += 1 }
        }
        #expect(lies > 1)
        #expect(quartet.jury.verdict == nil)
        #expect(try world.observe { try world.difference } == nil)
    }

    @Test("who has not accepted a group keeps no more of it than they must")
    func flood() throws {
        let world = World(seed: 113)
        let (eve, cara) = (try world.addNode("eve"), try world.addNode("cara"))
        try world.introduce(eve, cara)
        // Nobody wants to be asked yet: there is nobody to do it to.
        #expect(try !world.floodUnasked(eve))
        _ = try world.perform(.setAdditionPolicy(.ask), on: cara)
        #expect(try world.floodUnasked(eve))
        world.run(for: 5_000)
        let waiting = try world.observe { try Invitation.waiting(in: cara.store) }
        let group = try #require(waiting.first?.space)
        #expect(try world.floodUnasked(eve))
        world.run(for: 10_000)
        let space = try #require(try cara.store.space(group))
        var byteCount = 0
        for log in try cara.store.logs(in: space.number) {
            for held in try cara.store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                byteCount += held.operation.byteCount
            }
        }
        #expect(byteCount > 1 << 19)
        #expect(byteCount <= 1 << 20 + Limits.runByteCountMax)
    }

    @Test("honest devices do not send the rest of a flood at each link to who keeps no more of it")
    func relinked() throws {
        let world = World(seed: 114)
        let (eve, cara) = (try world.addNode("eve"), try world.addNode("cara"))
        let other = try world.addDevice("eve2", of: eve)
        try world.introduce(eve, cara)
        _ = try world.perform(.setAdditionPolicy(.ask), on: cara)
        for _ in 0..<2 {
            #expect(try world.floodUnasked(eve))
            world.run(for: 10_000)
        }
        world.stopProcess(of: eve)
        world.run(for: 10_000)
        let before = (bytes: world.honestByteCount, links: world.linkCount)
        for _ in 0..<4 {
            world.cut(other, cara)
            world.run(for: 60_000)
            world.heal(other, cara)
            world.run(for: 600_000)
        }
        #expect(world.linkCount - before.links >= 4)
        #expect(world.honestByteCount - before.bytes < 1 << 18)
    }

    @Test("an honest device ends a flood that it passes on once who was asked has kept enough")
    func declined() throws {
        let world = World(seed: 115)
        let (eve, cara) = (try world.addNode("eve"), try world.addNode("cara"))
        let other = try world.addDevice("eve2", of: eve)
        try world.introduce(eve, cara)
        _ = try world.perform(.setAdditionPolicy(.ask), on: cara)
        world.cut(eve, cara)
        world.cut(other, cara)
        for _ in 0..<3 {
            #expect(try world.floodUnasked(eve))
            world.run(for: 10_000)
        }
        world.stopProcess(of: eve)
        let before = world.honestByteCount
        world.heal(other, cara)
        world.run(for: 600_000)
        let spent = world.honestByteCount - before
        #expect(spent > 1 << 20, "as much as is kept comes")
        #expect(spent < 5 << 19, "\(spent) bytes, of 3.9 MB")
    }
}
