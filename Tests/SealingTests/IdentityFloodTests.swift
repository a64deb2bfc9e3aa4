import ParleyWire
import Testing

@testable import ParleySealing

@Suite("A stolen device fills the identity log")
struct IdentityFloodTests {
    private var random = SeededRandom(20)
    private let root: DeviceSigningKey
    private let thief: DeviceSigningKey
    private var log: IdentityLog

    init() throws {
        root = .generate(using: &random)
        thief = .generate(using: &random)
        log = try IdentityLog.founded(
            root: root, device: thief,
            noiseKey: DeviceNoiseKey.generate(using: &random).publicKey, time: 0, using: &random)
    }

    /// Adds devices until no more are taken.
    private mutating func flood() {
        while true {
            let key = DeviceSigningKey.generate(using: &random)
            let noise = DeviceNoiseKey.generate(using: &random).publicKey
            let adding = log.adding(
                key.device, noiseKey: noise,
                proof: IdentityOperation.proofOfPossession(
                    to: log.person, by: key, noiseKey: noise), by: thief)
            guard let next = try? log.merging([adding]) else { return }
            log = next
        }
    }

    /// With 128 operations by the thief the log was full: no revocation was taken, not even that of
    /// the recovery code.
    @Test("the recovery code revokes it all the same, and with it all that it added")
    mutating func revocation() throws {
        flood()
        #expect(!log.hasRoomForDevices)
        #expect(log.operations.count == IdentityLog.deviceOperationCountMax + 2)
        let ended = try log.merging([log.revoking(thief.device, by: root)])
        #expect(ended.certificate(of: thief.device) == nil)
        #expect(ended.revoked == [thief.device])
        let noise = DeviceNoiseKey.generate(using: &random).publicKey
        let fresh = DeviceSigningKey.generate(using: &random)
        let adding = ended.adding(
            fresh.device, noiseKey: noise,
            proof: IdentityOperation.proofOfPossession(
                to: ended.person, by: fresh, noiseKey: noise), by: root)
        let again = try ended.merging([adding])
        #expect(again.certificate(of: fresh.device)?.rank == 1)
    }

    /// Above 16 KiB nobody took the card any more, and so nobody heard of the revocation.
    @Test("a card has room for every log, whatever parts give way")
    mutating func card() throws {
        var card = Card(person: log.person, identity: log.encoded, parts: [part(of: thief)])
        flood()
        for _ in 0..<24 {
            let key = DeviceSigningKey.generate(using: &random)
            card.parts.append(part(of: key))
        }
        let ended = try log.merging([log.revoking(thief.device, by: root)])
        let other = Card(person: log.person, identity: ended.encoded, parts: card.parts)
        let merged = card.merged(with: other).card
        #expect(merged.encoded.count <= Limits.cardByteCountMax)
        #expect(try Card(bytes: merged.encoded) == merged)
        #expect(try IdentityLog(operations: merged.identity) == ended)
    }

    private mutating func part(of key: DeviceSigningKey) -> CardPart {
        CardPart.make(
            version: 1, noiseKey: DeviceNoiseKey.generate(using: &random).publicKey, name: "thief",
            addresses: (0..<8).map { "192.0.2.\($0):4100" }, prekeys: [], key: key)
    }

    @Test("what is given twice counts once")
    func twice() throws {
        #expect(try IdentityLog(operations: log.encoded + log.encoded + log.encoded) == log)
        let many = Array(repeating: log.operations, count: 30).flatMap { $0 }
        #expect(try IdentityLog(many) == log)
    }
}
