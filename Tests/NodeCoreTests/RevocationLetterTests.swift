import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

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

    @Test("is told so in answer to its letters, once an hour")
    func answered() throws {
        let world = pair.world
        // What it showed of itself before.
        let card = try #require(try CardReader.own(of: phone.identity, phone.store))
        world.stopProcess(of: phone)
        try revokePhone()
        world.run(for: 60_000)
        let ben = pair.ben
        let part = try #require(
            try CardReader.parts(of: ben.identity.person, ben.store).first)
        let mailbox = try #require(part.mailboxes.first)
        let prekey = try #require(part.prekeys.last)
        var (core, store) = (ben.core, try ben.store.copy())
        var random = SeededRandom(seed: 9, purpose: "letters")
        var answers: [Bool] = []
        for (index, minute) in [0, 1, 61].enumerated() {
            let shown = Frame.introduce(Introduction(card: card.encoded, redemption: nil))
            let content = try #require(
                LetterContent.encode([shown], number: LetterNumber(clamping: UInt64(index + 1))))
            let letter = try #require(
                Letter.seal(
                    content, to: prekey.key, inbox: mailbox.inbox, by: phone.identity.key,
                    using: &random))
            let time = world.now + UInt64(minute) * 60_000
            let entry = RelayEntry(counter: .max / 2 + UInt64(index), envelope: letter)
            try store.begin(.full)
            let effects = try core.step(
                .relay(pair.relay.key, .arrived(mailbox.inbox, [entry])),
                at: Instant(monotonic: time, wall: World.epoch + time), in: store, using: &random)
            try store.commit()
            answers.append(
                effects.contains { effect in
                    switch effect {
                    // The relay that the phone reads is called first, where it is not connected.
                    case .callRelay(far.key, _): true
                    case .askRelay(far.key, let request):
                        if case .put = request.action { true } else { false }
                    default: false
                    }
                })
        }
        #expect(answers == [true, false, true])
    }
}
