/// Which bytes of a file are asked for. Source: RFC 9110, section 14.
///
/// Only a single range is served in parts; a request for several, or an invalid one, gets the
/// whole, as the section allows: an answer never has more bytes than the file.
enum ByteRange: Equatable {
    case whole
    case part(Range<UInt64>)
    /// It begins behind the end.
    case beyond

    /// The request in a field `Range`.
    ///
    /// - Parameters:
    ///   - field: its value; nil if there is none.
    ///   - size: how many bytes there are.
    init(_ field: String?, of size: UInt64) {
        self = .whole
        guard let field, field.utf8.count <= 64, field.lowercased().hasPrefix("bytes=") else {
            return
        }
        let sides = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return }
        if sides[0].isEmpty {
            guard let count = Self.number(sides[1]) else { return }
            self = count == 0 || size == 0 ? .beyond : .part(size - min(count, size)..<size)
            return
        }
        guard let first = Self.number(sides[0]) else { return }
        var end = size
        if !sides[1].isEmpty {
            guard let last = Self.number(sides[1]), last >= first else { return }
            end = last < size ? last + 1 : size
        }
        self = first < size ? .part(first..<end) : .beyond
    }

    /// Digits alone: other signs that a number may have are no part of a range.
    private static func number(_ text: Substring) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        // A number beyond every range lies behind every end.
        return UInt64(text) ?? .max
    }
}
