import ParleySimulation
import ParleyWire

@testable import ParleySealing

/// One person with a device, and what they would send.
private struct Person: Sendable {
    static let ben = Result { try Person(seed: 2) }

    let key: DeviceSigningKey
    let noiseKey: DeviceNoiseKey
    let log: IdentityLog
    let card: Card

    init(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let key = DeviceSigningKey.generate(using: &random)
        self.key = key
        noiseKey = .generate(using: &random)
        let founded = try IdentityLog.founded(
            root: .generate(using: &random), device: key, noiseKey: noiseKey.publicKey, time: 5,
            using: &random)
        let second = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random).publicKey
        let proof = IdentityOperation.proofOfPossession(
            to: founded.person, by: second, noiseKey: noise)
        let grown = try founded.merging([
            founded.adding(second.device, noiseKey: noise, proof: proof, by: key)
        ])
        log = try grown.merging([grown.revoking(second.device, by: key)])
        let prekeys = (1...2 as ClosedRange<UInt32>).map { number in
            PrekeyCertificate.make(
                number: number, notBefore: 1, notAfter: 2,
                key: PrivateLeaf.generate(using: &random).publicKey, by: key)
        }
        let part = CardPart.make(
            version: 3, noiseKey: noiseKey.publicKey, name: "Ada",
            addresses: ["192.0.2.1:9", "ada.example:4100"], prekeys: prekeys, key: key)
        card = Card(person: log.person, identity: log.encoded, parts: [part])
    }

    var credentials: LinkCredentials {
        LinkCredentials(
            person: log.person, device: key.device, noiseKey: noiseKey, identity: log.encoded)
    }
}

extension Decoder {
    static let sealing: [Decoder] = [
        Decoder(
            name: "identity operation", sources: ["Sources/Sealing/IdentityOperation.swift": 2],
            inputs: { try Person(seed: 1).log.encoded },
            decode: { try? IdentityOperation($0).bytes }),
        Decoder(
            name: "identity log", sources: [:], hasOneSpelling: false,
            inputs: { try [pack(Person(seed: 1).log.encoded)] },
            decode: { bytes in
                unpack(bytes).flatMap { try? IdentityLog(operations: $0) }.map { pack($0.encoded) }
            }),
        Decoder(
            name: "card",
            sources: ["Sources/Sealing/Card.swift": 1, "Sources/Sealing/CardPart.swift": 1],
            inputs: { try [Person(seed: 1).card.encoded, Person(seed: 2).card.encoded] },
            decode: { bytes in
                guard let card = try? Card(bytes: bytes) else { return nil }
                // What reads is also proven, or refused, without harm.
                let log = try? IdentityLog(operations: card.identity)
                if let log { _ = try? card.verified(by: log) }
                return card.encoded
            }),
        Decoder(
            name: "prekey", sources: ["Sources/Sealing/Epochs/PrekeyCertificate.swift": 1],
            inputs: { try Person(seed: 1).card.parts[0].prekeys.map(\.bytes) },
            decode: { bytes in
                guard let prekey = try? PrekeyCertificate(bytes: bytes) else { return nil }
                _ = prekey.holds
                return prekey.bytes
            }),
        Decoder(
            name: "epoch", sources: ["Sources/Sealing/Epochs/EpochBody.swift": 1],
            inputs: { [0, 1, 3, 40].map(epoch) },
            decode: { try? EpochBody(bytes: $0).bytes }),
        Decoder(
            name: "hello of a link", sources: ["Sources/Sealing/Link/LinkCredentials.swift": 1],
            inputs: { try [LinkHello(Person(seed: 1).credentials).encoded] },
            decode: { bytes in
                guard let hello = try? LinkHello(bytes[...]) else { return nil }
                _ = try? hello.authenticate(NoiseKey { _ in })
                return bytes
            }),
        Decoder(
            name: "handshake", sources: [:], inputs: { try openings() },
            decode: { bytes in
                guard let person = try? Person.ben.get() else { return nil }
                var random = SeededRandom(seed: 9)
                var link = Link(responder: person.credentials, network: .main, using: &random)
                return (try? link.receive(bytes[...])).map { _ in bytes }
            }),
        Decoder(
            name: "record of a link", sources: [:], inputs: { [record()] },
            decode: { plaintext in
                let fits = plaintext.prefix(65_519)
                return openRecord(Array(fits)) ? plaintext : nil
            }),
        Decoder(
            name: "keystore", sources: ["Sources/Sealing/Keystore+Codec.swift": 1],
            inputs: { try keystores() },
            decode: { bytes in
                let key = Secret([UInt8](repeating: 7, count: 32))
                let read = try? Keystore(bytes, unlockedWith: .key(key))
                return read.map { _ in bytes }
            }),
        Decoder(
            name: "card of an invite",
            sources: ["Sources/Sealing/Epochs/InviteMailbox.swift": 1], hasOneSpelling: false,
            inputs: {
                var random = SeededRandom(seed: 54)
                return [inviteMailbox.sealed([1, 2, 3], using: &random)]
            },
            decode: { bytes in inviteMailbox.card(in: bytes).map { _ in bytes } }),
        Decoder(
            name: "recovery code", sources: [:], hasOneSpelling: false,
            inputs: {
                var random = SeededRandom(seed: 3)
                return [Array(RecoveryCode.generate(using: &random).revealed().utf8)]
            },
            decode: { bytes in
                let text = String(decoding: bytes, as: UTF8.self)
                return (try? RecoveryCode(typed: text)).map { Array($0.revealed().utf8) }
            }),
    ]

