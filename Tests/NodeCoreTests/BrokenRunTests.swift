import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Source: `Protocol/03-operations.md`, "Proof".
@Suite("A run that is not genuine")
struct BrokenRunTests {
    private func appearedCount(at node: SimulatedNode) throws -> Int {
        let page = try EventLog.page(from: .start, limit: 10_000, in: node.store)
        return page.events.count { event, _ in
            if case .message = event.change { event.isNew } else { false }
        }
    }

    /// Once what had been kept before it was told to nobody: no screen drew it, and nobody was given it.
    @Test func `ends the link, and what came before it is told and passed on`() throws {
        let village = try Village(seed: 2119)
        let (world, ann, cara) = (village.world, village.ann, village.cara)
        for other in [village.ben, village.dora] { world.cut(cara, other) }
        world.run(for: 1_000)
        let isTold = try world.forge(cara, in: village.group) { forgery in
            let good = try #require(
                try forgery.run(
                    forgery.text("genuine", world.now), at: world.wall(of: cara),
                    naming: try forgery.causes(of: .content)))
            try forgery.keep(good)
            var bad = try #require(
                try forgery.run(
                    forgery.text("altered", world.now), at: world.wall(of: cara), naming: []))
            bad.heads = bad.heads.map {
                SignedHead(sequence: $0.sequence, signature: good.heads[0].signature)
            }
            let operations = Operations(
                space: village.group, endsAnswer: false, runs: [good, bad])
            world.inject(.operations(operations), from: cara, to: ann)
            return true
        }
        #expect(isTold)
        world.run(for: 2_000)
        let key = Array(Refusal.unprovenOperations.rawValue.utf8)
        #expect(try ann.store.number(.refusal, key) == 1)
        for node in [ann, village.ben, village.dora] {
            #expect(try village.texts(node).count == 1)
            #expect(try appearedCount(at: node) == 1)
        }
    }
}
