public import ParleyWire

/// What backups are sealed to: the public half of ``BackupKey``, in the form of a key for links.
///
/// A device keeps it and can seal with it, and cannot open with it: a thief of a device with
/// everything it holds learns nothing from the backups that were made there before, nor about the
/// root.
public typealias BackupPublicKey = NoiseKey

/// What opens backups: it grows from the recovery code, as the root key does, and lies nowhere.
/// Source: `Protocol/05-identity.md`, "Backups".
public struct BackupKey: Sendable {
    let pair: DeviceNoiseKey

    init(_ pair: DeviceNoiseKey) { self.pair = pair }

    /// What devices keep.
    public var publicKey: BackupPublicKey { pair.publicKey }
}

/// Why bytes are not opened as a backup.
public enum BackupRejection: Error, Equatable, Sendable {
    /// They do not begin as a backup does.
    case notABackup
    /// A version that this program does not know.
    case unknownVersion(UInt8)
    /// It was sealed to another recovery code.
    case anotherCode
    /// It ends too early.
    case truncated
    /// This chunk, counted from 0, is not what was sealed.
    case damaged(chunk: UInt64)
}

/// The fixed part of a backup's file, and how its chunks are named.
public enum BackupFormat {
    /// What every backup begins with.
    public static let magic = Array("LPBK".utf8)
    /// The only version.
    public static let version: UInt8 = 1
    /// `magic ‖ version ‖ id[16] ‖ mark[8] ‖ ephemeral[32]`.
    public static let headerByteCount = 4 + 1 + 16 + 8 + 32
    /// Every chunk but the last has so many bytes before it is sealed.
    public static let chunkByteCount = 65_536
    /// … and so many afterwards.
    public static let sealedChunkByteCount = chunkByteCount + ChaCha.tagByteCount

    static func mark(_ key: BackupPublicKey) -> [UInt8] {
        let hash: Digest = digest(.backupMark, key.bytes)
        return Array(hash.bytes.prefix(8))
    }

    /// Whether a file that begins so was sealed to the same recovery code as one that begins so.
    /// False where one of them is no whole header of this version.
    public static func areOfOneCode(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count >= headerByteCount, right.count >= headerByteCount else { return false }
        // The version, and the mark behind the number that each file has of its own.
        return left[..<5] == right[..<5] && left[21..<29] == right[21..<29]
    }

    /// The whole header is part of the key derivation: a changed byte of it opens nothing.
    static func key(
        _ shared: WipedBytes, header: [UInt8], sealedTo key: BackupPublicKey
    ) -> Secret {
        deriveSecret(key: shared, .backupFile, context: header + key.bytes)
    }

    /// A chunk's place and whether it is the last: nothing can be moved, left out or cut off.
    static func nonce(_ index: UInt64, isLast: Bool) -> [UInt8] {
        var writer = ByteWriter(capacity: ChaCha.nonceByteCount)
        writer.raw([isLast ? 1 : 0, 0, 0, 0])
        writer.uint64(index)
        return writer.bytes
    }
}

/// Seals a stream of any length in chunks.
public struct BackupSealer: Sendable {
    /// What the file begins with.
    public let header: [UInt8]
    private let key: Secret
    private var next: UInt64 = 0

    /// Seals to this key; nil where the key is of small order and would hide nothing.
    public init?(to publicKey: BackupPublicKey, using random: inout some RandomNumberGenerator) {
        let ephemeral = DeviceNoiseKey.generate(using: &random)
        guard let shared = ephemeral.agree(with: publicKey) else { return nil }
        header =
            BackupFormat.magic + [BackupFormat.version] + random.bytes(16)
            + BackupFormat.mark(publicKey) + ephemeral.publicKey.bytes
        key = BackupFormat.key(shared, header: header, sealedTo: publicKey)
    }

    /// The next chunk: of ``BackupFormat/chunkByteCount`` bytes, or the last with at most as many.
    public mutating func seal(_ chunk: [UInt8], isLast: Bool) -> [UInt8] {
        precondition(
            isLast
                ? chunk.count <= BackupFormat.chunkByteCount
                : chunk.count == BackupFormat.chunkByteCount, "only the last chunk is shorter")
        defer { next += 1 }
        return ChaCha.seal(chunk, key: key, nonce: BackupFormat.nonce(next, isLast: isLast))
    }

    /// Opens again what this seals, for as long as the sealer exists.
    public var opener: BackupOpener { BackupOpener(key: key) }
}

/// Opens the chunks of a backup, in order.
public struct BackupOpener: Sendable {
    private let key: Secret
    private var next: UInt64 = 0

    init(key: Secret) { self.key = key }

    /// Opens what this header begins.
    public init(_ header: [UInt8], with backupKey: BackupKey) throws(BackupRejection) {
        let magic = BackupFormat.magic
        guard header.prefix(magic.count).elementsEqual(magic.prefix(header.count)) else {
            throw .notABackup
        }
        guard header.count >= BackupFormat.headerByteCount else { throw .truncated }
        precondition(header.count == BackupFormat.headerByteCount, "a header has one length")
        guard header[4] == BackupFormat.version else { throw .unknownVersion(header[4]) }
        guard Array(header[21..<29]) == BackupFormat.mark(backupKey.publicKey) else {
            throw .anotherCode
        }
        guard let ephemeral = NoiseKey(header[29...]),
            let shared = backupKey.pair.agree(with: ephemeral)
        else { throw .damaged(chunk: 0) }
        key = BackupFormat.key(shared, header: header, sealedTo: backupKey.publicKey)
    }

    /// The next chunk.
    ///
    /// - Parameter isLast: whether the file ends with it.
    public mutating func open(
        _ sealed: [UInt8], isLast: Bool
    ) throws(BackupRejection) -> [UInt8] {
        defer { next += 1 }
        func opened(_ isLast: Bool) -> [UInt8]? {
            ChaCha.open(sealed, key: key, nonce: BackupFormat.nonce(next, isLast: isLast))
        }
        if let chunk = opened(isLast) { return chunk }
        // A whole chunk that was not the last one: the file was cut between two.
        if isLast, opened(false) != nil { throw .truncated }
        throw .damaged(chunk: next)
    }
}
