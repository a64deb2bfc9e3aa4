import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// Anybody in the roster may write down that somebody came by a link: nothing in that is theirs to make
/// up.
@Suite("Attacks by links into groups")
struct LinkAttackTests {
    /// A group with a key for its links.
    private func village(
        _ seed: UInt64, people: Int
    ) throws -> (Village, DeviceSigningKey) {
        var village = try Village(seed: seed, people: people)
        let key = DeviceSigningKey.generate(using: &village.draws)
        return (village, key)
    }

    private func identifier(_ place: Int, _ village: Village) -> OperationID {
        village.written[place].operation.id
    }

    private func same(_ village: Village, _ roles: [Role?]) {
        #expect(village.roles == roles)
        let expected = village.roster()
        for order in village.orders(atMost: 200) {
            #expect(village.roster(order) == expected, "in the order \(order)")
        }
    }

    @Test("Attack 153: nobody comes by a link whose own device has not signed that they want to")
    func forged() throws {
        var (village, key) = try village(153, people: 2)
        let invite = village.open(9, by: 0, for: key)
        let forger = village.people[0].devices[0]
        let place = village.write(
            village.redeem(1, by: invite, of: key, signedBy: forger), by: 0)
        #expect(village.outcome(place) == .rejected(.unwanted))
        same(village, [.owner, nil])
        village.write(village.redeem(1, by: invite, of: key), by: 0)
        same(village, [.owner, .member])
        #expect(village.roster().invited.isEmpty)
    }

    @Test("Attack 154: what somebody signed brings them back neither after they left nor removed")
    func repeated() throws {
        var (village, key) = try village(154, people: 3)
        village.write(village.add(2, .reader), by: 0)
        let invite = village.open(9, by: 0, for: key)
        let before = Set(village.written.indices)
        let word = village.redeem(1, by: invite, of: key)
        village.write(word, by: 0)
        let leaving = village.write(Leave().draft(), by: 1)
        let again = village.write(word, by: 2)
        #expect(village.outcome(again) == .rejected(.unwanted))
        // Beside the Leave it is nothing that had seen it.
        village.write(word, by: 2, seen: before)
        same(village, [.owner, nil, .reader])
        village.write(village.redeem(1, by: invite, of: key, after: [leaving]), by: 2)
        same(village, [.owner, .member, .reader])
        let removal = village.write(village.remove(1), by: 0)
        let undone = village.write(
            village.redeem(1, by: invite, of: key, after: [leaving, removal]), by: 2)
        #expect(village.outcome(undone) == .rejected(.removedSince))
        let later = village.open(1, by: 0, for: key)
        village.write(village.redeem(1, by: later, of: key), by: 2)
        same(village, [.owner, .member, .reader])
    }

    @Test("Attack 155: nobody gives of the past what they were not given, by a link or as an admin")
    func history() throws {
        var (village, key) = try village(155, people: 5)
        let own = village.people[0].devices[0].device
        let invite = village.open(9, by: 0, for: key)
        village.write(
            village.redeem(1, by: invite, of: key, horizon: [RosterAttackTests.place(own, 5)]),
            by: 0)
        village.write(
            village.redeem(2, by: invite, of: key, horizon: [RosterAttackTests.place(own, 2)]),
            by: 1)
        village.write(village.set(1, .admin), by: 0)
        village.write(village.add(3), by: 1)
        village.write(
            village.redeem(4, by: invite, of: key, horizon: [RosterAttackTests.place(own, 7)]),
            by: 2)
        let roster = village.roster()
        let places: [UInt64?] = (1...4).map {
            let horizon = roster.horizon(of: village.people[$0].devices[0].device)
            return horizon.place(of: own, .content)?.sequence
        }
        #expect(places == [5, 5, 5, 7])
    }

