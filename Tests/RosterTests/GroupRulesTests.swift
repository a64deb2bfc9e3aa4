import ParleyLedger
import ParleyPayloads
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// Source: Protocol/08-roster.md, "Rules".
@Suite("Rules of a group")
struct GroupRulesTests {
    private static func rules(_ given: [GroupAct: GroupRule]) -> Draft {
        var rules = GroupRules()
        for (act, rule) in given { rules[act] = rule }
        return SpaceSettings(rotationHours: 168, rules: rules).draft()
    }

    /// The founder, two members and some who are not in.
    private func village(_ seed: UInt64, _ given: [GroupAct: GroupRule]) throws -> Village {
        var village = try Village(seed: seed, people: 6)
        village.write(village.add(1), by: 0)
        village.write(village.add(2), by: 0)
        village.write(Self.rules(given), by: 0)
        return village
    }

    private func members(_ village: Village, _ order: [Int]? = nil) -> [String] {
        village.roster(order).members.map(\.name).sorted()
    }

    /// The same of every order, or of many.
    private func expect(
        _ village: Village, _ names: [String], _ comment: Comment? = nil
    ) {
        var draws = Draws(seed: 9)
        for _ in 0..<12 {
            let order = village.drawnOrder(&draws)
            #expect(members(village, order) == names, comment)
        }
    }

    @Test("without a word everybody writes, and admins add, pin and open links")
    func unspoken() throws {
        let village = try village(1, [:])
        let rules = village.roster().settings.rules
        #expect(rules.isEmpty)
        #expect(rules.rights(of: .reader) == [])
        #expect(rules.rights(of: .member) == [.write])
        #expect(rules.rights(of: .admin) == Set(GroupAct.allCases))
        var others = GroupRules()
        others[.write] = .everybody
        #expect(!others.differ(from: rules))
        others[.pin] = .everybody
        #expect(others.differ(from: rules))
    }

    @Test("each rule is a register of its own, and only owners write it")
    func registers() throws {
        var village = try village(2, [.write: .admins])
        village.write(village.set(1, .admin), by: 0)
        let refused = village.write(Self.rules([.write: .everybody]), by: 1)
        #expect(village.outcome(refused) == .rejected(.roleTooLow))
        village.write(Self.rules([.pin: .everybody]), by: 0)
        let rules = village.roster().settings.rules
        #expect(rules[.write] == .admins && rules[.pin] == .everybody && rules[.add] == nil)
        #expect(rules.rights(of: .member) == [.pin])
    }

