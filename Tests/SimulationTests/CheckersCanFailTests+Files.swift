import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleySimulation

/// Promises about files, each broken.
extension CheckersCanFailTests {
    private static let file = SampleFile(byteCount: 100_000)

    private func trial() throws -> Trial {
        let trial = try Trial(of: "I40")
        try Self.file.put(into: trial.ann.store.blobs)
        _ = try trial.world.perform(
            .send(
                trial.trip, [TextMessage(text: "", files: [Self.file.attachment])],
                replyingTo: nil), on: trial.ann)
        trial.world.run(for: 10_000)
        #expect(
            try trial.ben.store.blobs.heldBlob(Self.file.blob)?.chunks.isWhole == true)
        return trial
    }

    @Test("FilesAreWhole: a piece is another one than was sent")
    func wrongPiece() throws {
        let trial = try trial()
        try #require(trial.ben.store.blobs as? MemoryBlobs).rot(1, of: Self.file.blob)
        trial.isBroken()
    }

    @Test("FilesAreWhole: a file is forgotten, and one that nobody names is kept")
    func forgotten() throws {
        let lost = try trial()
        try lost.ben.store.blobs.removeBlob(Self.file.blob)
        lost.isBroken()
        let kept = try trial()
        try SampleFile(byteCount: 9, seed: 7).put(into: kept.ben.store.blobs)
        kept.isBroken()
    }
}
