import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@Suite("Colliding logs")
struct CollidingLogTests {
    /// A log is named by eight bytes of a hash: who makes 2^32 keys gets two of one name.
    @Test("Attack 82: a log whose short name another one has is refused and counted")
    func sameTag() throws {
        let world = World(seed: 61)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let space = try world.introduce(ann, ben)
        let record = try #require(try ben.store.space(space))
        let name = OperationHash.log(space: space, device: ann.identity.device, lane: .content)
        var bytes = name.bytes
        bytes[31] ^= 1
        let other = try #require(LogID(bytes))
        try ben.store.begin(.normal)
        let planted = try ben.store.addLog(
            other, device: ben.identity.device, lane: .notes, in: record.number)
        try ben.store.commit()
        try world.type("from ann", on: ann, in: space)
        try world.type("from ben", on: ben, in: space)
        world.run(for: 600_000)
        #expect(try ben.store.log(LogTag(name), in: record.number) == planted)
        let key = Array(Refusal.collidingLog.rawValue.utf8)
        #expect(try ben.store.number(.refusal, key) ?? 0 > 0)
        #expect(try ben.texts(in: space) == ["from ben"])
        #expect(Set(try ann.texts(in: space)) == ["from ann", "from ben"])
        #expect(try ben.store.forks().isEmpty && ann.store.forks().isEmpty)
        let before = world.frameCount
        world.run(for: 60_000)
        #expect(world.frameCount - before < 60)
    }
}
