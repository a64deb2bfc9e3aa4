import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Labelled hashes and keys")
struct HashTests {
    @Test("H and KDF give the known answers")
    func knownAnswers() {
        let name: Digest = digest(.op, Array("abc".utf8))
        #expect(
            name.description == "9a43984b6b747b4740a796aca5aec7b964b86225bfd4a76860f3e16faa56a7fc")
        let key = derive(
            key: [UInt8](repeating: 0, count: 32), Label("x"), context: Array("abc".utf8))
        #expect(hex(key) == "5ea02843e7aff4986668638efdeb2d262683a747eb4fc7551d9af772cc125d62")
    }

    @Test("an epoch's seed gives the known chain")
    func chain() throws {
        let signer = DeviceSigningKey(seed: Secret([UInt8](repeating: 1, count: 32)))
        let chain = derive(
            key: [UInt8](repeating: 0x44, count: 32), Label("lp1/ep/chain"),
            context: [UInt8](repeating: 0xc0, count: 32) + signer.device.bytes)
        #expect(hex(chain) == "a5aacab6a6d933d3dfa1c21b8a30b970fe63e9add343dfa42dc19c46e972c8ec")
        let message = derive(key: Secret(chain), Label("lp1/ms/key"), context: [0, 0, 0, 0])
        #expect(hex(message) == "fce912b34ed827079e2a3da6cd4e059145f23f5d85e500dfe504885b3056726a")
    }

    @Test("bytes fed in pieces give the hash of the whole")
    func pieces() {
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        for size in [1, 7, 64, 127, 128, 129, 999] {
            var hash = LabelledHash(.body)
            for start in stride(from: 0, to: message.count, by: size) {
                hash.update(message[start..<min(start + size, message.count)])
            }
            let pieced: Digest = hash.finalize()
            #expect(pieced == digest(.body, message))
        }
    }

    @Test("every way to feed the same bytes gives the same hash")
    func feeds() throws {
        let first = try #require(Digest([UInt8](repeating: 9, count: 32)))
        let rest: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 2, 3]
        let oneShot: OperationID = rest.withUnsafeBytes { digest(.op, first, $0) }
        let fed: OperationID = digest(.op) {
            $0.update(first)
            $0.update(UInt64(258))
            $0.update(3 as UInt8)
        }
        #expect(oneShot == fed)
        #expect(fed == digest(.op, first.bytes + rest))
    }

    @Test("a hash inside another value, wherever it lies, is the same")
    func placement() {
        struct Holder {
            var pad: UInt8 = 0
            var hash: LabelledHash
        }
        var holders = (0..<9).map { Holder(pad: $0, hash: LabelledHash(.log)) }
        for index in holders.indices { holders[index].hash.update([1, 2, 3]) }
        let results: [Digest] = holders.indices.map { holders[$0].hash.finalize() }
        #expect(Set(results) == [digest(.log, [1, 2, 3])])
    }

    @Test("a payload is committed to under its salt")
    func commitment() {
        let payload = Array("hello".utf8)
        let salt = [UInt8](repeating: 5, count: 16)
        let salted = payloadCommitment(salt: salt[...], payload: payload[...])
        #expect(salted.bytes == derive(key: salt, .body, context: payload))
        #expect(payloadCommitment(salt: nil, payload: payload[...]) == digest(.body, payload))
        #expect(payloadCommitment(salt: nil, payload: []) == digest(.body, [UInt8]()))
        let long = [UInt8](repeating: 1, count: 65_535)
        #expect(payloadCommitment(salt: salt[...], payload: long[...]) != salted)
    }
}

@Suite("Secrets")
struct SecretTests {
    @Test("a secret shows nothing of itself")
    func redacted() {
        let secret = Secret(Array("correct horse battery".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        let signer = DeviceSigningKey(seed: Secret([UInt8](repeating: 7, count: 32)))
        dump(signer, to: &dumped)
        let shown = "\(secret) \(String(reflecting: secret)) \(dumped) \(signer)"
        #expect(shown.contains("Secret(redacted)"))
        #expect(!shown.contains("correct"))
        #expect(!shown.contains("99, 111"))
        #expect(!shown.contains("7, 7"))
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    @Test("secrets are equal when their bytes are")
    func equality() {
        #expect(Secret([1, 2, 3]) == Secret([1, 2, 3]))
        #expect(Secret([1, 2, 3]) != Secret([1, 2, 4]))
        #expect(Secret([1, 2, 3]) != Secret([1, 2]))
    }

    @Test("the system's randomness does not repeat")
    func randomness() {
        var random = SystemRandom()
        #expect(random.bytes(33) != random.bytes(33))
        #expect(random.bytes(33).count == 33)
    }
}

@Suite("Signatures")
struct SignatureTests {
    let signer = DeviceSigningKey(seed: Secret([UInt8](repeating: 1, count: 32)))

    @Test("Attack 14: a signature holds for its device, label and message alone")
    func verification() throws {
        let other = DeviceSigningKey(seed: Secret([UInt8](repeating: 2, count: 32)))
        let signature = signer.sign(.head, [1, 2, 3])
        #expect(signature.verifies(.head, [1, 2, 3], by: signer.device))
        #expect(!signature.verifies(.head, [1, 2, 4], by: signer.device))
        #expect(!signature.verifies(.card, [1, 2, 3], by: signer.device))
        #expect(!signature.verifies(.head, [1, 2, 3], by: other.device))
        for index in [0, 31, 32, 63] {
            var bytes = signature.bytes
            bytes[index] ^= 1
            let broken = try #require(Signature(bytes))
            #expect(!broken.verifies(.head, [1, 2, 3], by: signer.device))
        }
        #expect(Signature([UInt8](repeating: 0, count: 63)) == nil)
        #expect(Signature([UInt8](repeating: 0, count: 65)) == nil)
    }

    @Test("Attack 14: a key of small order signs nothing")
    func smallOrder() throws {
        let zero = try #require(DeviceID([1] + [UInt8](repeating: 0, count: 31)))
        let signature = try #require(
            Signature([1] + [UInt8](repeating: 0, count: 63)))
        #expect(!signature.verifies(.head, [], by: zero))
    }

    @Test("a key comes back from its seed")
    func seed() {
        #expect(DeviceSigningKey(seed: signer.seed).device == signer.device)
    }
}
