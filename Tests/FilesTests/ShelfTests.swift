import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyFiles

/// What lies on a shelf, and what a reader makes of it. Source: `Protocol/13-files.md`, "Shelves".
@Suite("Shelves of files")
struct ShelfTests {
    /// A file with all envelopes of its shelf.
    private struct Shelved {
        let file: SampleFile
        let shape: BlobShape
        let writer: ShelfWriter
        var envelopes: [[UInt8]] = []

        init(_ byteCount: Int, seed: UInt8 = 0) throws {
            file = SampleFile(byteCount: byteCount, seed: seed)
            shape = try #require(BlobShape(file.size))
            writer = try #require(ShelfWriter(file.blob, shape, key: file.key))
            let store = MemoryBlobs()
            try file.put(into: store)
            for number in 0..<writer.pieceCount {
                envelopes.append(try #require(try writer.envelope(at: number, from: store)))
            }
        }

        func reader(_ key: [UInt8]? = nil) throws -> ShelfReader {
            try #require(ShelfReader(file.blob, shape, key: key ?? file.key, knowing: []))
        }

        /// The chunks that a reader finds among envelopes.
        func chunks(in envelopes: [[UInt8]], by reader: inout ShelfReader) -> [Int] {
            envelopes.compactMap { envelope in
                guard case .chunk(let chunk) = reader.read(envelope),
                    chunk == file.chunk(Int(chunk.index.value))
                else { return nil }
                return Int(chunk.index.value)
            }
        }
    }

    @Test(
        "a reader finds every chunk, whatever the size",
        arguments: [
            1, 40_000, 65_519, 65_520, 65_521, 65_520 + 61_424, 65_520 + 61_425, 65_520 * 2 - 1,
            65_520 * 3, 3_000_000,
        ])
    func whole(byteCount: Int) throws {
        let shelved = try Shelved(byteCount)
        #expect(shelved.writer.byteCount >= UInt64(shelved.envelopes.map(\.count).reduce(0, +)))
        #expect(
            shelved.writer.byteCount <= UInt64(shelved.envelopes.map(\.count).reduce(0, +) * 2))
        for envelope in shelved.envelopes {
            let units = envelope.count / 512
            #expect(envelope.count % 512 == 0 && units & (units - 1) == 0 && units <= 128)
        }
        var reader = try shelved.reader()
        let found = shelved.chunks(in: shelved.envelopes, by: &reader)
        #expect(found == Array(0..<shelved.shape.chunkCount))
        #expect(reader.uselessCount == 0 && !reader.awaitsParts)
    }

    @Test func `a file of two sections lies there section by section`() throws {
        let shelved = try Shelved(65_520 * 4_097)
        #expect(shelved.writer.pieceCount == 3 + 4_096 + 1 + 1)
        var reader = try shelved.reader()
        var order: [String] = []
        for envelope in shelved.envelopes {
            switch reader.read(envelope) {
            case .section(let section): order.append("section \(section.index.value)")
            case .chunk(let chunk) where chunk.index.value % 4_096 == 0:
                order.append("chunk \(chunk.index.value)")
            case .chunk, .part: break
            case .nothing: order.append("nothing")
            }
        }
        #expect(order == ["section 0", "chunk 0", "section 1", "chunk 4096"])
    }

    @Test func `the same piece is the same envelope each time, under the same key`() throws {
        let (once, again) = (try Shelved(200_000), try Shelved(200_000))
        #expect(once.envelopes == again.envelopes)
        let other = try Shelved(200_000, seed: 1)
        #expect(Set(once.envelopes).isDisjoint(with: other.envelopes))
    }

    @Test func `what is not held any more is no envelope`() throws {
        let shelved = try Shelved(200_000)
        let store = MemoryBlobs()
        try shelved.file.put(into: store, chunks: 0..<1)
        let held = try (0..<shelved.writer.pieceCount).map {
            try shelved.writer.envelope(at: $0, from: store) != nil
        }
        #expect(held == [true, true, false, false, false])
    }

