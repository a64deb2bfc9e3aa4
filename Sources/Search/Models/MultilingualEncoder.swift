import Glibc

/// Universal Sentence Encoder, multilingual, version 3: sentences of 16 languages as 512 numbers, by
/// windows over neighbouring pieces.
///
/// Source: the package's own implementation in NumPy; golden vectors of it in
/// `Protocol/Vectors/search`.
public final class MultilingualEncoder: TextEmbedder {
    /// Weights, for any number of workers.
    public struct Weights: Sendable {
        let pieces: Unigram
        /// Rows of bytes, spread over 17 tables, and what a byte of each means.
        let tables: [Tensor], scale: [Float], low: [Float]
        let entry: Linear, entryScale: [Float], entryShift: [Float]
        let first: [Linear], second: [Linear]
        let scale2: [Float], shift2: [Float]
        let exit: Linear, exitBias: [Float]
        let d0: Linear, d1: Linear, p1: Linear, d2: Linear, p3: Linear, d3: Linear
    }

    static let width = 512, windowWidth = 256, featureCount = 1280, middle = 320
    /// How many pieces each window sees, and how many of them before its own.
    static let windows = [(count: 2, left: 0), (count: 3, left: 1), (count: 5, left: 2)]
    static let epsilon: Float = 1e-12
    static let tableCount = 17, tableRowCount = 7530
    private static let pieceCountMax = 1024, batchPieceCount = 384

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
        let features = scratch.floats(0, count * Self.featureCount)
        enter(texts, features)
        let entered = scratch.floats(1, count * 3 * Self.windowWidth)
        weights.entry.apply(
            features, stride: Self.featureCount, rows: count, to: entered, &scratch)
        for row in 0..<count {
            Rows.normalize(
                entered + row * 3 * Self.windowWidth, 3 * Self.windowWidth,
                scale: weights.entryScale, shift: weights.entryShift, epsilon: Self.epsilon)
        }
        for window in Self.windows.indices { look(window, texts, count, entered, features) }
        for row in 0..<count {
            Rows.normalize(
                features + row * Self.featureCount, Self.featureCount, scale: weights.scale2,
                shift: weights.shift2, epsilon: Self.epsilon)
        }
        var place = 0
        return texts.map { pieces in
            defer { place += pieces.count }
            return leave(features + place * Self.featureCount, pieces.count)
        }
    }

    /// The first numbers of each piece's features: its row of the tables.
    private func enter(_ texts: [[Int32]], _ features: UnsafeMutablePointer<Float>) {
        var row = features
        for piece in texts.joined() {
            let table = Int(piece) % Self.tableCount, place = Int(piece) / Self.tableCount
            let (scale, low) = (weights.scale[table], weights.low[table])
            let bytes = weights.tables[table].bytes(
                (place * Self.width)..<((place + 1) * Self.width))
            for index in 0..<Self.width { row[index] = Float(bytes[index]) * scale + low }
            row += Self.featureCount
        }
    }

    /// Two rounds over a window, each added to what it saw.
    private func look(
        _ window: Int, _ texts: [[Int32]], _ count: Int,
        _ entered: UnsafeMutablePointer<Float>, _ features: UnsafeMutablePointer<Float>
    ) {
        let width = Self.windowWidth
        let state = scratch.floats(2, count * width)
        for row in 0..<count {
            (state + row * width).update(
                from: entered + row * 3 * width + window * width, count: width)
        }
        for layer in [weights.first[window], weights.second[window]] {
            let seen = scratch.floats(3, count * layer.inputCount)
            gather(Self.windows[window], texts, state, seen)
            let change = scratch.floats(4, count * width)
            layer.apply(seen, rows: count, to: change, &scratch)
            for index in 0..<(count * width) { state[index] += max(0, change[index]) }
        }
        for row in 0..<count {
            (features + row * Self.featureCount + Self.width + window * width).update(
                from: state + row * width, count: width)
        }
    }

    /// For each piece the rows of its neighbours side by side; beyond a text's end there is nothing.
    private func gather(
        _ window: (count: Int, left: Int), _ texts: [[Int32]],
        _ state: UnsafeMutablePointer<Float>, _ seen: UnsafeMutablePointer<Float>
    ) {
        let width = Self.windowWidth
        var target = seen
        var start = 0
        for pieces in texts {
            for place in pieces.indices {
                for slot in 0..<window.count {
                    let other = place + slot - window.left
                    if pieces.indices.contains(other) {
                        target.update(from: state + (start + other) * width, count: width)
                    } else {
                        target.update(repeating: 0, count: width)
                    }
                    target += width
                }
            }
            start += pieces.count
        }
    }

    /// One vector of all pieces of a text.
    private func leave(_ features: UnsafeMutablePointer<Float>, _ count: Int) -> [Float] {
        let sum = scratch.floats(5, Self.featureCount)
        sum.update(repeating: 0, count: Self.featureCount)
        for row in 0..<count {
            Rows.add(features + row * Self.featureCount, to: sum, Self.featureCount)
        }
        let mean = scratch.floats(6, Self.width)
        weights.exit.apply(sum, rows: 1, to: mean, &scratch)
        let factor = 1 / Float(count).squareRoot()
        for index in 0..<Self.width {
            mean[index] = (mean[index] + Float(count) * weights.exitBias[index]) * factor
        }
        let y0 = applied(weights.d0, mean, 7)
        for index in 0..<Self.middle { y0[index] = max(0, y0[index]) }
        let y1 = applied(weights.p1, mean, 8), more = applied(weights.d1, y0, 9)
        for index in 0..<Self.middle { y1[index] = max(0, y1[index] + more[index]) }
        let y2 = applied(weights.d2, y1, 10)
        for index in 0..<Self.width { y2[index] = max(0, y2[index]) }
        let z = applied(weights.p3, y1, 11), last = applied(weights.d3, y2, 12)
        return Vectors.unit((0..<Self.width).map { tanhf(z[$0] + last[$0]) })
    }

    private func applied(
        _ linear: Linear, _ input: UnsafeMutablePointer<Float>, _ purpose: Int
    ) -> UnsafeMutablePointer<Float> {
        let output = scratch.floats(purpose, linear.outputCount)
        linear.apply(input, rows: 1, to: output, &scratch)
        return output
    }
}