    @Test("a number of a later version says nothing, and parts nobody from those who know it")
    func unknownNumbers() throws {
        var message = PayloadSettings()
        message.rotationHours = 24
        message.write = 3
        message.pin = 1
        let read = try SpaceSettings(payload: Payload.encode(message))
        #expect(read.rules[.write] == nil && read.rules[.pin] == .everybody)
        message = PayloadSettings()
        message.write = 3
        #expect(throws: ControlRejection.malformed) {
            try SpaceSettings(payload: Payload.encode(message))
        }
    }

    @Test("Attack 268: a member adds nobody where only admins may, and no admin where all may")
    func addedAnyway() throws {
        func outcome(
            of draft: Draft, by person: Int, in village: inout Village
        ) -> ControlReason.Outcome? {
            let place = village.write(draft, by: person)
            return village.outcome(place)
        }
        var closed = try village(3, [:])
        let refused = ControlReason.Outcome.rejected(.roleTooLow)
        let draft = closed.add(3)
        let added = outcome(of: draft, by: 1, in: &closed)
        #expect(added == refused)
        #expect(members(closed) == ["p0", "p1", "p2"])
        var wide = try village(4, [.add: .everybody])
        // A reader is not everybody.
        let cases: [(Draft, Int, ControlReason.Outcome)] = [
            (wide.add(3), 1, .holds), (wide.add(4, .admin), 1, refused),
            (wide.add(4, .reader), 2, .holds), (wide.add(5), 4, refused),
            (wide.remove(3), 1, refused),
        ]
        for (place, (draft, person, expected)) in cases.enumerated() {
            let found = outcome(of: draft, by: person, in: &wide)
            #expect(found == expected, "case \(place)")
        }
        expect(wide, ["p0", "p1", "p2", "p3", "p4"])
    }

    @Test("whom members added adds others, leaves, has further devices, in whatever order")
    func chain() throws {
        for seed in 10..<22 as Range<UInt64> {
            var village = try village(seed, [.add: .everybody])
            let founded = Set(village.written.indices)
            let first = village.write(village.add(3), by: 1, seen: founded)
            let second = village.write(village.add(4), by: 3, seen: [first])
            let third = village.write(village.add(5), by: 4, seen: [second])
            _ = try village.people[5].addDevice(&village.draws)
            let five = village.people[5]
            let added = village.write(
                Ident(
                    person: five.person, identity: five.log.encoded, prekeys: five.prekeys,
                    change: .add
                ).draft(), by: 5, seen: [third])
            let left = village.write(Leave().draft(), by: 3, seen: [third])
            for place in [first, second, third, added, left] {
                #expect(village.outcome(place) == .holds, "seed \(seed), \(place)")
            }
            expect(village, ["p0", "p1", "p2", "p4", "p5"], "seed \(seed)")
            #expect(village.roster().member(five.person)?.devices.count == 2)
        }
    }

    @Test("what was done by a rule stays when the rule ends, and counts of those who had not heard")
    func later() throws {
        var village = try village(5, [.add: .everybody])
        let seen = Set(village.written.indices)
        village.write(village.add(3), by: 1)
        village.write(Self.rules([.add: .admins]), by: 0)
        let unaware = village.write(village.add(4), by: 2, seen: seen)
        #expect(village.outcome(unaware) == .holds)
        let aware = village.write(village.add(5), by: 2)
        #expect(village.outcome(aware) == .rejected(.roleTooLow))
        expect(village, ["p0", "p1", "p2", "p3", "p4"])
    }

    @Test("Attack 269: who was removed or may only read adds nobody who counts, by whatever rule")
    func voided() throws {
        for isRemoved in [true, false] {
            var village = try village(6, [.add: .everybody])
            let seen = Set(village.written.indices)
            let end = village.write(isRemoved ? village.remove(1) : village.set(1, .reader), by: 0)
            let backdated = village.write(village.add(3), by: 1, seen: seen)
            #expect(
                village.outcome(backdated)
                    == .void(.revokedUnseen, by: village.written[end].operation.id))
            // Nor does whom they added.
            let further = village.write(village.add(4), by: 3, seen: [backdated])
            guard case .void(.rightIsVoid, _) = village.outcome(further) else {
                Issue.record("\(String(describing: village.outcome(further)))")
                continue
            }
            expect(village, isRemoved ? ["p0", "p2"] : ["p0", "p1", "p2"])
        }
    }

    @Test("members open links where all may, end their own, and a link closes with the rule")
    func links() throws {
        for seed in 30..<38 as Range<UInt64> {
            var village = try village(seed, [.invite: .everybody])
            let key = DeviceSigningKey.generate(using: &village.draws)
            let invite = village.open(3, by: 1, for: key)
            #expect(village.roster().invites.count == 1)
            let came = village.write(village.redeem(3, by: invite, of: key), by: 2)
            #expect(village.outcome(came) == .holds)
            // By somebody who came by it themselves.
            let second = village.write(village.redeem(4, by: invite, of: key), by: 3)
            #expect(village.outcome(second) == .holds, "seed \(seed)")
            let foreign = village.write(
                GroupInvite.end(village.written[invite].operation.id).draft(), by: 2)
            #expect(village.outcome(foreign) == .rejected(.roleTooLow))
            village.write(Self.rules([.invite: .admins]), by: 0)
            #expect(village.roster().invites.isEmpty)
            let late = village.write(village.redeem(5, by: invite, of: key), by: 2)
            #expect(village.outcome(late) == .rejected(.roleTooLow))
            village.write(Self.rules([.invite: .everybody]), by: 0)
            let ended = village.write(
                GroupInvite.end(village.written[invite].operation.id).draft(), by: 1)
            #expect(village.outcome(ended) == .holds, "seed \(seed)")
            #expect(village.roster().invites.isEmpty)
            expect(village, ["p0", "p1", "p2", "p3", "p4"], "seed \(seed)")
        }
    }

    @Test("in a conversation of two both may write and pin, whatever one of them settles")
    func two() throws {
        var village = try Village(seed: 8, people: 2, kind: .direct, founders: 2)
        village.write(Self.rules([.write: .admins, .add: .everybody]), by: 1)
        let roster = village.roster()
        #expect(roster.rights(of: .member) == [.write, .pin])
        #expect(roster.rights(of: .reader) == [])
    }
}
