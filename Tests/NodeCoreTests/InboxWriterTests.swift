import ParleyConversation
import ParleyRelaying
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Who may write into an inbox")
struct InboxWriterTests {
    /// The inbox that a node shows on its card, as another has it.
    private func shown(of node: SimulatedNode, to other: SimulatedNode) throws -> CardMailbox {
        let parts = try other.observed {
            try CardReader.parts(of: node.identity.person, other.store)
        }
        let part = parts.first { $0.device == node.identity.device }
        return try #require(part?.mailboxes.first)
    }

    private func mayWrite(_ mailbox: CardMailbox, at relay: SimulatedRelay, in world: World) -> Bool
    {
        var store = relay.store
        let right = MailboxRight.named(WriterID(key: mailbox.writer.device))
        let order = RelayOrder.mayWrite(mailbox.inbox, by: right)
        return (try? store.perform([order], at: World.epoch + world.now)) == [.answer(.done)]
    }

    @Test(
        "another key each week stands on the card, a day after relays heard of it; each lives six weeks"
    )
    func weeks() throws {
        let pair = try Pair(seed: 311)
        let world = pair.world
        let first = try shown(of: pair.ann, to: pair.ben)
        #expect(mayWrite(first, at: pair.relay, in: world))
        world.pass(days: 6)
        #expect(try shown(of: pair.ann, to: pair.ben) == first)
        world.pass(days: 4)
        let second = try shown(of: pair.ann, to: pair.ben)
        #expect(second.inbox == first.inbox && second.writerSeed != first.writerSeed)
        #expect(mayWrite(first, at: pair.relay, in: world))
        #expect(mayWrite(second, at: pair.relay, in: world))
        world.pass(days: 30)
        #expect(mayWrite(first, at: pair.relay, in: world))
        world.pass(days: 4)
        #expect(!mayWrite(first, at: pair.relay, in: world))
        #expect(mayWrite(second, at: pair.relay, in: world))
        #expect(mayWrite(try shown(of: pair.ann, to: pair.ben), at: pair.relay, in: world))
        #expect(try KeyUser(pair.ann).secretCount(.inboxWriter, in: nil) <= 8)
    }

    @Test("a clock that jumps years ahead and back leaves the rights that others still have")
    func jumpingClock() throws {
        let pair = try Pair(seed: 314)
        let (world, ann, ben) = (pair.world, pair.ann, pair.ben)
        world.stopProcess(of: ben)
        for days: Int64 in [763, 0] {
            ann.clock.skew = days * 24 * 3_600_000
            world.run(for: 2 * 3_600_000)
        }
        #expect(mayWrite(try shown(of: ann, to: ben), at: pair.relay, in: world))
    }

    @Test(
        "Attack 73: who was blocked writes into the inbox no more; others do, through the relay alone"
    )
    func blocked() throws {
        let pair = try Pair(seed: 312)
        let (world, ann, ben) = (pair.world, pair.ann, pair.ben)
        let eve = try world.addNode("eve")
        try world.use(pair.relay, by: eve)
        try world.introduce(ann, eve)
        world.run(for: 60_000)
        let held = try shown(of: ann, to: eve)
        #expect(mayWrite(held, at: pair.relay, in: world))
        world.keepToRelays()
        _ = try world.perform(.answerContact(eve.identity.person, .block), on: ann)
        world.run(for: 30_000)
        #expect(!mayWrite(held, at: pair.relay, in: world))
        world.run(for: 900_000)
        let fresh = try shown(of: ann, to: ben)
        #expect(fresh.writerSeed != held.writerSeed)
        #expect(mayWrite(fresh, at: pair.relay, in: world))
        let kept = try shown(of: ann, to: eve)
        #expect(!mayWrite(kept, at: pair.relay, in: world))
        try pair.say("still here", by: ben)
        world.run(for: 30_000)
        #expect(try ann.texts(in: pair.space).last == "still here")
    }
}
