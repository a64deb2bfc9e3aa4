/// SHA-1 and the HMAC over it, for TURN servers and for nothing else: their credentials are defined
/// by it. SHA-1 is no longer fit to sign or to name anything. Source: RFC 3174, RFC 2104.
enum SHA1 {
    static let byteCount = 20
    private static let blockByteCount = 64

    /// The hash of the bytes.
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        var padded = message + [0x80]
        let gap = (blockByteCount + 56 - padded.count % blockByteCount) % blockByteCount
        padded += [UInt8](repeating: 0, count: gap)
        withUnsafeBytes(of: (UInt64(message.count) * 8).bigEndian) { padded += $0 }
        for start in stride(from: 0, to: padded.count, by: blockByteCount) {
            compress(padded[start..<start + blockByteCount], into: &state)
        }
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    /// HMAC-SHA1.
    static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let short = key.count > blockByteCount ? hash(key) : key
        let full = short + [UInt8](repeating: 0, count: blockByteCount - short.count)
        return hash(full.map { $0 ^ 0x5c } + hash(full.map { $0 ^ 0x36 } + message))
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map {
            block[$0..<$0 + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            let mixed =
                words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words.append(rotate(mixed, by: 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (choice, constant): (UInt32, UInt32) =
                switch index / 20 {
                case 0: ((b & c) | (~b & d), 0x5a82_7999)
                case 1: (b ^ c ^ d, 0x6ed9_eba1)
                case 2: ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = rotate(a, by: 5) &+ choice &+ e &+ constant &+ word
            (a, b, c, d, e) = (next, a, rotate(b, by: 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
