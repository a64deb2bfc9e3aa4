import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@Suite("Relays that fail")
struct RelayLossTests {
    /// Ann writes while ben is away, and something befalls the relay.
    private func away(seed: UInt64, _ befall: (Pair) throws -> Void) throws -> Pair {
        let pair = try Pair(seed: seed)
        let world = pair.world
        world.cut(pair.ann, pair.ben)
        world.stopProcess(of: pair.ben)
        for count in 0..<5 { try pair.say("before \(count)", by: pair.ann) }
        world.run(for: 5_000)
        world.copyStore(of: pair.relay)
        for count in 0..<5 { try pair.say("after \(count)", by: pair.ann) }
        world.run(for: 5_000)
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .relayed })
        try befall(pair)
        return pair
    }

    /// The relay has lost all that lay there, in silence, and its counters stay.
    private func awayAndLost(seed: UInt64) throws -> Pair {
        try away(seed: seed) { pair in
            pair.relay.lossEvery = 1
            try pair.say("this takes all along, and itself", by: pair.ann)
            pair.world.run(for: 5_000)
            pair.relay.lossEvery = 0
        }
    }

    private func expectAll(_ pair: Pair, count: Int = 10) throws {
        #expect(try pair.ben.texts(in: pair.space).count == count)
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .delivered })
        #expect(try pair.ann.digest(of: pair.space) == pair.ben.digest(of: pair.space))
    }

    @Test("what a relay that is set up anew has lost is put there again", arguments: [1, 2])
    func wiped(seed: UInt64) throws {
        let pair = try away(seed: seed) { $0.world.wipe($0.relay) }
        pair.world.run(for: 60_000)
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .relayed })
        pair.world.startAll()
        pair.world.run(for: 120_000)
        try expectAll(pair)
    }

    @Test("what a relay has lost that was set back is put there again", arguments: [3, 4])
    func setBack(seed: UInt64) throws {
        let pair = try away(seed: seed) { $0.world.rollBack($0.relay) }
        pair.world.run(for: 60_000)
        pair.world.startAll()
        pair.world.run(for: 120_000)
        try expectAll(pair)
    }

    @Test("a relay that was set back, and has taken more since than it lost, is found out")
    func setBackLongAgo() throws {
        let pair = try away(seed: 12) { _ in }
        let world = pair.world
        let others = try ["cara", "dan"].map { try world.addNode($0) }
        for node in others { try world.use(pair.relay, by: node) }
        let space = try world.introduce(others[0], others[1])
        world.stopProcess(of: pair.ann)
        world.rollBack(pair.relay)
        world.run(for: 60_000)
        world.cut(others[0], others[1])
        for count in 0..<20 { try world.type("\(count)", on: others[0], in: space) }
        world.run(for: 60_000)
        world.start(pair.ann)
        world.run(for: 60_000)
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .relayed })
        world.stopProcess(of: pair.ann)
        world.start(pair.ben)
        world.run(for: 60_000)
        #expect(try pair.ben.texts(in: pair.space).count == 10)
    }

    @Test("a message on a relay that lost it is not said to be there")
    func honest() throws {
        let pair = try away(seed: 5) { $0.world.wipe($0.relay) }
        pair.world.stop(pair.relay)
        pair.world.run(for: 60_000)
        // Nobody has told ann yet: the last that was observed holds.
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .relayed })
        pair.world.start(pair.relay)
        pair.world.run(for: 600_000)
        pair.world.startAll()
        pair.world.run(for: 120_000)
        try expectAll(pair)
    }

    @Test("a relay that loses in silence costs a question, and no message")
    func losing() throws {
        let pair = try awayAndLost(seed: 6)
        try pair.say("and this shows it", by: pair.ann)
        pair.world.run(for: 5_000)
        pair.world.startAll()
        pair.world.run(for: 300_000)
        try expectAll(pair, count: 12)
    }

    @Test("the last that was said, which a relay loses in silence, is told of and comes")
    func lostLast() throws {
        let pair = try awayAndLost(seed: 14)
        pair.world.startAll()
        pair.world.run(for: 300_000)
        #expect(try pair.ben.texts(in: pair.space).isEmpty)
        pair.world.run(for: 600_000)
        try expectAll(pair, count: 11)
    }

    @Test("who does not come is told ever more rarely")
    func neverThere() throws {
        let pair = try away(seed: 15) { _ in }
        let day: UInt64 = 86_400_000
        pair.world.run(for: 2 * day)
        let before = pair.relay.contents.count
        pair.world.run(for: 3 * day)
        // Each envelope has its hash, its bytes and its mailbox there.
        #expect(pair.relay.contents.count <= before + 3 * 4, "\(before)")
        pair.world.startAll()
        pair.world.run(for: 120_000)
        try expectAll(pair)
    }

    @Test("what was found to be missing is asked for after a restart, too")
    func forgetful() throws {
        let pair = try awayAndLost(seed: 13)
        try pair.say("and this shows it", by: pair.ann)
        pair.world.run(for: 5_000)
        pair.world.startAll()
        // It has read what there is, and has not asked yet.
        pair.world.run(for: 1_000)
        #expect(try pair.ben.texts(in: pair.space).count < 12)
        pair.world.stopProcess(of: pair.ben)
        pair.world.start(pair.ben)
        pair.world.run(for: 300_000)
        try expectAll(pair, count: 12)
    }

    @Test("another relay takes the place of one that is gone for good")
    func replaced() throws {
        let pair = try away(seed: 7) { $0.world.stop($0.relay) }
        let world = pair.world
        let second = world.addRelay("second")
        try world.use(second, by: pair.ann)
        try world.use(pair.relay, by: pair.ann, until: 1)
        world.run(for: 5_000)
        world.startAll()
        world.run(for: 5_000)
        try world.use(second, by: pair.ben)
        try world.use(pair.relay, by: pair.ben, until: 1)
        world.run(for: 900_000)
        try expectAll(pair)
        try pair.say("it goes on", by: pair.ben)
        world.run(for: 10_000)
        #expect(try pair.ann.texts(in: pair.space).last == "it goes on")
    }

    @Test("who moves to another relay loses nobody who was away meanwhile")
    func moved() throws {
        let pair = try away(seed: 8) { _ in }
        let world = pair.world
        let second = world.addRelay("second")
        let leaving = World.epoch + world.now + NodeCore.relayLeaveTime
        try world.use(second, by: pair.ann)
        try world.use(pair.relay, by: pair.ann, until: leaving)
        world.run(for: 86_400_000)
        world.startAll()
        world.run(for: 120_000)
        try expectAll(pair)
        // Ben has heard of the new one by the old one: that is not needed by ann any more.
        try world.use(pair.relay, by: pair.ann, until: 1)
        try pair.say("here I am", by: pair.ben)
        world.run(for: 60_000)
        #expect(try pair.ann.texts(in: pair.space).last == "here I am")
    }

    @Test("who leaves a group tells so through a relay, which may lose it", arguments: [10, 11])
    func leaving(seed: UInt64) throws {
        let village = try Village(seed: seed, memberCount: 3)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        let relay = world.addRelay("relay")
        for node in village.nodes { try world.use(relay, by: node) }
        world.run(for: 10_000)
        world.keepToRelays()
        world.copyStore(of: relay)
        world.stopProcess(of: ann)
        try village.type("good bye", ben)
        try village.perform(.leave(village.group), ben)
        world.run(for: 10_000)
        #expect(try village.members(cara) == ["ann", "cara"])
        // What lay there for ann is gone, and put there again.
        world.rollBack(relay)
        world.run(for: 60_000)
        world.startAll()
        world.run(for: 60_000)
        #expect(try village.members(ann) == ["ann", "cara"])
        #expect(try village.texts(ann).last == "good bye")
        try village.type("they are gone", cara)
        world.run(for: 60_000)
        #expect(try village.texts(ann).last == "they are gone")
        #expect(try village.texts(ben).last == "good bye")
    }

    @Test("a process that dies while it reads takes each envelope exactly once")
    func crashes() throws {
        let pair = try away(seed: 9) { _ in }
        let points = PlannedDeath.Point.allCases
        for count in 1...24 {
            pair.ben.plannedDeath = PlannedDeath(
                stepCount: count, point: points[count % points.count],
                isLosingPower: count % 2 == 0, downtime: 1_000)
            pair.world.startAll()
            pair.ben.plannedDeath = PlannedDeath(
                stepCount: count, point: points[count % points.count],
                isLosingPower: count % 2 == 0, downtime: 1_000)
            pair.world.run(for: 20_000)
        }
        pair.ben.plannedDeath = nil
        pair.world.startAll()
        pair.world.run(for: 120_000)
        try expectAll(pair)
    }
}

