import Glibc
import ParleyWords

/// Cuts a text into the pieces of a SentencePiece unigram model: those whose scores sum highest.
///
/// Source: SentencePiece's `Normalizer` and unigram `Lattice`; golden pieces in
/// `Protocol/Vectors/search`.
struct Unigram: Sendable {
    static let unknown: Int32 = 0, start: Int32 = 1, end: Int32 = 2

    private let file: MappedFile
    /// Pieces in the order of their bytes, where they lie in the file, and which numbers they have.
    private let offsets: [Int32], lengths: [UInt16], numbers: [Int32]
    /// By number.
    private let scores: [Float]
    /// Where pieces that begin with a byte begin in the order.
    private let firsts: [Int]
    private let unknownScore: Double
    private let charsmap: Charsmap

    init(model path: String) throws(ModelError) {
        let file = try MappedFile(path)
        self.file = file
        let message = ProtobufFields(file.bytes, 0..<file.bytes.count)
        guard let fields = message.fields else { throw .damaged(path) }
        var offsets: [Int32] = [], lengths: [UInt16] = [], scores: [Float] = []
        var map: Range<Int>?
        for field in fields {
            guard let parts = ProtobufFields(file.bytes, field.range).fields else { continue }
            if field.number == 1 {
                guard let text = parts.first(where: { $0.number == 1 })?.range,
                    text.count < 1 << 10
                else { throw .damaged(path) }
                offsets.append(Int32(text.lowerBound))
                lengths.append(UInt16(text.count))
                let score = parts.first { $0.number == 2 }?.range
                scores.append(
                    score.map {
                        file.bytes.loadUnaligned(fromByteOffset: $0.lowerBound, as: Float.self)
                    } ?? 0)
            } else if field.number == 3, map == nil {
                map = parts.first { $0.number == 2 }?.range
            }
        }
        guard scores.count > 3, let map, let least = scores.min(),
            let charsmap = Charsmap(file, map)
        else { throw .damaged(path) }
        self.charsmap = charsmap
        self.scores = scores
        unknownScore = Double(least) - 10
        let bytes = file.bytes
        let (found, sizes) = (offsets, lengths)
        guard let start = bytes.baseAddress else { throw .damaged(path) }
        let order = found.indices.sorted { one, other in
            let common = Int(min(sizes[one], sizes[other]))
            let order = memcmp(start + Int(found[one]), start + Int(found[other]), common)
            return order != 0 ? order < 0 : sizes[one] < sizes[other]
        }
        self.offsets = order.map { found[$0] }
        self.lengths = order.map { sizes[$0] }
        numbers = order.map { Int32($0) }
        var firsts = [Int](repeating: order.count, count: 257)
        for (place, index) in order.enumerated().reversed() where sizes[index] > 0 {
            firsts[Int(bytes[Int(found[index])])] = place
        }
        for byte in stride(from: 255, through: 0, by: -1) {
            firsts[byte] = min(firsts[byte], firsts[byte + 1])
        }
        self.firsts = firsts
    }

    /// The pieces of a text between its two marks, at most `limit` with them.
    func pieces(of text: String, limit: Int) -> [Int32] {
        let normalized = charsmap.normalized(Array(text.utf8))
        let inner = normalized.isEmpty ? [Self.unknown] : best(normalized)
        return [Self.start] + inner.prefix(limit - 2) + [Self.end]
    }

    /// The way through the text with the highest sum, the earliest start where two are equal.
    private func best(_ text: [UInt8]) -> [Int32] {
        var sums = [Double](repeating: -.infinity, count: text.count + 1)
        var starts = [Int](repeating: 0, count: text.count + 1)
        var pieces = [Int32](repeating: 0, count: text.count + 1)
        sums[0] = 0
        var place = 0
        while place < text.count {
            let next = min(text.count, place + Self.width(text[place]))
            var hasSingle = false
            walk(text, from: place) { end, number in
                if end == next { hasSingle = true }
                let sum = sums[place] + Double(scores[Int(number)])
                if sum > sums[end] { (sums[end], starts[end], pieces[end]) = (sum, place, number) }
            }
            if !hasSingle, sums[place] + unknownScore > sums[next] {
                sums[next] = sums[place] + unknownScore
                (starts[next], pieces[next]) = (place, Self.unknown)
            }
            place = next
        }
        var found: [Int32] = []
        var end = text.count
        while end > 0 {
            found.append(pieces[end])
            end = starts[end]
        }
        return found.reversed()
    }

