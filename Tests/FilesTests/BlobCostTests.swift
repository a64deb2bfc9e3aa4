@testable import ParleyFiles
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

/// What frames about files make who fetches them do.
@Suite("What fetching a blob costs")
struct BlobCostTests {
    private let file = SampleFile(byteCount: 65_520 * 40)

    @Test("Attack 333: a frame tells which piece it brings, and a peer owes what it was asked for")
    func owed() throws {
        let store = MemoryBlobs()
        var fetcher = BlobFetcher<Int>()
        let shape = try #require(BlobShape(file.size))
        _ = try fetcher.fetch(file.blob, shape, into: store)
        _ = fetcher.ask([file.blob], on: 1, at: 0)
        let whole = BlobHolding(blob: file.blob, ranges: [.init(first: 0, last: 39)])
        _ = try fetcher.learn(whole, on: 1, at: 0, in: store)
        func isOwed(_ frame: Frame, by link: Int = 1) -> Bool {
            BlobPiece(in: frame.encoded()).map { fetcher.isOwed($0, by: link) } ?? false
        }
        let section = Frame.blobSection(file.section(0))
        #expect(isOwed(section) && !isOwed(section, by: 2))
        #expect(!isOwed(.blobChunk(file.chunk(0))), "its hash is not known yet")
        var other = file.section(0)
        other.index = 1
        #expect(!isOwed(.blobSection(other)))
        _ = try fetcher.take(file.section(0), on: 1, at: 0, in: store)
        #expect(!isOwed(section), "once")
        let owed = file.chunks.indices.filter { isOwed(.blobChunk(file.chunk($0))) }
        #expect(owed == Array(0..<BlobPace.windowStart))
        _ = try fetcher.take(file.chunk(3), on: 1, at: 0, in: store)
        #expect(!isOwed(.blobChunk(file.chunk(3))))
        #expect(!isOwed(.blobAsk([file.blob])) && !isOwed(.blobHave(whole)))
        for count in 0..<40 {
            #expect(
                BlobPiece(in: Array(Frame.blobChunk(file.chunk(1)).encoded().prefix(count)))
                    .map { fetcher.isOwed($0, by: 1) } != true || count >= 34)
        }
    }

    @Test(
        "Attack 335: what a peer says of one blob leads to no walk over the chunks of all",
        .timeLimit(.minutes(1)))
    func walks() throws {
        let store = MemoryBlobs()
        var fetcher = BlobFetcher<Int>()
        // 4 GiB each; one chunk of each is here, which is all that the peer has.
        let size = BlobSize(clamping: 4 << 30)
        let shape = try #require(BlobShape(size))
        let blobs = (0..<BlobFetcher<Int>.fetchCountMax).map { number in
            BlobID { $0[0] = UInt8(truncatingIfNeeded: number) }
        }
        for blob in blobs {
            try store.beginBlob(blob, shape)
            try store.keep(BlobChunk(blob: blob, index: 0, bytes: [1]))
            _ = try fetcher.fetch(blob, shape, into: store)
        }
        _ = fetcher.ask(blobs, on: 1, at: 0)
        let first = BlobHolding.Range(first: 0, last: 0)
        // One chunk after the other was a look: a minute is not enough for as many as these were.
        for number in 0..<2_000 {
            let holding = BlobHolding(blob: blobs[number % 256], ranges: [first])
            _ = try fetcher.learn(holding, on: 1, at: 0, in: store)
        }
        #expect(fetcher.blobs.count == 256)
    }

    @Test("chunks are found, and ranges noted, as one by one")
    func chunkSets() {
        var random = SeededRandom(seed: 335, purpose: "chunks")
        for count in [1, 63, 64, 65, 200, 1_000] {
            for _ in 0..<20 {
                var sets = (0..<3).map { _ in ChunkSet(of: count) }
                var naive = (0..<3).map { _ in Set<Int>() }
                for place in 0..<3 {
                    let ends = (0..<4).map { _ in Int.random(in: 0..<count + 10, using: &random) }
                        .sorted()
                    for pair in [(ends[0], ends[1]), (ends[2], ends[3])] {
                        sets[place].insert([
                            BlobHolding.Range(
                                first: ChunkIndex(clamping: UInt64(pair.0)),
                                last: ChunkIndex(clamping: UInt64(pair.1)))
                        ])
                        naive[place].formUnion((pair.0...pair.1).filter { $0 < count })
                    }
                    #expect(sets[place].count == naive[place].count)
                    #expect(
                        (0..<count).allSatisfy {
                            sets[place].contains($0) == naive[place].contains($0)
                        })
                }
                for start in 0..<count {
                    let found = sets[0].next(from: start, outside: sets[1], sets[2])
                    let expected = (start..<count).first {
                        naive[0].contains($0) && !naive[1].contains($0) && !naive[2].contains($0)
                    }
                    #expect(found == expected)
                }
            }
        }
    }
}
