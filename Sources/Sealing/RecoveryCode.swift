import ParleyWire

/// Why a text is no recovery code.
public enum RecoveryCodeRejection: Error, Equatable, Sendable {
    /// A character that codes do not have, at this place among those that count.
    case strangeCharacter(place: Int)
    /// Too few or too many characters.
    case wrongLength(Int)
    /// All characters are possible, and yet they do not fit together: one is mistyped.
    case mistyped
}

/// Thirty-two random bytes, written on paper: all that can sign for a person besides a device.
///
/// 52 characters of Crockford's base 32 and four that check them, in groups of four. Letters are
/// read in either case; `O` as `0`, `I` and `L` as `1`; spaces and hyphens do not count.
/// Source: `Protocol/05-identity.md`, "Recovery code".
public struct RecoveryCode: Equatable, Sendable, CustomStringConvertible {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let characterCount = 52
    private static let checkCount = 4

    private let secret: Secret

    /// A new code.
    public static func generate(using random: inout some RandomNumberGenerator) -> RecoveryCode {
        RecoveryCode(secret: .random(using: &random))
    }

    private init(secret: Secret) { self.secret = secret }

    /// Parses what a person typed.
    public init(typed text: String) throws(RecoveryCodeRejection) {
        var values: [UInt8] = []
        for character in text.utf8 {
            switch character {
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
                UInt8(ascii: "\t"):
                continue
            default:
                guard let value = Self.value(of: character) else {
                    throw .strangeCharacter(place: values.count)
                }
                values.append(value)
            }
            guard values.count <= Self.characterCount + Self.checkCount else {
                throw .wrongLength(values.count)
            }
        }
        defer { values.wipe() }
        guard values.count == Self.characterCount + Self.checkCount else {
            throw .wrongLength(values.count)
        }
        // 52 characters hold four bits more than the bytes have; they are zero.
        guard values[Self.characterCount - 1] & 15 == 0 else { throw .mistyped }
        secret = Secret(byteCount: 32) { output in
            for bit in 0..<256 where values[bit / 5] >> (4 - bit % 5) & 1 == 1 {
                output[bit / 8] |= 1 << (7 - bit % 8)
            }
        }
        guard Self.check(of: secret) == Array(values[Self.characterCount...]) else {
            throw .mistyped
        }
    }

    /// The key that the code stands for. It is made when it is needed, and never stored.
    public var rootKey: DeviceSigningKey {
        DeviceSigningKey(seed: deriveSecret(key: secret, .recoveryRoot))
    }

    /// What opens the person's backups. Devices keep its public half alone.
    public var backupKey: BackupKey {
        BackupKey(DeviceNoiseKey(scalar: deriveSecret(key: secret, .recoveryBackup)))
    }

    /// The code to be written down: to be shown once, and kept in no file.
    public func revealed() -> String {
        var values = secret.withUnsafeBytes { bytes in
            (0..<Self.characterCount).map { index in
                (0..<5).reduce(UInt8(0)) { value, offset in
                    let bit = index * 5 + offset
                    return value << 1 | (bit < 256 ? bytes[bit / 8] >> (7 - bit % 8) & 1 : 0)
                }
            }
        }
        defer { values.wipe() }
        let characters = (values + Self.check(of: secret)).map { Self.alphabet[Int($0)] }
        return stride(from: 0, to: characters.count, by: 4).map {
            String(decoding: characters[$0..<$0 + 4], as: UTF8.self)
        }.joined(separator: "-")
    }

    /// Says that there is a code, and nothing about it.
    public var description: String { "RecoveryCode(redacted)" }

    /// Twenty bits of a hash: a mistyped code passes once in a million.
    private static func check(of secret: Secret) -> [UInt8] {
        let hash: Digest = secret.withUnsafeBytes { digest(.recoveryCheck, $0) }
        return (0..<checkCount).map { UInt8(hash.prefix >> (59 - UInt64($0) * 5) & 31) }
    }

    private static func value(of character: UInt8) -> UInt8? {
        let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
        switch isLower ? character - 32 : character {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case let upper: return alphabet.firstIndex(of: upper).map { UInt8($0) }
        }
    }
}