    /// Shows each piece that the text goes on with, the shortest first.
    private func walk(_ text: [UInt8], from start: Int, _ show: (Int, Int32) -> Void) {
        var low = firsts[Int(text[start])], high = firsts[Int(text[start]) + 1]
        var depth = 1
        while low < high {
            if Int(lengths[low]) == depth { show(start + depth, numbers[low]) }
            let place = start + depth
            guard place < text.count else { return }
            low = bound(low, high, depth, text[place])
            high = text[place] == 255 ? high : bound(low, high, depth, text[place] + 1)
            depth += 1
        }
    }

    /// The first piece of a range whose byte at a depth is not below this one.
    private func bound(_ low: Int, _ high: Int, _ depth: Int, _ byte: UInt8) -> Int {
        var low = low, high = high
        while low < high {
            let middle = (low + high) / 2
            let isBelow =
                Int(lengths[middle]) <= depth || file.bytes[Int(offsets[middle]) + depth] < byte
            if isBelow { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Bytes of the letter that begins with this one.
    static func width(_ byte: UInt8) -> Int {
        byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    }
}

/// The fields of one protobuf message: as much of that encoding as a model's file needs.
private struct ProtobufFields {
    /// Nil where the bytes are no message.
    let fields: [(number: Int, range: Range<Int>)]?

    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        var place = range.lowerBound
        func number() -> Int? {
            var value = 0, shift = 0
            while place < range.upperBound, shift < 56 {
                let byte = bytes[place]
                place += 1
                value |= Int(byte & 0x7f) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }
        var found: [(number: Int, range: Range<Int>)] = []
        while place < range.upperBound {
            guard let tag = number() else { break }
            var length = 0
            switch tag & 7 {
            case 0:
                let start = place
                guard number() != nil else { break }
                found.append((tag >> 3, start..<place))
                continue
            case 1: length = 8
            case 2: length = number() ?? -1
            case 5: length = 4
            default: length = -1
            }
            guard length >= 0, length <= range.upperBound - place else { break }
            found.append((tag >> 3, place..<(place + length)))
            place += length
        }
        fields = place == range.upperBound ? found : nil
    }
}

/// What letters are replaced by before a text is cut: a trie of two arrays, and the texts it
/// points to.
private struct Charsmap: Sendable {
    private let units: [UInt32]
    private let texts: [UInt8]
    private static let blank: [UInt8] = [0xe2, 0x96, 0x81]

    init?(_ file: MappedFile, _ range: Range<Int>) {
        guard range.count > 4 else { return nil }
        let size = Int(
            file.bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: UInt32.self)
                .littleEndian)
        guard size % 4 == 0, size > 0, size + 4 < range.count else { return nil }
        let start = range.lowerBound + 4
        units = (0..<(size / 4)).map {
            file.bytes.loadUnaligned(fromByteOffset: start + 4 * $0, as: UInt32.self).littleEndian
        }
        texts = Array(file.bytes[(start + size)..<range.upperBound])
    }

    /// A text with single blanks, as `▁`, one in front and none at the end.
    func normalized(_ text: [UInt8]) -> [UInt8] {
        var place = 0
        while place < text.count {
            let (replaced, count) = replacement(text, place)
            guard replaced.elementsEqual([0x20]) else { break }
            place += count
        }
        guard place < text.count else { return [] }
        var output = Self.blank
        var wasBlank = true
        while place < text.count {
            let (replaced, count) = replacement(text, place)
            place += count
            let rest = wasBlank ? replaced.drop { $0 == 0x20 } : replaced
            guard let last = rest.last else { continue }
            for byte in rest {
                if byte == 0x20 { output += Self.blank } else { output.append(byte) }
            }
            wasBlank = last == 0x20
        }
        while output.suffix(3).elementsEqual(Self.blank) { output.removeLast(3) }
        return output
    }

    /// What the longest known beginning becomes, or the next letter as it is; and its bytes.
    private func replacement(_ text: [UInt8], _ start: Int) -> (ArraySlice<UInt8>, Int) {
        var length = 0, value = 0
        var node = offset(units[0])
        var place = start
        while place < text.count {
            node ^= Int(text[place])
            guard units.indices.contains(node) else { break }
            let unit = units[node]
            guard unit & 0x8000_00ff == UInt32(text[place]) else { break }
            node ^= offset(unit)
            place += 1
            if unit & 0x100 != 0, units.indices.contains(node) {
                length = place - start
                value = Int(units[node] & 0x7fff_ffff)
            }
        }
        guard length > 0, value < texts.count else {
            let width = min(Unigram.width(text[start]), text.count - start)
            return (text[start..<(start + width)], width)
        }
        return (texts[value...].prefix { $0 != 0 }, length)
    }

    private func offset(_ unit: UInt32) -> Int { Int(unit >> 10) << Int((unit & 0x200) >> 6) }
}