    private static var inviteMailbox: InviteMailbox {
        InviteMailbox(secret: [UInt8](repeating: 7, count: 16), relay: NoiseKey { $0[0] = 8 })
    }

    private static func pack(_ list: [[UInt8]]) -> [UInt8] {
        list.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xff)] + $0 }
    }

    private static func unpack(_ bytes: [UInt8]) -> [[UInt8]]? {
        var reader = ByteReader(bytes)
        var list: [[UInt8]] = []
        while reader.remaining > 0 {
            guard let count = try? reader.uint16(), let piece = try? reader.slice(Int(count)) else {
                return nil
            }
            list.append(Array(piece))
        }
        return list
    }

    private static func epoch(_ count: Int) -> [UInt8] {
        var random = SeededRandom(seed: 4)
        let entries = (0..<count).map { _ in
            EpochEntry(
                leaf: LeafID(random.next()),
                sealedSeed: [UInt8](repeating: 5, count: EpochEntry.sealedSeedByteCount))
        }
        return EpochBody(
            ephemeral: LeafKey { $0[0] = 9 }, seedCommitment: Digest { $0[1] = 1 },
            newLeaf: LeafKey { $0[0] = 9 }, rosterDigest: Digest { $0[2] = 1 }, entries: entries
        ).bytes
    }

    /// What a caller sends first, and what a whole one sends to the very device under test.
    private static func openings() throws -> [[UInt8]] {
        let (ada, ben) = (try Person(seed: 1), try Person(seed: 2))
        var random = SeededRandom(seed: 8)
        var caller = Link(
            initiatorTo: ben.noiseKey.publicKey, expecting: nil, credentials: ada.credentials,
            network: .main, using: &random)
        var answering = SeededRandom(seed: 9)
        var callee = Link(responder: ben.credentials, network: .main, using: &answering)
        let first = caller.start()
        var third: [UInt8] = []
        for case .send(let answer) in try callee.receive(first[...]) {
            for case .send(let next) in try caller.receive(answer[...]) { third += next }
        }
        return [first, first + third]
    }

    private static func record() -> [UInt8] {
        let frame: [UInt8] = [0, 0, 9, 0, 0, 0, 5, 1, 2, 3, 4, 5]
        return frame + [UInt8](repeating: 0, count: 128 - frame.count)
    }

    /// Whether plaintext that a linked peer chose is a record.
    private static func openRecord(_ plaintext: [UInt8]) -> Bool {
        let key = WipedBytes(byteCount: 32) { $0[0] = 1 }
        var sender = CipherState(key)
        var records = SealedRecords((CipherState(key), CipherState(key)))
        var sealed = [UInt8](repeating: 0, count: plaintext.count + 16)
        sealed.withUnsafeMutableBytes { output in
            plaintext.withUnsafeBytes {
                sender.encrypt(
                    $0, authenticating: UnsafeRawBufferPointer(start: nil, count: 0), into: output)
            }
        }
        return (try? records.open(sealed[...]) { _ in }) != nil
    }

    /// Locked by a key: what a passphrase costs has a test of its own.
    private static func keystores() throws -> [[UInt8]] {
        var random = SeededRandom(seed: 6)
        let lock = KeystoreLock.key(Secret([UInt8](repeating: 7, count: 32)))
        let young = Keystore.create(using: &random)
        let old = young.advanced(using: &random)
        return try [young, old].map { keystore in
            try keystore.sealed(with: lock, cost: .standard, using: &random)
        }
    }
}
