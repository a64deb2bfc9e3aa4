import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Eve makes a group with three others, and makes ann an admin, who lets dan in. Then somebody has
/// eve's keys.
private struct Stolen {
    let world: World
    let eve, ann, ben, cara, dan: SimulatedNode
    let group: SpaceID

    init(seed: UInt64) throws {
        world = World(seed: seed)
        let nodes = try ["eve", "ann", "ben", "cara", "dan"].map { [world] in
            try world.addNode($0)
        }
        (eve, ann, ben, cara, dan) = (nodes[0], nodes[1], nodes[2], nodes[3], nodes[4])
        try world.introduce(nodes)
        let reply = try world.perform(
            .createGroup(name: "all", members: nodes[1...3].map(\.identity.person)), on: eve)
        guard case .space(let number) = reply, let space = try eve.store.space(number) else {
            throw CommandRefusal.unknownConversation
        }
        group = space.id
        world.run(for: 10_000)
    }

    func letIn() throws {
        _ = try world.perform(.setRole(group, ann.identity.person, .admin), on: eve)
        world.run(for: 10_000)
        _ = try world.perform(.addMember(group, dan.identity.person, .member), on: ann)
        world.run(for: 10_000)
    }

    /// Another operation of eve's log of lane 0, in the place of what stands there.
    func forged(_ draft: Draft, insteadOf place: UInt64) throws -> Run {
        eve.isHonest = false
        let forgery = try #require(try Forgery(eve, in: group))
        return try #require(
            try forgery.run(draft, at: world.wall(of: eve), naming: [], insteadOf: place))
    }

    /// What eve's log really has from a place up to the next signature.
    func real(from place: UInt64) throws -> Run {
        let log = try #require(try Forgery(eve, in: group)?.log(.control))
        let head = try #require(try eve.store.head(atOrAfter: place, in: log.number))
        let held = try eve.store.operations(
            in: log.number, place...head.sequence, limit: .max)
        let before = try eve.store.operation(at: place - 1, in: log.number)
        return Run(
            device: eve.identity.device, lane: .control, first: place, anchor: before?.id,
            operations: held.map(\.operation), heads: [head])
    }

    var honest: [SimulatedNode] { [ann, ben, cara, dan] }

    func roster(of node: SimulatedNode) throws -> Roster {
        let space = try #require(try node.store.space(group))
        return try #require(try node.roster(of: space))
    }

    /// Everybody honest has the whole group, ann is an admin, and what is written comes to all.
    func expectWhole() throws {
        for node in honest {
            let roster = try roster(of: node)
            #expect(try node.store.forks().count == 1, "\(node.name)")
            #expect(roster.members.count == 5, "\(node.name)")
            #expect(roster.member(ann.identity.person)?.role == .admin, "\(node.name)")
            #expect(roster.invited.isEmpty, "\(node.name)")
            // What a node goes by is what it would read of its store.
            let space = try #require(try node.store.space(group))
            #expect(node.core.rosters.judges[space.number]?.roster == roster, "\(node.name)")
        }
        for node in honest { try world.type("still here, \(node.name)", on: node, in: group) }
        world.run(for: 120_000)
        for node in honest {
            let texts = try node.texts(in: group)
            for other in honest {
                #expect(texts.contains("still here, \(other.name)"), "\(node.name)")
            }
        }
        #expect(try world.observe { try world.difference } == nil)
    }
}

@Suite("A founder whose keys are stolen")
struct ForkedFounderTests {
    @Test("Attack 20: a second history from its start, signed long after, voids nobody")
    func longAfter() throws {
        let stolen = try Stolen(seed: 200)
        try stolen.letIn()
        let theft = try stolen.forged(
            RemoveMember(stolen.ben.identity.person, cut: Cut()).draft(), insteadOf: 1)
        let proof = ForkProof(space: stolen.group, left: try stolen.real(from: 1), right: theft)
        stolen.world.inject(.fork(proof), from: stolen.eve, to: stolen.ben)
        stolen.world.run(for: 120_000)
        try stolen.expectWhole()
    }

    @Test("Attack 20: who was shown the thief's branch alone comes to have the other")
    func otherBranch() throws {
        for seed in 210..<213 as Range<UInt64> {
            let stolen = try Stolen(seed: seed)
            for other in [stolen.ann, stolen.ben, stolen.dan] {
                stolen.world.cut(stolen.cara, other)
            }
            let place = try #require(
                try stolen.eve.store.space(stolen.group).flatMap { space in
                    try stolen.eve.store.logs(in: space.number).first {
                        $0.lane == .control && $0.device == stolen.eve.identity.device
                    }
                }
            ).end
            let theft = try stolen.forged(
                RemoveMember(stolen.ben.identity.person, cut: Cut()).draft(), insteadOf: place)
            stolen.world.show(theft, of: stolen.group, from: stolen.eve, to: stolen.cara)
            stolen.world.run(for: 1_000)
            let deceived = try stolen.roster(of: stolen.cara)
            #expect(deceived.member(stolen.ben.identity.person) == nil, "seed \(seed)")
            stolen.world.cut(stolen.cara, stolen.eve)
            try stolen.letIn()
            stolen.world.heal()
            stolen.world.run(for: 600_000)
            try stolen.expectWhole()
        }
    }
}
