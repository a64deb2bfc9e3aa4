import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

@Suite("Attacks on the roster")
struct RosterAttackTests {
    static func place(_ device: DeviceID, _ sequence: UInt64) -> LogPlace {
        LogPlace(
            device: device, lane: .content, sequence: sequence,
            operation: OperationID { $0[0] = UInt8(sequence) })
    }

    @Test("Attack 36: what a removed member goes on writing counts up to the cut alone")
    func goesOn() throws {
        var village = try Village(seed: 36, people: 3)
        village.write(village.add(1), by: 0)
        let device = village.people[1].devices[0].device
        let before = village.roster()
        village.write(village.remove(1, cut: [Self.place(device, 5)]), by: 0)
        let now = village.roster()
        #expect(!now.contains(device) && now.member(with: device) == nil)
        #expect(now.limit(of: device, lane: .content) == .through(5, OperationID { $0[0] = 5 }))
        #expect(now.limit(of: device, lane: .shared) == .none)
        #expect(now.limit(of: village.people[2].devices[0].device, lane: .content) == .none)
        #expect(now.judges(device, .content, 5, view: before))
        #expect(!now.judges(device, .content, 6, view: before))
        #expect(!now.judges(device, .shared, 0, view: before))
    }

    @Test("Attack 37: whatever a removed admin dates back is dead, in every order")
    func datedBack() throws {
        var village = try Village(seed: 37, people: 4)
        village.write(village.add(1, .admin), by: 0)
        let seen = Set(village.written.indices)
        village.write(village.remove(1), by: 0)
        let addition = village.write(village.add(2), by: 1, seen: seen)
        let invite = village.write(
            GroupInvite.open(
                key: village.people[3].root.device, role: .member, uses: 9, expires: 1
            ).draft(), by: 1, seen: seen)
        let expected = village.roster()
        #expect(expected.members.map(\.person) == [village.people[0].person])
        #expect(expected.invites.isEmpty)
        for order in village.orders() { #expect(village.roster(order) == expected) }
        let removal = village.written[2].operation.id
        for place in [addition, invite] {
            #expect(village.outcome(place) == .void(.revokedUnseen, by: removal))
        }
    }

    @Test(
        "Attack 38: content dated back counts below the cut alone, whatever it claims to have seen")
    func contentDatedBack() throws {
        var village = try Village(seed: 38, people: 2)
        let old = village.write(village.add(1), by: 0)
        let device = village.people[1].devices[0].device
        village.write(village.remove(1, cut: [Self.place(device, 1)]), by: 0)
        var graph = village.graph()
        let operation = village.written[old].operation
        let tips = ControlTips([LogTip(tag: operation.tag, sequence: operation.sequence)])
        let seen = graph.roster(at: tips)
        let view = try #require(seen)
        #expect(view.contains(device) && graph.tips(underAuthority: view.authority) == tips)
        let now = graph.roster()
        #expect(now.judges(device, .content, 1, view: view))
        #expect(!now.judges(device, .content, 2, view: view))
        // Whoever has seen the removal has no right to write.
        let last = graph.roster(at: graph.tips())
        #expect(last?.contains(device) == false)
    }

    @Test(
        "What is claimed to have been seen is found or not by what is held, in whatever order it came"
    )
    func claims() throws {
        var village = try Village(seed: 381, people: 5)
        let first = village.write(village.add(1, .admin), by: 0)
        let second = village.write(village.add(2, .admin), by: 0)
        let one = village.write(village.add(3), by: 1, seen: [0, first, second])
        let other = village.write(village.add(4), by: 2, seen: [0, first, second])
        let third = village.write(village.set(1, .member), by: 0, seen: [0, first, second])
        let tips = ControlTips(
            [one, other].map { place in
                let operation = village.written[place].operation
                return LogTip(tag: operation.tag, sequence: operation.sequence)
            }.sorted())
        var graph = village.graph()
        let seen = graph.roster(at: tips)
        let authority = try #require(seen).authority
        // Only in the first order were these two all that there was, at any time.
        for order in [
            [0, first, second, one, other, third], [0, first, second, third, other, one],
        ] {
            var graph = village.graph(order)
            #expect(graph.tips(underAuthority: authority) == tips)
        }
        #expect(graph.tips(underAuthority: authority ^ 1) == nil)
    }

    @Test(
        "Attack 39: mutual and circular removals, demotions and re-admissions are equal in all orders"
    )
    func circles() throws {
        // Of two owners who remove each other the senior stays.
        var mutual = try Village(seed: 39, people: 3)
        mutual.write(mutual.add(1, .owner), by: 0)
        mutual.write(mutual.add(2, .owner), by: 1)
        let seen = Set(mutual.written.indices)
        mutual.write(mutual.remove(2), by: 1, seen: seen)
        mutual.write(mutual.remove(1), by: 2, seen: seen)
        same(mutual, [.owner, .owner, nil])

        // Equals in a circle: nobody stands above anybody.
        var circle = try Village(seed: 40, people: 4)
        for person in 1...3 { circle.write(circle.add(person, .owner), by: 0) }
        let all = Set(circle.written.indices)
        for person in 1...3 { circle.write(circle.remove(person % 3 + 1), by: person, seen: all) }
        same(circle, [.owner, .owner, .owner, .owner])

        // Demoted while they remove somebody: the removal is dead.
        var demoted = try Village(seed: 41, people: 3)
        demoted.write(demoted.add(1, .admin), by: 0)
        demoted.write(demoted.add(2), by: 0)
        let both = Set(demoted.written.indices)
        demoted.write(demoted.set(1, .member), by: 0, seen: both)
        demoted.write(demoted.remove(2), by: 1, seen: both)
        same(demoted, [.owner, .member, .member])
    }

    @Test("Attack 39: a removal wins over an addition beside it, and a later one brings back")
    func readmission() throws {
        var village = try Village(seed: 42, people: 3)
        village.write(village.add(1, .admin), by: 0)
        village.write(village.add(2), by: 0)
        let seen = Set(village.written.indices)
        village.write(village.remove(2), by: 0, seen: seen)
        // The other admin removes and adds again, not knowing of the first removal.
        let removal = village.write(village.remove(2), by: 1, seen: seen)
        village.write(village.add(2), by: 1, seen: seen.union([removal]))
        same(village, [.owner, .admin, nil])
        village.write(village.add(2), by: 1)
        same(village, [.owner, .admin, .member])
        let device = village.people[2].devices[0].device
        #expect(village.roster().limit(of: device, lane: .content) == .all)
    }

    private func same(_ village: Village, _ roles: [Role?]) {
        let expected = village.roster()
        let orders = village.orders(atMost: 400)
        #expect(orders.count > 1)
        #expect(village.roles == roles)
        for order in orders {
            #expect(village.roster(order) == expected, "in the order \(order)")
        }
    }

    @Test("Attack 40: juniors touch no seniors, nobody raises themselves, unknown roles are none")
    func juniors() throws {
        var village = try Village(seed: 43, people: 4)
        village.write(village.add(1, .owner), by: 0)
        village.write(village.add(2, .reader), by: 0)
        let cases: [(Draft, Int, ControlRejection)] = [
            (village.remove(0), 1, .outranked), (village.set(0, .member), 1, .outranked),
            (village.set(1, .owner), 1, .outranked), (village.remove(1), 1, .outranked),
            (village.set(2, .owner), 2, .roleTooLow), (village.add(3), 2, .roleTooLow),
            (village.remove(1), 2, .roleTooLow), (village.remove(1), 3, .notInRoster),
            (village.add(2), 1, .alreadyMember), (village.remove(3), 1, .unknownPerson),
        ]
        for (draft, author, rejection) in cases {
            let place = village.write(draft, by: author)
            #expect(village.outcome(place) == .rejected(rejection), "\(draft.kind) by \(author)")
        }
        // person, then role 255
        let payload = [0x0a, 32] + village.people[2].person.bytes + [0x10, 0xff, 0x01]
        let place = village.write(
            Draft(kind: .setRole, lane: .control, payload: payload), by: 0)
        #expect(village.outcome(place) == .rejected(.malformed))
        #expect(village.roles == [.owner, .owner, .reader, nil])
    }

    @Test("Attack 41: of two removers' cuts the union counts")
    func twoCuts() throws {
        var village = try Village(seed: 44, people: 3)
        village.write(village.add(1, .admin), by: 0)
        village.write(village.add(2), by: 0)
        let view = village.roster()
        let seen = Set(village.written.indices)
        let device = village.people[2].devices[0].device
        village.write(village.remove(2, cut: [Self.place(device, 3)]), by: 0, seen: seen)
        village.write(village.remove(2, cut: [Self.place(device, 7)]), by: 1, seen: seen)
        let roster = village.roster()
        #expect(roster.limit(of: device, lane: .content) == .through(7, OperationID { $0[0] = 7 }))
        #expect(roster.judges(device, .content, 7, view: view))
        #expect(!roster.judges(device, .content, 8, view: view))
    }

    @Test("Attack 42: an invite brings as many as it says, in its space, while it lasts")
    func invites() throws {
        var village = try Village(seed: 45, people: 6)
        let key = DeviceSigningKey.generate(using: &village.draws)
        let place = village.write(
            GroupInvite.open(key: key.device, role: .member, uses: 1, expires: 1).draft(), by: 0)
        let invite = village.written[place].operation.id
        func redeem(_ person: Int, space: SpaceID? = nil, claim: Int? = nil) -> Draft {
            let villager = village.people[person]
            let device = villager.devices[0]
            return Redeem(
                invite: invite, newcomer: villager.newcomer, device: device.device,
                signature: Redeem.signature(
                    to: invite, in: space ?? village.space,
                    for: village.people[claim ?? person].person, device.device, with: key),
                consent: Redeem.consent(
                    to: invite, in: village.space, for: villager.person, with: device)
            ).draft()
        }
        let other = SpaceID { $0[0] = 1 }
        for draft in [redeem(1, space: other), redeem(1, claim: 2)] {
            let place = village.write(draft, by: 0)
            #expect(village.outcome(place) == .rejected(.unprovenInvite))
        }
        // Two at once by an invite for one: one comes, the same in every order.
        village.write(village.add(5), by: 0)
        let seen = Set(village.written.indices)
        let first = village.write(redeem(1), by: 0, seen: seen)
        let second = village.write(redeem(2), by: 5, seen: seen)
        let came = village.roster()
        #expect(came.members.count == 3 && came.invites.isEmpty)
        for order in village.orders(atMost: 200) { #expect(village.roster(order) == came) }
        let outcomes = [first, second].map(village.outcome)
        #expect(outcomes.contains(.void(.inviteUsedUp, by: invite)) && outcomes.contains(.holds))
        let late = village.write(redeem(3), by: 0)
        #expect(village.outcome(late) == .rejected(.inviteUsedUp))
        // Ended: whoever has not seen the end is out all the same.
        let more = village.write(
            GroupInvite.open(key: key.device, role: .reader, uses: 9, expires: 1).draft(), by: 0)
        #expect(village.roster().invites.map(\.usesLeft) == [9])
        village.write(GroupInvite.end(village.written[more].operation.id).draft(), by: 0)
        #expect(village.roster().invites.isEmpty)
    }
}
