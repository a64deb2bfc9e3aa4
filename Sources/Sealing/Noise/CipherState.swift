/// Noise's CipherState: a key and how often it was used.
/// Source: Noise specification, revision 34, section 5.1.
struct CipherState {
    private var key: WipedBytes
    /// The next nonce. The greatest value is kept for rekeying.
    private(set) var nonce: UInt64 = 0

    init(_ key: WipedBytes) { self.key = key }

    /// Seals into `output`, which is 16 bytes longer and may be the same place.
    mutating func encrypt(
        _ plaintext: UnsafeRawBufferPointer, authenticating extra: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(nonce < .max, "a nonce must not repeat")
        Self.withNonce(nonce) {
            ChaCha.seal(plaintext, key: key, nonce: $0, authenticating: extra, into: output)
        }
        nonce += 1
    }

    /// Opens into `output`, which is 16 bytes shorter and may be the same place. After a failure
    /// the nonce stands where it stood; the caller gives up the link.
    mutating func decrypt(
        _ ciphertext: UnsafeRawBufferPointer, authenticating extra: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard nonce < .max else { return false }
        let isGenuine = Self.withNonce(nonce) {
            ChaCha.open(ciphertext, key: key, nonce: $0, authenticating: extra, into: output)
        }
        if isGenuine { nonce += 1 }
        return isGenuine
    }

    /// Replaces the key by one that does not lead back to it. The nonce continues.
    mutating func rekey() {
        let old = key
        key = WipedBytes(byteCount: 32) { output in
            withUnsafeTemporaryAllocation(byteCount: 48, alignment: 16) { work in
                work.initializeMemory(as: UInt8.self, repeating: 0)
                let zeros = UnsafeRawBufferPointer(rebasing: work[..<32])
                let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
                Self.withNonce(.max) {
                    ChaCha.seal(zeros, key: old, nonce: $0, authenticating: nothing, into: work)
                }
                output.copyMemory(from: UnsafeRawBufferPointer(rebasing: work[..<32]))
                wipe(work)
            }
        }
    }

    private static func withNonce<R>(
        _ value: UInt64, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        // Four zeros, then the counter in little-endian order.
        let words: (UInt32, UInt32, UInt32) = (
            0, UInt32(truncatingIfNeeded: value).littleEndian,
            UInt32(truncatingIfNeeded: value >> 32).littleEndian
        )
        return withUnsafeBytes(of: words, body)
    }
}
