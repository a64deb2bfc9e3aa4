import ParleyLedger
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

@Suite("The end of a control log")
struct ControlRoomTests {
    /// The device can write on, and leave; who is in the group others can change.
    @Test("a device that has written almost all it may changes nothing more, and says so")
    func fullLog() throws {
        let village = try Village(seed: 2_970, memberCount: 3)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        try village.perform(.setRole(village.group, ben.identity.person, .admin), ann)
        village.settle()
        let space = try #require(try ann.store.space(village.group))
        let name = OperationHash.log(
            space: space.id, device: ann.identity.device, lane: .control)
        let author = LogAuthor(
            key: ann.core.identity.key, space: space, authority: 0, wallClock: world.wall(of: ann))
        try ann.store.begin(.full)
        while try ann.store.log(LogTag(name), in: space.number)?.end ?? 0 < 3_800 {
            _ = try author.append(.acknowledgement, to: ann.store) { _ in [1] }
        }
        try ann.store.commit()
        world.restart(ann)
        let limit = Limits.controlOperationCountMax
        #expect(
            village.refusal(.setRole(village.group, ben.identity.person, .member), ann)
                == .tooManyChanges(limit: limit))
        try village.type("still here", ann)
        try village.type("and I", ben)
        try village.add(village.dora, by: ben)
        village.settle()
        try village.perform(.leave(village.group, anyway: true), ann)
        village.settle()
        #expect(try village.texts(ben) == ["still here", "and I"])
        #expect(try village.texts(village.cara) == ["still here", "and I"])
        #expect(try village.members(ben) == ["ben", "cara", "dora"])
    }
}