    @Test(
        "Attack 155: of more places than a horizon lists those count that its author was not given")
    func longHorizon() {
        func place(_ number: Int) -> LogPlace {
            RosterAttackTests.place(
                DeviceID {
                    $0[0] = UInt8(number >> 8)
                    $0[1] = UInt8(number & 255)
                }, 3)
        }
        let floor = Horizon((600..<1200).map(place))
        #expect(Horizon((0..<600).map(place)).raised(to: floor) == floor)
        let short = Horizon((1190..<1200).map(place))
        let raised = Horizon((0..<600).map(place)).raised(to: short)
        #expect(raised.places.count == LogPlaces.countMax)
        #expect(raised.place(of: place(1195).device, .content) != nil)
    }

    @Test(
        "Attack 156: any admin's end of a link, or of a sponsor's place or rank, binds who left it out",
        arguments: 0...2)
    func ended(way: Int) throws {
        var (village, key) = try village(156, people: 5)
        village.write(village.add(1, .admin), by: 0)
        village.write(village.add(2, way == 2 ? .admin : .member), by: 0)
        let invite = village.open(9, by: 0, for: key)
        let seen = Set(village.written.indices)
        let end =
            switch way {
            case 0:
                village.write(
                    GroupInvite.end(identifier(invite, village)).draft(), by: 1, seen: seen)
            case 1: village.write(village.remove(2), by: 1, seen: seen)
            default: village.write(village.set(2, .member), by: 0, seen: seen)
            }
        let back = village.write(village.redeem(3, by: invite, of: key), by: 2, seen: seen)
        #expect(village.outcome(back) == .void(.revokedUnseen, by: identifier(end, village)))
        // Who stands above that admin lets in whom they please.
        village.write(village.redeem(4, by: invite, of: key), by: 0, seen: seen)
        let second: Role? = way == 1 ? nil : .member
        same(village, [.owner, .admin, second, nil, .member])
    }

    @Test("Attack 157: who is let in later, whatever is left out, takes no use from who came")
    func overuse() throws {
        var (village, key) = try village(157, people: 7)
        village.write(village.add(5), by: 0)
        let invite = village.open(2, by: 0, for: key)
        let other = village.open(9, by: 0, for: key)
        village.write(village.redeem(1, by: invite, of: key), by: 0)
        let seen = Set(village.written.indices)
        // Their sponsors are the founder, and somebody who came earlier than the attacker.
        let throughMember = village.draws.happens(onceIn: 2)
        for isThroughMember in [throughMember, !throughMember] {
            var village = village
            for _ in 0..<3 { village.write(SpaceSettings(rotationHours: 5).draft(), by: 0) }
            village.write(village.redeem(2, by: invite, of: key), by: isThroughMember ? 5 : 0)
            let back = village.write(village.redeem(3, by: invite, of: key), by: 1, seen: seen)
            let behind = village.write(
                village.redeem(4, by: other, of: key), by: 3, seen: seen.union([back]))
            #expect(
                village.outcome(back) == .void(.inviteUsedUp, by: identifier(invite, village)))
            #expect(village.outcome(behind) == .void(.rightIsVoid, by: identifier(back, village)))
            same(village, [.owner, .member, .member, nil, nil, .member, nil])
        }
    }

    @Test("Attack 157: who came through somebody without a rank can leave and bring devices")
    func guests() throws {
        var (village, key) = try village(158, people: 3)
        village.write(village.add(1), by: 0)
        let invite = village.open(9, by: 0, for: key)
        village.write(village.redeem(2, by: invite, of: key), by: 1)
        let second = try village.people[2].addDevice(&village.draws)
        let guest = village.people[2]
        let addition = village.write(
            Ident(
                person: guest.person, identity: guest.log.encoded, prekeys: guest.prekeys,
                change: .add
            ).draft(), by: 2)
        #expect(village.outcome(addition) == .holds)
        #expect(village.roster().contains(second.device))
        let leaving = village.write(Leave().draft(), by: 2)
        #expect(village.outcome(leaving) == .holds)
        same(village, [.owner, .member, nil])
    }
}
