import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleyRoster
import ParleySealing
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ann, who uses a relay, and ben, who has never met her. They are never up at the same time.
struct Strangers {
    let world: World
    let ann, ben: SimulatedNode
    let relay: SimulatedRelay

    init(seed: UInt64) throws {
        world = World(seed: seed)
        ann = try world.addNode("ann")
        ben = try world.addNode("ben")
        relay = world.addRelay("relay")
        world.stopProcess(of: ben)
        try world.use(relay, by: ann)
        world.run(for: 5_000)
    }

    /// Opens an invite.
    func invite(uses: Int = 1, hours: UInt64 = 48) throws -> Invite {
        let secret = ann.randomBytes(Invite.secretByteCount)
        let expires = World.epoch + world.now + hours * 3_600_000
        try ann.perform(.createInvite(secret: secret, expires: expires, uses: uses))
        return try #require(try ann.invite(with: secret))
    }

    /// Who is up goes, and somebody else comes.
    func change(from one: SimulatedNode, to other: SimulatedNode) {
        world.stopProcess(of: one)
        world.run(for: 60_000)
        world.start(other)
        world.run(for: 30_000)
    }

    func take(_ invite: Invite, by guest: SimulatedNode) throws {
        try guest.perform(.acceptInvite(invite, alias: ""))
        world.run(for: 10_000)
    }

    /// The only direct conversation that a node knows.
    func space(of node: SimulatedNode) throws -> SpaceID {
        let direct = try node.conversations().filter { $0.kind == .direct }
        try #require(direct.count == 1)
        return direct[0].id
    }

    func states(of node: SimulatedNode) throws -> [MessageState] {
        try node.messages(in: space(of: node)).compactMap(\.state)
    }

    /// The mailbox of an invite, by whoever has it.
    func mailbox(of invite: Invite) -> InviteMailbox {
        InviteMailbox(secret: invite.secret, relay: relay.key)
    }

    /// Whoever has the invite puts something where the card lies.
    func put(_ envelope: [UInt8], in mailbox: InviteMailbox) throws {
        let put = RelayOrder.put(
            mailbox.id, by: .drop, share: RelayShare(number: 0),
            hash: digest(.relayBlob, envelope), envelope: envelope)
        _ = try relay.store.perform([put], at: World.epoch + world.now)
    }
}

@Suite("First contact through a relay")
struct FirstContactTests {
    @Test(
        "two who are never up together meet by an invite, write and answer",
        arguments: [(1, false), (2, true)] as [(UInt64, Bool)])
    func apart(seed: UInt64, usesRelay: Bool) throws {
        let all = try Strangers(seed: seed)
        let (world, ann, ben) = (all.world, all.ann, all.ben)
        let invite = try all.invite()
        #expect(try OpenInvite.all(at: World.epoch, ann.store).first?.shown == nil)
        world.run(for: 5_000)
        #expect(try OpenInvite.all(at: World.epoch, ann.store).first?.shown != nil)
        all.change(from: ann, to: ben)
        if usesRelay { try world.use(all.relay, by: ben) }
        try all.take(Invite(link: invite.link), by: ben)
        let space = try all.space(of: ben)
        for text in ["one", "two", "three"] { try ben.type(text, in: space) }
        #expect(try all.states(of: ben) == [.saved, .saved, .saved])
        world.run(for: 10_000)
        #expect(try all.states(of: ben) == [.relayed, .relayed, .relayed])
        #expect(try ben.state(of: ann) == nil)
        all.change(from: ben, to: ann)
        #expect(try ann.texts(in: all.space(of: ann)) == ["one", "two", "three"])
        #expect(try ann.state(of: ben) == .accepted)
        try ann.read(space)
        try ann.type("four", in: space)
        world.run(for: 30_000)
        #expect(try all.states(of: ann) == [.relayed])
        all.change(from: ann, to: ben)
        #expect(try ben.texts(in: space) == ["one", "two", "three", "four"])
        #expect(try ben.state(of: ann) == .accepted)
        #expect(try all.states(of: ben).allSatisfy { $0 >= .delivered })
        world.startAll()
        world.run(for: 120_000)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
        #expect(try all.states(of: ann).allSatisfy { $0 >= .delivered })
        #expect(try all.space(of: ann) == space)
    }

