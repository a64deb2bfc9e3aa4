import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Members who write down what nobody asked for: `Protocol/05-identity.md`, "Links into groups".
@Suite("Attacks by links into groups")
struct LinkAttackTests {
    let world: World
    let ann, ben, cara: SimulatedNode
    let trip: SpaceID

    init() throws {
        world = World(seed: 1_530)
        ann = try world.addNode("ann")
        (ben, cara) = (try world.addNode("ben"), try world.addNode("cara"))
        guard case .space(let number) = try ann.perform(.createGroup(name: "trip", members: [])),
            let space = try ann.store.space(number)
        else { throw CommandRefusal.unknownConversation }
        trip = space.id
    }

    private func link(uses: UInt32) throws -> GroupLink {
        // Links of other uses have other keys.
        let secret = [UInt8](repeating: UInt8(uses), count: 32)
        let expires = World.epoch + world.now + 3_600_000
        let reply = try ann.perform(
            .createGroupInvite(
                trip, secret: secret, role: .member, uses: uses, expires: expires))
        guard case .operation(let invite) = reply else { throw CommandRefusal.unknownInvite }
        return GroupLink(
            space: trip, invite: invite, secret: secret, expires: expires, name: "trip",
            card: try ann.card())
    }

    private func roster() throws -> Roster {
        let space = try #require(try ann.store.space(trip))
        return try #require(try RosterReader.roster(of: space, in: ann.store))
    }

    private func join(_ node: SimulatedNode, by link: GroupLink) throws {
        try node.perform(.joinGroup(link))
        world.run(for: 20_000)
    }

    /// That somebody came by a link, with a word that one of these devices signed.
    private func coming(
        of guest: SimulatedNode, by link: GroupLink, signedBy signer: SimulatedNode,
        after departures: [OperationID] = []
    ) -> Draft {
        let identity = guest.identity
        return Redeem(
            invite: link.invite,
            newcomer: Newcomer(
                person: identity.person, name: guest.name, identity: identity.operations),
            device: identity.device,
            signature: Redeem.signature(
                to: link.invite, in: trip, for: identity.person, identity.device,
                with: GroupLink.key(of: link.secret)),
            departures: departures,
            consent: Redeem.consent(
                to: link.invite, in: trip, for: identity.person, after: departures,
                with: signer.identity.key)
        ).draft()
    }

    private func forge(_ draft: Draft, by liar: SimulatedNode) throws {
        let isTold = try world.forge(liar, in: trip) { forgery in
            let run = try #require(
                try forgery.run(
                    draft, at: world.wall(of: liar), naming: try forgery.causes(of: .control)))
            try forgery.keep(run)
            if liar !== ann { world.show(run, of: trip, from: liar, to: ann) }
            return true
        }
        #expect(isTold)
        world.run(for: 5_000)
    }

    @Test("Attack 153: who has the secret of a link puts nobody into a group who has not signed")
    func unasked() throws {
        let link = try link(uses: 5)
        try join(ben, by: link)
        try forge(coming(of: cara, by: link, signedBy: ben), by: ben)
        #expect(try roster().member(cara.person) == nil)
        try forge(coming(of: cara, by: link, signedBy: ann), by: ann)
        #expect(try roster().member(cara.person) == nil)
    }

    @Test("Attack 154: who left comes back by asking again, and by nobody's repeating their word")
    func left() throws {
        let link = try link(uses: 5)
        try join(ben, by: link)
        try join(cara, by: link)
        try cara.perform(.leave(trip))
        world.run(for: 20_000)
        #expect(try roster().member(cara.person) == nil)
        try forge(coming(of: cara, by: link, signedBy: cara), by: ben)
        #expect(try roster().member(cara.person) == nil)
        try join(cara, by: link)
        #expect(try roster().takesPart(cara.person))
    }

    @Test("Attack 154: who was removed comes back by a later link, and not by the one they had")
    func removed() throws {
        let first = try link(uses: 5)
        try join(ben, by: first)
        try join(cara, by: first)
        try ann.perform(.removeMember(trip, cara.person))
        world.run(for: 20_000)
        try join(cara, by: first)
        #expect(try roster().member(cara.person) == nil)
        #expect(try PendingJoin.refused(cara.store).map(\.invite) == [first.invite])
        try forge(coming(of: cara, by: first, signedBy: cara), by: ben)
        #expect(try roster().member(cara.person) == nil)
        try join(cara, by: try link(uses: 1))
        #expect(try roster().takesPart(cara.person))
    }

    @Test("Attack 155: a guest gives a second identity of theirs nothing that was kept from them")
    func history() throws {
        try ann.type("secret", in: trip)
        let link = try link(uses: 5)
        try join(ben, by: link)
        let own = ann.identity.device
        let floor = try roster().horizon(of: ben.identity.device).place(of: own, .content)
        #expect(floor != nil)
        try forge(coming(of: cara, by: link, signedBy: cara), by: ben)
        #expect(try roster().member(cara.person) != nil)
        let given = try roster().horizon(of: cara.identity.device).place(of: own, .content)
        #expect(given?.sequence == floor?.sequence)
    }
}
