/// A text as a square of dark and light modules, which a camera reads.
///
/// QR Code Model 2 in byte mode with error correction level L: 7 % of it may be unreadable. The
/// smallest of the 40 versions that holds the text is used, and the mask that is least confusing.
/// Source: ISO/IEC 18004:2015, sections 7 and 8.
public struct QRCode: Equatable, Sendable {
    /// From 1, which has 21 modules a side, to 40, which has 177.
    let version: Int
    /// Modules a side.
    public let size: Int
    /// Row after row; true is dark.
    private(set) var modules: [Bool]
    /// Modules whose place is fixed: patterns, version and mask.
    private var isFixed: [Bool]

    /// The most bytes that a code holds.
    public static let byteCountMax = dataByteCount(40) - 3

    /// The code of a text, or nil where it is longer than any holds.
    ///
    /// - Parameters:
    ///   - text: what the code says.
    ///   - mask: 0 to 7; without it the best is taken.
    public init?(_ text: String, mask: Int? = nil) {
        let bytes = Array(text.utf8)
        guard
            let version = (1...40).first(where: {
                bytes.count <= Self.dataByteCount($0) - ($0 < 10 ? 2 : 3)
            })
        else { return nil }
        self.version = version
        size = version * 4 + 17
        modules = Array(repeating: false, count: size * size)
        isFixed = modules
        drawPatterns()
        place(Self.interleaved(Self.data(bytes, version), version))
        var best = (mask: 0, penalty: Int.max)
        for candidate in mask.map({ [$0] }) ?? Array(0..<8) {
            apply(mask: candidate)
            let penalty = penalty
            if penalty < best.penalty { best = (candidate, penalty) }
            apply(mask: candidate)
        }
        apply(mask: best.mask)
        drawFormat(mask: best.mask)
    }

    /// Whether the module is dark; outside everything is light.
    public func isDark(_ row: Int, _ column: Int) -> Bool {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
        return modules[row * size + column]
    }

    // MARK: The data

    /// Mode, length, bytes, end, and filling up to what the version holds.
    private static func data(_ bytes: [UInt8], _ version: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        append(4, 4)
        append(bytes.count, version < 10 ? 8 : 16)
        for byte in bytes { append(Int(byte), 8) }
        let count = dataByteCount(version)
        append(0, min(4, count * 8 - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var data = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(0 as UInt8) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var filler: UInt8 = 0xEC
        while data.count < count {
            data.append(filler)
            filler ^= 0xEC ^ 0x11
        }
        return data
    }

    /// The data in blocks with the correction of each, taken in turns.
    private static func interleaved(_ data: [UInt8], _ version: Int) -> [UInt8] {
        let blockCount = blockCounts[version - 1]
        let checkCount = checkByteCounts[version - 1]
        let total = moduleCount(version) / 8
        let shortCount = blockCount - total % blockCount
        let generator = ReedSolomon.generator(checkCount)
        var rest = data[...]
        var blocks: [[UInt8]] = []
        var checks: [[UInt8]] = []
        for index in 0..<blockCount {
            let count = total / blockCount - checkCount + (index < shortCount ? 0 : 1)
            let block = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            blocks.append(block)
            checks.append(ReedSolomon.remainder(block, generator))
        }
        var result: [UInt8] = []
        for column in 0...(total / blockCount - checkCount) {
            for block in blocks where column < block.count { result.append(block[column]) }
        }
        for column in 0..<checkCount { for check in checks { result.append(check[column]) } }
        return result
    }

    /// Modules that hold data and correction. Source: section 7.1, table 1.
    private static func moduleCount(_ version: Int) -> Int {
        var count = (16 * version + 128) * version + 64
        if version >= 2 {
            let aligned = version / 7 + 2
            count -= (25 * aligned - 10) * aligned - 55
            if version >= 7 { count -= 36 }
        }
        return count
    }

    private static func dataByteCount(_ version: Int) -> Int {
        moduleCount(version) / 8 - checkByteCounts[version - 1] * blockCounts[version - 1]
    }

    /// Level L, by version. Source: section 7.5.1, table 9.
    private static let checkByteCounts = [
        7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30,
        30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    ]
    private static let blockCounts = [
        1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14,
        15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25,
    ]

    // MARK: The square

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row * size + column] = isDark
        isFixed[row * size + column] = true
    }

    private mutating func drawPatterns() {
        for index in 0..<size {
            set(6, index, index.isMultiple(of: 2))
            set(index, 6, index.isMultiple(of: 2))
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawFinder(row, column) }
        let places = alignmentPlaces
        for row in places {
            for column in places {
                let isCorner =
                    (row == 6 && column == 6) || (row == 6 && column == size - 7)
                    || (row == size - 7 && column == 6)
                if !isCorner { drawAlignment(row, column) }
            }
        }
        drawFormat(mask: 0)
        drawVersion()
    }

