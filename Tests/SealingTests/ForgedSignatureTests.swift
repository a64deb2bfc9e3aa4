import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Forged signatures")
struct ForgedSignatureTests {
    let signer = DeviceSigningKey(seed: Secret([UInt8](repeating: 1, count: 32)))

    /// The order of the curve's group: S and S + L sign the same, and one of them is refused.
    private static let order: [UInt8] =
        [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9,
            0xde, 0x14,
        ] + [UInt8](repeating: 0, count: 15) + [0x10]

    @Test("Attack 14: a signature's second spelling, S + L, is refused")
    func secondSpelling() throws {
        for message in 0..<32 as Range<UInt8> {
            var bytes = signer.sign(.head, [message]).bytes
            var carry = 0
            for index in 0..<32 {
                carry += Int(bytes[32 + index]) + Int(Self.order[index])
                bytes[32 + index] = UInt8(carry & 0xff)
                carry >>= 8
            }
            #expect(carry == 0, "S + L fits 32 bytes")
            let second = try #require(Signature(bytes))
            #expect(!second.verifies(.head, [message], by: signer.device))
        }
    }

    @Test("Attack 14: no key of small order signs anything, and a signature has 64 bytes")
    func smallOrders() throws {
        // The points of order 1, 2, 4 and 8, and two spellings above the field's prime.
        let points = [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000080",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ]
        for point in points {
            let bytes = try #require(unhex(point))
            let key = try #require(DeviceID(bytes))
            for nonce in points {
                let first = try #require(unhex(nonce))
                let forged = try #require(
                    Signature(first + [UInt8](repeating: 0, count: 32)))
                for message in 0..<16 as Range<UInt8> {
                    #expect(!forged.verifies(.head, [message], by: key))
                }
            }
        }
        for count in [0, 63, 65, 128] {
            #expect(Signature([UInt8](repeating: 0, count: count)) == nil)
        }
    }

    @Test("Attack 21: what one key signed is no other's, whoever else claims it")
    func substitution() throws {
        var random = SeededRandom(21)
        let signature = signer.sign(.head, [1, 2, 3])
        for _ in 0..<32 {
            let claimant = DeviceSigningKey.generate(using: &random)
            #expect(!signature.verifies(.head, [1, 2, 3], by: claimant.device))
        }
        // Nor for another purpose of the same key.
        for label in [Label.card, .identitySignature, .prekey, .envelopeSignature] {
            #expect(!signature.verifies(label, [1, 2, 3], by: signer.device))
        }
    }

    private func unhex(_ text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
