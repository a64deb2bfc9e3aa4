/// Cuts a stream of bytes into lines, and never keeps more than one line's bound.
struct LineFramer: Sendable {
    /// A line was longer than allowed. Nothing after it can be trusted.
    struct TooLong: Error, Equatable {}

    private let byteCountMax: Int
    private var rest: [UInt8] = []

    init(byteCountMax: Int = LocalAPI.lineByteCountMax) { self.byteCountMax = byteCountMax }

    /// Takes received bytes and returns the lines that are now complete, without their ends.
    mutating func add(_ bytes: [UInt8]) throws(TooLong) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            guard rest.count + end - start <= byteCountMax else { throw TooLong() }
            lines.append(rest + bytes[start..<end])
            rest = []
            start = end + 1
        }
        guard rest.count + bytes.count - start <= byteCountMax else { throw TooLong() }
        rest += bytes[start...]
        return lines
    }
}
