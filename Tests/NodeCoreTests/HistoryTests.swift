import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@Suite("History for newcomers")
struct HistoryTests {
    /// The places of content that a node was sent of a group, in the order in which they came.
    private final class Arrivals {
        var runs: [(device: DeviceID, places: ClosedRange<UInt64>)] = []
    }

    private func watch(_ node: SimulatedNode, in village: Village) -> Arrivals {
        let arrivals = Arrivals()
        village.world.onEvent = { event in
            guard case .arrived(let passage) = event, passage.target == node.index,
                // What does not decode was not sent by these nodes.
                case .operations(let operations)? = try? Frame.decode(passage.bytes),
                operations.space == village.group
            else { return }
            for run in operations.runs where run.lane == .content && !run.operations.isEmpty {
                arrivals.runs.append((run.device, run.first...run.last))
            }
        }
        return arrivals
    }

    private func write(_ count: Int, _ text: String, _ node: SimulatedNode, _ village: Village)
        throws
    {
        for block in stride(from: 0, to: count, by: 100) {
            let texts = (block..<min(block + 100, count)).map { TextMessage(text: "\(text) \($0)") }
            try village.perform(.send(village.group, texts, replyingTo: nil), node)
        }
        village.world.run(for: 2_000)
    }

    /// How many messages of the group a node shows.
    private func count(
        _ node: SimulatedNode, _ village: Village, atMost limit: Int = 10_000
    ) throws -> Int {
        let record = try village.record(node)
        return try node.observed {
            try node.store.messages(in: record.number, before: nil, limit: limit).count
        }
    }

    /// Whether the newest message of the group that a node shows is this one.
    private func ends(
        with text: String, _ node: SimulatedNode, _ village: Village
    ) throws -> Bool {
        let record = try village.record(node)
        return try node.observed {
            let newest = try node.store.messages(in: record.number, before: nil, limit: 1)
            let operation = try newest.first.flatMap { try node.store.operation($0.operation) }
            return operation?.operation.payload?.contains(Array(text.utf8)) == true
        }
    }

    @Test(
        "all or the last days of it, newest first, by any member, verified and no further down",
        arguments: [HistoryPolicy.all, .days(7)])
    func served(policy: HistoryPolicy) throws {
        let village = try Village(seed: 91, memberCount: 3)
        let (world, ann, ben, dora) = (village.world, village.ann, village.ben, village.dora)
        try village.perform(
            .changeSettings(village.group, SpaceSettings(history: policy)), ann)
        try write(300, "old", ben, village)
        world.pass(days: 10)
        try write(1_200, "new", ben, village)
        try village.type("of ann", ann)
        world.run(for: 2_000)
        // Who let her in is gone a moment later: the others have all that she may have.
        world.cut(ben, dora)
        world.run(for: 100_000)
        let arrivals = watch(dora, in: village)
        try village.add(dora, by: ann)
        world.run(for: 300)
        world.cut(ann, dora)
        world.run(for: 100_000)
        let floor: UInt64 = policy == .all ? 0 : 300
        let ofBen = arrivals.runs.filter { $0.device == ben.identity.device }
        #expect(ofBen.first.map { $0.places.upperBound >= 1_499 } == true, "the newest first")
        #expect(ofBen.map(\.places.lowerBound).min() == floor)
        #expect(try count(dora, village) == (policy == .all ? 1_501 : 1_201))
        #expect(try village.frontiers(village.nodes) == 1)
        #expect(try village.texts(dora) == village.texts(ann), "the newest 1,000")
    }

    @Test("Attack 46: under none a full copy of all that was ever sent shows nothing from before")
    func none() throws {
        let village = try Village(seed: 92, memberCount: 3)
        let (world, ann, ben, dora) = (village.world, village.ann, village.ben, village.dora)
        var users = (KeyUser(ben), KeyUser(dora))
        let recorded = try users.0.seal("a secret of before", in: village.group)
        try village.type("a secret of before", ben)
        world.run(for: 2_000)
        try village.add(dora, by: ann)
        try village.type("welcome", ann)
        village.settle()
        users = (KeyUser(ben), KeyUser(dora))
        #expect(try users.1.open(recorded) == nil, "she never got the key of that time")
        #expect(try users.1.open(users.0.seal("now", in: village.group)) == "now")
        #expect(try village.texts(dora) == ["welcome"])
        let record = try village.record(dora)
        try dora.observed {
            for log in try dora.store.logs(in: record.number) where log.lane != .control {
                let held = try dora.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                let payloads = held.compactMap(\.operation.payload)
                #expect(!payloads.contains { $0.contains(Array("secret".utf8)) })
            }
        }
        #expect(try village.frontiers(village.nodes) == 1)
    }

    @Test("who was down while they were removed learns it when they start, and reads nothing new")
    func removedWhileDown() throws {
        let village = try Village(seed: 93)
        let (world, cara) = (village.world, village.cara)
        try village.type("before", cara)
        world.run(for: 2_000)
        world.crash(cara)
        try village.remove(cara, by: village.ann)
        try village.type("without cara", village.ben)
        world.run(for: 5_000)
        world.start(cara)
        village.settle()
        #expect(try village.texts(cara) == ["before"])
        #expect(try village.members(cara) == ["ann", "ben", "dora"])
        var (ann, user) = (KeyUser(village.ann), KeyUser(cara))
        #expect(try user.open(ann.seal("next", in: village.group)) == nil)
        let others = [village.ann, village.ben, village.dora]
        #expect(try village.frontiers(others) == 1)
        for node in others { #expect(try village.texts(node) == ["before", "without cara"]) }
    }

    /// Above a hole nobody knows yet what the author had seen, and takes their word for it.
    @Test("a word above a hole that claims another roster than was seen goes once the hole closes")
    func provisional() throws {
        let village = try Village(seed: 94)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        try village.type("first", cara)
        world.run(for: 2_000)
        let former = try village.roster(cara).authority
        world.partition([ben], [ann, cara, village.dora])
        world.run(for: 100_000)
        try village.perform(
            .changeSettings(village.group, SpaceSettings(history: .all)), ann)
        world.run(for: 2_000)
        try write(1_500, "after", cara, village)
        let liar = LogAuthor(
            key: cara.identity.key, space: try village.record(cara), authority: former,
            wallClock: World.epoch + world.now)
        var random = SeededRandom(seed: 1)
        try cara.store.begin(.full)
        _ = try liar.append([TextMessage(text: "a lie").draft()], to: cara.store, using: &random)
        try cara.store.commit()
        world.restart(cara)
        world.run(for: 30_000)
        #expect(try !village.texts(ann).contains("a lie"), "who has all of it never shows it")
        world.heal()
        var wasShown = false
        for _ in 0..<400_000 {
            world.run(for: 1)
            let isShown = try ends(with: "a lie", ben, village)
            wasShown = wasShown || isShown
            if !isShown, try count(ben, village) > 1 { break }
        }
        #expect(wasShown)
        village.settle()
        #expect(try village.texts(ben) == village.texts(ann))
        #expect(try count(ben, village) == 1_501)
        #expect(try ben.digest(of: village.group) == ann.digest(of: village.group))
    }
}
