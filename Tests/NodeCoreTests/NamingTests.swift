import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// What comes from outside costs by the spaces that name whoever it comes from.
@Suite("Costs beside the number of spaces")
struct NamingTests {
    @Test("the store knows who shares which space, whatever became of it", arguments: 1...4)
    func agrees(seed: Int) throws {
        let world = World(seed: UInt64(70 + seed))
        let nodes = try ["ann", "ben", "cem", "dan"].map { try world.addNode($0) }
        try world.introduce(nodes)
        var random = SeededRandom(seed: UInt64(seed), purpose: "naming")
        var groups: [SpaceID] = []
        for round in 0..<24 {
            let node = nodes[Int(random.next() % 4)]
            let other = nodes[Int(random.next() % 4)].identity.person
            let group = groups.randomElement(using: &random)
            switch (round < 3 ? 0 : random.next() % 5, group) {
            case (0, _), (_, nil):
                let members = nodes.map(\.identity.person).filter { _ in random.next() % 2 == 0 }
                let reply = try world.perform(
                    .createGroup(
                        name: "g\(round)", members: members.filter { $0 != node.identity.person }),
                    on: node)
                guard case .space(let number) = reply else { continue }
                groups.append(try #require(try node.store.space(number)).id)
            case (1, let group?):
                _ = try? world.perform(.addMember(group, other, .member), on: node)
            case (2, let group?):
                _ = try? world.perform(.removeMember(group, other), on: node)
            case (3, let group?): _ = try? world.perform(.leave(group), on: node)
            case (_, let group?):
                _ = try? world.perform(.setRole(group, other, .admin), on: node)
            }
            world.run(for: random.next() % 3_000)
        }
        for node in nodes { try Self.check(node) }
        world.run(for: 60_000)
        for node in nodes { try Self.check(node) }
    }

    private static func check(_ node: SimulatedNode) throws {
        var named: [PersonID: [NamingSpace]] = [:]
        for space in try node.store.spaces() {
            let judge = try RosterReader.judge(of: space, in: node.store)
            let isIn = space.kind != .own && judge.roster.member(node.identity.person) != nil
            for person in judge.graph.persons {
                let isShared = isIn && judge.roster.member(person) != nil
                named[person, default: []].append(
                    NamingSpace(space: space.number, isShared: isShared))
            }
        }
        #expect(named.count > 1)
        for (person, spaces) in named {
            #expect(try node.store.spaces(naming: person) == spaces)
        }
    }

    @Test("Attack 88: a stranger's link asks the store the same, whatever the number of spaces")
    func strangers() throws {
        #expect(try Self.linkCost(groups: 4) == Self.linkCost(groups: 300))
    }

    /// Whoever once was in a group knows its name, and can be as many strangers as they like.
    @Test("Attack 88: strangers who name a space have a long roster read a few times, then wait")
    func wishes() throws {
        let (world, ann) = try Self.crowded(groups: 1)
        let space = try #require(try ann.store.spaces().first { $0.kind == .group })
        for number in 0..<200 {
            let reply = try world.perform(
                .createGroupInvite(
                    space.id, secret: [UInt8](repeating: UInt8(number), count: 32), role: .member,
                    uses: 1, expires: World.epoch + 3_600_000), on: ann)
            guard case .operation(let invite) = reply else { continue }
            _ = try world.perform(.endGroupInvite(space.id, invite), on: ann)
        }
        let store = try ann.store.copy()
        var core = ann.core
        var random = SeededRandom(seed: 5, purpose: "guests")
        try store.begin(.full)
        defer { store.rollback() }
        func readCount(guests: Int, at time: UInt64) throws -> Int {
            var count = 0
            for guest in 0..<guests {
                let (peer, card) = try Self.stranger(&random)
                let forged = try #require(SignatureBytes([UInt8](repeating: 7, count: 64)))
                let wish = Introduction.Join(
                    space: space.id, invite: OperationID { $0[0] = UInt8(guest) },
                    signature: forged, consent: forged)
                let link = LinkID(900 + UInt64(guest))
                let frame = Frame.introduce(Introduction(card: card.encoded, join: wish))
                // As where many other spaces were asked for since.
                core.rosters.judges = [:]
                let now = Instant(monotonic: time, wall: World.epoch + time)
                for input in [
                    .linkOpened(link, peer), .frame(link, frame.encoded()), .linkClosed(link),
                ] as [Input] {
                    _ = try core.step(input, at: now, in: store, using: &random)
                }
                count += core.rosters.judges[space.number] == nil ? 0 : 1
            }
            return count
        }
        // A link and its card cost about 430 of the 20,000 units that all strangers have at once.
        let first = try readCount(guests: 30, at: world.now)
        #expect((1...8).contains(first), "\(first)")
        // A guest who comes again is served.
        #expect(try readCount(guests: 1, at: world.now + 10_000) == 1)
    }

    @Test("a start looks at some spaces, and at the others a little later")
    func start() throws {
        let (few, fewRead) = try Self.startCost(groups: 40)
        let (many, manyRead) = try Self.startCost(groups: 300)
        #expect(few == many)
        #expect(
            fewRead <= SpaceWalks.portionCountMax + 1 && manyRead <= SpaceWalks.portionCountMax + 1)
    }

