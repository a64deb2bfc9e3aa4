import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Keystore")
struct KeystoreTests {
    private let passphrase = KeystoreLock.passphrase(Array("correct horse".utf8))

    private func sample(previous: Bool = false) -> Keystore {
        var random = SeededRandom(1)
        let fresh = Keystore.create(using: &random)
        return previous ? fresh.advanced(using: &random) : fresh
    }

    private func file(_ keystore: Keystore, _ lock: KeystoreLock) throws -> [UInt8] {
        var random = SeededRandom(2)
        return try keystore.sealed(with: lock, cost: .interactiveForTests, using: &random)
    }

    private func refusal(
        _ bytes: [UInt8], _ lock: KeystoreLock, _ bounds: KeystoreCost.Bounds = .tests
    ) -> KeystoreRejection? {
        do throws(KeystoreRejection) {
            _ = try Keystore(bytes, unlockedWith: lock, allowing: bounds)
            return nil
        } catch { return error }
    }

    @Test("what was locked opens again, with and without a previous generation")
    func roundTrip() throws {
        for lock in [passphrase, .passphrase([]), .key(Secret([UInt8](repeating: 5, count: 32)))] {
            for keystore in [sample(), sample(previous: true)] {
                let bytes = try file(keystore, lock)
                #expect(try Keystore(bytes, unlockedWith: lock, allowing: .tests) == keystore)
            }
        }
        let advanced = sample(previous: true)
        #expect(advanced.generation == 1)
        #expect(advanced.previousVaultKey == sample().vaultKey)
        #expect(advanced.withoutPrevious().previousVaultKey == nil)
        #expect(advanced.master == sample().master)
    }

    @Test("the cost that people get is within the bounds, and opens")
    func standardCost() throws {
        var random = SeededRandom(2)
        let cost = KeystoreCost(operations: 2, memoryByteCount: 64 << 20)
        let bytes = try sample().sealed(with: passphrase, cost: cost, using: &random)
        #expect(try Keystore(bytes, unlockedWith: passphrase) == sample())
        #expect(KeystoreCost.standard.isAllowed(by: .standard))
    }

    @Test("Attack 51: a wrong passphrase or key opens nothing")
    func wrongSecret() throws {
        let bytes = try file(sample(), passphrase)
        #expect(
            refusal(bytes, .passphrase(Array("correct horsf".utf8))) == .wrongPassphraseOrDamaged)
        #expect(refusal(bytes, .passphrase([])) == .wrongPassphraseOrDamaged)
        let key = Secret([UInt8](repeating: 5, count: 32))
        #expect(refusal(bytes, .key(key)) == .needsPassphrase)
        let keyed = try file(sample(), .key(key))
        #expect(refusal(keyed, passphrase) == .needsKey)
        let other = Secret([UInt8](repeating: 6, count: 32))
        #expect(refusal(keyed, .key(other)) == .wrongPassphraseOrDamaged)
    }

    @Test("Attack 51: a flipped bit anywhere is refused")
    func flips() throws {
        let bytes = try file(sample(), passphrase)
        for index in bytes.indices {
            for bit in 0..<8 where index < 18 || bit == 0 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                #expect(refusal(damaged, passphrase) != nil, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("each part of the header has a refusal of its own")
    func headers() throws {
        let bytes = try file(sample(), passphrase)
        var damaged = bytes
        damaged[0] = 0x6c
        #expect(refusal(damaged, passphrase) == .notAKeystore)
        damaged = bytes
        damaged[4] = 2
        #expect(refusal(damaged, passphrase) == .unknownVersion(2))
        damaged = bytes
        damaged[5] = 9
        #expect(refusal(damaged, passphrase) == .unknownVersion(9))
        #expect(refusal(bytes + [0], passphrase) == .trailingBytes(1))
        #expect(refusal(Array("{}".utf8), passphrase) == .notAKeystore)
    }

    @Test("Attack 51: a file that was cut anywhere is refused as truncated")
    func truncated() throws {
        let bytes = try file(sample(), passphrase)
        for count in bytes.indices {
            #expect(refusal(Array(bytes[..<count]), passphrase) == .truncated)
        }
    }

    @Test("Attack 51: a cost out of bounds is refused before any work")
    func costs() throws {
        let bytes = try file(sample(), passphrase)
        #expect(refusal(bytes, passphrase, .standard) == .costOutOfBounds(.interactiveForTests))
        for (operations, memory) in [
            (1, 256 << 20), (11, 256 << 20), (3, 64 << 20 - 1), (3, 1 << 30 + 1), (3, UInt64.max),
            (UInt32.max, 256 << 20), (0, 0),
        ] as [(UInt32, UInt64)] {
            var writer = ByteWriter()
            writer.raw(bytes[..<6])
            writer.uint32(operations)
            writer.uint64(memory)
            writer.raw(bytes[18...])
            let cost = KeystoreCost(operations: operations, memoryByteCount: memory)
            #expect(refusal(writer.bytes, passphrase) == .costOutOfBounds(cost))
        }
    }

    @Test("nothing of a key or passphrase is described or dumped")
    func silence() {
        var text = ""
        let keystore = Keystore(
            master: Secret(Array("mastermastermastermastermastermm".utf8)), generation: 0,
            vaultKey: Secret(Array("vaultvaultvaultvaultvaultvaultvv".utf8)))
        dump(keystore, to: &text)
        dump(passphrase, to: &text)
        text += String(describing: keystore) + String(reflecting: keystore)
        text += String(describing: passphrase) + String(reflecting: passphrase)
        for word in [
            "master\(hex(Array("mas".utf8)))", "109", "mastermaster", "vaultvault", "horse",
        ] {
            #expect(!text.contains(word))
        }
    }
}
