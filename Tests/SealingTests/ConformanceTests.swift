import CSodium
import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Primitives agree with vectors that others wrote")
struct ConformanceTests {
    struct SignatureCase: Decodable {
        let id: Int
        let key: Hex
        let msg: Hex
        let sig: Hex
        let valid: Bool
    }

    @Test("Ed25519")
    func ed25519() throws {
        for test in try Vectors.cases("sealing/ed25519.json", as: SignatureCase.self) {
            let device = try #require(DeviceID(test.key.bytes))
            // Labelled messages are ours alone: the vectors are judged without the prefix.
            let verdict = Signature(test.sig.bytes).map { signature in
                device.withUnsafeBytes {
                    crypto_sign_verify_detached(
                        signature.bytes, test.msg.bytes, UInt64(test.msg.bytes.count), $0.start)
                        == 0
                }
            }
            #expect((verdict ?? false) == test.valid, "case \(test.id)")
        }
    }

    struct AgreementCase: Decodable {
        let id: Int
        let `public`: Hex
        let `private`: Hex
        let shared: Hex
        let result: String
    }

    @Test("X25519, where an all-zero secret is refused")
    func x25519() throws {
        for test in try Vectors.cases("sealing/x25519.json", as: AgreementCase.self) {
            let key = DeviceNoiseKey(scalar: Secret(test.private.bytes))
            let other = try #require(NoiseKey(test.public.bytes))
            let shared = key.agree(with: other)?.withKeyBytes { Array($0) }
            if test.shared.bytes.allSatisfy({ $0 == 0 }) {
                #expect(shared == nil, "case \(test.id)")
            } else if test.result == "valid" || shared != nil {
                #expect(shared == test.shared.bytes, "case \(test.id)")
            }
        }
    }

    struct CipherCase: Decodable {
        let id: Int
        let key: Hex
        let iv: Hex
        let aad: Hex
        let msg: Hex
        let ct: Hex
        let tag: Hex
        let valid: Bool
    }

    @Test("ChaCha20-Poly1305 and XChaCha20-Poly1305", arguments: [false, true])
    func ciphers(isExtended: Bool) throws {
        let file = isExtended ? "xchacha20_poly1305" : "chacha20_poly1305"
        let nonceByteCount = isExtended ? 24 : 12
        for test in try Vectors.cases("sealing/\(file).json", as: CipherCase.self) {
            // Nonces of another length cannot be expressed: a precondition guards them.
            guard test.iv.bytes.count == nonceByteCount else {
                #expect(!test.valid)
                continue
            }
            let (key, nonce, extra) = (test.key.bytes, test.iv.bytes, test.aad.bytes)
            let sealed = test.ct.bytes + test.tag.bytes
            let opened =
                isExtended
                ? XChaCha.open(sealed, key: key, nonce: nonce, authenticating: extra)
                : ChaCha.open(sealed, key: key, nonce: nonce, authenticating: extra)
            #expect(opened == (test.valid ? test.msg.bytes : nil), "case \(test.id)")
            guard test.valid else { continue }
            let again =
                isExtended
                ? XChaCha.seal(test.msg.bytes, key: key, nonce: nonce, authenticating: extra)
                : ChaCha.seal(test.msg.bytes, key: key, nonce: nonce, authenticating: extra)
            #expect(again == sealed, "case \(test.id)")
        }
    }

    struct HashCase: Decodable {
        let `in`: Hex
        let key: Hex
        let out: Hex
    }

    @Test("BLAKE2b, keyed and not")
    func blake2b() throws {
        for test in try Vectors.cases("sealing/blake2b.json", as: HashCase.self) {
            var output = [UInt8](repeating: 0, count: 64)
            output.withUnsafeMutableBytes { output in
                HashState.withTemporary { state in
                    test.key.bytes.withUnsafeBytes {
                        state.begin($0.isEmpty ? nil : $0, byteCount: 64)
                    }
                    state.update(test.in.bytes)
                    state.finish(into: output)
                }
            }
            #expect(output == test.out.bytes)
        }
    }
}