    @Test("an invite whose card lies on a relay is not refused by a device that does not know it")
    func otherDevice() throws {
        let all = try Strangers(seed: 8)
        let (world, ann, ben) = (all.world, all.ann, all.ben)
        let phone = try world.addDevice("phone", of: ann)
        world.run(for: 10_000)
        guard case .space(let number) = try ann.perform(.createGroup(name: "trip", members: [])),
            let trip = try ann.store.space(number)?.id
        else { throw CommandRefusal.unknownConversation }
        // The card in a link into a group names both devices.
        let (secret, expires) = ([UInt8](repeating: 9, count: 32), World.epoch + 3_600_000)
        let opened = try ann.perform(
            .createGroupInvite(trip, secret: secret, role: .member, uses: 1, expires: expires))
        guard case .operation(let ended) = opened else { throw CommandRefusal.unknownInvite }
        try ann.perform(.endGroupInvite(trip, ended))
        world.start(ben)
        try ben.perform(
            .joinGroup(
                GroupLink(
                    space: trip, invite: ended, secret: secret, expires: expires, name: "trip",
                    card: ann.card())))
        world.run(for: 20_000)
        #expect(try PendingJoin.all(ben.store).isEmpty)
        let invite = try all.invite()
        #expect(invite.target == nil, "it names the relay")
        try all.take(invite, by: ben)
        world.run(for: 30_000)
        #expect(try ben.state(of: ann) == .accepted && phone.state(of: ben) == .accepted)
        #expect(try NodeCore.takenInvite(of: ann.person, in: ben.store) == nil)
    }

    @Test("a link has at most 200 characters, with a relay and without one")
    func length() throws {
        let all = try Strangers(seed: 3)
        #expect(try all.invite().link.utf8.count <= 200)
        let place = Invite.Place.relay(
            all.relay.key, addresses: ["a-relay.of-a-friend.example.org:7448"])
        let long = Invite(
            person: all.ann.person, secret: all.ann.randomBytes(16), expires: World.epoch,
            place: place)
        #expect(long.link.utf8.count <= 200)
        let device = Invite.Place.device(
            all.ann.identity.device, all.ann.core.node.noiseKey,
            addresses: ["192.168.100.200:47447"])
        let direct = Invite(
            person: all.ann.person, secret: long.secret, expires: World.epoch, place: device)
        #expect(direct.link.utf8.count <= 200)
    }

    @Test("Attack 141: an invite that was revoked before the letter is read is taken by nobody")
    func revoked() throws {
        let all = try Strangers(seed: 4)
        let invite = try all.invite()
        all.world.run(for: 5_000)
        all.change(from: all.ann, to: all.ben)
        try all.take(invite, by: all.ben)
        try all.ben.type("hello", in: all.space(of: all.ben))
        all.world.run(for: 10_000)
        all.world.stopProcess(of: all.ben)
        // She revokes it before her node hears anything.
        all.world.stop(all.relay)
        all.world.start(all.ann)
        all.world.run(for: 1_000)
        let open = try OpenInvite.all(at: World.epoch, all.ann.store)
        try all.ann.perform(.revokeInvite(open[0].number))
        all.world.start(all.relay)
        all.world.run(for: 400_000)
        #expect(try all.ann.state(of: all.ben) == nil)
        #expect(try all.ann.conversations().isEmpty)
        #expect(try all.ann.count(.invite) > 0)
        #expect(try all.states(of: all.ben) == [.relayed])
    }

    @Test("Attack 141: of two who take an invite for one, the first whose letter is read is in")
    func twoAtOnce() throws {
        let all = try Strangers(seed: 5)
        let cara = try all.world.addNode("cara")
        let invite = try all.invite()
        all.world.run(for: 5_000)
        all.change(from: all.ann, to: all.ben)
        for guest in [all.ben, cara] {
            try all.take(invite, by: guest)
            try guest.type("hello", in: all.space(of: guest))
        }
        all.world.run(for: 10_000)
        all.world.stopProcess(of: cara)
        all.change(from: all.ben, to: all.ann)
        #expect(try all.ann.conversations().count == 1)
        let states = try [all.ben, cara].map { try all.ann.state(of: $0) }
        #expect(states == [.accepted, nil])
        #expect(try all.ann.texts(in: all.space(of: all.ann)) == ["hello"])
        // The other one hears of it once both are there.
        func taken(_ guest: SimulatedNode) throws -> TakenInvite? {
            try guest.observing { try NodeCore.takenInvite(of: all.ann.person, in: guest.store) }
        }
        #expect(try taken(cara)?.isRefused == false)
        all.world.start(cara)
        all.world.start(all.ben)
        all.world.run(for: 120_000)
        #expect(try taken(cara)?.isRefused == true)
        #expect(try taken(all.ben) == nil && all.ben.state(of: all.ann) == .accepted)
        #expect(try cara.state(of: all.ann) == nil && all.ann.state(of: cara) == nil)
        // Another invite brings what was written with the first.
        try all.take(all.invite(), by: cara)
        all.world.run(for: 120_000)
        #expect(try taken(cara) == nil && all.ann.state(of: cara) == .accepted)
        let conversations = try all.ann.conversations().map { try all.ann.texts(in: $0.id) }
        #expect(conversations == [["hello"], ["hello"]])
    }