@Suite("Relays of several people")
struct RelayedGroupTests {
    @Test("each may use a relay of their own, or none")
    func several() throws {
        let world = World(seed: 21)
        let people = try ["ann", "ben", "cara"].map { try world.addNode($0) }
        let relays = [world.addRelay("first"), world.addRelay("second")]
        try world.use(relays[0], by: people[0])
        try world.use(relays[1], by: people[1])
        let group = try world.group("trip", people)
        world.run(for: 30_000)
        world.partition([people[0]], [people[1]], [people[2]])
        for count in 0..<5 {
            for node in people {
                try world.type("\(node.name) \(count)", on: node, in: group)
                world.run(for: 2_000)
            }
        }
        world.run(for: 120_000)
        for node in people { #expect(try node.texts(in: group).count == 15) }
        #expect(try Set(people.map { try $0.digest(of: group) }).count == 1)
    }

    @Test("a group that was made while a member was away is waiting in the member's inbox")
    func welcome() throws {
        let world = World(seed: 22)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let relay = world.addRelay("relay")
        try world.use(relay, by: ann)
        try world.use(relay, by: ben)
        try world.introduce(ann, ben)
        world.run(for: 30_000)
        world.cut(ann, ben)
        world.stopProcess(of: ben)
        let reply = try world.perform(
            .createGroup(name: "trip", members: [ben.identity.person]), on: ann)
        guard case .space(let number) = reply, let space = try ann.store.space(number) else {
            Issue.record("no group was made")
            return
        }
        try world.type("come along", on: ann, in: space.id)
        world.run(for: 60_000)
        world.startAll()
        world.run(for: 60_000)
        #expect(try ben.texts(in: space.id) == ["come along"])
        try world.type("gladly", on: ben, in: space.id)
        world.run(for: 60_000)
        #expect(try ann.texts(in: space.id) == ["come along", "gladly"])
    }

    @Test("who was removed gets nothing more from the relay, and nothing that was removed is lost")
    func removal() throws {
        let world = World(seed: 23)
        let people = try ["ann", "ben", "cara"].map { try world.addNode($0) }
        let relay = world.addRelay("relay")
        for node in people { try world.use(relay, by: node) }
        let group = try world.group("trip", people)
        world.run(for: 30_000)
        world.partition([people[0]], [people[1]], [people[2]])
        _ = try world.perform(.removeMember(group, people[2].identity.person), on: people[0])
        world.run(for: 30_000)
        try world.type("just us", on: people[0], in: group)
        world.run(for: 60_000)
        #expect(try people[1].texts(in: group) == ["just us"])
        let held = people[2].core
        #expect(held.node.person == people[2].identity.person)
        let record = try #require(try people[2].store.space(group))
        #expect(try people[2].store.messages(in: record.number, before: nil, limit: 10).isEmpty)
    }

    @Test("a person's own devices hear of each other's writing through the relay")
    func ownDevices() throws {
        let pair = try Pair(seed: 25)
        let world = pair.world
        let phone = try world.addDevice("phone", of: pair.ann)
        world.run(for: 120_000)
        world.partition([pair.ann], [phone], [pair.ben])
        try pair.say("from the desk", by: pair.ann)
        world.run(for: 10_000)
        try pair.say("on the way", by: phone)
        world.run(for: 10_000)
        try pair.say("I hear both", by: pair.ben)
        world.run(for: 60_000)
        for node in [pair.ann, phone, pair.ben] {
            #expect(
                try node.texts(in: pair.space) == ["from the desk", "on the way", "I hear both"])
        }
        // What concerns nobody else comes as well.
        _ = try world.perform(.mute(pair.space, isOn: true), on: pair.ann)
        world.run(for: 60_000)
        let own = try #require(try phone.store.spaces().first { $0.kind == .own })
        #expect(try Overview.mute(pair.space, ownSpace: own.number, in: phone.store) != nil)
    }

    @Test("what nobody fetches is put again before relays let go of it")
    func months() throws {
        let pair = try Pair(seed: 24)
        let world = pair.world
        world.cut(pair.ann, pair.ben)
        world.stopProcess(of: pair.ben)
        try pair.say("wait for me", by: pair.ann)
        // Relays let go after thirty days; what nobody has acknowledged is put again before.
        world.run(for: 40 * 86_400_000)
        world.startAll()
        world.run(for: 120_000)
        #expect(try pair.ben.texts(in: pair.space) == ["wait for me"])
    }
}
