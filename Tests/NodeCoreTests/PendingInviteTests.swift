import ParleySimulation
import Testing

@testable import ParleyNodeCore

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
}
