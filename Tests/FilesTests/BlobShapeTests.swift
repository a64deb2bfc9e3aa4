import ParleyFiles
import ParleyWire
import Testing

/// How files are cut, at the sizes where something changes.
struct BlobShapeTests {
    private func shape(_ size: UInt64) throws -> BlobShape {
        try #require(BlobShape(BlobSize(clamping: size)))
    }

    @Test func `an empty file has no chunk`() {
        #expect(BlobShape(0) == nil)
    }

    @Test(
        arguments: [
            (1, 1, 1), (65_519, 1, 1), (65_520, 1, 1), (65_521, 2, 1),
            (65_520 * 4096, 4096, 1), (65_520 * 4096 + 1, 4097, 2), (1 << 32, 65_553, 17),
        ] as [(UInt64, Int, Int)])
    func `chunks and sections begin where they have to`(
        _ size: UInt64, _ chunkCount: Int, _ sectionCount: Int
    ) throws {
        let shape = try shape(size)
        #expect(shape.chunkCount == chunkCount)
        #expect(shape.sectionCount == sectionCount)
        #expect(shape.sealedByteCount == Int(size) + 16 * chunkCount)
        let last = ChunkIndex(clamping: UInt64(chunkCount - 1))
        #expect(shape.contains(last))
        #expect(shape.offset(of: last) + shape.byteCount(of: last) == shape.sealedByteCount)
        #expect(shape.plainOffset(of: last) + shape.plainByteCount(of: last) == Int(size))
        #expect(shape.chunks(of: shape.section(of: last)).upperBound == chunkCount)
        #expect(shape.chunks(of: 16).isEmpty == (sectionCount < 17))
    }

    @Test func `limits follow from the size of a file`() {
        #expect(Limits.chunkCountMax == 65_553)
        #expect(Limits.sectionCountMax == 17)
        #expect(BlobSize(exactly: 1 << 32 + 1) == nil)
        #expect(ChunkIndex(exactly: 65_553) == nil)
        #expect(SectionIndex(exactly: 17) == nil)
    }
}

/// Sets of chunks, beside a set that is right by being simple.
struct ChunkSetTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a set of chunks is what was put into it`(_ seed: UInt64) {
        var random = Draws(seed: seed)
        for count in [1, 63, 64, 65, 200, 4097] {
            var (set, model) = (ChunkSet(of: count), Set<Int>())
            for _ in 0..<60 {
                let chunk = Int.random(in: -2...count + 2, using: &random)
                if Bool.random(using: &random) {
                    let isNew = chunk >= 0 && chunk < count && !model.contains(chunk)
                    let isInserted = set.insert(chunk)
                    #expect(isInserted == isNew)
                    if isNew { model.insert(chunk) }
                } else {
                    set.remove(chunk)
                    model.remove(chunk)
                }
                #expect(set.count == model.count)
                let start = Int.random(in: 0..<count, using: &random)
                #expect(set.next(from: start, isHeld: true) == model.filter { $0 >= start }.min())
                #expect(
                    set.next(from: start, isHeld: false)
                        == (start..<count).first { !model.contains($0) })
            }
            var told = ChunkSet(of: count)
            told.insert(set.ranges(atMost: .max))
            #expect(told == set)
        }
    }

    @Test func `only the first ranges are told`() {
        var set = ChunkSet(of: 1000)
        for chunk in stride(from: 0, to: 1000, by: 2) { set.insert(chunk) }
        let ranges = set.ranges()
        #expect(ranges.count == Limits.heldRangeCountMax)
        #expect(ranges.last?.last == 126)
    }

    @Test func `a range beyond the end adds nothing`() {
        var set = ChunkSet(of: 3)
        set.insert([.init(first: 2, last: .greatest), .init(first: 7, last: 9)])
        #expect(set.count == 1)
        #expect(ChunkSet.all(of: 3).isWhole)
    }
}

/// Numbers that follow from a seed.
struct Draws: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state = state &+ 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
