import ParleyFiles
import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

/// Vectors that another program made. Source: `Protocol/13-files.md`, "Shelves".
@Suite("Vectors of shelves")
struct ShelfVectorTests {
    private struct Case: Decodable {
        let secret, key: Hex
        let size: UInt64
        let blob, owner, mailbox, reader, name: Hex
        let envelopes: [Hex]
        let first: Hex
        let why: String
    }

    private struct File: Decodable {
        let vectors: [Case]
    }

    /// The file of a vector: every chunk holds its number again and again.
    private func store(_ vector: Case) throws -> (MemoryBlobs, BlobID, BlobShape) {
        let shape = try #require(BlobShape(BlobSize(clamping: vector.size)))
        let seal = try #require(FileSeal(key: vector.key.bytes, shape: shape))
        let chunks = (0..<shape.chunkCount).map { number in
            let index = ChunkIndex(clamping: UInt64(number))
            let plain = [UInt8](repeating: UInt8(number), count: shape.plainByteCount(of: index))
            return seal.seal(plain, as: index)
        }
        let leaves = chunks.map(BlobHash.leaf)
        let sections = [BlobHash.section(leaves)]
        let blob = BlobHash.blob(shape.size, sections)
        let store = MemoryBlobs()
        try store.beginBlob(blob, shape)
        try store.keep(
            BlobSection(
                blob: blob, size: shape.size, sections: sections, index: 0, leaves: leaves))
        for (number, bytes) in chunks.enumerated() {
            let index = ChunkIndex(clamping: UInt64(number))
            try store.keep(BlobChunk(blob: blob, index: index, bytes: bytes))
        }
        return (store, blob, shape)
    }

    @Test("keys, names and envelopes of shelves are the other program's, byte for byte")
    func shelves() throws {
        for vector in try Vectors.read("relay/shelves", as: File.self).vectors {
            let (store, blob, shape) = try store(vector)
            #expect(blob.bytes == vector.blob.bytes)
            let owner = ShelfKeys.owner(of: blob, secret: Secret(vector.secret.bytes))
            #expect(owner.device.bytes == vector.owner.bytes)
            #expect(MailboxID(shelf: owner.device).bytes == vector.mailbox.bytes)
            let reader = ShelfKeys.reader(fileKey: vector.key.bytes)
            #expect(reader.device.bytes == vector.reader.bytes)
            #expect(WriterID(key: reader.device).bytes == vector.name.bytes)
            let writer = try #require(ShelfWriter(blob, shape, key: vector.key.bytes))
            let envelopes = try (0..<writer.pieceCount).map {
                try #require(try writer.envelope(at: $0, from: store))
            }
            #expect(envelopes.first == vector.first.bytes, "\(vector.why)")
            let hashes = envelopes.map { (digest(.relayBlob, $0) as Digest).bytes }
            #expect(hashes == vector.envelopes.map(\.bytes), "\(vector.why)")
        }
    }
}
