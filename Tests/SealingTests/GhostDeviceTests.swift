import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Ghost devices")
struct GhostDeviceTests {
    private struct Owned {
        let key: DeviceSigningKey
        let noise: DeviceNoiseKey

        init(using random: inout SeededRandom) {
            key = .generate(using: &random)
            noise = .generate(using: &random)
        }
    }

    private static func adding(
        _ device: DeviceSigningKey, under noise: NoiseKey, to log: IdentityLog,
        by author: DeviceSigningKey
    ) -> IdentityOperation {
        log.adding(
            device.device, noiseKey: noise,
            proof: IdentityOperation.proofOfPossession(
                to: log.person, by: device, noiseKey: noise), by: author)
    }

    /// A thief of the most junior device once added a device under the laptop's link key, and the
    /// laptop was taken for it wherever its name was the lesser.
    @Test("Attack 84: a device under the link key of another one is none of the person's")
    func ghost() throws {
        for seed in 0..<16 as Range<UInt64> {
            var random = SeededRandom(seed)
            let root = DeviceSigningKey.generate(using: &random)
            let (laptop, phone) = (Owned(using: &random), Owned(using: &random))
            let founded = try IdentityLog.founded(
                root: root, device: laptop.key, noiseKey: laptop.noise.publicKey, time: 0,
                using: &random)
            let honest = try founded.merging([
                Self.adding(phone.key, under: phone.noise.publicKey, to: founded, by: laptop.key)
            ])
            let ghost = DeviceSigningKey.generate(using: &random)
            // Whether the thief says that it knew of the laptop's key or not.
            let log = try honest.merging([
                Self.adding(ghost, under: laptop.noise.publicKey, to: honest, by: phone.key)
            ])
            #expect(log.certificate(of: ghost.device) == nil)
            #expect(log.devices.map(\.device) == [laptop, phone].map(\.key.device).sorted())
            let shown = LinkHello(
                LinkCredentials(
                    person: log.person, device: laptop.key.device, noiseKey: laptop.noise,
                    identity: log.encoded))
            #expect(try shown.authenticate(laptop.noise.publicKey).device == laptop.key.device)
            // Nor once the laptop knows of the ghost, in whatever order the operations come.
            let turned = try IdentityLog(Array(log.operations.reversed()))
            #expect(turned == log)
        }
    }

    @Test("a key is free again once who had it was revoked, and by who outranks its device")
    func freed() throws {
        var random = SeededRandom(99)
        let root = DeviceSigningKey.generate(using: &random)
        let laptop = Owned(using: &random)
        var log = try IdentityLog.founded(
            root: root, device: laptop.key, noiseKey: laptop.noise.publicKey, time: 0,
            using: &random)
        let heir = DeviceSigningKey.generate(using: &random)
        log = try log.merging([
            Self.adding(heir, under: laptop.noise.publicKey, to: log, by: laptop.key)
        ])
        #expect(log.devices.map(\.device) == [laptop.key.device])
        log = try log.merging([log.revoking(laptop.key.device, by: root)])
        #expect(log.devices.map(\.device) == [heir.device])
    }
}
