import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// A file follows what counts, whatever way that came about. Source: `Protocol/13-files.md`, "What is fetched".
@Suite("Files of messages that count otherwise than before")
struct FileCountingTests {
    private let file = SampleFile(byteCount: 300_000)

    private func holds(_ node: SimulatedNode) throws -> Bool {
        try node.store.blobs.heldBlob(file.blob)?.chunks.isWhole == true
    }

    /// Once nobody wanted it again: a conversation that is folded anew does not tell of each message.
    @Test func `a file goes with a message that counts no more, and comes where it counts again`()
        throws
    {
        let village = try Village(seed: 2118)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        let (cara, dora) = (village.cara, village.dora)
        try village.perform(.setRole(village.group, ben.identity.person, .admin), ann)
        world.run(for: 2_000)
        world.partition([ann], [ben, cara, dora])
        world.run(for: 100_000)
        try file.put(into: cara.store.blobs)
        try village.perform(
            .send(
                village.group, [TextMessage(text: "see", files: [file.attachment])],
                replyingTo: nil), cara)
        world.run(for: 60_000)
        #expect(try holds(dora))
        // Ann has not seen it, and cuts it off; ben keeps what he saw.
        try village.remove(cara, by: ann)
        world.heal()
        world.partition([ann, dora], [ben, cara])
        try village.remove(cara, by: ben)
        world.run(for: 300_000)
        #expect(try village.texts(dora).isEmpty)
        #expect(try dora.store.blobs.blobs().isEmpty)
        #expect(try HeldFile.all(in: dora.store).isEmpty)
        village.settle()
        for node in [ann, ben, dora] {
            #expect(try village.texts(node) == ["see"])
            #expect(try holds(node))
            #expect(try WantedFile.all(in: node.store).isEmpty)
        }
    }
}
