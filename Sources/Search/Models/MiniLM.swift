import CKernels
import Glibc

/// all-MiniLM-L6-v2: English sentences as 384 numbers, by six layers of attention.
///
/// Source: BERT (Devlin and others), the model's own configuration; golden vectors of an
/// implementation in NumPy and of the reference's tokenizer in `Protocol/Vectors/search`.
public final class MiniLM: TextEmbedder {
    /// Weights, for any number of workers.
    public struct Weights: Sendable {
        let pieces: WordPiece
        let words: Tensor, places: [Float], kind: [Float]
        let scale: [Float], shift: [Float]
        let layers: [Layer]
    }

    struct Layer: Sendable {
        let query: Linear, key: Linear, value: Linear, output: Linear
        let wide: Linear, narrow: Linear
        let scales: [[Float]], shifts: [[Float]]
    }

    static let width = 384, wideWidth = 1536, headCount = 12, headWidth = 32
    static let layerCount = 6, vocabularyCount = 30_522, placeCount = 512
    static let pieceCountMax = 256
    static let epsilon: Float = 1e-12
    private static let batchPieceCount = 512

    private let weights: Weights
    private var scratch = Scratch()

    /// Numbers of one vector.
    public var dimension: Int { Self.width }

    /// A worker with these weights.
    public init(_ weights: Weights) { self.weights = weights }

    /// Into how many pieces a text is cut, its two marks aside.
    public func pieceCount(of text: String) -> Int { Self.pieces(of: text, weights).count - 2 }

    /// The pieces of a text, as the model is given them.
    public static func pieces(of text: String, _ weights: Weights) -> [Int32] {
        weights.pieces.pieces(of: text, limit: pieceCountMax)
    }

    /// A vector for each text.
    public func embed(_ texts: [String]) -> [[Float]] {
        batched(
            texts, pieceCount: Self.batchPieceCount, pieces: { Self.pieces(of: $0, weights) },
            forward)
    }

    private func forward(_ texts: [[Int32]]) -> [[Float]] {
        let count = texts.reduce(0) { $0 + $1.count }
        let state = scratch.floats(0, count * Self.width)
        enter(texts, state)
        for layer in weights.layers {
            attend(texts, count, layer, state)
            think(count, layer, state)
        }
        var place = 0
        return texts.map { pieces in
            defer { place += pieces.count }
            return mean(state + place * Self.width, pieces.count)
        }
    }

    /// Each piece begins as its word, its place and its kind.
    private func enter(_ texts: [[Int32]], _ state: UnsafeMutablePointer<Float>) {
        var row = state
        for pieces in texts {
            for (place, piece) in pieces.enumerated() {
                let start = Int(piece) * Self.width * 4
                UnsafeMutableRawBufferPointer(start: row, count: Self.width * 4)
                    .copyMemory(from: weights.words.bytes(start..<(start + Self.width * 4)))
                weights.places.withUnsafeBufferPointer { places in
                    guard let base = places.baseAddress else { return }
                    Rows.add(base + place * Self.width, to: row, Self.width)
                }
                Rows.add(weights.kind, to: row, Self.width)
                Rows.normalize(
                    row, Self.width, scale: weights.scale, shift: weights.shift,
                    epsilon: Self.epsilon)
                row += Self.width
            }
        }
    }

    private func attend(
        _ texts: [[Int32]], _ count: Int, _ layer: Layer, _ state: UnsafeMutablePointer<Float>
    ) {
        let size = count * Self.width
        let query = scratch.floats(1, size), key = scratch.floats(2, size)
        let value = scratch.floats(3, size), mixed = scratch.floats(4, size)
        layer.query.apply(state, rows: count, to: query, &scratch)
        layer.key.apply(state, rows: count, to: key, &scratch)
        layer.value.apply(state, rows: count, to: value, &scratch)
        mixed.update(repeating: 0, count: size)
        var place = 0
        for pieces in texts {
            let start = place * Self.width
            mix(pieces.count, query + start, key + start, value + start, mixed + start)
            place += pieces.count
        }
        // The queries are no longer needed: their memory takes the result.
        layer.output.apply(mixed, rows: count, to: query, &scratch)
        merge(query, count, layer.scales[0], layer.shifts[0], state)
    }

    /// What each piece takes from each other of its text, by head.
    private func mix(
        _ count: Int, _ query: UnsafeMutablePointer<Float>, _ key: UnsafeMutablePointer<Float>,
        _ value: UnsafeMutablePointer<Float>, _ mixed: UnsafeMutablePointer<Float>
    ) {
        let shares = scratch.floats(5, count)
        let factor = 1 / Float(Self.headWidth).squareRoot()
        for head in 0..<Self.headCount {
            let offset = head * Self.headWidth
            for one in 0..<count {
                let row = one * Self.width + offset
                var most = -Float.infinity
                for other in 0..<count {
                    let share =
                        Rows.dot(query + row, key + other * Self.width + offset, Self.headWidth)
                        * factor
                    shares[other] = share
                    most = max(most, share)
                }
                var sum: Float = 0
                for other in 0..<count {
                    shares[other] = expf(shares[other] - most)
                    sum += shares[other]
                }
                for other in 0..<count {
                    Rows.add(
                        value + other * Self.width + offset, times: shares[other] / sum,
                        to: mixed + row, Self.headWidth)
                }
            }
        }
    }

    private func think(_ count: Int, _ layer: Layer, _ state: UnsafeMutablePointer<Float>) {
        let wide = scratch.floats(6, count * Self.wideWidth)
        let narrow = scratch.floats(1, count * Self.width)
        layer.wide.apply(state, rows: count, to: wide, &scratch)
        ck_gelu(Processor.level, wide, count * Self.wideWidth)
        layer.narrow.apply(wide, rows: count, to: narrow, &scratch)
        merge(narrow, count, layer.scales[1], layer.shifts[1], state)
    }

    private func merge(
        _ change: UnsafeMutablePointer<Float>, _ count: Int, _ scale: [Float], _ shift: [Float],
        _ state: UnsafeMutablePointer<Float>
    ) {
        for row in 0..<count {
            let start = state + row * Self.width
            Rows.add(change + row * Self.width, to: start, Self.width)
            Rows.normalize(start, Self.width, scale: scale, shift: shift, epsilon: Self.epsilon)
        }
    }

    private func mean(_ rows: UnsafeMutablePointer<Float>, _ count: Int) -> [Float] {
        var mean = [Float](repeating: 0, count: Self.width)
        mean.withUnsafeMutableBufferPointer { mean in
            guard let base = mean.baseAddress else { return }
            for row in 0..<count { Rows.add(rows + row * Self.width, to: base, Self.width) }
        }
        return Vectors.unit(mean)
    }
}

/// Vectors of plain numbers.
public enum Vectors {
    /// The same direction, with length 1.
    static func unit(_ vector: [Float]) -> [Float] {
        let length = vector.reduce(Float(0)) { $0 + $1 * $1 }.squareRoot()
        return length > 0 ? vector.map { $0 / length } : vector
    }

    /// The cosine between two vectors.
    public static func cosine(_ one: [Float], _ other: [Float]) -> Float {
        zip(unit(one), unit(other)).reduce(0) { $0 + $1.0 * $1.1 }
    }
}