    @Test("a start after the store was set back reads the rosters of a start, and no more")
    func startBehind() throws {
        let rejoin = Rejoin(reason: "behind", ends: [:], needsPeer: true)
        let (_, read) = try Self.startCost(groups: 300, rejoin: rejoin)
        #expect(read <= SpaceWalks.portionCountMax + 1)
    }

    /// Some of them once read the rosters and keys of all spaces.
    @Test("no step on the way to a relay asks the store more, whatever the number of spaces")
    func relay() throws {
        let few = try Self.relayCosts(groups: 280)
        let many = try Self.relayCosts(groups: 360)
        #expect(many.count > few.count)
        #expect(many.max() == few.max())
    }

    @Test("of more mailboxes than are read, those of tomorrow are left out first")
    func newestMailboxes() {
        var random = SeededRandom(seed: 4, purpose: "mailboxes")
        let keys = EpochKeys(
            envelopes: .random(using: &random), mailboxes: .random(using: &random))
        let today = RelayDay(clamping: 10)
        let drops = (1...400).flatMap { space in
            [today.previous, today, today.next].map { day in
                DropDay(
                    watched: WatchedDay(
                        epoch: OperationID { $0[0] = UInt8(space % 200) }, day: day),
                    age: 0, space: SpaceNumber(space), keys: keys, isLive: true)
            }
        }
        let read = DropDay.newest(drops, on: today)
        func count(_ day: RelayDay) -> Int { read.count { $0.watched.day == day } }
        #expect([count(today.previous), count(today), count(today.next)] == [400, 400, 200])
        #expect(read.map(\.watched.day) == read.map(\.watched.day).sorted())
        #expect(DropDay.newest(Array(drops.prefix(30)), on: today).count == 30)
    }

    @Test("of all spaces that are due those come first that were named or are next")
    func due() {
        let spaces = (1...50).map { number in
            SpaceRecord(
                number: SpaceNumber(number), id: SpaceID { $0[0] = UInt8(number) }, kind: .group)
        }
        func numbers(_ taken: [SpaceNumber]) -> [Int64] { taken.map(\.rawValue) }
        var due = DueSpaces()
        #expect(due.isEmpty)
        due.insert(SpaceNumber(40))
        due.insertAll()
        #expect(numbers(due.take(16, of: spaces)) == Array(1...16))
        due.insert(SpaceNumber(3))
        #expect(numbers(due.take(16, of: spaces)) == [3, 40], "what comes between")
        due.goOn()
        #expect(numbers(due.take(16, of: spaces)) == Array(17...32))
        due.insert(SpaceNumber(45))
        due.goOn()
        #expect(numbers(due.take(30, of: spaces)) == Array(33...50))
        #expect(due.isEmpty)
        due.insertAll()
        #expect(due.take(16, of: []).isEmpty && due.isEmpty)
    }

    @Test("of many rosters those stay in memory that were asked for last")
    func evicts() throws {
        let (world, ann) = try Self.crowded(groups: 280)
        let store = try ann.store.copy()
        var core = NodeCore(identity: ann.core.identity)
        _ = world
        try store.begin(.full)
        defer { store.rollback() }
        let spaces = try store.spaces()
        for space in spaces {
            _ = try core.roster(of: space, store)
            _ = try core.roster(of: spaces[3], store)
        }
        // All are small: a link of somebody who shares them reads none of them again.
        #expect(core.rosters.judges.count == spaces.count)
        let last = try #require(spaces.last).number
        core.rosters.makeRoom(for: last, of: 0, operationCountMax: 280)
        #expect(core.rosters.judges.count < spaces.count)
        #expect(core.rosters.judges.count > Rosters.judgeCountMax / 2)
        #expect(core.rosters.judges[spaces[3].number] != nil)
        #expect(core.rosters.judges[last] != nil)
        #expect(core.rosters.judges[spaces[10].number] == nil)
        for space in spaces { _ = try core.roster(of: space, store) }
        core.rosters.makeRoom(for: last, of: 0, operationCountMax: 100_000)
        #expect(core.rosters.judges.count == spaces.count)
    }

