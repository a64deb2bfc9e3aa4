/// The URL-safe alphabet of RFC 4648, section 5, without padding.
public enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The text of these bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count)) & 63])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count)) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The value of each letter by its byte; 64 for an invalid one.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// The bytes of a text, or nil if it is invalid.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(Array(text.utf8)[...])
    }

    /// The bytes of a text that begins with a scheme, or nil if it is invalid. Spaces and line
    /// breaks, wherever they occur, are ignored.
    public static func decode(_ text: String, after scheme: String) -> [UInt8]? {
        var letters: [UInt8] = []
        for scalar in text.unicodeScalars {
            if scalar.isASCII, scalar.value > 0x20 {
                letters.append(UInt8(truncatingIfNeeded: scalar.value))
            } else if !scalar.properties.isWhitespace {
                return nil
            }
        }
        guard letters.starts(with: scheme.utf8) else { return nil }
        return decode(letters[scheme.utf8.count...])
    }

    private static func decode(_ letters: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for letter in letters {
            let value = values[Int(letter)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // Leftover bits must be zero: one text for one invite.
        guard count < 6, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }
}
