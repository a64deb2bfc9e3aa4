import ParleyLedger
import ParleySimulation
import ParleyWire

@testable import ParleySealing

/// Two persons' devices at a table, one of which shows the secret.
private struct Table: Sendable {
    static let shared = Result { try Table() }

    let key: DeviceSigningKey
    let credentials: LinkCredentials
    let newKey: DeviceSigningKey
    let newNoiseKey: DeviceNoiseKey
    let secret = [UInt8](repeating: 4, count: 32)

    init() throws {
        var random = SeededRandom(seed: 40)
        key = .generate(using: &random)
        let noiseKey = DeviceNoiseKey.generate(using: &random)
        let log = try IdentityLog.founded(
            root: .generate(using: &random), device: key, noiseKey: noiseKey.publicKey, time: 5,
            using: &random)
        credentials = LinkCredentials(
            person: log.person, device: key.device, noiseKey: noiseKey, identity: log.encoded)
        newKey = .generate(using: &random)
        newNoiseKey = .generate(using: &random)
    }

    var request: DeviceRequest {
        DeviceRequest(
            device: newKey.device, noiseKey: newNoiseKey.publicKey,
            proof: IdentityOperation.proofOfPossession(
                to: credentials.person, by: newKey, noiseKey: newNoiseKey.publicKey),
            name: "telephone")
    }

    func waiting() -> Pairing {
        var desk = PairingDesk()
        _ = desk.open(secret, at: 0)
        var random = SeededRandom(seed: 41)
        return Pairing(
            awaiting: desk.offer(at: 1), credentials: credentials, network: .main, using: &random)
    }

    /// What a new device sends, to the waiting one that always answers alike.
    func calls() throws -> [[UInt8]] {
        var random = SeededRandom(seed: 42)
        var caller = Pairing(
            calling: credentials.noiseKey.publicKey, of: credentials.person, secret: secret,
            as: newKey, noiseKey: newNoiseKey, name: "telephone", network: .main, using: &random)
        var callee = waiting()
        let first = caller.start()
        var rest: [UInt8] = []
        for case .send(let answer) in try callee.receive(first[...]) {
            for case .send(let next) in try caller.receive(answer[...]) { rest += next }
        }
        return [first, first + rest]
    }
}

extension Decoder {
    static let devices: [Decoder] = [
        Decoder(
            name: "request of a device",
            sources: ["Sources/Sealing/Link/DeviceRequest.swift": 1],
            inputs: { try [Table.shared.get().request.encoded] }, decode: { request($0) }),
        Decoder(
            name: "linking handshake", sources: [:], inputs: { try Table.shared.get().calls() },
            decode: { paired($0) ? $0 : nil }),
        Decoder(
            name: "envelope", sources: ["Sources/Sealing/Epochs/Envelope.swift": 1],
            hasOneSpelling: false, inputs: { envelopes() }, decode: { opened($0) ? $0 : nil }),
    ]

    private static func request(_ bytes: [UInt8]) -> [UInt8]? {
        guard let table = try? Table.shared.get(),
            let request = try? DeviceRequest(bytes, noiseKey: table.newNoiseKey.publicKey)
        else { return nil }
        _ = request.isProven(to: table.credentials.person)
        return request.encoded
    }

    private static func paired(_ bytes: [UInt8]) -> Bool {
        guard var pairing = try? Table.shared.get().waiting() else { return false }
        return (try? pairing.receive(bytes[...])) != nil
    }

    /// The inner form of an envelope: what any member of an epoch may put into its mailbox.
    private static func envelopes() -> [[UInt8]] {
        [0, 3, 300].map { count in
            var writer = ByteWriter()
            writer.uint64(7)
            writer.uint32(UInt32(count))
            writer.raw([UInt8](repeating: 1, count: 24))
            writer.uint16(UInt16(count))
            writer.raw([UInt8](repeating: 2, count: count))
            return writer.bytes
        }
    }

    private static func opened(_ inner: [UInt8]) -> Bool {
        var inner = Array(inner.prefix(Limits.envelopeByteCountMax - 41))
        var size = 512
        while size < inner.count + 41 { size *= 2 }
        inner += [UInt8](repeating: 0, count: size - 41 - inner.count)
        let place = EnvelopePlace(
            space: SpaceID { $0[0] = 1 }, epoch: OperationID { $0[0] = 2 },
            mailbox: MailboxID { $0[0] = 3 })
        let seed = EpochSeed(Secret([UInt8](repeating: 5, count: 32)), space: place.space)
        let nonce = [UInt8](repeating: 6, count: 24)
        let outer =
            [2] + nonce
            + XChaCha.seal(
                inner, key: seed.keys.envelopes, nonce: nonce,
                authenticating: place.mailbox.bytes)
        guard let envelope = try? Envelope(outer, at: place, keys: seed.keys) else { return false }
        let device = DeviceID { $0[0] = 9 }
        // The chain's steps are what costs: few are walked.
        var chain = seed.chain(of: device)
        _ = try? envelope.open(from: device, chain: &chain, now: 1)
        _ = try? envelope.openVolatile(from: device, keys: seed.keys)
        return true
    }
}
