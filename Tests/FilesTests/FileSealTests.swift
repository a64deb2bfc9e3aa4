import ParleyFiles
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

/// What seals a file, and what names it.
struct FileSealTests {
    private let key = [UInt8](0..<32)

    @Test func `a chunk opens at its own place and size alone`() throws {
        let shape = try #require(BlobShape(70_000))
        let seal = try #require(FileSeal(key: key, shape: shape))
        let plain = [UInt8](repeating: 7, count: Limits.plainChunkByteCount)
        let chunk = seal.seal(plain, as: 0)
        #expect(chunk.count == 65_536)
        #expect(seal.open(chunk, as: 0) == plain)
        #expect(seal.open(chunk, as: 1) == nil)
        #expect(seal.open(chunk, as: 2) == nil)
        #expect(seal.open(Array(chunk.dropLast()), as: 0) == nil)
        let longer = try #require(BlobShape(70_001))
        #expect(try #require(FileSeal(key: key, shape: longer)).open(chunk, as: 0) == nil)
        var changed = chunk
        changed[100] ^= 1
        #expect(seal.open(changed, as: 0) == nil)
        #expect(FileSeal(key: [1, 2, 3], shape: shape) == nil)
    }

    @Test func `a section says of what it is, and nothing else`() throws {
        let blob = SampleFile(byteCount: 300_000)
        let section = blob.section(0)
        #expect(section.isGenuine)
        var other = section
        other.leaves[0] = other.leaves[1]
        #expect(!other.isGenuine)
        other = section
        other.leaves.removeLast()
        #expect(!other.isGenuine)
        other = section
        other.index = 1
        #expect(!other.isGenuine)
        other = section
        other.size = other.size.next
        #expect(!other.isGenuine)
        other = section
        other.sections.append(other.sections[0])
        #expect(!other.isGenuine)
        other = section
        other.blob = BlobID(reinterpreting: other.leaves[0])
        #expect(!other.isGenuine)
        other = section
        other.size = 0
        #expect(!other.isGenuine)
    }
}
