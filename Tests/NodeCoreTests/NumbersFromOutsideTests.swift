import ParleyConversation
import ParleyLedger
import ParleySignalling
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySealing

/// Numbers that somebody else chose: none ends a node, and none locks anybody out.
@Suite("Numbers from outside")
struct NumbersFromOutsideTests {
    /// Feeds one node an input beside its world, as its shell does.
    private static func feed(
        _ input: Input, to node: SimulatedNode, in world: World
    ) throws -> [Effect] {
        var core = node.core
        let store = try node.store.copy()
        var random = SeededRandom(seed: 1, purpose: "aside")
        let now = Instant(monotonic: world.now, wall: World.epoch + world.now)
        try store.begin(.full)
        let effects = try core.step(input, at: now, in: store, using: &random)
        try store.commit()
        return effects
    }

    private static let times: [UInt64] = [
        0, 1, Limits.wallClockMax - 1, Limits.wallClockMax, UInt64(1) << 63, .max,
    ]

    @Test(
        "Attack 57: a letter of a stranger, of whatever time, is left out",
        arguments: times)
    func strangersLetter(sent: UInt64) throws {
        let pair = try Pair(seed: 57)
        var random = SeededRandom(seed: 57, purpose: "stranger")
        let stranger = DeviceSigningKey.generate(using: &random)
        let effects = try Self.passedLetter(
            sent: sent, of: PersonID { $0[0] = 7 }, by: stranger, in: pair)
        #expect(effects.isEmpty)
        // The form is right: of a contact and of now it is taken, and of another time it is not.
        let (ben, now) = (pair.ben.identity, World.epoch + pair.world.now)
        #expect(!(try Self.passedLetter(sent: now, of: ben.person, by: ben.key, in: pair)).isEmpty)
        #expect(try Self.passedLetter(sent: sent, of: ben.person, by: ben.key, in: pair).isEmpty)
    }

