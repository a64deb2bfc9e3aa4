/// Why bytes from outside are not what they claim to be. Shared by all decoders.
public enum DecodingFailure: Error, Equatable, Sendable {
    /// The bytes end inside a field.
    case truncated
    /// Bytes follow where the value has ended.
    case trailingBytes(Int)
    /// A number is written with more bytes than it needs, so it has a second spelling.
    case overlongNumber
    /// A number does not fit 64 bits.
    case numberTooLarge
    /// A count or length is above its limit; nothing past it was read.
    case tooLarge(field: String, value: UInt64, limit: UInt64)
    /// A flag bit that no version defines is set.
    case unknownFlags(UInt8)
    /// A version or kind that this decoder must not guess at.
    case unknownVersion(UInt8)
    /// A value that the format forbids, though it can be written.
    case forbidden(field: String)
    /// A list is not strictly ascending.
    case unsorted(field: String)
}

/// Reads fields from bytes, in order, without ever looking past the end.
///
/// Every decoder reads through it, so each refuses the same things in the same way: short input,
/// numbers with a second spelling, counts above their limit.
/// Source: `Protocol/02-encoding.md`, "Primitives".
public struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    /// The index of the next byte, in the coordinates of the slice it was made from.
    public private(set) var position: Int

    /// A reader at the start of these bytes.
    public init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// A reader at the start of this slice.
    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// How many bytes are left.
    public var remaining: Int { bytes.endIndex - position }

    /// One byte.
    public mutating func byte() throws(DecodingFailure) -> UInt8 {
        guard position < bytes.endIndex else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    /// The next `count` bytes.
    public mutating func slice(_ count: Int) throws(DecodingFailure) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw .truncated }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Everything that is left.
    public mutating func rest() -> ArraySlice<UInt8> {
        defer { position = bytes.endIndex }
        return bytes[position...]
    }

    /// An unsigned LEB128 number in its shortest form.
    public mutating func number() throws(DecodingFailure) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            if shift == 63, next > 1 { throw .numberTooLarge }
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 {
                // A last byte of zero adds nothing: the same number has a shorter spelling.
                if next == 0, shift > 0 { throw .overlongNumber }
                return value
            }
            shift += 7
            if shift > 63 { throw .numberTooLarge }
        }
    }

    /// A place in a log: small enough that adding two of them cannot overflow.
    mutating func place() throws(DecodingFailure) -> UInt64 {
        let value = try number()
        guard value < Limits.placeMax else { throw .forbidden(field: "place") }
        return value
    }

    /// A LEB128 number that stands for a count or a length, at most `limit`.
    public mutating func count(
        _ field: StaticString, atMost limit: Int
    ) throws(DecodingFailure) -> Int {
        let value = try number()
        guard value <= UInt64(limit) else {
            throw .tooLarge(field: field.description, value: value, limit: UInt64(limit))
        }
        return Int(value)
    }

    /// A big-endian number of two bytes.
    public mutating func uint16() throws(DecodingFailure) -> UInt16 {
        UInt16(try fixed(2))
    }

    /// A big-endian number of four bytes.
    public mutating func uint32() throws(DecodingFailure) -> UInt32 {
        UInt32(try fixed(4))
    }

    /// A big-endian number of eight bytes.
    public mutating func uint64() throws(DecodingFailure) -> UInt64 {
        try fixed(8)
    }

    /// Thirty-two bytes.
    public mutating func identifier<Subject>() throws(DecodingFailure) -> Identifier<Subject> {
        guard let value = Identifier<Subject>(try slice(Identifier<Subject>.byteCount)) else {
            throw .truncated
        }
        return value
    }

    /// Sixteen bytes.
    public mutating func check() throws(DecodingFailure) -> Check {
        Check(high: try uint64(), low: try uint64())
    }

    /// Refuses bytes after the end of a value. Every decoder ends with this.
    public func finish() throws(DecodingFailure) {
        guard remaining == 0 else { throw .trailingBytes(remaining) }
    }

    private mutating func fixed(_ count: Int) throws(DecodingFailure) -> UInt64 {
        var value: UInt64 = 0
        for byte in try slice(count) { value = value << 8 | UInt64(byte) }
        return value
    }
}
