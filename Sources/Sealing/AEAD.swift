import CSodium

/// XChaCha20-Poly1305: keys of 32 bytes, nonces of 24 that may be random.
public enum XChaCha {
    /// The length of a nonce.
    public static let nonceByteCount = 24
    /// By how much a ciphertext is longer than its plaintext.
    public static let tagByteCount = 16

    /// The ciphertext of these bytes and its tag.
    public static func seal(
        _ plaintext: [UInt8], key: some KeyBytes, nonce: [UInt8], authenticating extra: [UInt8] = []
    ) -> [UInt8] {
        sealed(plaintext, nonce, extra) {
            seal($0, key: key, nonce: $1, authenticating: $2, into: $3)
        }
    }

    /// The plaintext, or nil if key, nonce, extra bytes or ciphertext do not match.
    public static func open(
        _ ciphertext: some KeyBytes, key: some KeyBytes, nonce: [UInt8],
        authenticating extra: [UInt8] = []
    ) -> [UInt8]? {
        opened(ciphertext, nonce, extra) {
            open($0, key: key, nonce: $1, authenticating: $2, into: $3)
        }
    }

    /// Seals into a buffer that is 16 bytes longer than the plaintext, and may be the same place.
    public static func seal(
        _ plaintext: UnsafeRawBufferPointer, key: some KeyBytes, nonce: UnsafeRawBufferPointer,
        authenticating extra: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        requireSodium()
        checkSeal(plaintext, output, nonce, nonceByteCount)
        key.withKeyBytes { key in
            precondition(key.count == 32, "a key has 32 bytes")
            _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                output.start, nil, plaintext.bytes, UInt64(plaintext.count), extra.bytes,
                UInt64(extra.count), nil, nonce.start, key.start)
        }
    }

    /// Opens into a buffer that is 16 bytes shorter than the ciphertext, and may be the same place.
    public static func open(
        _ ciphertext: UnsafeRawBufferPointer, key: some KeyBytes, nonce: UnsafeRawBufferPointer,
        authenticating extra: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        requireSodium()
        checkOpen(ciphertext, output, nonce, nonceByteCount)
        return key.withKeyBytes { key in
            precondition(key.count == 32, "a key has 32 bytes")
            return crypto_aead_xchacha20poly1305_ietf_decrypt(
                output.bytes, nil, nil, ciphertext.start, UInt64(ciphertext.count), extra.bytes,
                UInt64(extra.count), nonce.start, key.start) == 0
        }
    }
}

/// ChaCha20-Poly1305 of RFC 8439: keys of 32 bytes, nonces of 12 that never repeat under a key.
public enum ChaCha {
    /// The length of a nonce.
    public static let nonceByteCount = 12
    /// By how much a ciphertext is longer than its plaintext.
    public static let tagByteCount = 16

    /// The ciphertext of these bytes and its tag.
    public static func seal(
        _ plaintext: [UInt8], key: some KeyBytes, nonce: [UInt8], authenticating extra: [UInt8] = []
    ) -> [UInt8] {
        sealed(plaintext, nonce, extra) {
            seal($0, key: key, nonce: $1, authenticating: $2, into: $3)
        }
    }

    /// The plaintext, or nil if key, nonce, extra bytes or ciphertext do not match.
    public static func open(
        _ ciphertext: some KeyBytes, key: some KeyBytes, nonce: [UInt8],
        authenticating extra: [UInt8] = []
    ) -> [UInt8]? {
        opened(ciphertext, nonce, extra) {
            open($0, key: key, nonce: $1, authenticating: $2, into: $3)
        }
    }

    /// Seals into a buffer that is 16 bytes longer than the plaintext, and may be the same place.
    public static func seal(
        _ plaintext: UnsafeRawBufferPointer, key: some KeyBytes, nonce: UnsafeRawBufferPointer,
        authenticating extra: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        requireSodium()
        checkSeal(plaintext, output, nonce, nonceByteCount)
        key.withKeyBytes { key in
            precondition(key.count == 32, "a key has 32 bytes")
            _ = crypto_aead_chacha20poly1305_ietf_encrypt(
                output.start, nil, plaintext.bytes, UInt64(plaintext.count), extra.bytes,
                UInt64(extra.count), nil, nonce.start, key.start)
        }
    }

    /// Opens into a buffer that is 16 bytes shorter than the ciphertext, and may be the same place.
    public static func open(
        _ ciphertext: UnsafeRawBufferPointer, key: some KeyBytes, nonce: UnsafeRawBufferPointer,
        authenticating extra: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        requireSodium()
        checkOpen(ciphertext, output, nonce, nonceByteCount)
        return key.withKeyBytes { key in
            precondition(key.count == 32, "a key has 32 bytes")
            return crypto_aead_chacha20poly1305_ietf_decrypt(
                output.bytes, nil, nil, ciphertext.start, UInt64(ciphertext.count), extra.bytes,
                UInt64(extra.count), nonce.start, key.start) == 0
        }
    }
}

private typealias Sealer = (
    UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer,
    UnsafeMutableRawBufferPointer
) -> Void

private typealias Opener = (
    UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer,
    UnsafeMutableRawBufferPointer
) -> Bool

private func sealed(
    _ plaintext: [UInt8], _ nonce: [UInt8], _ extra: [UInt8], _ seal: Sealer
) -> [UInt8] {
    let count = plaintext.count + 16
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        plaintext.withUnsafeBytes { plaintext in
            nonce.withUnsafeBytes { nonce in
                extra.withUnsafeBytes { extra in
                    let output = UnsafeMutableRawBufferPointer(
                        start: buffer.baseAddress, count: count)
                    seal(plaintext, nonce, extra, output)
                }
            }
        }
        initialized = count
    }
}

private func opened(
    _ ciphertext: some KeyBytes, _ nonce: [UInt8], _ extra: [UInt8], _ open: Opener
) -> [UInt8]? {
    ciphertext.withKeyBytes { ciphertext in
        guard ciphertext.count >= 16 else { return nil }
        let count = ciphertext.count - 16
        var isGenuine = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let output = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
            nonce.withUnsafeBytes { nonce in
                extra.withUnsafeBytes { isGenuine = open(ciphertext, nonce, $0, output) }
            }
            initialized = isGenuine ? count : 0
        }
        return isGenuine ? plaintext : nil
    }
}

private func checkSeal(
    _ plaintext: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer,
    _ nonce: UnsafeRawBufferPointer, _ nonceByteCount: Int
) {
    precondition(output.count == plaintext.count + 16, "there must be room for the tag")
    precondition(nonce.count == nonceByteCount, "a nonce must have its cipher's length")
}

private func checkOpen(
    _ ciphertext: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer,
    _ nonce: UnsafeRawBufferPointer, _ nonceByteCount: Int
) {
    precondition(ciphertext.count == output.count + 16, "there must be a tag")
    precondition(nonce.count == nonceByteCount, "a nonce must have its cipher's length")
}
