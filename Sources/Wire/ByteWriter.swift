/// Appends fields to bytes; the counterpart of ``ByteReader``.
/// Source: `Protocol/02-encoding.md`, "Primitives".
public struct ByteWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer with room for `capacity` bytes.
    public init(capacity: Int = 0) {
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    /// One byte.
    public mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Bytes as they are, without their count.
    public mutating func raw(_ value: some Collection<UInt8>) { bytes.append(contentsOf: value) }

    /// An unsigned LEB128 number in its shortest form.
    public mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Bytes after their count as a LEB128 number.
    public mutating func counted(_ value: some Collection<UInt8>) {
        number(UInt64(value.count))
        raw(value)
    }

    /// A big-endian number of two bytes.
    public mutating func uint16(_ value: UInt16) { fixed(value) }

    /// A big-endian number of four bytes.
    public mutating func uint32(_ value: UInt32) { fixed(value) }

    /// A big-endian number of eight bytes.
    public mutating func uint64(_ value: UInt64) { fixed(value) }

    /// Thirty-two bytes.
    public mutating func identifier<Subject>(_ value: Identifier<Subject>) {
        value.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// Sixteen bytes.
    public mutating func check(_ value: Check) {
        fixed(value.high)
        fixed(value.low)
    }

    private mutating func fixed(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