    @Test("who took an invite in time is let in though it is read later; who came late is not")
    func expiry() throws {
        for (seed, isLate) in [(6, false), (7, true)] as [(UInt64, Bool)] {
            let all = try Strangers(seed: seed)
            let invite = try all.invite(hours: 2)
            all.world.run(for: 5_000)
            all.change(from: all.ann, to: all.ben)
            // Whoever comes late reaches the relay only when the invite is over.
            if isLate { all.world.stop(all.relay) }
            try all.take(invite, by: all.ben)
            if isLate {
                all.world.run(for: 3 * 3_600_000)
                all.world.start(all.relay)
                all.world.run(for: 600_000)
            }
            try all.ben.type("hello", in: all.space(of: all.ben))
            all.world.run(for: 10_000)
            all.world.stopProcess(of: all.ben)
            all.world.run(for: 4 * 3_600_000)
            all.world.start(all.ann)
            all.world.run(for: 60_000)
            #expect(try all.ann.conversations().count == (isLate ? 0 : 1), "late: \(isLate)")
        }
    }

    @Test("Attack 140: a mailbox full of what others put there shows ann's card, no other")
    func hostileMailbox() throws {
        let all = try Strangers(seed: 8)
        let cara = try all.world.addNode("cara")
        let invite = try all.invite()
        all.world.run(for: 5_000)
        let mailbox = all.mailbox(of: invite)
        for number in 0..<20 {
            try all.put(all.ann.randomBytes(number % 2 == 0 ? 512 : 1024), in: mailbox)
        }
        // One who has the invite seals a card of their own, and one of ann's that does not hold.
        var random = SeededRandom(seed: 8)
        try all.put(mailbox.sealed(cara.card(), using: &random), in: mailbox)
        var broken = try all.ann.card()
        broken[broken.count - 1] ^= 1
        try all.put(mailbox.sealed(broken, using: &random), in: mailbox)
        all.change(from: all.ann, to: all.ben)
        try all.take(invite, by: all.ben)
        #expect(try all.ben.count(.card) == 2)
        #expect(try all.ben.count(.envelope) == 20)
        try all.ben.type("hello", in: all.space(of: all.ben))
        all.world.run(for: 10_000)
        all.change(from: all.ben, to: all.ann)
        #expect(try all.ann.texts(in: all.space(of: all.ann)) == ["hello"])
    }

    @Test("a relay that lost everything gets the card again, and what waits there")
    func loss() throws {
        let all = try Strangers(seed: 9)
        let invite = try all.invite()
        all.world.run(for: 5_000)
        all.world.stopProcess(of: all.ann)
        all.world.wipe(all.relay)
        all.world.start(all.ben)
        try all.take(invite, by: all.ben)
        #expect(try all.ben.conversations().isEmpty)
        all.change(from: all.ben, to: all.ann)
        all.change(from: all.ann, to: all.ben)
        let space = try all.space(of: all.ben)
        try all.ben.type("hello", in: space)
        all.world.run(for: 10_000)
        #expect(try all.states(of: all.ben) == [.relayed])
        all.world.wipe(all.relay)
        all.world.run(for: 60_000)
        all.change(from: all.ben, to: all.ann)
        all.change(from: all.ann, to: all.ben)
        all.change(from: all.ben, to: all.ann)
        #expect(try all.ann.texts(in: space) == ["hello"])
    }

    @Test("Attack 142: a relay is told nothing that opens the card or names who invites")
    func secrecy() throws {
        let all = try Strangers(seed: 10)
        let invite = try all.invite()
        all.world.run(for: 5_000)
        let contents = all.relay.contents.joined()
        for secret in [all.ann.person.bytes, invite.secret, all.ann.identity.device.bytes] {
            #expect(!Array(contents).contains(secret))
        }
        let other = InviteMailbox(secret: all.ann.randomBytes(16), relay: all.relay.key)
        #expect(all.relay.contents.allSatisfy { other.card(in: $0) == nil })
        let otherRelay = InviteMailbox(
            secret: invite.secret, relay: NoiseKey { $0[0] = 1 })
        #expect(otherRelay.id != all.mailbox(of: invite).id)
    }
}

extension Array where Element == UInt8 {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}
