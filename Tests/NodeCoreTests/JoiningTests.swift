import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@Suite("Links into groups")
struct JoiningTests {
    let world: World
    let ann, ben, cara: SimulatedNode
    let trip: SpaceID

    init() throws {
        world = World(seed: 71)
        ann = try world.addNode("ann")
        (ben, cara) = (try world.addNode("ben"), try world.addNode("cara"))
        guard case .space(let number) = try ann.perform(.createGroup(name: "trip", members: [])),
            let space = try ann.store.space(number)
        else { throw CommandRefusal.unknownConversation }
        trip = space.id
    }

    /// A link into the group.
    private func link(
        uses: UInt32, lasting time: UInt64 = 3_600_000
    ) throws -> GroupLink {
        let secret = [UInt8](repeating: 9, count: 32)
        let expires = World.epoch + world.now + time
        let reply = try ann.perform(
            .createGroupInvite(
                trip, secret: secret, role: .member, uses: uses, expires: expires))
        guard case .operation(let invite) = reply else { throw CommandRefusal.unknownInvite }
        return GroupLink(
            space: trip, invite: invite, secret: secret, expires: expires, name: "trip",
            card: try ann.card())
    }

    private func isIn(_ node: SimulatedNode) throws -> Bool {
        guard let space = try ann.store.space(trip) else { return false }
        return try RosterReader.roster(of: space, in: ann.store)?.member(node.person) != nil
    }

    private func waits(_ node: SimulatedNode) throws -> Bool {
        try !PendingJoin.all(node.store).isEmpty
    }

    @Test("bring in whom they are for, without making contacts")
    func joins() throws {
        let link = try link(uses: 2)
        #expect(try GroupLink(link: link.link) == link)
        for node in [ben, cara] { try node.perform(.joinGroup(link)) }
        world.run(for: 20_000)
        #expect(try isIn(ben) && isIn(cara))
        #expect(try !waits(ben) && !waits(cara))
        #expect(try ben.state(of: ann) == nil && ann.state(of: ben) == nil)
        try cara.type("hello", in: trip)
        world.run(for: 5_000)
        #expect(try ben.texts(in: trip) == ["hello"])
        #expect(try ann.texts(in: trip) == ["hello"])
    }

    @Test("bring in whoever comes while the maker is away, once somebody can be asked")
    func away() throws {
        let link = try link(uses: 1)
        world.partition([ann], [ben])
        try ben.perform(.joinGroup(link))
        world.run(for: 60_000)
        #expect(try waits(ben) && !isIn(ben))
        world.heal()
        world.run(for: 400_000)
        #expect(try isIn(ben) && !waits(ben))
    }

    @Test("bring in nobody who wants it no more, unless they take the link again")
    func withdrawn() throws {
        let link = try link(uses: 1)
        #expect(throws: WorldError.self) { try ben.perform(.withdrawJoin(trip)) }
        world.partition([ann], [ben])
        try ben.perform(.joinGroup(link))
        world.run(for: 60_000)
        #expect(try waits(ben))
        try ben.perform(.withdrawJoin(trip))
        #expect(try !waits(ben))
        world.heal()
        world.run(for: 400_000)
        #expect(try !isIn(ben) && ben.store.space(trip) == nil)
        try ben.perform(.joinGroup(link))
        world.run(for: 400_000)
        #expect(try isIn(ben) && !waits(ben))
    }

    @Test("Attack 42: links that are used up, ended or expired bring in nobody")
    func dead() throws {
        let first = try link(uses: 1)
        for node in [ben, cara] {
            try node.perform(.joinGroup(first))
            world.run(for: 20_000)
        }
        #expect(try isIn(ben) && !isIn(cara))
        #expect(try !waits(cara), "who is refused asks no more")
        let second = try link(uses: 5)
        try ann.perform(.endGroupInvite(trip, second.invite))
        try cara.perform(.joinGroup(second))
        world.run(for: 20_000)
        #expect(try !isIn(cara) && !waits(cara))
        let third = try link(uses: 5, lasting: 1_000)
        // The guest's clock does not tell.
        cara.clock.skew = -3_600_000
        world.run(for: 10_000)
        try cara.perform(.joinGroup(third))
        world.run(for: 20_000)
        #expect(try !isIn(cara) && !waits(cara))
        #expect(try ann.count(.invite) == 3)
    }

