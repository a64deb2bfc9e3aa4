/// Turns texts into vectors of length 1: what means about the same points about the same way.
///
/// One value serves one worker at a time; its weights may be shared by many.
public protocol TextEmbedder: AnyObject {
    /// Numbers of one vector.
    var dimension: Int { get }
    /// A vector for each text, in their order.
    func embed(_ texts: [String]) -> [[Float]]
    /// Into how many pieces a text is cut.
    func pieceCount(of text: String) -> Int
}

/// How much of a word a model has to know, to say anything about its meaning.
private enum KnownWord {
    /// A word of so few pieces is always taken for known: short ones have no more.
    static let pieceCountMax = 2
    /// A piece has so many letters at least, on an average.
    static let letterCountMin = 3
}

extension TextEmbedder {
    /// Whether the model knows the word. One that it assembles from tiny pieces has no meaning for
    /// it, and is near to others only by chance.
    ///
    /// Source: `Protocol/10-search.md`, "Ranking".
    public func knows(_ word: String) -> Bool {
        let count = pieceCount(of: word)
        return count <= KnownWord.pieceCountMax
            || word.unicodeScalars.count >= KnownWord.letterCountMin * count
    }
}

extension TextEmbedder {
    /// Puts texts through a model in batches of about so many pieces: what a batch needs fits the
    /// cache.
    func batched(
        _ texts: [String], pieceCount: Int, pieces: (String) -> [Int32],
        _ forward: ([[Int32]]) -> [[Float]]
    ) -> [[Float]] {
        var vectors: [[Float]] = []
        vectors.reserveCapacity(texts.count)
        var batch: [[Int32]] = []
        var count = 0
        for text in texts {
            let text = pieces(text)
            if !batch.isEmpty, count + text.count > pieceCount {
                vectors += forward(batch)
                (batch, count) = ([], 0)
            }
            batch.append(text)
            count += text.count
        }
        return batch.isEmpty ? vectors : vectors + forward(batch)
    }
}

/// Vectors as they are kept: a number is a byte, in steps of `limit / 127`.
public enum VectorBytes {
    /// Numbers beyond this are cut off; hardly one in a thousand is.
    public static let limit: Float = 0.18

    /// The vector in bytes. What is no number, as weights that were damaged since give, says nothing.
    public static func pack(_ vector: [Float]) -> [UInt8] {
        vector.map { number in
            guard number.isFinite else { return 0 }
            let step = (min(max(number, -limit), limit) * 127 / limit).rounded()
            return UInt8(bitPattern: Int8(step))
        }
    }

    /// What a dot product of packed numbers is of the numbers themselves.
    static let productScale = limit / 127 * (limit / 127)
}
