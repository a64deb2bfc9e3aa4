/// Thirty-two bytes that name something: a hash or a public key.
///
/// The subject is part of the type, so a person can never be passed for a space. The bytes are
/// kept in four words, not in an array: identifiers are compared, hashed and copied on every
/// path, and none of that may allocate. Order is the order of the bytes.
/// Source: `Protocol/02-encoding.md`, "Identifiers".
public struct Identifier<Subject>: Hashable, Comparable, Sendable {
    /// How many bytes every identifier has.
    public static var byteCount: Int { 32 }

    // Big-endian words, so that comparing words compares bytes.
    private let word0, word1, word2, word3: UInt64

    /// The identifier with these bytes, or nil unless there are exactly 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
        word0 = words.0.bigEndian
        word1 = words.1.bigEndian
        word2 = words.2.bigEndian
        word3 = words.3.bigEndian
    }

    /// The identifier that the closure fills in; it starts as zeros.
    public init<E>(filling fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        try withUnsafeMutableBytes(of: &words) { buffer throws(E) in try fill(buffer) }
        word0 = words.0.bigEndian
        word1 = words.1.bigEndian
        word2 = words.2.bigEndian
        word3 = words.3.bigEndian
    }

    /// The same bytes as the name of something else. Say why wherever this is called.
    public init<Other>(reinterpreting other: Identifier<Other>) {
        word0 = other.word0
        word1 = other.word1
        word2 = other.word2
        word3 = other.word3
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// The first eight bytes as a big-endian number.
    public var prefix: UInt64 { word0 }

    /// The first sixteen bytes.
    public var check: Check { Check(high: word0, low: word1) }

    /// Lends the 32 bytes to the closure.
    public func withUnsafeBytes<R, E>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let words = (word0.bigEndian, word1.bigEndian, word2.bigEndian, word3.bigEndian)
        return try Swift.withUnsafeBytes(of: words) { buffer throws(E) in try body(buffer) }
    }

    /// Whether the bytes of `left` come before those of `right`.
    public static func < (left: Self, right: Self) -> Bool {
        if left.word0 != right.word0 { return left.word0 < right.word0 }
        if left.word1 != right.word1 { return left.word1 < right.word1 }
        if left.word2 != right.word2 { return left.word2 < right.word2 }
        return left.word3 < right.word3
    }
}

extension Identifier: CustomStringConvertible {
    /// The bytes in hex. Identifiers are public: hashes and public keys, never secrets.
    public var description: String { withUnsafeBytes { hex($0) } }

    /// The first eight hex digits: enough for a person to tell two apart, never to decide by.
    public var short: String { String(description.prefix(8)) }
}

/// The first sixteen bytes of an operation's identifier, by which others refer to it.
///
/// Sixteen bytes stop any second preimage; an author who collides its own operations only
/// equivocates. Source: `Protocol/03-operations.md`, "References".
public struct Check: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// How many bytes a check has.
    public static let byteCount = 16
    /// The first eight bytes as a big-endian number.
    public let high: UInt64
    /// The last eight bytes as a big-endian number.
    public let low: UInt64

    /// The check with these two big-endian halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The bytes in hex.
    public var description: String {
        Swift.withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { hex($0) }
    }

    /// Whether the bytes of `left` come before those of `right`.
    public static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// What a ``SpaceID`` names.
public enum SpaceSubject {}
/// What a ``PersonID`` names.
public enum PersonSubject {}
/// What a ``DeviceID`` names.
public enum DeviceSubject {}
/// What an ``OperationID`` names.
public enum OperationSubject {}
/// What a ``LogID`` names.
public enum LogSubject {}
/// What a ``Digest`` names.
public enum DigestSubject {}
/// What a ``NoiseKey`` names.
public enum NoiseSubject {}
/// What a ``LeafKey`` names.
public enum LeafSubject {}
/// What a ``MailboxID`` names.
public enum MailboxSubject {}
/// See ``WriterID``.
public enum WriterSubject {}
/// What a ``BlobID`` names.
public enum BlobSubject {}

/// A space: `H("lp1/space", kind, creator device, random16)`.
public typealias SpaceID = Identifier<SpaceSubject>
/// A person: the hash of the first operation of the identity log.
public typealias PersonID = Identifier<PersonSubject>
/// A device: its public Ed25519 signing key.
public typealias DeviceID = Identifier<DeviceSubject>
/// An operation: the hash of its bytes and of everything before it in its log.
public typealias OperationID = Identifier<OperationSubject>
/// A log: `H("lp1/log", space, device, lane)`.
public typealias LogID = Identifier<LogSubject>
/// A hash that names nothing in particular: a digest of a frontier, of a view, of a file.
public typealias Digest = Identifier<DigestSubject>
/// A device's public X25519 key for links.
public typealias NoiseKey = Identifier<NoiseSubject>
/// A public X25519 key that epochs of a space are sealed to: a leaf, or a prekey in its place.
public typealias LeafKey = Identifier<LeafSubject>
/// A place on a relay.
public typealias MailboxID = Identifier<MailboxSubject>
/// The name under which a relay knows a key that may write into an inbox or read a shelf:
/// `H("lp1/mbx/writer", key)`.
public typealias WriterID = Identifier<WriterSubject>
/// A sealed file: the hash of its size and of all its sealed chunks.
public typealias BlobID = Identifier<BlobSubject>

/// Lower-case hex of the bytes. Never call it with a secret.
public func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}

/// The bytes that a hex text stands for, or nil where it is not hex.
public func bytes(hex text: some StringProtocol) -> [UInt8]? {
    var result: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
        let nibble: UInt8
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): nibble = character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): nibble = character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): nibble = character - UInt8(ascii: "A") + 10
        default: return nil
        }
        if let first = high {
            result.append(first << 4 | nibble)
            high = nil
        } else {
            high = nibble
        }
    }
    return high == nil ? result : nil
}
