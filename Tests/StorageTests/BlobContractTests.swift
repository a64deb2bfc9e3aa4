import Foundation
import ParleyFiles
import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyStorage

/// What both stores of sealed files promise: the folder of a home, and the model in memory.
@Suite("Sealed files")
struct BlobContractTests {
    enum Kind: CaseIterable { case folder, memory }

    private let place =
        FileManager.default.temporaryDirectory.path
        + "/parley-blobs-\(UUID().uuidString)"
    private let key = [UInt8](0..<32)

    private func store(_ kind: Kind) -> any BlobStore {
        kind == .folder ? BlobFolder(place) : MemoryBlobs()
    }

    private func plain(_ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    /// Seals a file as a node does, and takes it in.
    private func sealed(_ byteCount: Int, into folder: BlobFolder) throws -> BlobWriter.Finished {
        let finished = try finished(byteCount, key)
        try folder.take(finished)
        return finished
    }

    private func finished(_ byteCount: Int, _ key: [UInt8]) throws -> BlobWriter.Finished {
        let shape = try #require(BlobShape(BlobSize(clamping: UInt64(byteCount))))
        let writer = try BlobWriter(into: place, named: 7, shape, key: key)
        let plain = plain(byteCount)
        var done = 0
        while writer.nextByteCount > 0 {
            try writer.add(Array(plain[done..<done + writer.nextByteCount]))
            done = min(byteCount, done + Limits.plainChunkByteCount)
        }
        return try writer.finish()
    }

    private func pieces(
        of blob: BlobID, in folder: BlobFolder
    ) throws -> (section: BlobSection, chunks: [BlobChunk]) {
        let held = try #require(try folder.heldBlob(blob))
        let section = try #require(try folder.section(0, of: blob))
        let chunks = try (0..<held.shape.chunkCount).map { number in
            let index = ChunkIndex(clamping: UInt64(number))
            return BlobChunk(
                blob: blob, index: index, bytes: try #require(try folder.chunk(index, of: blob)))
        }
        return (section, chunks)
    }

    private func cleanUp() { try? FileManager.default.removeItem(atPath: place) }

    @Test(arguments: [1, 65_520, 65_521, 200_000, 65_520 * 4097])
    func `what was sealed opens to the file, and every piece is what its hash says`(
        _ byteCount: Int
    ) throws {
        defer { cleanUp() }
        let folder = BlobFolder(place)
        let finished = try sealed(byteCount, into: folder)
        let held = try #require(try folder.heldBlob(finished.blob))
        #expect(held.chunks.isWhole)
        let seal = try #require(FileSeal(key: key, shape: held.shape))
        var opened: [UInt8] = []
        for number in 0..<held.shape.chunkCount {
            let index = ChunkIndex(clamping: UInt64(number))
            let chunk = try #require(try folder.soundChunk(index, of: finished.blob))
            opened += try #require(seal.open(chunk, as: index))
        }
        #expect(opened == plain(byteCount))
        #expect(finished.content == digest(.ownFile, opened))
        let names = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
        #expect(names == ["\(finished.blob)", "\(finished.blob).map"])
        let mode = try FileManager.default.attributesOfItem(
            atPath: "\(place)/\(finished.blob)")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test(arguments: Kind.allCases)
    func `pieces come in any order and stay`(_ kind: Kind) throws {
        defer { cleanUp() }
        let source = place + "-source"
        defer { try? FileManager.default.removeItem(atPath: source) }
        let (section, chunks) = try withFolder(source) { folder, finished in
            try pieces(of: finished.blob, in: folder)
        }
        let store = store(kind)
        let shape = try #require(BlobShape(section.size))
        #expect(try store.heldBlob(section.blob) == nil)
        #expect(try store.blobs().isEmpty)
        try store.beginBlob(section.blob, shape)
        try store.beginBlob(section.blob, shape)
        #expect(try store.heldBlob(section.blob)?.chunks.count == 0)
        #expect(try store.section(0, of: section.blob) == nil)
        #expect(try store.soundChunk(0, of: section.blob) == nil)
        try store.keep(section)
        #expect(try store.section(0, of: section.blob) == section)
        #expect(try store.section(1, of: section.blob) == nil)
        for chunk in chunks.reversed() {
            #expect(try store.chunk(chunk.index, of: chunk.blob) == nil)
            try store.keep(chunk)
            try store.keep(chunk)
            #expect(try store.soundChunk(chunk.index, of: chunk.blob) == chunk.bytes)
        }
        try store.makeDurable(section.blob)
        #expect(try store.blobs() == [section.blob])
        #expect(try store.heldBlob(section.blob)?.chunks.isWhole == true)
        try store.loseChunk(1, of: section.blob)
        #expect(try store.heldBlob(section.blob)?.chunks.next(from: 0, isHeld: false) == 1)
        try store.removeBlob(section.blob)
        #expect(try store.blobs().isEmpty)
        #expect(try store.heldBlob(section.blob) == nil)
        #expect(try store.section(0, of: section.blob) == nil)
        try store.removeBlob(section.blob)
    }

    private func withFolder<R>(
        _ path: String, _ body: (BlobFolder, BlobWriter.Finished) throws -> R
    ) throws -> R {
        let other = BlobFolder(path)
        let shape = try #require(BlobShape(200_000))
        let writer = try BlobWriter(into: path, named: 9, shape, key: key)
        let plain = plain(200_000)
        var done = 0
        while writer.nextByteCount > 0 {
            let count = writer.nextByteCount
            try writer.add(Array(plain[done..<done + count]))
            done += count
        }
        let finished = try writer.finish()
        try other.take(finished)
        return try body(other, finished)
    }

    @Test func `a process that starts anew knows what was there`() throws {
        defer { cleanUp() }
        let finished = try sealed(300_000, into: BlobFolder(place))
        let again = BlobFolder(place)
        try again.loseChunk(2, of: finished.blob)
        let third = BlobFolder(place)
        #expect(try third.heldBlob(finished.blob)?.chunks.count == 4)
        #expect(try third.soundChunk(1, of: finished.blob) != nil)
        #expect(try third.soundChunk(2, of: finished.blob) == nil)
    }

    @Test func `a chunk that rotted is lost, and no more than that`() throws {
        defer { cleanUp() }
        let finished = try sealed(300_000, into: BlobFolder(place))
        let file = "\(place)/\(finished.blob)"
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        try handle.seek(toOffset: 65_536 + 100)
        try handle.write(contentsOf: [1, 2, 3])
        try handle.close()
        let folder = BlobFolder(place)
        #expect(try folder.soundChunk(0, of: finished.blob) != nil)
        #expect(try folder.soundChunk(1, of: finished.blob) == nil)
        #expect(try folder.heldBlob(finished.blob)?.chunks.ranges().count == 2)
    }

    @Test func `hashes that rotted are not believed`() throws {
        defer { cleanUp() }
        let finished = try sealed(300_000, into: BlobFolder(place))
        let handle = try #require(
            FileHandle(forUpdatingAtPath: "\(place)/\(finished.blob).map"))
        try handle.seek(toOffset: 16 + 1 + 32 + 40)
        try handle.write(contentsOf: [9, 9, 9])
        try handle.close()
        let folder = BlobFolder(place)
        #expect(try folder.section(0, of: finished.blob) == nil)
        #expect(try folder.soundChunk(0, of: finished.blob) == nil)
    }

    @Test func `a map of another size, or none, holds nothing`() throws {
        defer { cleanUp() }
        let finished = try sealed(300_000, into: BlobFolder(place))
        let map = "\(place)/\(finished.blob).map"
        let whole = try Data(contentsOf: URL(filePath: map))
        for bytes in [whole.dropLast(), whole + [0], Data(), Data(repeating: 0, count: 16)] {
            try bytes.write(to: URL(filePath: map))
            #expect(try BlobFolder(place).heldBlob(finished.blob) == nil)
        }
        var huge = whole
        huge.replaceSubrange(8..<16, with: [0xFF, 0, 0, 0, 0, 0, 0, 0])
        try huge.write(to: URL(filePath: map))
        #expect(try BlobFolder(place).heldBlob(finished.blob) == nil)
        // And can be begun anew over what is there.
        let folder = BlobFolder(place)
        try folder.beginBlob(finished.blob, finished.shape)
        #expect(try folder.heldBlob(finished.blob)?.chunks.count == 0)
        // Nothing of a map that was not counted comes back at the next start.
        #expect(try BlobFolder(place).heldBlob(finished.blob)?.chunks.count == 0)
    }

    @Test func `a map without its chunks counts for nothing once the file is begun again`() throws {
        defer { cleanUp() }
        let finished = try sealed(300_000, into: BlobFolder(place))
        try FileManager.default.removeItem(atPath: "\(place)/\(finished.blob)")
        try BlobFolder(place).beginBlob(finished.blob, finished.shape)
        #expect(try BlobFolder(place).heldBlob(finished.blob)?.chunks.count == 0)
    }

    @Test func `a file that is sealed again with its key has its name again`() throws {
        defer { cleanUp() }
        let folder = BlobFolder(place)
        let finished = try sealed(300_000, into: folder)
        try folder.removeBlob(finished.blob)
        let other = try self.finished(300_000, key.map { $0 ^ 1 })
        #expect(other.blob != finished.blob)
        let again = try other.sealed(with: key, into: place, named: 9)
        #expect(again.blob == finished.blob && again.content == finished.content)
        try folder.take(again)
        #expect(try folder.heldBlob(finished.blob)?.chunks.isWhole == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == 2)
    }

    @Test func `what was being sealed when a process ended goes at the next start`() throws {
        defer { cleanUp() }
        let shape = try #require(BlobShape(300_000))
        let writer = try BlobWriter(into: place, named: 5, shape, key: key)
        try writer.add([UInt8](repeating: 1, count: writer.nextByteCount))
        #expect(throws: HomeError.self) { try writer.finish() }
        let folder = BlobFolder(place)
        #expect(try folder.blobs().isEmpty)
        folder.removeUnfinished()
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty)
    }

    @Test func `more blobs than may be open at once are all known`() throws {
        defer { cleanUp() }
        let folder = BlobFolder(place)
        var blobs: [BlobID] = []
        for size in 1...BlobFolder.openCountMax + 8 {
            blobs.append(try sealed(size, into: folder).blob)
        }
        #expect(try folder.blobs() == blobs.sorted())
        for blob in blobs { #expect(try folder.soundChunk(0, of: blob) != nil) }
    }
}
