import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@Suite("Trouble")
struct TroubleTests {
    /// A timer whose step failed had fired, and was yet taken for one that is set: no receipt, no
    /// heartbeat and no dialling ever after.
    @Test("a store that fails once leaves nothing undone, with no restart")
    func failingOnce() throws {
        for call in stride(from: 1, through: 90, by: 3) {
            let trio = try Trio(seed: 40)
            let world = trio.world
            trio.ben.store.fail(atCall: call)
            try world.type("one", on: trio.ann, in: trio.group)
            world.run(for: 300)
            trio.world.cut(trio.ann, trio.ben)
            world.run(for: 3_000)
            trio.ben.store.failNoMore()
            world.heal()
            world.run(for: 400_000)
            try world.type("two", on: trio.cara, in: trio.group)
            world.run(for: 5_000)
            #expect(try trio.digests().count == 1, "failing at call \(call)")
            #expect(try trio.ben.texts(in: trio.group).count == 2, "failing at call \(call)")
            let links = trio.ben.core.linkedPeers.count
            #expect(links == 2, "failing at call \(call)")
        }
    }

    /// Ann asked ben for what he was still fetching from cara himself. He could not answer, and
    /// since holes do not show in digests she never asked again while the link stood.
    @Test("a hole closes once the only peer has got what was missing")
    func holeBehindHole() throws {
        let trio = try Trio(seed: 41)
        let world = trio.world
        world.partition([trio.ann], [trio.ben], [trio.cara])
        for block in 0..<60 {
            let texts = (0..<100).map { TextMessage(text: "\(block) \($0)") }
            _ = try world.perform(
                .send(trio.group, texts, replyingTo: nil), on: trio.cara)
            world.run(for: 100)
        }
        world.heal()
        world.cut(trio.ann, trio.cara)
        for _ in 0..<4_000 {
            world.run(for: 25)
            let logs = try logs(of: trio.ben, in: trio.group)
            if logs.contains(where: { $0.gap != nil }) { break }
        }
        // Ben has the newest part and a hole below it; now he can fetch no more for a while.
        world.cut(trio.ben, trio.cara)
        world.run(for: 320_000)
        #expect(try logs(of: trio.ann, in: trio.group).contains { $0.gap != nil })
        world.heal()
        world.cut(trio.ann, trio.cara)
        world.run(for: 700_000)
        #expect(try trio.digests().count == 1)
        #expect(try trio.ann.messages(in: trio.group, limit: 10_000).count == 6_000)
    }

    private func logs(of node: SimulatedNode, in space: SpaceID) throws -> [LogRecord] {
        guard let record = try node.store.space(space) else { return [] }
        return try node.store.logs(in: record.number)
    }

    /// Only the sender counted how many spaces it introduced.
    @Test("a contact cannot fill a node with spaces on one link")
    func manySpaces() throws {
        let world = World(seed: 42)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        try world.introduce(ann, ben)
        for number in 0..<100 {
            _ = try world.perform(
                .createGroup(name: "\(number)", members: [ben.identity.person]), on: ann)
        }
        world.run(for: 20_000)
        #expect(try ben.conversations().count <= 1 + 64)
    }

    /// Each handshake reset the back-off, so the inviter was dialled every second for ever.
    @Test("an invite that is not taken is given up")
    func usedInvite() throws {
        let world = World(seed: 43)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let secret = [UInt8](repeating: 1, count: Invite.secretByteCount)
        _ = try world.perform(.createInvite(secret: secret, expires: 1 << 42), on: ann)
        var invite = try #require(try ann.invite(with: secret))
        invite.secret = [UInt8](repeating: 2, count: Invite.secretByteCount)
        _ = try world.perform(.acceptInvite(invite, alias: ""), on: ben)
        world.run(for: 5_000)
        let frames = world.frameCount
        world.run(for: 3_600_000)
        #expect(world.frameCount < frames + 10)
    }

    /// The inviter had taken the invite, and its answer was lost with the link.
    @Test("an invite whose answer was lost still makes contacts of both")
    func lostAnswer() throws {
        for time in stride(from: 2 as UInt64, to: 120, by: 6) {
            let world = World(seed: 44)
            let ann = try world.addNode("ann")
            let ben = try world.addNode("ben")
            let secret = [UInt8](repeating: 2, count: Invite.secretByteCount)
            _ = try world.perform(
                .createInvite(secret: secret, expires: 1 << 42), on: ann)
            let invite = try #require(try ann.invite(with: secret))
            _ = try world.perform(.acceptInvite(invite, alias: ""), on: ben)
            world.run(for: time)
            world.cut(ann, ben)
            world.run(for: 3_000)
            world.heal()
            world.run(for: 400_000)
            #expect(try ann.conversations().count == 1, "cut after \(time) ms")
            #expect(try ben.conversations().count == 1, "cut after \(time) ms")
        }
    }

    /// Where another link was the source of a space, the peer was neither asked nor told what is
    /// held, and sent nothing that it wrote until the next heartbeat.
    @Test("soon after links come up, what is written goes to every linked member at once")
    func notTheSource() throws {
        let trio = try Trio(seed: 45)
        let world = trio.world
        world.partition([trio.ann], [trio.ben], [trio.cara])
        for node in trio.nodes { try world.type("\(node.name) alone", on: node, in: trio.group) }
        world.run(for: 100)
        world.heal()
        var waited = 0
        while trio.nodes.contains(where: { $0.core.linkedPeers.count < 2 }), waited < 400_000 {
            world.run(for: 20)
            waited += 20
        }
        world.run(for: 8_000)
        for node in trio.nodes {
            try world.type("\(node.name) now", on: node, in: trio.group)
            world.run(for: 500)
            for other in trio.nodes {
                #expect(try other.texts(in: trio.group).last == "\(node.name) now")
            }
        }
    }
}