    /// What Ann's node does about a letter that says that somebody types, by whom it likes.
    private static func passedLetter(
        sent: UInt64, of person: PersonID, by key: DeviceSigningKey, in pair: Pair
    ) throws -> [Effect] {
        // All of this stands on a card and in an invite.
        let part = try #require(
            try CardReader.parts(of: pair.ann.identity.person, pair.ben.store).first)
        let mailbox = try #require(part.mailboxes.first)
        let prekey = try #require(part.prekeys.last)
        var random = SeededRandom(seed: 57, purpose: "letter")
        var content = ByteWriter()
        content.byte(1)
        content.uint64(sent)
        content.identifier(person)
        let stamp = Stamp((World.epoch + pair.world.now) << 16)
        content.raw(Signal(space: pair.space, stamp: stamp, body: .typing(true)).encoded())
        let letter = try #require(
            Letter.seal(
                content.bytes, as: .passing, to: prekey.key, inbox: mailbox.inbox,
                by: key, using: &random))
        return try feed(
            .relay(mailbox.relay, .passed(mailbox.inbox, letter)), to: pair.ann, in: pair.world)
    }

    private static let days: [UInt64] = [0, 1, 27, 28, 29, 30, 31, 32, 101_805, 101_806]

    @Test("Attack 58: a relay may say that it is any day", arguments: days)
    func relaysDay(day: UInt64) throws {
        let pair = try Pair(seed: 58)
        let told = try #require(RelayDay(exactly: day))
        _ = try Self.feed(.relay(pair.relay.key, .day(told)), to: pair.ann, in: pair.world)
        let welcome = RelayWelcome(
            day: told, newest: 0, needsTicket: false, starts: [RelayStart(id: 1, newest: 0)])
        let effects = try Self.feed(
            .relay(pair.relay.key, .opened(welcome)), to: pair.ann, in: pair.world)
        // Its days are followed, whatever they are: it is asked for few, and for those of now.
        let asked = effects.count { if case .askRelay = $0 { true } else { false } }
        #expect((1...80).contains(asked), "\(asked) requests")
    }

    @Test(
        "Attack 58: a day that no clock reaches is refused",
        arguments: [101_807, 1_000_000, UInt32.max])
    func impossibleDay(day: UInt32) {
        var frame = ByteWriter()
        frame.byte(6)
        frame.uint32(day)
        #expect(throws: DecodingFailure.forbidden(field: "day")) {
            try RelayServerFrame.decode(frame.bytes)
        }
        let welcome = RelayWelcome(
            day: 0, newest: 0, needsTicket: false, starts: [RelayStart(id: 1, newest: 0)])
        var bytes = welcome.encoded
        withUnsafeBytes(of: day.bigEndian) { bytes.replaceSubrange(1..<5, with: $0) }
        #expect(throws: DecodingFailure.forbidden(field: "day")) { try RelayWelcome(bytes: bytes) }
    }

    @Test("Attack 58: who chose no relay is not hurt by one that a contact names")
    func contactsRelay() throws {
        let world = World(seed: 3)
        let ann = try world.addNode("ann")
        let eve = try world.addNode("eve")
        try world.introduce(ann, eve)
        let evil = world.addRelay("evil")
        try world.use(evil, by: eve)
        world.run(for: 120_000)
        #expect(ann.core.relayStates.map(\.relay) == [evil.key])
        let welcome = RelayWelcome(
            day: 0, newest: 0, needsTicket: false, starts: [RelayStart(id: 1, newest: 0)])
        _ = try Self.feed(.relay(evil.key, .opened(welcome)), to: ann, in: world)
    }

    private static let versions: [CardVersion] = [
        CardVersion(clamping: Limits.wallClockMax - 1), CardVersion(clamping: Limits.wallClockMax),
        .greatest.previous, .greatest,
    ]

    @Test(
        "Attack 59: a stolen device gives its card any version, and the others publish theirs",
        arguments: versions)
    func cardVersion(version: CardVersion) throws {
        let world = World(seed: 59)
        let ann = try world.addNode("ann")
        let phone = try world.addDevice("phone", of: ann)
        let ben = try world.addNode("ben")
        try world.introduce(ann, ben)
        world.run(for: 60_000)
        let part = CardPart.make(
            version: version, noiseKey: phone.identity.noiseKey, name: "not ann", addresses: [],
            key: phone.identity.key)
        let card = Card(
            person: ann.identity.person, identity: phone.core.node.operations, parts: [part])
        phone.distrust()
        let frame = Frame.introduce(Introduction(card: card.encoded, redemption: nil))
        for node in [ann, ben] { world.inject(frame, from: phone, to: node) }
        world.run(for: 1_000)
        let kept = try #require(try CardReader.kept(of: ann.identity.person, ann.store))
        #expect(kept.parts.map(\.version).max() == version)
        for count in 0..<3 {
            let addresses = ["10.0.0.\(count):7447"]
            _ = try world.perform(.setProfile(name: nil, addresses: addresses), on: ann)
            world.run(for: 1_000)
            let shown = try CardReader.parts(of: ann.identity.person, ben.store)
            #expect(shown.first { $0.device == ann.identity.device }?.addresses == addresses)
        }
    }

    @Test("Attack 59: a part of a card above the greatest version is no part")
    func impossibleVersion() throws {
        var random = SeededRandom(seed: 60)
        let key = DeviceSigningKey.generate(using: &random)
        let noiseKey = DeviceNoiseKey.generate(using: &random).publicKey
        let part = CardPart.make(
            version: .greatest, noiseKey: noiseKey, name: "", addresses: [], key: key)
        #expect(try CardPart(bytes: part.bytes).version == .greatest)
        for version in [Limits.placeMax, UInt64.max] {
            var bytes = part.bytes
            withUnsafeBytes(of: version.bigEndian) { bytes.replaceSubrange(33..<41, with: $0) }
            #expect(throws: DecodingFailure.forbidden(field: "version")) {
                try CardPart(bytes: bytes)
            }
        }
    }
}
