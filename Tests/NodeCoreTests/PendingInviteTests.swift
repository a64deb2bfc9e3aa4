import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

@Suite("An invite that was taken")
struct PendingInviteTests {
    @Test("is refused once each device has said so")
    func refusers() throws {
        let all = try Strangers(seed: 9)
        let phone = try all.world.addDevice("phone", of: all.ann)
        let devices = [all.ann.identity.device, phone.identity.device]
        var invite = PendingInvite(invite: try all.invite(), alias: "ann")
        #expect(invite.opener == nil && devices.allSatisfy(invite.mayBeKnown))
        invite.note(refusedBy: devices[1], of: devices)
        let kept = try #require(PendingInvite(invite.bytes))
        #expect(kept.bytes == invite.bytes && kept.alias == "ann" && !kept.isRefused)
        #expect(devices.map(kept.mayBeKnown) == [true, false], "it is shown to the other alone")
        invite.note(refusedBy: devices[0], of: devices)
        #expect(invite.isRefused && PendingInvite(invite.bytes)?.isRefused == true)
        // Who opened it decides alone.
        var opened = kept
        opened.cardDevice = devices[1]
        #expect(devices.map(opened.mayBeKnown) == [false, true])
        opened.note(refusedBy: devices[1], of: devices)
        #expect(opened.isRefused)
    }

    @Test("of somebody whom one is linked with in a group is shown at once, good or ended")
    func linked() throws {
        let world = World(seed: 962)
        let (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        try world.introduce([ann, ben])
        try world.introduce([ann, cara])
        _ = try world.perform(
            .createGroup(
                name: "club", members: [ben.identity.person, cara.identity.person]), on: ann)
        world.run(for: 600_000)
        let device = ben.identity.device
        try #require(cara.core.linkedPeers.contains { $0.device == device })
        try #require(try world.conversation(of: ben, and: cara) == nil)
        try world.invite(cara, by: ben)
        world.run(for: 5_000)
        #expect(try world.conversation(of: ben, and: cara) != nil)
        #expect(cara.core.linkedPeers.contains { $0.device == device })
    }
}