    private static func crowded(groups: Int) throws -> (World, SimulatedNode) {
        let world = World(seed: 80)
        let ann = try world.addNode("ann")
        for number in 0..<groups {
            _ = try world.perform(.createGroup(name: "g\(number)", members: []), on: ann)
        }
        world.run(for: 1_000)
        return (world, ann)
    }

    /// How often a stranger's link makes the node ask its store, from its beginning to its end.
    private static func linkCost(groups: Int) throws -> UInt64 {
        let (world, ann) = try crowded(groups: groups)
        let store = try #require(try ann.store.copy() as? MemoryStore)
        var core = ann.core
        var random = SeededRandom(seed: 3, purpose: "stranger")
        let (peer, card) = try stranger(&random)
        let now = Instant(monotonic: world.now, wall: World.epoch + world.now)
        let introduction = Frame.introduce(Introduction(card: card.encoded, redemption: nil))
        let inputs: [Input] = [
            .linkOpened(LinkID(900), peer), .frame(LinkID(900), introduction.encoded()),
            .timer(.heartbeat(LinkID(900))), .linkClosed(LinkID(900)),
        ]
        try store.begin(.full)
        defer { store.rollback() }
        // What a first stranger has looked up for all is not counted.
        var calls: UInt64 = 0
        for _ in 0..<2 {
            calls = UInt64(store.callCount)
            for input in inputs { _ = try core.step(input, at: now, in: store, using: &random) }
            calls = UInt64(store.callCount) - calls
        }
        return calls
    }

    /// Somebody whom nobody knows, who links and shows a card.
    private static func stranger(_ random: inout SeededRandom) throws -> (LinkPeer, Card) {
        let root = DeviceSigningKey.generate(using: &random)
        let device = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random).publicKey
        let log = try IdentityLog.founded(
            root: root, device: device, noiseKey: noise, time: 0, using: &random)
        let part = CardPart.make(version: 1, noiseKey: noise, name: "x", addresses: [], key: device)
        let peer = LinkPeer(
            person: log.person, root: Digest(reinterpreting: root.device), device: device.device,
            identity: log.encoded, handshakeHash: [], isInitiator: false)
        return (peer, Card(person: log.person, identity: log.encoded, parts: [part]))
    }

    /// How often each step makes the node ask its store where a relay is reached again, until all
    /// is done that it leads to.
    private static func relayCosts(groups: Int) throws -> [Int] {
        let (world, ann) = try crowded(groups: groups)
        let relay = world.addRelay("relay")
        try world.use(relay, by: ann)
        world.run(for: 60_000)
        let store = try #require(try ann.store.copy() as? MemoryStore)
        var core = ann.core
        var random = SeededRandom(seed: 3, purpose: "relay")
        let now = Instant(monotonic: world.now, wall: World.epoch + world.now)
        let day = try #require(core.courier.lines[relay.key]?.day)
        let bytes = try #require(try store.value(.relay, relay.key.bytes))
        let record = try #require(RelayRecord(bytes))
        let welcome = RelayWelcome(
            day: day, newest: record.newest, needsTicket: false,
            starts: [RelayStart(id: record.start, newest: 0)])
        var inputs: Queue<Input> = [
            .relay(relay.key, .closed), .timer(.relay(relay.key)),
            .relay(relay.key, .opened(welcome)), .timer(.backlog),
        ]
        var costs: [Int] = []
        try store.begin(.full)
        defer { store.rollback() }
        while let input = inputs.popFirst() {
            let before = store.callCount
            let effects = try core.step(input, at: now, in: store, using: &random)
            costs.append(store.callCount - before)
            for case .timer(.backlog, _) in effects { inputs.append(.timer(.backlog)) }
        }
        return costs
    }

    /// How often a start makes the node ask its store, and how many rosters it reads.
    private static func startCost(
        groups: Int, rejoin: Rejoin? = nil
    ) throws -> (Int, Int) {
        let (world, ann) = try crowded(groups: groups)
        let store = try #require(try ann.store.copy() as? MemoryStore)
        var core = NodeCore(identity: ann.core.identity, rejoin: rejoin)
        var random = SeededRandom(seed: 3, purpose: "start")
        let now = Instant(monotonic: world.now, wall: World.epoch + world.now)
        try store.begin(.full)
        defer { store.rollback() }
        let before = store.callCount
        _ = try core.step(.started, at: now, in: store, using: &random)
        return (store.callCount - before, core.rosters.judges.count)
    }
}