    @Test("of who has left since bring in nobody, and whoever took one hears of it")
    func left() throws {
        let other = try link(uses: 5)
        let link = try link(uses: 5)
        try ben.perform(.joinGroup(link))
        world.run(for: 20_000)
        #expect(try isIn(ben))
        try ann.perform(.setRole(trip, ben.identity.person, .owner))
        world.run(for: 10_000)
        try ann.perform(.leave(trip))
        world.run(for: 10_000)
        try cara.perform(.joinGroup(other))
        world.run(for: 20_000)
        #expect(try !isIn(cara) && !waits(cara))
    }

    @Test("that were refused leave an invite of the same person to the device that opened it")
    func inviteAfterwards() throws {
        let phone = try world.addDevice("phone", of: ann)
        world.run(for: 10_000)
        let used = try link(uses: 1)
        for node in [ben, cara] {
            try node.perform(.joinGroup(used))
            world.run(for: 20_000)
        }
        #expect(try !isIn(cara))
        // The card in the link names both devices; one of them alone knows what is opened now.
        for (opener, byte) in [(ann, 3), (phone, 4)] as [(SimulatedNode, UInt8)] {
            let guest = opener === ann ? cara : try world.addNode("dan")
            if guest !== cara { try guest.perform(.joinGroup(used)) }
            world.run(for: 20_000)
            let secret = [UInt8](repeating: byte, count: Invite.secretByteCount)
            let expires = World.epoch + world.now + 3_600_000
            try opener.perform(.createInvite(secret: secret, expires: expires))
            let invite = try #require(try opener.invite(with: secret))
            try guest.perform(.acceptInvite(invite, alias: ""))
            world.run(for: 30_000)
            #expect(try guest.state(of: ann) == .accepted)
            #expect(try ann.state(of: guest) == .accepted && phone.state(of: guest) == .accepted)
            #expect(try NodeCore.takenInvite(of: ann.person, in: guest.store) == nil)
        }
    }

    @Test("Attack 42: what was signed for one guest brings in no other")
    func stolen() throws {
        let link = try link(uses: 5)
        var random = SystemRandomNumberGenerator()
        let signature = Redeem.signature(
            to: link.invite, in: trip, for: ben.person, ben.identity.device,
            with: DeviceSigningKey.generate(using: &random))
        let wish = try #require(
            SignatureBytes(signature.bytes).map {
                Introduction.Join(
                    space: trip, invite: link.invite, signature: $0, consent: $0)
            })
        try world.introduce(ann, cara)
        world.inject(
            .introduce(Introduction(card: try cara.card(), join: wish)), from: cara, to: ann)
        world.run(for: 5_000)
        #expect(try !isIn(cara) && !isIn(ben))
        #expect(try ann.count(.invite) == 1)
    }

    @Test("bring in nobody whom the group was not opened for, and only admins make them")
    func roles() throws {
        try ben.perform(.joinGroup(try link(uses: 1)))
        world.run(for: 20_000)
        let command = Command.createGroupInvite(
            trip, secret: [UInt8](repeating: 1, count: 32), role: .member, uses: 1,
            expires: World.epoch + 3_600_000)
        #expect(throws: WorldError.self) { try ben.perform(command) }
        try ann.perform(.setRole(trip, ben.person, .admin))
        world.run(for: 5_000)
        try ben.perform(command)
    }

    @Test("are told once of who came, however many devices of the maker let them in")
    func twoSponsors() throws {
        let phone = try world.addDevice("phone", of: ann)
        world.run(for: 30_000)
        let link = try link(uses: 5)
        world.run(for: 5_000)
        // Each lets the guest in without knowing of the other.
        world.partition([ann, cara], [phone, ben])
        try ben.perform(.joinGroup(link))
        world.run(for: 60_000)
        world.partition([ann, ben], [phone, cara])
        world.run(for: 60_000)
        world.heal()
        world.run(for: 400_000)
        let space = try #require(try ann.observed { try ann.store.space(trip) })
        let events = try ann.observed { try MembershipHistory.events(of: space, in: ann.store) }
        #expect(events.filter { $0.change == .joined }.map(\.person) == [ben.person])
        // Who goes and comes again has come twice.
        try ben.perform(.leave(space.id))
        world.run(for: 20_000)
        try ben.perform(.joinGroup(try self.link(uses: 1)))
        world.run(for: 60_000)
        let more = try ann.observed { try MembershipHistory.events(of: space, in: ann.store) }
        #expect(more.filter { $0.change == .joined && $0.holds }.count == 2)
    }
}
