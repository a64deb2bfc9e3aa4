import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySealing

@Suite("Epochs of a space")
struct EpochTests {
    private func current(_ node: SimulatedNode, _ space: SpaceID) throws -> CurrentEpoch? {
        var keys = KeyUser(node)
        return try keys.current(space)
    }

    @Test("a conversation begins with an epoch that all of its devices can use")
    func beginning() throws {
        let trio = try Trio(seed: 1)
        let chosen = try trio.nodes.map { try current($0, trio.group)?.id }
        #expect(Set(chosen).count == 1 && chosen[0] != nil)
        for sender in trio.nodes {
            var sending = KeyUser(sender)
            let sent = try sending.seal("from \(sender.name)", in: trio.group)
            for receiver in trio.nodes where receiver.index != sender.index {
                var receiving = KeyUser(receiver)
                #expect(try receiving.open(sent) == "from \(sender.name)")
                #expect(try receiving.open(sent) == nil, "once only")
            }
        }
        // The first envelope makes the chains, and the seed is gone.
        let epoch = try #require(chosen[0] ?? nil)
        for node in trio.nodes {
            let space = try KeyUser(node).space(trio.group)
            #expect(try node.store.secret(.seed, epoch.bytes, in: space.number) == nil)
            #expect(try KeyUser(node).secretCount(.chain, in: trio.group) == 3)
        }
    }

    @Test(
        "Attack 36: who was removed opens nothing of the next epoch, and the others go on at once")
    func removal() throws {
        let trio = try Trio(seed: 2)
        let before = try #require(try current(trio.ann, trio.group))
        _ = try trio.world.perform(
            .removeMember(trio.group, trio.cara.identity.person), on: trio.ann)
        let after = try #require(try current(trio.ann, trio.group))
        #expect(after.id != before.id, "the epoch is made with the removal")
        trio.world.run(for: 5_000)
        #expect(try current(trio.ben, trio.group)?.id == after.id)
        var (ann, ben, cara) = (KeyUser(trio.ann), KeyUser(trio.ben), KeyUser(trio.cara))
        let sent = try ann.seal("without cara", in: trio.group)
        #expect(try ben.open(sent) == "without cara")
        #expect(try cara.open(sent) == nil)
        #expect(try !cara.holds(after.id, in: trio.group))
    }

    @Test(
        "a device that is linked opens the epoch that its admission makes, before it wrote a word")
    func linkedDevice() throws {
        let trio = try Trio(seed: 14)
        let laptop = trio.ann
        let before = try #require(try current(laptop, trio.group))
        let phone = try trio.world.addDevice("phone", of: laptop)
        let after = try #require(try current(laptop, trio.group))
        #expect(after.id != before.id, "the epoch is made with the admission")
        trio.world.run(for: 4_000)
        var keys = KeyUser(phone)
        #expect(try keys.holds(after.id, in: trio.group))
        #expect(try current(phone, trio.group)?.id == after.id)
        var ben = KeyUser(trio.ben)
        let sent = try ben.seal("hello phone", in: trio.group)
        #expect(try keys.open(sent) == "hello phone")
    }

