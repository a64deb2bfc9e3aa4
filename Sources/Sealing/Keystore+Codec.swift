import CSodium
import ParleyWire

extension Keystore {
    private static let magic = Array("LPKS".utf8)
    private static let version: UInt8 = 1
    private static let saltByteCount = 16
    /// `master ‖ generation ‖ vault key ‖ u8 0`.
    private static let shortContentByteCount = 32 + 4 + 32 + 1
    /// The same with `u8 1` and a previous vault key.
    private static let longContentByteCount = shortContentByteCount + 32

    /// How the key that seals the contents comes about.
    private enum Derivation: UInt8 {
        case argon2id = 1
        case keyed = 2
    }

    /// Everything before the ciphertext; all of it is authenticated.
    private struct Header {
        var derivation: Derivation
        var cost: KeystoreCost
        var salt: [UInt8]
        var nonce: [UInt8]
        var ciphertextCount: Int

        var encoded: [UInt8] {
            var writer = ByteWriter(capacity: 64)
            writer.raw(magic)
            writer.byte(version)
            writer.byte(derivation.rawValue)
            writer.uint32(cost.operations)
            writer.uint64(cost.memoryByteCount)
            writer.raw(salt)
            writer.raw(nonce)
            writer.uint16(UInt16(ciphertextCount))
            return writer.bytes
        }
    }

    /// The bytes of the keystore's file. Salt and nonce are fresh each time.
    ///
    /// - Parameter cost: counts for a passphrase alone.
    public func sealed(
        with lock: KeystoreLock, cost: KeystoreCost = .standard,
        using random: inout some RandomNumberGenerator
    ) throws(KeystoreRejection) -> [UInt8] {
        sealed(with: try KeystoreSeal(lock, cost: cost, using: &random), using: &random)
    }

    /// The same under a lock that was stretched before: it costs next to nothing. The nonce is
    /// fresh each time, the salt stays.
    public func sealed(
        with seal: KeystoreSeal, using random: inout some RandomNumberGenerator
    ) -> [UInt8] {
        let hasPrevious = previousVaultKey != nil
        let count = hasPrevious ? Self.longContentByteCount : Self.shortContentByteCount
        let header = Header(
            derivation: seal.isKeyed ? .keyed : .argon2id, cost: seal.cost, salt: seal.salt,
            nonce: random.bytes(XChaCha.nonceByteCount),
            ciphertextCount: count + XChaCha.tagByteCount)
        let encoded = header.encoded
        var contents = contents(count)
        defer { contents.wipe() }
        return encoded
            + XChaCha.seal(contents, key: seal.key, nonce: header.nonce, authenticating: encoded)
    }

    /// Opens a keystore's file.
    ///
    /// The bounds are checked before any work is done for the passphrase.
    public init(
        _ bytes: [UInt8], unlockedWith lock: KeystoreLock,
        allowing bounds: KeystoreCost.Bounds = .standard
    ) throws(KeystoreRejection) {
        self = try Self.open(bytes, unlockedWith: lock, allowing: bounds).keystore
    }

    /// The same, with what the file can be sealed by again.
    public static func open(
        _ bytes: [UInt8], unlockedWith lock: KeystoreLock,
        allowing bounds: KeystoreCost.Bounds = .standard
    ) throws(KeystoreRejection) -> (keystore: Keystore, seal: KeystoreSeal) {
        let (header, headerCount) = try Self.header(of: bytes, bounds)
        switch (header.derivation, lock) {
        case (.argon2id, .key): throw .needsPassphrase
        case (.keyed, .passphrase): throw .needsKey
        case (.argon2id, .passphrase), (.keyed, .key): break
        }
        let key = try Self.sealingKey(lock, header.cost, header.salt)
        let opened = XChaCha.open(
            bytes[headerCount...], key: key, nonce: header.nonce,
            authenticating: Array(bytes[..<headerCount]))
        guard var contents = opened else { throw .wrongPassphraseOrDamaged }
        defer { contents.wipe() }
        guard let keystore = Self.decode(contents) else { throw .wrongPassphraseOrDamaged }
        let seal = KeystoreSeal(
            isKeyed: header.derivation == .keyed, cost: header.cost, salt: header.salt, key: key)
        return (keystore, seal)
    }

    /// Whether a passphrase locks the keystore in these bytes; nil where they are none.
    public static func isLockedByPassphrase(_ bytes: [UInt8]) -> Bool? {
        guard bytes.count > 5, Array(bytes[..<4]) == magic, bytes[4] == version else { return nil }
        return Derivation(rawValue: bytes[5]).map { $0 == .argon2id }
    }

