import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@Suite("A device under the link key of another one")
struct LinkKeyTests {
    /// Of two devices under one key the one counts that was heard first: that of a junior once gave way
    /// to any that its senior was made to add.
    @Test(
        "Attack 84: is not added by any device that is asked, and takes nothing from whose key it is"
    )
    func refused84() throws {
        for seed in 84..<88 as Range<UInt64> {
            let world = World(seed: seed)
            let laptop = try world.addNode("laptop")
            let phone = try world.addDevice("phone", of: laptop)
            let watch = try world.addDevice("watch", of: phone)
            world.run(for: 20_000)
            let household = [laptop, phone, watch]
            let standing = household.map(\.identity.device).sorted()
            var random = SeededRandom(seed: seed, purpose: "ghosts")
            for asked in household {
                for owner in household {
                    let ghost = DeviceSigningKey.generate(using: &random)
                    let noise = owner.identity.noiseKey
                    let request = DeviceRequest(
                        device: ghost.device, noiseKey: noise,
                        proof: IdentityOperation.proofOfPossession(
                            to: laptop.identity.person, by: ghost, noiseKey: noise),
                        name: "ghost")
                    #expect(throws: CommandRefusal.unknownDevice) {
                        try world.perform(.addDevice(request), on: asked)
                    }
                    let log = asked.core.node.log
                    #expect(log.devices.map(\.device) == standing, "seed \(seed)")
                    #expect(log.operations.count == 4, "nothing is written for it")
                }
            }
        }
    }
}