    @Test("Attack 46: who is added opens what comes, and nothing from before")
    func addition() throws {
        let world = World(seed: 3)
        let (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        try world.introduce([ann, ben, cara])
        let group = try world.group("trip", [ann, ben])
        world.run(for: 5_000)
        let before = try #require(try current(ann, group))
        _ = try world.perform(.addMember(group, cara.identity.person, .member), on: ann)
        world.run(for: 5_000)
        let after = try #require(try current(ann, group))
        #expect(after.id != before.id)
        #expect(try current(cara, group)?.id == after.id)
        var newcomer = KeyUser(cara)
        #expect(try !newcomer.holds(before.id, in: group))
        var sending = KeyUser(ben)
        #expect(try newcomer.open(sending.seal("welcome", in: group)) == "welcome")
    }

    @Test("Attack 61: an epoch of a clock far ahead gives way to one whose author had seen it")
    func clockAhead() throws {
        let world = World(seed: 61)
        let everybody = try ["ann", "ben", "cara", "dora"].map { try world.addNode($0) }
        let nodes = Array(everybody.prefix(3))
        let (ann, ben) = (nodes[0], nodes[1])
        try world.introduce(everybody)
        ann.clock.skew = 3_653 * 86_400_000
        let group = try world.group("trip", everybody)
        // Whoever removes somebody makes the next epoch.
        _ = try world.perform(.removeMember(group, everybody[3].identity.person), on: ann)
        world.run(for: 5_000)
        let ahead = try #require(try current(ann, group))
        #expect(ahead.author == ann.identity.device)
        try world.type("a question", on: ann, in: group)
        // An epoch that is a week old is replaced by whoever writes next.
        world.pass(days: 8)
        try world.type("an answer", on: ben, in: group)
        world.run(for: 10_000)
        let healing = try #require(try current(ben, group))
        #expect(healing.author == ben.identity.device && healing.madeAt < ahead.madeAt)
        for node in nodes { #expect(try current(node, group)?.id == healing.id, "\(node.name)") }
    }

    @Test(
        "Attack 43: two halves that change and mint apart find one epoch together",
        arguments: [4, 5, 6] as [UInt64])
    func partition(seed: UInt64) throws {
        let world = World(seed: seed)
        let names = ["ann", "ben", "cara", "dan", "eve"]
        let nodes = try names.map { try world.addNode($0) }
        try world.introduce(nodes)
        let group = try world.group("trip", Array(nodes.prefix(4)))
        world.run(for: 5_000)
        _ = try world.perform(
            .setRole(group, nodes[1].identity.person, .admin), on: nodes[0])
        world.run(for: 5_000)
        world.partition([nodes[0], nodes[2]], [nodes[1], nodes[3], nodes[4]])
        _ = try world.perform(.removeMember(group, nodes[3].identity.person), on: nodes[0])
        _ = try world.perform(.addMember(group, nodes[4].identity.person, .member), on: nodes[1])
        world.run(for: 60_000)
        #expect(try current(nodes[0], group)?.id != current(nodes[1], group)?.id)
        world.heal()
        world.run(for: 90_000)
        // Neither half's epoch is for the roster of both; the first who writes makes one.
        try world.type("together again", on: nodes[2], in: group)
        world.run(for: 60_000)
        let members = [nodes[0], nodes[1], nodes[2], nodes[4]]
        let chosen = try members.map { try current($0, group)?.id }
        #expect(Set(chosen).count == 1 && chosen[0] != nil)
        var (sending, receiving) = (KeyUser(nodes[4]), KeyUser(nodes[0]))
        #expect(try receiving.open(sending.seal("hello", in: group)) == "hello")
        var removed = KeyUser(nodes[3])
        #expect(try !removed.holds(#require(chosen[0]), in: group))
    }

    @Test("Attack 47: a copy of all that a device keeps opens nothing that the device opened")
    func forwardSecrecy() throws {
        let trio = try Trio(seed: 7)
        var (ann, ben) = (KeyUser(trio.ann), KeyUser(trio.ben))
        let recorded = try (0..<20).map { try ann.seal("\($0)", in: trio.group) }
        for (number, envelope) in recorded.enumerated() where number != 7 {
            #expect(try ben.open(envelope) == "\(number)")
        }
        for victim in [trio.ann, trio.ben] {
            var thief = try KeyUser(copyOf: victim)
            for (number, envelope) in recorded.enumerated() {
                let opened = try thief.open(envelope)
                // What was not opened yet is what a thief may still read.
                let isOpen = number == 7 && victim.index == trio.ben.index
                #expect((opened != nil) == isOpen, "\(number) of \(victim.name)")
            }
        }
    }

    @Test("Attack 48: once the victim has made an epoch, the copy reads nothing more")
    func healing() throws {
        let trio = try Trio(seed: 8)
        let thief = try KeyUser(copyOf: trio.ben)
        // A week later ben writes, and his device makes a new epoch for it.
        trio.world.pass(days: 8)
        try trio.world.type("all is well", on: trio.ben, in: trio.group)
        trio.world.run(for: 10_000)
        var (ann, ben) = (KeyUser(trio.ann), KeyUser(trio.ben))
        let chosen = try #require(try ann.current(trio.group))
        #expect(chosen.author == trio.ben.identity.device)
        let sent = try ann.seal("for ben alone", in: trio.group)
        #expect(try ben.open(sent) == "for ben alone")
        // The thief is given every operation that there is, and looks at each epoch.
        for epoch in try trio.ann.store.secrets(
            .epochKeys, in: ann.space(trio.group).number
        ) {
            guard epoch.name == chosen.id.bytes else { continue }
            #expect(try thief.leafThatOpens(chosen.id, of: trio.ann, in: trio.group) == nil)
        }
    }
}

extension EpochTests {
    /// A device whose own words are not in its roster's past, by a lie of its own here, made an epoch
    /// every other second for as long as it ran, and all others kept them.
    @Test("who cannot use the epochs that they make makes ever fewer")
    func vain() throws {
        let world = World(seed: 96)
        let nodes = try ["ann", "ben", "cara"].map { try world.addNode($0) }
        let (ann, ben, cara) = (nodes[0], nodes[1], nodes[2])
        let relay = world.addRelay("relay")
        world.start(relay)
        for node in nodes { try world.use(relay, by: node) }
        try world.introduce(nodes)
        let members = [ben, cara].map(\.identity.person)
        let reply = try world.perform(.createGroup(name: "trip", members: members), on: ann)
        guard case .space(let number) = reply else { throw CommandRefusal.unknownConversation }
        let group = try #require(try ann.store.space(number)).id
        world.run(for: 30_000)
        try world.type("one", on: ben, in: group)
        world.run(for: 2_000)
        #expect(try world.nameAnotherLane(ben, in: group))
        world.stopProcess(of: ann)
        _ = try world.perform(.leave(group), on: cara)
        world.run(for: 10_000)
        try world.type("two", on: ben, in: group)
        let space = try #require(try ben.store.space(group))
        func count() throws -> Int {
            try ben.store.logs(in: space.number).filter { $0.lane == .control }
                .reduce(0) { $0 + $1.heldCount }
        }
        let before = try count()
        world.run(for: 600_000)
        let made = try count() - before
        #expect(made > 2 && made < 16, "\(made) epochs in ten minutes")
    }
}

extension KeyUser {
    /// The key among those held here that an epoch was sealed to, as another node has the epoch.
    func leafThatOpens(
        _ epoch: OperationID, of node: SimulatedNode, in id: SpaceID
    ) throws -> LeafKey? {
        let space = try space(id)
        let held =
            try store.secrets(.leaf, in: space.number) + store.secrets(.prekey, in: nil)
        for log in try node.store.logs(in: space.number) where log.lane == .control {
            guard log.end > 0 else { continue }
            for stored in try node.store.operations(in: log.number, 0...log.end - 1, limit: .max)
            where stored.id == epoch {
                let body = try EpochBody(bytes: stored.operation.payload ?? [])
                return held.compactMap { LeafKey($0.name) }
                    .first { body.entry(for: $0, of: core.node.device) != nil }
            }
        }
        return nil
    }
}