    private static func header(
        of bytes: [UInt8], _ bounds: KeystoreCost.Bounds
    ) throws(KeystoreRejection) -> (Header, byteCount: Int) {
        guard bytes.prefix(magic.count).elementsEqual(magic.prefix(bytes.count)) else {
            throw .notAKeystore
        }
        let header: Header
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            _ = try reader.slice(magic.count)
            let version = try reader.byte()
            guard version == Self.version else { throw .unknownVersion(version) }
            let kind = try reader.byte()
            guard let derivation = Derivation(rawValue: kind) else { throw .unknownVersion(kind) }
            header = Header(
                derivation: derivation,
                cost: KeystoreCost(
                    operations: try reader.uint32(), memoryByteCount: try reader.uint64()),
                salt: Array(try reader.slice(saltByteCount)),
                nonce: Array(try reader.slice(XChaCha.nonceByteCount)),
                ciphertextCount: Int(try reader.uint16()))
        } catch {
            // Reading fixed fields fails in two ways alone.
            if case .unknownVersion(let version) = error { throw .unknownVersion(version) }
            throw .truncated
        }
        try check(header, bodyCount: reader.remaining, bounds)
        return (header, reader.position)
    }

    private static func check(
        _ header: Header, bodyCount: Int, _ bounds: KeystoreCost.Bounds
    ) throws(KeystoreRejection) {
        let isInBounds =
            switch header.derivation {
            case .argon2id: header.cost.isAllowed(by: bounds)
            // A key takes no work, and the unused fields have one spelling.
            case .keyed: header.cost == KeystoreCost(operations: 0, memoryByteCount: 0)
            }
        guard isInBounds else { throw .costOutOfBounds(header.cost) }
        guard bodyCount >= header.ciphertextCount else { throw .truncated }
        guard bodyCount == header.ciphertextCount else {
            throw .trailingBytes(bodyCount - header.ciphertextCount)
        }
        let contentCount = bodyCount - XChaCha.tagByteCount
        guard contentCount == shortContentByteCount || contentCount == longContentByteCount else {
            throw .wrongPassphraseOrDamaged
        }
    }

    fileprivate static func sealingKey(
        _ lock: KeystoreLock, _ cost: KeystoreCost, _ salt: [UInt8]
    ) throws(KeystoreRejection) -> Secret {
        switch lock {
        case .key(let key):
            precondition(key.count == keyByteCount, "a key that locks a keystore has 32 bytes")
            return deriveSecret(key: key, .keystoreKey, context: salt)
        case .passphrase(let passphrase):
            return try stretched(passphrase, cost, salt)
        }
    }

    private static func stretched(
        _ passphrase: [UInt8], _ cost: KeystoreCost, _ salt: [UInt8]
    ) throws(KeystoreRejection) -> Secret {
        var isDone = false
        // One byte more than is counted: the library wants a place even for no characters.
        var characters = passphrase + [0]
        defer { characters.wipe() }
        let key = Secret(byteCount: keyByteCount) { output in
            characters.withUnsafeBytes { characters in
                let start = UnsafeRawPointer(characters.start)
                isDone =
                    crypto_pwhash(
                        output.start, UInt64(output.count),
                        start.assumingMemoryBound(to: CChar.self), UInt64(passphrase.count), salt,
                        UInt64(cost.operations),
                        Int(cost.memoryByteCount), crypto_pwhash_ALG_ARGON2ID13) == 0
            }
        }
        guard isDone else { throw .notEnoughMemory(cost) }
        return key
    }

    /// Written at its full size at once: a growing array would leave copies behind.
    private func contents(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        master.withUnsafeBytes { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: generation.bigEndian) { bytes.append(contentsOf: $0) }
        vaultKey.withUnsafeBytes { bytes.append(contentsOf: $0) }
        bytes.append(previousVaultKey == nil ? 0 : 1)
        previousVaultKey?.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return bytes
    }

    private static func decode(_ contents: [UInt8]) -> Keystore? {
        let flag = contents[shortContentByteCount - 1]
        guard flag == (contents.count == longContentByteCount ? 1 : 0) else { return nil }
        let generation = contents[32..<36].reduce(0) { $0 << 8 | UInt32($1) }
        return Keystore(
            master: Secret(contents[..<32]), generation: generation,
            vaultKey: Secret(contents[36..<68]),
            previousVaultKey: flag == 1 ? Secret(contents[69...]) : nil)
    }
}

/// The stretched key of a lock: it seals the keystore again without the lock, so that nobody need
/// keep a passphrase.
public struct KeystoreSeal: Sendable, CustomStringConvertible, CustomReflectable {
    let isKeyed: Bool
    let cost: KeystoreCost
    let salt: [UInt8]
    let key: Secret

    init(isKeyed: Bool, cost: KeystoreCost, salt: [UInt8], key: Secret) {
        self.isKeyed = isKeyed
        self.cost = cost
        self.salt = salt
        self.key = key
    }

    /// Stretches a lock under a fresh salt.
    ///
    /// - Parameter cost: counts for a passphrase alone.
    public init(
        _ lock: KeystoreLock, cost: KeystoreCost, using random: inout some RandomNumberGenerator
    ) throws(KeystoreRejection) {
        isKeyed = if case .key = lock { true } else { false }
        self.cost = isKeyed ? KeystoreCost(operations: 0, memoryByteCount: 0) : cost
        salt = random.bytes(16)
        key = try Keystore.sealingKey(lock, self.cost, salt)
    }

    /// Tells nothing of the key.
    public var description: String { "KeystoreSeal(redacted)" }
    /// Without children: `dump` finds nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
