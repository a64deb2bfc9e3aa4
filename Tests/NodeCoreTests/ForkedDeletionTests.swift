import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Source: `Simulations/README.md`, "A run".
@Suite("An admin deletes in one of two histories")
struct ForkedDeletionTests {
    /// Once a world waited for ever: who holds the other history shows the message, and both are right.
    @Test func `and who holds the other one may go on showing what it took along`() throws {
        let village = try Village(seed: 2120)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        try village.perform(.setRole(village.group, cara.identity.person, .admin), ann)
        try village.type("a word of ben", ben)
        world.run(for: 5_000)
        let word = try #require(try ben.messages(in: village.group).last).reference
        let isTold = try world.forge(cara, in: village.group) { forgery in
            try world.part(
                forgery, forgery.text("to some", world.now), MessageDeletion.draft(of: word),
                of: village.group)
        }
        #expect(isTold)
        village.settle()
        let others = [ann, ben, village.dora]
        let shown = try others.map {
            try $0.messages(in: village.group).first { $0.reference == word }?.text != nil
        }
        #expect(Set(shown) == [true, false])
        #expect(try world.difference == nil)
    }
}
