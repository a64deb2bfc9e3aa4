/// Noise's SymmetricState: what both sides have agreed on so far.
/// Source: Noise specification, revision 34, section 5.2; `Protocol/04-links.md`, "Handshake".
struct SymmetricState {
    /// The transcript hash: 64 bytes, public.
    private(set) var hash: [UInt8]
    private var chainingKey: WipedBytes
    private(set) var cipher: CipherState?

    /// The state at the start of the protocol with this name, of at most 64 bytes.
    init(protocolName name: String) {
        precondition(name.utf8.count <= 64, "a longer name would have to be hashed")
        let padded = Array(name.utf8) + [UInt8](repeating: 0, count: 64 - name.utf8.count)
        hash = padded
        chainingKey = padded.withUnsafeBytes { WipedBytes($0) }
    }

    mutating func mixHash(_ bytes: UnsafeRawBufferPointer) {
        hash = NoiseHash.hash(hash, bytes)
    }

    mutating func mixHash(_ bytes: [UInt8]) { bytes.withUnsafeBytes { mixHash($0) } }

    mutating func mixKey(_ input: some KeyBytes) {
        let outputs = NoiseHash.expand(chainingKey, input, count: 2)
        chainingKey = outputs[0]
        cipher = CipherState(NoiseHash.cipherKey(outputs[1]))
    }

    mutating func mixKeyAndHash(_ input: some KeyBytes) {
        let outputs = NoiseHash.expand(chainingKey, input, count: 3)
        chainingKey = outputs[0]
        outputs[1].withKeyBytes { mixHash($0) }
        cipher = CipherState(NoiseHash.cipherKey(outputs[2]))
    }

    /// Seals, once there is a key, and hashes the result.
    mutating func encryptAndHash(_ plaintext: [UInt8]) -> [UInt8] {
        guard cipher != nil else {
            mixHash(plaintext)
            return plaintext
        }
        let count = plaintext.count + ChaCha.tagByteCount
        let ciphertext = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let output = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
            plaintext.withUnsafeBytes { plaintext in
                hash.withUnsafeBytes {
                    cipher?.encrypt(plaintext, authenticating: $0, into: output)
                }
            }
            initialized = count
        }
        mixHash(ciphertext)
        return ciphertext
    }

    /// Opens, once there is a key; nil where the bytes are not what the other side sealed.
    mutating func decryptAndHash(_ ciphertext: ArraySlice<UInt8>) -> [UInt8]? {
        guard cipher != nil else {
            ciphertext.withUnsafeBytes { mixHash($0) }
            return Array(ciphertext)
        }
        let count = ciphertext.count - ChaCha.tagByteCount
        guard count >= 0 else { return nil }
        var isGenuine = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let output = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
            ciphertext.withUnsafeBytes { ciphertext in
                hash.withUnsafeBytes {
                    isGenuine =
                        cipher?.decrypt(ciphertext, authenticating: $0, into: output) ?? false
                }
            }
            initialized = isGenuine ? count : 0
        }
        guard isGenuine else { return nil }
        ciphertext.withUnsafeBytes { mixHash($0) }
        return plaintext
    }

    /// The transport keys: the initiator's direction first.
    func split() -> (CipherState, CipherState) {
        let outputs = NoiseHash.expand(chainingKey, [UInt8](), count: 2)
        return (
            CipherState(NoiseHash.cipherKey(outputs[0])),
            CipherState(NoiseHash.cipherKey(outputs[1]))
        )
    }
}

/// Noise's hash functions over BLAKE2b with 64 bytes: the one place where HMAC is used.
enum NoiseHash {
    private static let blockByteCount = 128

    static func hash(_ first: [UInt8], _ second: UnsafeRawBufferPointer) -> [UInt8] {
        requireSodium()
        return [UInt8](unsafeUninitializedCapacity: 64) { buffer, initialized in
            HashState.withTemporary { state in
                state.begin(nil, byteCount: 64)
                state.update(first)
                state.update(second)
                state.finish(
                    into: UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: 64))
            }
            initialized = 64
        }
    }

    /// `HKDF` as Noise defines it: no info field, outputs of 64 bytes.
    static func expand(
        _ chainingKey: WipedBytes, _ input: some KeyBytes, count: Int
    ) -> [WipedBytes] {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        let temporary = input.withKeyBytes { input in
            WipedBytes(byteCount: 64) { authenticate(chainingKey, input, nothing, into: $0) }
        }
        var outputs: [WipedBytes] = []
        for index in 1...count {
            let output = WipedBytes(byteCount: 64) { output in
                withUnsafeBytes(of: UInt8(index)) { counter in
                    guard let last = outputs.last else {
                        return authenticate(temporary, counter, nothing, into: output)
                    }
                    last.withKeyBytes { authenticate(temporary, $0, counter, into: output) }
                }
            }
            outputs.append(output)
        }
        return outputs
    }

    /// The first 32 bytes of an output.
    static func cipherKey(_ output: WipedBytes) -> WipedBytes {
        output.withKeyBytes { WipedBytes(UnsafeRawBufferPointer(rebasing: $0[..<32])) }
    }

    /// `HMAC(key, first ‖ second)` with a key of at most 64 bytes.
    private static func authenticate(
        _ key: WipedBytes, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) {
        requireSodium()
        withUnsafeTemporaryAllocation(byteCount: blockByteCount, alignment: 16) { pad in
            pad.initializeMemory(as: UInt8.self, repeating: 0)
            key.withKeyBytes { pad.copyMemory(from: $0) }
            for index in 0..<blockByteCount { pad[index] ^= 0x36 }
            HashState.withTemporary { state in
                state.begin(nil, byteCount: 64)
                state.update(UnsafeRawBufferPointer(pad))
                state.update(first)
                state.update(second)
                state.finish(into: output)
                for index in 0..<blockByteCount { pad[index] ^= 0x36 ^ 0x5c }
                state.begin(nil, byteCount: 64)
                state.update(UnsafeRawBufferPointer(pad))
                state.update(UnsafeRawBufferPointer(output))
                state.finish(into: output)
                state.wipe()
            }
            wipe(pad)
        }
    }
}
