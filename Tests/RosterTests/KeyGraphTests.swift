import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// Devices, leaves and horizons in a graph.
@Suite("Devices in a graph")
struct DeviceGraphTests {
    @Test("a device that the recovery code certified lets itself in and ends the lost one")
    func recovered() throws {
        var village = try Village(seed: 50, people: 1, kind: .own)
        let lost = village.people[0].devices[0].device
        let new = try village.people[0].addDevice(byRoot: true, &village.draws)
        let seen: Set<Int> = [0]
        let villager = village.people[0]
        village.write(
            Ident(
                person: villager.person, identity: villager.log.encoded,
                prekeys: villager.prekeys, change: .add
            ).draft(), by: new.device, seen: seen)
        #expect(village.roster().devices.count == 2)
        try village.people[0].revoke(lost)
        village.write(
            Ident(
                person: villager.person, identity: village.people[0].log.encoded,
                change: .revoke(lost, cut: Cut([RosterAttackTests.place(lost, 4)]))
            ).draft(), by: new.device, seen: Set(village.written.indices))
        let roster = village.roster()
        #expect(roster.devices.map(\.device) == [new.device])
        #expect(roster.limit(of: lost, lane: .content) == .through(4, OperationID { $0[0] = 4 }))
        // What the thief writes unseen is dead.
        let stolen = village.write(SpaceSettings(history: .all).draft(), by: lost, seen: seen)
        #expect(village.outcome(stolen) == .rejected(.fixedRoster))
    }

    @Test("a device has its prekey until it has a leaf, and loses that where it comes anew")
    func leaves() throws {
        var village = try Village(seed: 51, people: 2)
        village.write(village.add(1), by: 0)
        let device = village.people[1].devices[0].device
        var graph = village.graph()
        var held = graph.leaf(of: device, at: graph.tips())
        #expect(held == village.people[1].prekeys[0].key)
        let leaf = PrivateLeaf.generate(using: &village.draws).publicKey
        let update = Draft(
            kind: .leafUpdate, lane: .control, payload: leaf.bytes, isErasable: false)
        village.write(update, by: 1)
        graph = village.graph()
        held = graph.leaf(of: device, at: graph.tips())
        #expect(held == leaf)
        village.write(village.remove(1), by: 0)
        graph = village.graph()
        held = graph.leaf(of: device, at: graph.tips())
        #expect(held == nil)
        village.write(village.add(1), by: 0)
        graph = village.graph()
        held = graph.leaf(of: device, at: graph.tips())
        #expect(held == village.people[1].prekeys[0].key)
    }

    @Test("an epoch is sound for exactly the devices and the roster that its author saw")
    func epochs() throws {
        var village = try Village(seed: 55, people: 3)
        village.write(village.add(1), by: 0)
        var graph = village.graph()
        let author = village.people[0].devices[0].device
        let digest = graph.roster().digest
        let all = graph.leaves(besides: author, at: graph.tips())
        #expect(all.map(\.leaf) == [village.people[1].prekeys[0].key])
        func body(_ roster: Digest, _ recipients: [EpochRecipient]) throws -> EpochBody {
            let place = EpochPlace(
                space: village.space, author: author, sequence: 2,
                previous: village.written[1].operation.id, dependencies: [])
            return try EpochBody.mint(
                at: place, roster: roster, recipients: recipients,
                hedge: Secret(byteCount: 32) { $0[0] = 1 }, using: &village.draws
            ).body
        }
        let sound = try body(digest, all)
        let stranger = EpochRecipient(
            device: village.people[2].devices[0].device,
            leaf: village.people[2].prekeys[0].key)
        let bodies = [
            sound, sound, try body(digest, []), try body(digest, all + [stranger]),
            try body(Digest { $0[0] = 1 }, all), try body(digest, all),
        ]
        let places = bodies.map { body in
            village.write(
                Draft(kind: .epoch, lane: .control, payload: body.bytes, isErasable: false),
                by: 0)
        }
        graph = village.graph()
        #expect(graph.epochs.map(\.isSound) == [true, false, false, false, false, true])
        let own = graph.leaf(of: author, at: graph.tips())
        #expect(own == bodies[5].newLeaf)
        let first = village.written[places[0]].operation.id
        let last = village.written[places[5]].operation.id
        #expect(graph.hasLeft(first, author) && !graph.hasLeft(last, author))
        #expect(!graph.hasLeft(first, village.people[1].devices[0].device))
    }

    @Test("what two admissions withhold both is withheld")
    func horizons() throws {
        var village = try Village(seed: 52, people: 3)
        village.write(village.add(1, .admin), by: 0)
        let seen = Set(village.written.indices)
        let device = village.people[0].devices[0].device
        for (author, place) in [(0, UInt64(9)), (1, 5)] {
            var newcomer = village.people[2].newcomer
            newcomer.horizon = Horizon([RosterAttackTests.place(device, place)])
            village.write(
                AddMember(newcomer, role: .member).draft(), by: author, seen: seen)
        }
        let horizon = village.roster().member(village.people[2].person)?.devices[0].horizon
        #expect(horizon == Horizon([RosterAttackTests.place(device, 5)]))
    }

    @Test("a direct conversation keeps its two persons, and either sets what holds for both")
    func direct() throws {
        var village = try Village(seed: 53, people: 3, kind: .direct, founders: 2)
        for draft in [
            village.add(2), village.remove(1), village.set(1, .reader), Leave().draft(),
        ] {
            let place = village.write(draft, by: 0)
            #expect(village.outcome(place) == .rejected(.fixedRoster))
        }
        village.write(SpaceSettings(history: .days(3)).draft(), by: 1)
        #expect(village.roster().history == .days(3))
        #expect(village.roles == [.owner, .owner, nil])
    }

    @Test("operations out of order, twice, or without their causes are not taken")
    func order() throws {
        var village = try Village(seed: 54, people: 2)
        village.write(village.add(1), by: 0)
        let (first, second) = (village.written[0], village.written[1])
        var graph = ControlGraph(space: village.space)
        let taken = [second, first, first, second].map {
            graph.add($0.operation, by: $0.device)
        }
        #expect(taken == [false, true, true, true])
        var roster = graph.roster()
        #expect(roster.members.count == 2)
        // Above a proven fork nothing is taken.
        var forked = ControlGraph(space: village.space, forks: [first.operation.tag: 1])
        let below = [first, second].map { forked.add($0.operation, by: $0.device) }
        #expect(below == [true, false])
        roster = forked.roster()
        #expect(roster.members.count == 1)
    }
}
