import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleyConversation
@testable import ParleySimulation

/// Source: Protocol/03-operations.md, "Kinds", 33.
@Suite("Conversations that are silent")
struct MuteTests {
    private func mute(_ space: SpaceID, of node: SimulatedNode) throws -> Mute? {
        let own = try #require(node.core.ownSpace)
        return try Overview.mute(space, ownSpace: own.number, in: node.store)
    }

    @Test("are silent up to a time on all of one's devices, and the last word holds")
    func until() throws {
        let world = World(seed: 834)
        let (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        let space = try world.introduce(ann, laptop)
        let phone = try world.addDevice("phone", of: laptop)
        _ = try world.perform(.mute(space, isOn: true, until: 1_000), on: laptop)
        world.run(for: 30_000)
        for node in [laptop, phone] {
            let mute = try #require(try mute(space, of: node))
            #expect(mute.isSilent(at: 999) && !mute.isSilent(at: 1_000))
        }
        _ = try world.perform(.mute(space, isOn: true), on: phone)
        world.run(for: 30_000)
        #expect(try mute(space, of: laptop)?.isSilent(at: .max) == true)
        _ = try world.perform(.mute(space, isOn: false, until: 1_000), on: laptop)
        world.run(for: 30_000)
        #expect(try mute(space, of: phone) == nil)
    }

    @Test("bear no time where none is said, as programs of before wrote it")
    func bytes() throws {
        let space = SpaceID { $0[0] = 3 }
        let long = Mute(space: space, isOn: true, until: 1_700_000_000_000).draft().payload
        let plain = Mute(space: space, isOn: true).draft().payload
        #expect(long == plain.map { $0 + [0x18, 0x80, 0xd0, 0x95, 0xff, 0xbc, 0x31] })
        #expect(plain?.suffix(2) == [0x10, 0x01])
        #expect(plain.flatMap(Mute.init) == Mute(space: space, isOn: true))
        #expect(long.flatMap(Mute.init)?.until == 1_700_000_000_000)
    }
}
