import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Source: Protocol/03-operations.md, "Kinds": what a program does not know it carries.
@Suite("What an earlier program carried")
struct FoldAnewTests {
    @Test("is shown once a program starts that knows it, and no start after that folds again")
    func upgrade() throws {
        let world = World(seed: 912)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let space = try world.introduce(ann, ben)
        let mentions = Mentions([.init(ben.identity.person, at: 0..<4)])
        _ = try world.perform(
            .send(space, [TextMessage(text: "@ben", mentions: mentions)], replyingTo: nil), on: ann)
        world.run(for: 30_000)
        #expect(try ben.store.mentions(before: nil, limit: 9).count == 1)
        // As an earlier program left it: without what it did not know.
        try ben.store.begin(.normal)
        for entry in try ben.store.mentions(before: nil, limit: 9) { try ben.store.remove(entry) }
        try ben.store.setValue(nil, .profile, Array("views".utf8))
        try ben.store.commit()
        world.restart(ben)
        world.run(for: 30_000)
        #expect(try ben.store.mentions(before: nil, limit: 9).count == 1)
        try ben.store.begin(.normal)
        for entry in try ben.store.mentions(before: nil, limit: 9) { try ben.store.remove(entry) }
        try ben.store.commit()
        world.restart(ben)
        world.run(for: 30_000)
        #expect(try ben.store.mentions(before: nil, limit: 9).isEmpty)
    }
}
