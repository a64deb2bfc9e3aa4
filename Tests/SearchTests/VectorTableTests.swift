import CKernels
import Testing

@testable import ParleySearch

/// Numbers that look like chance and are the same every time.
struct Draws {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    /// From -1 to 1.
    mutating func number() -> Float {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Float(Int32(truncatingIfNeeded: state >> 32)) / Float(Int32.max)
    }

    mutating func vector(_ dimension: Int) -> [Float] {
        Vectors.unit((0..<dimension).map { _ in number() })
    }
}

@Suite("Vectors in memory")
struct VectorTableTests {
    private func table(_ vectors: [[Float]], countMax: Int = 1000) -> VectorTable {
        let table = VectorTable(dimension: 128, countMax: countMax)
        for (index, vector) in vectors.enumerated() {
            table.add(VectorBytes.pack(vector), of: Int64(index + 1))
        }
        return table
    }

    @Test("give the nearest first, as reckoned one by one")
    func nearest() {
        var draws = Draws(1)
        let vectors = (0..<300).map { _ in draws.vector(128) }
        let query = draws.vector(128)
        let scan = table(vectors).scan(query, limit: 10)
        let cosines = VectorTable.cosines(query, vectors.map { VectorBytes.pack($0) })
        let exact = vectors.indices.sorted { cosines[$0] > cosines[$1] }
        #expect(scan.nearest.map { Int($0.operation) - 1 } == Array(exact.prefix(10)))
        #expect(abs(scan.mean) < 0.05 && scan.deviation > 0.05 && scan.deviation < 0.12)
        #expect(
            scan.nearest.allSatisfy { near in
                abs(near.cosine - Vectors.cosine(query, vectors[Int(near.operation) - 1])) < 0.02
            })
    }

    @Test("that were forgotten, or replaced, are not found")
    func removal() {
        var draws = Draws(2)
        let vectors = (0..<50).map { _ in draws.vector(128) }
        let table = table(vectors)
        table.remove(8)
        #expect(table.count == 49 && !table.contains(8))
        #expect(table.scan(vectors[7], limit: 50).nearest.allSatisfy { $0.operation != 8 })
        table.add(VectorBytes.pack(vectors[7]), of: 9)
        #expect(table.scan(vectors[7], limit: 1).nearest.first?.operation == 9)
        #expect(table.count == 49)
    }

    @Test("are narrowed before they are compared, and their mean is that of the rest")
    func filtered() {
        var draws = Draws(3)
        let vectors = (0..<100).map { _ in draws.vector(128) }
        let table = table(vectors)
        let scan = table.scan(vectors[0], limit: 100) { $0 % 10 == 0 }
        #expect(scan.nearest.count == 10)
        #expect(scan.nearest.allSatisfy { $0.operation % 10 == 0 })
        #expect(table.scan(vectors[0], limit: 5) { _ in false }.nearest.isEmpty)
    }

    @Test("beyond a count are signs alone, and still find what is near")
    func signs() {
        var draws = Draws(4)
        let vectors = (0..<2000).map { _ in draws.vector(128) }
        let rough = table(vectors, countMax: 500)
        let scan = rough.scan(vectors[1500], limit: 10)
        #expect(scan.isRough)
        #expect(scan.nearest.first?.operation == 1501)
        #expect(scan.nearest.count == 2000)
        #expect(rough.count == 2000)
        rough.remove(1501)
        #expect(rough.scan(vectors[1500], limit: 1).nearest.first?.operation != 1501)
    }

    @Test("are compared alike by every kind of processor", arguments: 0...3)
    func kernels(level: Int) {
        let level = min(level, Int(Processor.level))
        var draws = Draws(5)
        let rows = (0..<7).map { _ in draws.vector(128) }
        let bytes = rows.flatMap { VectorBytes.pack($0).map { $0 ^ 0x80 } }
        let query = VectorBytes.pack(rows[3]).map { Int8(bitPattern: $0) }
        var plain = [Int32](repeating: 0, count: 7), fast = plain
        ck_scan_i8(0, bytes, 7, 128, query, &plain)
        ck_scan_i8(Int32(level), bytes, 7, 128, query, &fast)
        #expect(plain == fast)
    }

    @Test("of layers come out alike by every kind of processor", arguments: 0...3)
    func layers(level: Int) {
        let level = Int32(min(level, Int(Processor.level)))
        var draws = Draws(6)
        let (m, k, n) = (11, 64, 48)
        let input = (0..<(m * k)).map { _ in draws.number() }
        let packed = (0..<(k * n)).map { _ in draws.number() }
        let bias = (0..<n).map { _ in draws.number() }
        var plain = [Float](repeating: 0, count: m * n), fast = plain
        ck_gemm_f32(0, input, m, k, k, packed, n, bias, &plain, n)
        ck_gemm_f32(level, input, m, k, k, packed, n, bias, &fast, n)
        #expect(zip(plain, fast).allSatisfy { abs($0 - $1) < 1e-4 })

        var bytes = [UInt8](repeating: 0, count: m * k)
        var scales = [Float](repeating: 0, count: m)
        ck_quantize(input, m, k, &bytes, &scales)
        let weights = packed.map { Int8($0 * 127) }
        let weightScales = [Float](repeating: 1 / 127, count: n)
        let sums = (0..<n).map { output in
            (0..<k).reduce(Int32(0)) { sum, i in
                let at = output / 16 * 16 * k + i / 4 * 64 + output % 16 * 4 + i % 4
                return sum + 128 * Int32(weights[at])
            }
        }
        ck_gemm_i8(0, bytes, scales, m, k, weights, weightScales, sums, n, bias, &plain)
        ck_gemm_i8(level, bytes, scales, m, k, weights, weightScales, sums, n, bias, &fast)
        #expect(zip(plain, fast).allSatisfy { abs($0 - $1) < 1e-4 })
    }

    @Test("and hashes of files are what everybody reckons")
    func hashes() {
        func hex(_ text: String) -> String {
            SHA256.hash(Array(text.utf8)).map {
                String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
            }
            .joined()
        }
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex(String(repeating: "a", count: 119))
                == "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb")
    }
}

