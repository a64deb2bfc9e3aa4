import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Prekeys and leaves")
struct PrekeyTests {
    private let device = DeviceSigningKey(seed: Secret([UInt8](repeating: 1, count: 32)))

    private func prekey(_ key: LeafKey) -> PrekeyCertificate {
        .make(number: 7, notBefore: 1, notAfter: 2, key: key, by: device)
    }

    @Test("a prekey comes back from its bytes, and holds")
    func roundTrip() throws {
        var random = SeededRandom(1)
        let made = prekey(PrivateLeaf.generate(using: &random).publicKey)
        #expect(made.bytes.count == PrekeyCertificate.byteCount)
        #expect(try PrekeyCertificate(bytes: made.bytes) == made && made.holds)
        for count in 0..<made.bytes.count {
            #expect(throws: DecodingFailure.self) {
                try PrekeyCertificate(bytes: Array(made.bytes[..<count]))
            }
        }
        #expect(throws: DecodingFailure.trailingBytes(1)) {
            try PrekeyCertificate(bytes: made.bytes + [0])
        }
        for place in made.bytes.indices {
            var flipped = made.bytes
            flipped[place] ^= 1
            let read = try? PrekeyCertificate(bytes: flipped)
            #expect(read?.holds != true, "byte \(place)")
        }
    }

    @Test("another suite is unknown, and a key of small order holds nothing")
    func refusals() throws {
        var random = SeededRandom(1)
        var bytes = prekey(PrivateLeaf.generate(using: &random).publicKey).bytes
        bytes[52] = 2
        #expect(throws: DecodingFailure.unknownVersion(2)) { try PrekeyCertificate(bytes: bytes) }
        let zero = LeafKey { _ in }
        let one = LeafKey { $0[0] = 1 }
        #expect(!zero.isSound && !one.isSound)
        #expect(!prekey(zero).holds)
    }

    @Test("a card whose part names another's prekey, or one that does not hold, is refused")
    func cards() throws {
        var random = SeededRandom(1)
        let ada = try TestDevice(1)
        let sound = PrekeyCertificate.make(
            number: 1, notBefore: 0, notAfter: 1,
            key: PrivateLeaf.generate(using: &random).publicKey,
            by: ada.signer)
        let empty = PrekeyCertificate.make(
            number: 2, notBefore: 0, notAfter: 1, key: LeafKey { _ in }, by: ada.signer)
        func card(_ prekeys: [PrekeyCertificate]) -> Card {
            let part = CardPart.make(
                version: 1, noiseKey: ada.noiseKey.publicKey, name: "", addresses: [],
                prekeys: prekeys, key: ada.signer)
            return Card(person: ada.log.person, identity: ada.log.encoded, parts: [part])
        }
        let read = try Card(bytes: card([sound]).encoded).verified(by: ada.log)
        #expect(read.parts.first?.prekeys == [sound])
        #expect(throws: CardRejection.badPrekey(ada.signer.device)) {
            try card([sound, empty]).verified(by: ada.log)
        }
        // Another device's prekey never gets into a part.
        #expect(try Card(bytes: card([prekey(sound.key)]).encoded).parts[0].prekeys.isEmpty)
    }
}

@Suite("The bytes of an epoch")
struct EpochCodecTests {
    private func body(_ leaves: [UInt64]) -> EpochBody {
        EpochBody(
            ephemeral: LeafKey { $0[0] = 1 }, seedCommitment: Digest { $0[0] = 2 },
            newLeaf: LeafKey { $0[0] = 3 }, rosterDigest: Digest { $0[0] = 4 },
            entries: leaves.map {
                EpochEntry(leaf: LeafID($0), sealedSeed: [UInt8](repeating: UInt8($0), count: 48))
            })
    }

    @Test("an epoch comes back from its bytes, and from no others")
    func roundTrip() throws {
        let made = body([3, 1, 2])
        let bytes = made.bytes
        #expect(bytes.count == 132 + 3 * 56)
        #expect(try EpochBody(bytes: bytes) == made)
        #expect(try EpochBody(bytes: body([]).bytes) == body([]))
        for count in 0..<bytes.count {
            #expect(throws: DecodingFailure.self) { try EpochBody(bytes: Array(bytes[..<count])) }
        }
        #expect(throws: DecodingFailure.trailingBytes(1)) { try EpochBody(bytes: bytes + [0]) }
    }

    @Test("entries ascend, and another version or suite is unknown")
    func refusals() throws {
        var bytes = body([1, 2]).bytes
        bytes[132 + 7] = 2
        #expect(throws: DecodingFailure.unsorted(field: "entries")) { try EpochBody(bytes: bytes) }
        bytes[132 + 7] = 3
        #expect(throws: DecodingFailure.unsorted(field: "entries")) { try EpochBody(bytes: bytes) }
        for place in [0, 1] {
            var other = body([1]).bytes
            other[place] = 2
            #expect(throws: DecodingFailure.unknownVersion(2)) { try EpochBody(bytes: other) }
        }
        var many = body([]).bytes
        many[130] = 4
        #expect(throws: DecodingFailure.tooLarge(field: "entries", value: 1024, limit: 1023)) {
            try EpochBody(bytes: many)
        }
    }
}
