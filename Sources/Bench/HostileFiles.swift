import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// As many files as are fetched at a time, of which a peer gave the first chunk each, and has no more.
enum HostileFiles {
    private static let count = BlobFetcher<LinkID>.fetchCountMax
    /// The largest that comes by itself.
    private static let size = BlobSize(clamping: 16 << 20)
    private static let chunk = [UInt8](repeating: 7, count: Limits.chunkByteCount)

    /// The peer says once more that it has the first chunk of one of them.
    static func figure(
        in world: HostileWorld, sampleCount: Int, unit: Double
    ) throws -> Figure {
        guard let shape = BlobShape(size) else {
            throw HostileWorldError(description: "the files have no size")
        }
        let files = (0..<count).map { section($0, shape) }
        for number in 0..<count / Limits.attachmentCountMax {
            let named = files[
                number * Limits.attachmentCountMax..<(number + 1) * Limits.attachmentCountMax]
            let attachments = named.map { file in
                Attachment(
                    name: "file", size: size, type: "",
                    content: .blob(file.blob, key: [UInt8](repeating: 1, count: 32)))
            }
            _ = try world.victim.step(
                .frame(
                    world.link,
                    try world.frame(of: [TextMessage(text: "", files: attachments).draft()])))
        }
        let first = BlobHolding.Range(first: 0, last: 0)
        var have: [UInt8] = []
        for file in files {
            have = Frame.blobHave(BlobHolding(blob: file.blob, ranges: [first])).encoded()
            let chunk = BlobChunk(blob: file.blob, index: 0, bytes: chunk)
            for frame in [
                have, Frame.blobSection(file).encoded(), Frame.blobChunk(chunk).encoded(),
            ] {
                _ = try world.victim.step(.frame(world.link, frame))
            }
            guard try world.victim.store.blobs.heldBlob(file.blob)?.chunks.count == 1 else {
                throw HostileWorldError(description: "a file was not begun")
            }
        }
        let samples = try (0..<sampleCount).map { _ in
            try world.victim.measure(.frame(world.link, have))
        }
        return Figure(
            "hostile-blob-have-wanted", samples: samples, unit: "s",
            budget: Double(FrameWork.units(of: have, sharing: 1)) * unit,
            note: "a chunk that is here, where \(count) files of 16 MiB are wanted")
    }

    private static func section(_ number: Int, _ shape: BlobShape) -> BlobSection {
        let leaves = (0..<shape.chunkCount).map { place in
            place == 0
                ? BlobHash.leaf(chunk)
                : Digest { buffer in
                    buffer[0] = UInt8(truncatingIfNeeded: number)
                    buffer[1] = UInt8(truncatingIfNeeded: place)
                }
        }
        let sections = [BlobHash.section(leaves)]
        return BlobSection(
            blob: BlobHash.blob(size, sections), size: size, sections: sections, index: 0,
            leaves: leaves)
    }
}
