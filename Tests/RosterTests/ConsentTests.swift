import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// Who was added to a group is in it, and has not accepted, until they say so.
@Suite("Consent")
struct ConsentTests {
    private let accept = Accept().draft()

    /// Who has not accepted; the same in every order.
    private func invited(_ village: Village) -> [Int] {
        var found: Set<[PersonID]> = []
        for order in village.orders(atMost: 60) { found.insert(village.roster(order).invited) }
        #expect(found.count == 1)
        return village.people.indices.filter { place in
            found.first?.contains(village.people[place].person) == true
        }
    }

    @Test("is asked of founders and of those who are added, not of who makes the group")
    func asked() throws {
        var village = try Village(seed: 701, people: 3, founders: 2)
        village.write(village.add(2), by: 0)
        #expect(invited(village) == [1, 2])
        let roster = village.roster()
        #expect(roster.participants.map(\.person) == [village.people[0].person])
        #expect(roster.members.count == 3)
        village.write(accept, by: 1)
        #expect(invited(village) == [2])
        village.write(accept, by: 2)
        #expect(invited(village).isEmpty)
    }

    @Test("changes no roster: digest and authority stay as they were")
    func withoutAuthority() throws {
        var village = try Village(seed: 702, people: 2)
        village.write(village.add(1), by: 0)
        let before = village.roster()
        village.write(accept, by: 1)
        let after = village.roster()
        #expect(before.digest == after.digest)
        #expect(before.authority == after.authority)
        #expect(before.members == after.members)
    }

    @Test("is not asked in a conversation of two")
    func direct() throws {
        let village = try Village(seed: 703, people: 2, kind: .direct, founders: 2)
        #expect(invited(village).isEmpty)
    }

    @Test("is nobody else's to give")
    func others() throws {
        var village = try Village(seed: 704, people: 3)
        village.write(village.add(1), by: 0)
        village.write(village.add(2), by: 0)
        village.write(accept, by: 0)
        village.write(accept, by: 1)
        #expect(invited(village) == [2])
    }

    @Test("given before one is added says nothing")
    func beforehand() throws {
        var village = try Village(seed: 705, people: 2)
        let device = village.people[1].devices[0].device
        village.write(accept, by: device, seen: [0])
        village.write(village.add(1), by: 0)
        #expect(invited(village) == [1])
    }

    @Test("ends with leaving: who is added again is asked again")
    func again() throws {
        var village = try Village(seed: 706, people: 2)
        village.write(village.add(1), by: 0)
        village.write(accept, by: 1)
        village.write(Leave().draft(), by: 1)
        village.write(village.add(1), by: 0)
        #expect(invited(village) == [1])
        village.write(accept, by: 1)
        #expect(invited(village).isEmpty)
    }

    @Test("that had not seen a removal does not count for who is added after it")
    func beside() throws {
        var village = try Village(seed: 707, people: 3)
        village.write(village.add(1), by: 0)
        let seen = Set(village.written.indices)
        village.write(accept, by: 1, seen: seen)
        let removal = village.write(village.remove(1), by: 0, seen: seen)
        village.write(village.add(1), by: 0, seen: seen.union([removal]))
        #expect(invited(village) == [1])
    }

    @Test("to one of two additions is consent to both")
    func twice() throws {
        var village = try Village(seed: 708, people: 3)
        village.write(village.add(2, .admin), by: 0)
        let seen = Set(village.written.indices)
        let first = village.write(village.add(1), by: 0, seen: seen)
        village.write(village.add(1), by: 2, seen: seen)
        village.write(accept, by: 1, seen: seen.union([first]))
        // Whoever made the other addition stays, the first one goes.
        #expect(!invited(village).contains(1))
    }

    @Test("by one device counts for the person, also after that device is revoked")
    func devices() throws {
        var village = try Village(seed: 709, people: 2)
        let second = try village.people[1].addDevice(&village.draws).device
        village.write(village.add(1), by: 0)
        village.write(accept, by: second, seen: Set(village.written.indices))
        #expect(invited(village).isEmpty)
        try village.people[1].revoke(second)
        let one = village.people[1]
        let revocation = Ident(
            person: one.person, identity: one.log.encoded,
            change: .revoke(second, cut: Cut()))
        village.write(revocation.draft(), by: 1)
        #expect(invited(village).isEmpty)
    }

    @Test("tells who asks, by the most senior of those who added")
    func invitation() throws {
        var village = try Village(seed: 710, people: 3)
        village.write(village.add(2, .admin), by: 0)
        let seen = Set(village.written.indices)
        village.write(village.add(1), by: 2, seen: seen)
        let senior = village.write(village.add(1), by: 0, seen: seen)
        for order in village.orders(atMost: 60) {
            var graph = village.graph(order)
            #expect(graph.roster().isInvited(village.people[1].person))
            let found = graph.invitation(of: village.people[1].person)
            #expect(found?.inviter == village.people[0].person)
            #expect(found?.place.tag == village.written[senior].operation.tag)
        }
    }

    @Test("that cannot be read is none")
    func malformed() throws {
        #expect(throws: ControlRejection.malformed) { try Accept(payload: [0x08, 0x02]) }
        #expect(throws: ControlRejection.malformed) { try Accept(payload: [0x09]) }
        var village = try Village(seed: 711, people: 2)
        village.write(village.add(1), by: 0)
        village.write(
            Draft(kind: .accept, lane: .control, payload: [0x08, 0x02], isErasable: false), by: 1)
        #expect(invited(village) == [1])
    }
}
