/// Many byte strings, looked for in one pass.
struct ByteSearch {
    /// Shorter ones could stand anywhere by chance.
    static let byteCountMin = 8

    private var patterns: [UInt64: [[UInt8]]] = [:]
    /// One bit for each pair of last bytes: most places need no look at ``patterns``.
    private var ends = [Bool](repeating: false, count: 1 << 16)
    private(set) var count = 0

    /// Looks for this one as well; false where it is too short to tell anything.
    @discardableResult
    mutating func add(_ pattern: [UInt8]) -> Bool {
        guard pattern.count >= Self.byteCountMin else { return false }
        var key: UInt64 = 0
        for byte in pattern[..<Self.byteCountMin] { key = key << 8 | UInt64(byte) }
        if patterns[key]?.contains(pattern) == true { return true }
        patterns[key, default: []].append(pattern)
        ends[Int(key & 0xffff)] = true
        count += 1
        return true
    }

    /// The first of the patterns that stands somewhere in these bytes, or nil.
    func firstHit(in bytes: [UInt8]) -> [UInt8]? {
        var window: UInt64 = 0
        for (place, byte) in bytes.enumerated() {
            window = window << 8 | UInt64(byte)
            guard ends[Int(window & 0xffff)], place + 1 >= Self.byteCountMin else { continue }
            guard let candidates = patterns[window] else { continue }
            let rest = bytes[(place + 1 - Self.byteCountMin)...]
            if let hit = candidates.first(where: { rest.starts(with: $0) }) { return hit }
        }
        return nil
    }
}
