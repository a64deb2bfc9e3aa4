import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

/// A revoked device that nobody links with. Source: `Protocol/05-identity.md`, "Identity log".
@Suite("A revoked device behind relays")
struct RevocationLetterTests {
    private let pair: Pair
    private let phone: SimulatedNode
    /// The only relay that the phone reads.
    private let far: SimulatedRelay

    init() throws {
        pair = try Pair(seed: 163)
        far = pair.world.addRelay("far")
        phone = try pair.world.addDevice("phone", of: pair.ann)
        pair.world.run(for: 60_000)
        try pair.world.use(far, by: phone)
        try pair.world.use(pair.relay, by: phone, until: 1)
        pair.world.run(for: 60_000)
        pair.world.keepToRelays()
        pair.world.run(for: 60_000)
    }

    private func revokePhone() throws {
        _ = try pair.world.perform(
            .revokeDevice(phone.identity.device, root: nil), on: pair.ann)
    }

    @Test("is told so by the device that revokes it")
    func told() throws {
        try revokePhone()
        pair.world.run(for: 60_000)
        let knows = phone.core.node.isRevoked
        #expect(knows)
    }

    @Test("is told so by whom it writes to, where the letter was lost")
    func answered() throws {
        pair.world.stopProcess(of: phone)
        pair.world.stop(far)
        try revokePhone()
        // No letter waits so long for its relay.
        pair.world.run(for: 900_000)
        pair.world.start(far)
        pair.world.start(phone)
        let knows = phone.core.node.isRevoked
        #expect(!knows)
        // At its start it asks what is new.
        pair.world.run(for: 1_800_000)
        let hasHeard = phone.core.node.isRevoked
        #expect(hasHeard)
    }
}
