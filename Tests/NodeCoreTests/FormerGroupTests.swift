import ParleyLedger
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

@Suite("Own devices know the same: groups that the person is out of")
struct FormerGroupTests {
    /// A group of ann's that ben has accepted to be in, with a message in it.
    private func accepted(_ asked: Asked, _ name: String) throws -> SpaceID {
        let group = try asked.group(name, [asked.ben, asked.cara], by: asked.ann)
        asked.world.run(for: 3_000)
        _ = try asked.world.perform(.acceptInvitation(group), on: asked.ben)
        asked.world.run(for: 3_000)
        try asked.world.type("hello", on: asked.ann, in: group)
        asked.world.run(for: 3_000)
        return group
    }

    /// What a device shows that was never in a group which its person is out of.
    private func expectLeft(
        _ group: SpaceID, named name: String, on node: SimulatedNode, of asked: Asked
    ) throws {
        let record = try #require(try node.store.space(group), "it is known")
        let roster = try #require(try asked.roster(group, node))
        #expect(roster.member(node.identity.person) == nil)
        #expect(!roster.contains(node.identity.device))
        #expect(try Invitation.into(group, in: node.store) == nil, "it is listed as on the others")
        #expect(try asked.contentCount(group, node) == 0, "nothing else is fetched")
        #expect(
            try RosterReader.nameTold(of: record, to: node.identity.person, in: node.store)
                == name)
        #expect(throws: CommandRefusal.notMember) {
            try asked.world.type("x", on: node, in: group)
        }
    }

    @Test("a new device knows what was left and what the person was taken out of, and keeps it")
    func left() throws {
        let asked = try Asked(seed: 911)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let (trip, choir) = (try accepted(asked, "trip"), try accepted(asked, "choir"))
        let band = try accepted(asked, "band")
        _ = try world.perform(.leave(trip), on: ben)
        _ = try world.perform(.removeMember(choir, ben.identity.person), on: ann)
        world.run(for: 5_000)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 20_000)
        #expect(try asked.roster(band, phone)?.contains(phone.identity.device) == true)
        for (group, name) in [(trip, "trip"), (choir, "choir")] {
            try expectLeft(group, named: name, on: phone, of: asked)
        }
        #expect(try asked.invitations(phone).isEmpty)
        world.restart(phone)
        world.run(for: 200_000)
        let held = try phone.store.space(trip)?.number
        for (group, name) in [(trip, "trip"), (choir, "choir")] {
            try expectLeft(group, named: name, on: phone, of: asked)
        }
        #expect(try phone.store.space(trip)?.number == held, "it was not fetched again")
        #expect(try ben.texts(in: trip) == ["hello"], "the device that was in it has all")
        // Nobody else was told of the phone.
        #expect(try asked.roster(trip, ann)?.person(of: phone.identity.device) == nil)
        // Whoever is let in again is in with the new device as well.
        _ = try world.perform(
            .addMember(trip, ben.identity.person, .member), on: ann)
        world.run(for: 10_000)
        _ = try world.perform(.acceptInvitation(trip), on: phone)
        world.run(for: 10_000)
        try world.type("back", on: phone, in: trip)
        world.run(for: 10_000)
        #expect(try ann.texts(in: trip).last == "back")
    }

    @Test("whoever left tells those whom their other device has removed that they are out")
    func leftAndRemoved() throws {
        let asked = try Asked(seed: 914)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let phone = try world.addDevice("phone", of: ann)
        world.run(for: 20_000)
        let trip = try accepted(asked, "trip")
        _ = try world.perform(.setRole(trip, ben.identity.person, .owner), on: ann)
        world.run(for: 5_000)
        world.partition([phone], [ann], [ben, asked.cara])
        world.run(for: 100_000)
        _ = try world.perform(.removeMember(trip, ben.identity.person), on: phone)
        _ = try world.perform(.removeMember(trip, asked.cara.identity.person), on: phone)
        _ = try world.perform(.leave(trip), on: ann)
        world.heal()
        // All of them are out as soon as ann's devices meet, and ben hears of neither before.
        world.partition([phone, ann], [ben, asked.cara])
        world.run(for: 300_000)
        #expect(try asked.roster(trip, ann)?.members.isEmpty == true)
        #expect(try asked.roster(trip, ben)?.takesPart(ben.identity.person) == true)
        world.heal()
        world.run(for: 300_000)
        #expect(try asked.roster(trip, ben)?.member(ben.identity.person) == nil, "ben knows")
        #expect(throws: CommandRefusal.notMember) {
            try world.type("to whom?", on: ben, in: trip)
        }
        // That ann has left is nothing that ben, who was out before, may know.
        #expect(try asked.roster(trip, ben)?.member(ann.identity.person) != nil)
    }

    @Test("who took a role from whoever removed them hears that they had no right to by then")
    func removedOwner() throws {
        let asked = try Asked(seed: 915)
        let (world, ann, ben, cara) = (asked.world, asked.ann, asked.ben, asked.cara)
        let trip = try accepted(asked, "trip")
        _ = try world.perform(.acceptInvitation(trip), on: cara)
        // Whom ben made an admin he may change, whenever he is an owner.
        for (person, role, by) in [
            (ben, Role.owner, ann), (cara, .admin, ben), (ben, .member, ann),
        ] {
            _ = try world.perform(.setRole(trip, person.identity.person, role), on: by)
            world.run(for: 5_000)
        }
        // Ben is made an owner again, and cara, who has not heard it, removes him.
        world.partition([ann, ben], [cara])
        world.run(for: 60_000)
        _ = try world.perform(.setRole(trip, ben.identity.person, .owner), on: ann)
        world.run(for: 5_000)
        _ = try world.perform(.removeMember(trip, ben.identity.person), on: cara)
        // He takes cara's role while ann takes his.
        world.partition([ann], [ben])
        world.run(for: 60_000)
        _ = try world.perform(.setRole(trip, cara.identity.person, .member), on: ben)
        _ = try world.perform(.setRole(trip, ben.identity.person, .member), on: ann)
        world.heal()
        world.partition([ann, cara], [ben])
        world.run(for: 300_000)
        for node in [ann, cara] {
            #expect(try asked.roster(trip, node)?.member(ben.identity.person) == nil)
        }
        #expect(try asked.roster(trip, ben)?.member(ben.identity.person)?.role == .owner)
        world.heal()
        world.run(for: 300_000)
        let rosters = try [ann, ben, cara].map { try #require(try asked.roster(trip, $0)) }
        #expect(Set(rosters.map(\.authority)).count == 1, "all know the same")
        for roster in rosters {
            #expect(roster.member(ben.identity.person) == nil)
            #expect(roster.member(cara.identity.person)?.role == .admin)
        }
    }

    @Test("what was declined, or never accepted, is brought to nobody")
    func declined() throws {
        let asked = try Asked(seed: 912)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let trip = try asked.group("trip", [ben], by: ann)
        world.run(for: 3_000)
        _ = try world.perform(.declineInvitation(trip), on: ben)
        world.run(for: 5_000)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 100_000)
        #expect(try phone.store.space(trip) == nil)
        #expect(try asked.invitations(phone).isEmpty)
    }

    @Test("what was deleted on one device comes back to it from no other, nor to a new one")
    func deleted() throws {
        let asked = try Asked(seed: 913)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 20_000)
        let trip = try accepted(asked, "trip")
        world.run(for: 5_000)
        _ = try world.perform(.leave(trip), on: ben)
        world.run(for: 5_000)
        // The other one is away when it is deleted, and brings it before it has heard of that.
        world.partition([phone], [ben, ann, asked.cara])
        world.run(for: 100_000)
        _ = try world.perform(.deleteConversation(trip), on: ben)
        world.heal()
        world.run(for: 500_000)
        #expect(try ben.store.space(trip) == nil)
        #expect(try phone.texts(in: trip) == ["hello"], "deleting is of one device")
        let tablet = try world.addDevice("tablet", of: ben)
        world.run(for: 200_000)
        #expect(try tablet.store.space(trip) == nil)
        // Who comes back is in again, on all; who leaves then has left, and deleted nothing.
        _ = try world.perform(.addMember(trip, ben.identity.person, .member), on: ann)
        world.run(for: 10_000)
        _ = try world.perform(.acceptInvitation(trip), on: ben)
        world.run(for: 20_000)
        #expect(try asked.roster(trip, tablet)?.contains(tablet.identity.device) == true)
        _ = try world.perform(.leave(trip), on: ben)
        world.run(for: 20_000)
        let later = try world.addDevice("later", of: ben)
        world.run(for: 20_000)
        #expect(try later.store.space(trip) != nil)
    }

    @Test("a removal that had not seen the acceptance leaves no new device in doubt")
    func unseenAcceptance() throws {
        let asked = try Asked(seed: 914)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let trip = try asked.group("trip", [ben], by: ann)
        world.run(for: 3_000)
        world.partition([ann], [ben, asked.cara])
        world.run(for: 100_000)
        _ = try world.perform(.acceptInvitation(trip), on: ben)
        _ = try world.perform(.removeMember(trip, ben.identity.person), on: ann)
        world.heal()
        world.run(for: 400_000)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 200_000)
        try expectLeft(trip, named: "trip", on: phone, of: asked)
    }
}