    @Test("Attack 216: a relay that gives other envelopes, or the same for ever, is left soon")
    func junk() throws {
        let shelved = try Shelved(300_000)
        let other = try Shelved(300_000, seed: 9)
        var reader = try shelved.reader()
        var count = 0
        let junk = [
            [UInt8](repeating: 0, count: 512), [], [1], other.envelopes[0], other.envelopes[1],
        ]
        while !reader.hasEnough {
            #expect(reader.read(junk[count % junk.count]) == .nothing)
            count += 1
        }
        #expect(count == ShelfReader.uselessCountMax)
        reader = try shelved.reader()
        let found = shelved.chunks(in: shelved.envelopes, by: &reader)
        #expect(found.count == shelved.shape.chunkCount)
        // All of it once more is of no use, down to the last.
        for envelope in shelved.envelopes { #expect(reader.read(envelope) == .nothing) }
        #expect(reader.uselessCount == shelved.envelopes.count)
    }

    @Test("Attack 216: another order loses what comes before its hashes, and nothing is mistaken")
    func order() throws {
        let shelved = try Shelved(300_000)
        var reader = try shelved.reader()
        let backwards = Array(shelved.envelopes.reversed())
        #expect(shelved.chunks(in: backwards, by: &reader).isEmpty)
        // Read once more, with the hashes known, all of it is found.
        let found = shelved.chunks(in: backwards, by: &reader)
        #expect(found.sorted() == Array(0..<shelved.shape.chunkCount))
    }

    @Test("Attack 216: a bit turned over anywhere makes an envelope nothing")
    func flipped() throws {
        let shelved = try Shelved(100_000)
        for (number, envelope) in shelved.envelopes.enumerated() {
            for place in [0, 23, 24, envelope.count / 2, envelope.count - 1] {
                var changed = shelved.envelopes
                changed[number][place] ^= 1
                var reader = try shelved.reader()
                for (other, envelope) in changed.enumerated() where other < number {
                    #expect(reader.read(envelope) != .nothing)
                }
                #expect(reader.read(changed[number]) == .nothing)
            }
        }
    }

    @Test("Attack 216: who owns the shelf makes nobody take what is none of the file")
    func liar() throws {
        let shelved = try Shelved(300_000)
        let seal = ShelfSeal(fileKey: shelved.file.key, blob: shelved.file.blob)
        var section = shelved.file.section(0)
        section.leaves[0] = section.leaves[1]
        let lies: [ShelfPart] = [
            ShelfPart(of: .section(0), Frame.blobSection(section).encoded(), from: 0),
            ShelfPart(of: .section(1), Frame.blobSection(section).encoded(), from: 0),
            ShelfPart(of: .section(0), [], from: 0),
            ShelfPart(of: .section(0), [UInt8](repeating: 1, count: 100), from: 0),
            ShelfPart(of: .chunk(4), shelved.file.chunk(3).bytes, from: 0),
            ShelfPart(of: .chunk(0), shelved.file.chunk(4).bytes, from: 0),
            ShelfPart(
                of: .chunk(4), [UInt8](repeating: 1, count: shelved.file.chunk(4).bytes.count),
                from: 0),
        ]
        for lie in lies {
            var reader = try shelved.reader()
            #expect(reader.read(seal.seal(lie)) == .nothing)
            // And what is true is taken all the same.
            let found = shelved.chunks(in: shelved.envelopes, by: &reader)
            #expect(found.count == shelved.shape.chunkCount)
        }
    }

    @Test("Attack 215: without the file's key nothing on a shelf but chunks can be told apart")
    func otherKey() throws {
        let shelved = try Shelved(300_000)
        var reader = try shelved.reader([UInt8](repeating: 7, count: 32))
        for envelope in shelved.envelopes { #expect(reader.read(envelope) == .nothing) }
        #expect(ShelfReader(shelved.file.blob, shelved.shape, key: [1], knowing: []) == nil)
        #expect(ShelfWriter(shelved.file.blob, shelved.shape, key: [1]) == nil)
    }

    @Test func `keys follow from the device and the file, and from the file's key`() {
        let secrets = [UInt8(1), 2].map { Secret([UInt8](repeating: $0, count: 32)) }
        let blobs = [BlobID { $0[0] = 1 }, BlobID { $0[0] = 2 }]
        let owners = secrets.flatMap { secret in
            blobs.map { ShelfKeys.owner(of: $0, secret: secret).device }
        }
        #expect(Set(owners).count == 4)
        #expect(ShelfKeys.owner(of: blobs[0], secret: secrets[0]).device == owners[0])
        let readers = (0..<2).map { ShelfKeys.reader(fileKey: [UInt8](repeating: $0, count: 32)) }
        #expect(readers[0].device != readers[1].device)
    }

    @Test func `a shelf completes a fetch that links began, and asks them for no more`() throws {
        let shelved = try Shelved(300_000)
        let store = MemoryBlobs()
        var fetcher = BlobFetcher<Int>()
        _ = try fetcher.fetch(shelved.file.blob, shelved.shape, into: store)
        try store.keep(shelved.file.section(0))
        var reader = try shelved.reader()
        var outputs: [BlobFetcher<Int>.Output] = []
        for envelope in shelved.envelopes {
            switch reader.read(envelope) {
            case .section(let section):
                outputs += try fetcher.takeShelved(section, at: 0, in: store)
            case .chunk(let chunk): outputs += try fetcher.takeShelved(chunk, in: store)
            case .part, .nothing: break
            }
        }
        #expect(outputs == [.completed(shelved.file.blob)])
        #expect(fetcher.blobs.isEmpty)
        // What comes of it afterwards is nothing.
        #expect(try fetcher.takeShelved(shelved.file.chunk(0), in: store).isEmpty)
        #expect(try fetcher.takeShelved(shelved.file.section(0), at: 0, in: store).isEmpty)
    }
}
