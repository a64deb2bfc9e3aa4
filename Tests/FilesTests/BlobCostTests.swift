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

}