    private mutating func drawFinder(_ row: Int, _ column: Int) {
        for down in -4...4 {
            for right in -4...4 {
                let (y, x) = (row + down, column + right)
                guard (0..<size).contains(y), (0..<size).contains(x) else { continue }
                let distance = max(abs(down), abs(right))
                set(y, x, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func drawAlignment(_ row: Int, _ column: Int) {
        for down in -2...2 {
            for right in -2...2 {
                set(row + down, column + right, max(abs(down), abs(right)) != 1)
            }
        }
    }

    /// Source: annex E, table E.1.
    private var alignmentPlaces: [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let step = version == 32 ? 26 : (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        var places = (0..<count - 1).map { size - 7 - $0 * step }
        places.append(6)
        return places.reversed()
    }

    /// Level and mask, twice, with their own correction. Source: section 7.9.
    private mutating func drawFormat(mask: Int) {
        let data = 1 << 3 | mask
        var rest = data
        for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9) * 0x537 }
        let bits = (data << 10 | rest) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { set(index, 8, bit(index)) }
        set(7, 8, bit(6))
        set(8, 8, bit(7))
        set(8, 7, bit(8))
        for index in 9..<15 { set(8, 14 - index, bit(index)) }
        for index in 0..<8 { set(8, size - 1 - index, bit(index)) }
        for index in 8..<15 { set(size - 15 + index, 8, bit(index)) }
        set(size - 8, 8, true)
    }

    /// Source: section 7.10.
    private mutating func drawVersion() {
        guard version >= 7 else { return }
        var rest = version
        for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11) * 0x1F25 }
        let bits = version << 12 | rest
        for index in 0..<18 {
            let (far, near) = (size - 11 + index % 3, index / 3)
            set(far, near, bits >> index & 1 == 1)
            set(near, far, bits >> index & 1 == 1)
        }
    }

    /// Two columns at a time, from the right, up and down in turns. Source: section 7.7.3.
    private mutating func place(_ bytes: [UInt8]) {
        var next = 0
        var right = size - 1
        while right >= 1 {
            if right == 6 { right = 5 }
            let isUpward = (right + 1) & 2 == 0
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * size + column] {
                    guard next < bytes.count * 8 else { continue }
                    modules[row * size + column] = bytes[next >> 3] >> (7 - next & 7) & 1 == 1
                    next += 1
                }
            }
            right -= 2
        }
    }

    private mutating func apply(mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !isFixed[row * size + column] {
                let isTurned =
                    switch mask {
                    case 0: (row + column) % 2 == 0
                    case 1: row % 2 == 0
                    case 2: column % 3 == 0
                    case 3: (row + column) % 3 == 0
                    case 4: (row / 2 + column / 3) % 2 == 0
                    case 5: row * column % 2 + row * column % 3 == 0
                    case 6: (row * column % 2 + row * column % 3) % 2 == 0
                    default: ((row + column) % 2 + row * column % 3) % 2 == 0
                    }
                if isTurned { modules[row * size + column].toggle() }
            }
        }
    }

    // MARK: The mask

    /// How confusing it looks: long runs, squares, false corners, too much of one shade.
    /// Source: section 7.8.3.
    private var penalty: Int {
        var sum = 0
        for line in 0..<size {
            sum += linePenalty((0..<size).map { modules[line * size + $0] })
            sum += linePenalty((0..<size).map { modules[$0 * size + line] })
        }
        for row in 0..<size - 1 {
            for column in 0..<size - 1 {
                let first = modules[row * size + column]
                if first == modules[row * size + column + 1],
                    first == modules[(row + 1) * size + column],
                    first == modules[(row + 1) * size + column + 1]
                {
                    sum += 3
                }
            }
        }
        let darkCount = modules.count { $0 }
        let share = darkCount * 20 - modules.count * 10
        return sum + abs(share) / modules.count * 10
    }

    private func linePenalty(_ line: [Bool]) -> Int {
        var sum = 0
        var count = 0
        for index in line.indices {
            count = index > 0 && line[index] == line[index - 1] ? count + 1 : 1
            if count == 5 { sum += 3 } else if count > 5 { sum += 1 }
        }
        let corner = [true, false, true, true, true, false, true]
        for start in 0...line.count - corner.count
        where line[start..<start + corner.count].elementsEqual(corner) {
            let before = (1...4).allSatisfy { start < $0 || !line[start - $0] }
            let after = (7...10).allSatisfy { start + $0 >= line.count || !line[start + $0] }
            if before || after { sum += 40 }
        }
        return sum
    }
}

/// Correction over the field of 256 elements with x^8 + x^4 + x^3 + x^2 + 1.
/// Source: ISO/IEC 18004:2015, section 7.5.2 and annex A.
private enum ReedSolomon {
    static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt16 = 0
        for bit in (0..<8).reversed() {
            product = product << 1 ^ (product >> 7) * 0x11D
            if right >> UInt8(bit) & 1 == 1 { product ^= UInt16(left) }
        }
        return UInt8(truncatingIfNeeded: product)
    }

    /// The coefficients after the first, which is 1.
    static func generator(_ degree: Int) -> [UInt8] {
        var result = Array(repeating: 0 as UInt8, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = multiply(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = multiply(root, 2)
        }
        return result
    }

    static func remainder(_ data: [UInt8], _ generator: [UInt8]) -> [UInt8] {
        var result = Array(repeating: 0 as UInt8, count: generator.count)
        for byte in data {
            let factor = byte ^ (result.first ?? 0)
            result = result.dropFirst() + [0]
            for index in generator.indices { result[index] ^= multiply(generator[index], factor) }
        }
        return result
    }
}
