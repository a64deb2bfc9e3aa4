public import ParleyWire

/// `KDF(key, label, context, byteCount)`: a key, a nonce or a keyed hash for one purpose.
///
/// Keyed BLAKE2b over `u8 length ‖ label ‖ u16 length ‖ context`. The key has 16 to 64 bytes,
/// the context at most 65,535, the result 16 to 64.
/// Source: `Protocol/02-encoding.md`, "Hashes".
public func derive(
    key: some KeyBytes, _ label: Label, context: [UInt8] = [], byteCount: Int = 32
) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
        context.withUnsafeBytes { context in
            derive(key: key, label, context, into: UnsafeMutableRawBufferPointer(buffer))
        }
        initialized = byteCount
    }
}

/// The same, where the result is itself a lasting secret.
public func deriveSecret(
    key: some KeyBytes, _ label: Label, context: [UInt8] = [], byteCount: Int = 32
) -> Secret {
    Secret(byteCount: byteCount) { output in
        context.withUnsafeBytes { derive(key: key, label, $0, into: output) }
    }
}

/// The same for a key that lives shortly.
func deriveWiped(
    key: some KeyBytes, _ label: Label, context: [UInt8] = [], byteCount: Int = 32
) -> WipedBytes {
    WipedBytes(byteCount: byteCount) { output in
        context.withUnsafeBytes { derive(key: key, label, $0, into: output) }
    }
}

/// The same into a buffer, without any allocation.
func derive(
    key: some KeyBytes, _ label: Label, _ context: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
) {
    derive(
        key: key, label, contextParts: (context, UnsafeRawBufferPointer(start: nil, count: 0)),
        into: output)
}

/// The same with a context that lies in two places.
func derive(
    key: some KeyBytes, _ label: Label,
    contextParts parts: (UnsafeRawBufferPointer, UnsafeRawBufferPointer),
    into output: UnsafeMutableRawBufferPointer
) {
    requireSodium()
    let contextCount = parts.0.count + parts.1.count
    precondition((16...64).contains(output.count), "a derivation gives 16 to 64 bytes")
    precondition(contextCount <= 65_535, "a context's length must fit two bytes")
    HashState.withTemporary { state in
        key.withKeyBytes { key in
            precondition((16...64).contains(key.count), "a key has 16 to 64 bytes")
            state.begin(key, byteCount: output.count)
        }
        state.update(label.prefixed)
        withUnsafeBytes(of: UInt16(contextCount).bigEndian) { state.update($0) }
        state.update(parts.0)
        state.update(parts.1)
        state.finish(into: output)
        // The state can still hold the key's block.
        state.wipe()
    }
}

/// The commitment to a payload that stands in an operation's header.
///
/// With a salt of 16 bytes it is `KDF(salt, "lp1/body", payload)`: it tells nothing of a payload
/// that could be guessed, once the payload is erased with its salt. Without one it is
/// `H("lp1/body", payload)`. A payload has at most 65,535 bytes.
/// Source: `Protocol/03-operations.md`, "Payloads".
public func payloadCommitment(
    salt: UnsafeRawBufferPointer?, payload: UnsafeRawBufferPointer
) -> Digest {
    guard let salt else { return digest(.body, payload) }
    precondition(salt.count == Limits.saltByteCount, "a salt has 16 bytes")
    return Digest { derive(key: LentKey(salt), .body, payload, into: $0) }
}

/// The same of bytes in arrays.
public func payloadCommitment(
    salt: ArraySlice<UInt8>?, payload: ArraySlice<UInt8>
) -> Digest {
    payload.withUnsafeBytes { payload in
        guard let salt else { return payloadCommitment(salt: nil, payload: payload) }
        return salt.withUnsafeBytes { payloadCommitment(salt: $0, payload: payload) }
    }
}

/// The same, as an operation holds them: an empty salt means none.
public func payloadCommitment(salt: [UInt8], payload: [UInt8]) -> Digest {
    payloadCommitment(salt: salt.isEmpty ? nil : salt[...], payload: payload[...])
}

/// A key whose bytes are lent by the caller for the length of one call.
struct LentKey: KeyBytes {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { body(bytes) }
}
