import ParleySealing
public import ParleyWire

/// Seals the chunks of one file and opens them.
///
/// A key is drawn for each file and used for nothing else, so a chunk's number is its nonce; each is
/// bound to the file's size, so that none can be left off at the end or moved.
/// Source: `Protocol/13-files.md`, "Blobs".
public struct FileSeal: Sendable {
    /// How many bytes a key has.
    public static let keyByteCount = 32

    private let key: Secret
    /// How the file is cut.
    public let shape: BlobShape

    /// The seal of a file with this key and shape; nil where it is no key.
    public init?(key: [UInt8], shape: BlobShape) {
        guard key.count == Self.keyByteCount else { return nil }
        self.key = Secret(key)
        self.shape = shape
    }

    /// A sealed chunk, from what it holds of the file.
    public func seal(_ plaintext: [UInt8], as chunk: ChunkIndex) -> [UInt8] {
        XChaCha.seal(plaintext, key: key, nonce: nonce(chunk), authenticating: extra(chunk))
    }

    /// The part of the file in a chunk, or nil if it is not the one that was sealed there.
    public func open(_ bytes: [UInt8], as chunk: ChunkIndex) -> [UInt8]? {
        guard shape.contains(chunk), bytes.count == shape.byteCount(of: chunk) else { return nil }
        return XChaCha.open(bytes, key: key, nonce: nonce(chunk), authenticating: extra(chunk))
    }

    private func nonce(_ chunk: ChunkIndex) -> [UInt8] {
        var writer = ByteWriter(capacity: XChaCha.nonceByteCount)
        writer.raw([UInt8](repeating: 0, count: XChaCha.nonceByteCount - 8))
        writer.uint64(chunk)
        return writer.bytes
    }

    private func extra(_ chunk: ChunkIndex) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.uint64(shape.size)
        writer.uint64(chunk)
        return writer.bytes
    }
}
