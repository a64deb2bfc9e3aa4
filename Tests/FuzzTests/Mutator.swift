import ParleySimulation

/// Changes valid inputs as somebody would who knows how formats break: bits, cuts, tails, lengths
/// and numbers at their extremes, pieces repeated, moved and taken from another input.
struct Mutator {
    /// Nothing is made larger than this: above every limit of a single value on the wire.
    static let byteCountMax = 320 << 10

    private static let numbers: [[UInt8]] = [
        [0], [1], [0x7f], [0x80, 0x01], [0x80, 0], [0xff, 0x7f], [0xff, 0xff, 0x03],
        [0xff, 0xff, 0xff, 0xff, 0x0f], [0xff, 0xff, 0xff, 0xff, 0x07],
        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
        [0xff, 0xff], [0, 0], [0x80, 0], [0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff],
        [0x80, 0, 0, 0], [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        [0x80, 0, 0, 0, 0, 0, 0, 0], [0x40, 0, 0, 0, 0, 0, 0, 0],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ]

    private var random: SeededRandom

    init(seed: UInt64, purpose: String) { random = SeededRandom(seed: seed, purpose: purpose) }

    /// One of the inputs, changed once to eight times.
    mutating func next(from inputs: [[UInt8]]) -> [UInt8] {
        guard var bytes = inputs.randomElement(using: &random) else { return [] }
        for _ in 0..<(1 << Int(random.next() % 4)) {
            change(&bytes, inputs)
            if bytes.count > Self.byteCountMax { bytes.removeLast(bytes.count - Self.byteCountMax) }
        }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], _ inputs: [[UInt8]]) {
        switch random.next() % 12 {
        case 0, 1: if let place = place(in: bytes) { bytes[place] ^= 1 << UInt8(random.next() % 8) }
        case 2:
            if let place = place(in: bytes) {
                bytes[place] = UInt8(truncatingIfNeeded: random.next())
            }
        case 3: bytes.removeLast(below(bytes.count + 1))
        case 4: bytes += (0..<below(64)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 5: splice(&bytes, inputs)
        case 6, 7: write(&bytes, overwrites: true)
        case 8: write(&bytes, overwrites: false)
        case 9: bytes.removeSubrange(range(in: bytes))
        case 10:
            let piece = bytes[range(in: bytes)]
            bytes.insert(contentsOf: piece, at: below(bytes.count + 1))
        default: repeatPiece(&bytes)
        }
    }

    /// The head of this one and the tail of another.
    private mutating func splice(_ bytes: inout [UInt8], _ inputs: [[UInt8]]) {
        guard let other = inputs.randomElement(using: &random) else { return }
        bytes.removeLast(below(bytes.count + 1))
        bytes += other.suffix(below(other.count + 1))
    }

    /// A number at an extreme, in place of what stands there or before it.
    private mutating func write(_ bytes: inout [UInt8], overwrites: Bool) {
        guard let number = Self.numbers.randomElement(using: &random) else { return }
        let start = below(bytes.count + 1)
        let end = overwrites ? min(start + number.count, bytes.count) : start
        bytes.replaceSubrange(start..<end, with: number)
    }

    /// Lists of very many: a short piece, up to the bound.
    private mutating func repeatPiece(_ bytes: inout [UInt8]) {
        let start = below(bytes.count + 1)
        var piece = Array(bytes[start...].prefix(1 + below(80)))
        // Seldom to the bound: what is large is slow, and most of what breaks is small.
        let byteCount = random.next() % 32 == 0 ? Self.byteCountMax : 1 << below(12)
        while !piece.isEmpty, piece.count < byteCount { piece += piece }
        bytes.insert(contentsOf: piece, at: start)
    }

    private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(max(1, bound))) }

    private mutating func place(in bytes: [UInt8]) -> Int? {
        bytes.isEmpty ? nil : below(bytes.count)
    }

    private mutating func range(in bytes: [UInt8]) -> Range<Int> {
        let start = below(bytes.count + 1)
        return start..<min(bytes.count, start + below(200))
    }
}
