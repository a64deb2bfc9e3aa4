/// The quantity that a number from outside counts, and its upper bound.
public protocol NumberField: Sendable {
    /// The field's name in a refusal.
    static var name: String { get }
    /// The greatest value; the least is 0.
    static var greatest: UInt64 { get }
}

/// A number that somebody else may have chosen.
///
/// Its range is part of the type: the decoder refuses values outside, and no operation on it traps,
/// wraps or leaves the range. All arithmetic on such numbers is done here; a house test finds
/// arithmetic on decoded integers of other types.
/// Source: `Protocol/02-encoding.md`, "Bounded numbers".
public struct Bounded<Field: NumberField>: Hashable, Comparable, Sendable {
    /// The number, 0 to ``greatest``.
    public let value: UInt64

    /// The number, or nil where it is outside of the range.
    public init?(exactly value: UInt64) {
        guard value <= Field.greatest else { return nil }
        self.value = value
    }

    /// The nearest number in the range. For values of this device's own, such as its clock: values
    /// from others are decoded, and refused outside of the range.
    public init(clamping value: UInt64) { self.value = min(value, Field.greatest) }

    /// The least number.
    public static var zero: Self { Self(clamping: 0) }

    /// The greatest number.
    public static var greatest: Self { Self(clamping: Field.greatest) }

    /// So much more, at most ``greatest``.
    public func raised(by amount: UInt64) -> Self {
        let (sum, overflows) = value.addingReportingOverflow(amount)
        return overflows ? .greatest : Self(clamping: sum)
    }

    /// So much less, at least 0.
    public func lowered(by amount: UInt64) -> Self { Self(clamping: value - min(value, amount)) }

    /// The next number; ``greatest`` again after that.
    public var next: Self { raised(by: 1) }

    /// The number before; 0 again before that.
    public var previous: Self { lowered(by: 1) }

    /// By how much this is more than `other`; 0 where it is not.
    public func excess(over other: Self) -> UInt64 { value - min(value, other.value) }

    /// How far the two are apart.
    public func distance(to other: Self) -> UInt64 {
        max(value, other.value) - min(value, other.value)
    }

    /// The numbers from this one through `last`, ascending; none where that is less.
    public func through(_ last: Self) -> some Sequence<Self> {
        sequence(first: self) { $0 < last ? $0.next : nil }.lazy.filter { $0 <= last }
    }

    /// Whether `left` is less than `right`.
    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

extension Bounded: ExpressibleByIntegerLiteral {
    /// The number that is written in the code.
    public init(integerLiteral value: UInt64) { self.init(clamping: value) }
}

extension Bounded: CustomStringConvertible {
    /// The number in decimal.
    public var description: String { value.description }
}

extension ByteReader {
    /// A bounded number in LEB128.
    public mutating func bounded<Field>(
        as _: Bounded<Field>.Type = Bounded<Field>.self
    ) throws(DecodingFailure) -> Bounded<Field> {
        try Self.within(try number())
    }

    /// A bounded number of four bytes, big-endian.
    public mutating func bounded32<Field>(
        as _: Bounded<Field>.Type = Bounded<Field>.self
    ) throws(DecodingFailure) -> Bounded<Field> {
        try Self.within(UInt64(try uint32()))
    }

    /// A bounded number of eight bytes, big-endian.
    public mutating func bounded64<Field>(
        as _: Bounded<Field>.Type = Bounded<Field>.self
    ) throws(DecodingFailure) -> Bounded<Field> {
        try Self.within(try uint64())
    }

    private static func within<Field>(
        _ value: UInt64
    ) throws(DecodingFailure) -> Bounded<Field> {
        guard let number = Bounded<Field>(exactly: value) else {
            throw .forbidden(field: Field.name)
        }
        return number
    }
}

extension ByteWriter {
    /// A bounded number in LEB128.
    public mutating func number<Field>(_ value: Bounded<Field>) { number(value.value) }

    /// A bounded number of four bytes, big-endian; for fields whose range fits them.
    public mutating func uint32<Field>(_ value: Bounded<Field>) {
        uint32(UInt32(clamping: value.value))
    }

    /// A bounded number of eight bytes, big-endian.
    public mutating func uint64<Field>(_ value: Bounded<Field>) { uint64(value.value) }
}