@Suite("Ranking")
struct RankingTests {
    private func scan(_ cosines: [Int64: Float], mean: Float, deviation: Float) -> VectorTable.Scan
    {
        VectorTable.Scan(
            nearest: cosines.sorted { $0.value > $1.value }.map {
                .init(operation: $0.key, cosine: $0.value)
            }, mean: mean, deviation: deviation, isRough: false)
    }

    @Test("believes the model that says most, in its own measure")
    func deviations() {
        let english = scan([1: 0.5, 2: 0.4], mean: 0.1, deviation: 0.1)
        let other = scan([3: 0.3, 2: 0.29], mean: 0, deviation: 0.05)
        let found = Ranking.fused(
            words: [], opinions: [.init(model: "a", scan: english), .init(model: "b", scan: other)]
        ) { _ in nil }
        #expect(found.map(\.operation) == [3, 2, 1])
        #expect(found[1].cosines == ["a": 0.4, "b": 0.29])
    }

    @Test("leaves out what no model finds near, however much it stands out")
    func floor() {
        let far = scan([1: 0.31, 2: 0.29, 3: 0.28], mean: 0, deviation: 0.05)
        let other = scan([3: 0.33, 4: 0.1], mean: 0, deviation: 0.02)
        let found = Ranking.fused(
            words: [], opinions: [.init(model: "a", scan: far), .init(model: "b", scan: other)]
        ) { _ in nil }
        #expect(found.map(\.operation) == [3, 1])
        #expect(found.map(\.meaningRank) == [1, 2])
    }

    @Test("takes a word of crumbs for unknown, and any of few pieces for known")
    func crumbs() {
        final class Crumbs: TextEmbedder {
            let dimension = 64
            let counts = ["laundry": 3, "asdfghjkl": 5, "eins": 2, "of": 2, "abcdefgh": 3]
            func embed(_ texts: [String]) -> [[Float]] { [] }
            func pieceCount(of text: String) -> Int { counts[text] ?? 1 }
        }
        let known = Crumbs().counts.keys.filter { Crumbs().knows($0) }.sorted()
        #expect(known == ["eins", "of"])
        #expect(Crumbs().knows("photosynthesis"))
    }

    @Test("puts first what has both the words and the meaning, and leaves out what has neither")
    func both() {
        let scan = scan([1: 0.9, 2: 0.8, 9: 0.15], mean: 0.1, deviation: 0.1)
        let found = Ranking.fused(words: [2, 3], opinions: [.init(model: "a", scan: scan)]) { _ in
            nil
        }
        #expect(found.map(\.operation) == [2, 1, 3])
        #expect(found.map(\.meaningRank) == [2, 1, nil])
        #expect(found.map(\.wordRank) == [1, nil, 2])
    }

    @Test("prefers the newer of two that are alike, and no more than that")
    func recency() {
        let scan = scan([1: 0.9, 2: 0.8], mean: 0.1, deviation: 0.1)
        let ages: [Int64: Double] = [1: 4000, 2: 0, 3: 1]
        let found = Ranking.fused(words: [3], opinions: [.init(model: "a", scan: scan)]) {
            ages[$0]
        }
        #expect(found.map(\.operation) == [3, 1, 2])
        #expect(found[0].recency > 0 && found[1].recency < 1e-9)
    }
}

@Suite("Relevance")
struct RelevanceTests {
    @Test("prefers rare words, more of them, and short texts; else what came first stays first")
    func order() {
        let texts = [
            Ranking.Text(operation: 1, length: 10, counts: [1, 0]),
            .init(operation: 2, length: 10, counts: [0, 1]),
            .init(operation: 3, length: 10, counts: [0, 3]),
            .init(operation: 4, length: 40, counts: [0, 1]),
            .init(operation: 5, length: 10, counts: [0, 1]),
        ]
        let order = Ranking.byRelevance(texts, holders: [3, 900], among: 1000)
        #expect(order == [1, 3, 2, 5, 4])
        #expect(Ranking.byRelevance([], holders: [], among: 0).isEmpty)
    }
}
