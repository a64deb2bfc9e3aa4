import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleySimulatedDisk
import ParleySimulation
import ParleyWire

/// The people of a scenario in their world: begins phases and carries out acts.
struct Stage {
    /// So many messages a person reads at once: what is above them stays unread.
    static let pageMessageCount = 20
    let scenario: Scenario
    let world: World
    /// Commands that were carried out.
    var doneCount = 0
    /// Commands that were refused.
    var refusedCount = 0
    /// Acts that were played, by their name.
    var deedCounts: [String: Int] = [:]

    var away: Set<String> = []
    /// Pairs that reach each other again at these moments, the soonest first.
    var joins: ArraySlice<(time: UInt64, pair: [String])> = []
    var copies: [String: (contents: StoreSnapshot, ownEnds: [LogTag: UInt64])] = [:]
    /// Who runs a copy of somebody's disk, by the name of who was robbed.
    var thieves: [String: SimulatedNode] = [:]
    /// The last backup of each person.
    var backups: [PersonID: DeviceBackup] = [:]
    /// What ends by itself, in the order in which it was begun.
    var late: [(time: UInt64, user: String, deed: LateDeed)] = []
    /// Nodes that nobody knows.
    var strangers: [SimulatedNode] = []
    /// The newest link into a group that each person opened.
    var links: [String: GroupLink] = [:]
    /// How all are parted now.
    private(set) var parted: (groups: [[String]], isOneWay: Bool)?
    var random: SeededRandom

    init(_ scenario: Scenario, _ world: World) {
        self.scenario = scenario
        self.world = world
        random = SeededRandom(seed: scenario.seed, purpose: "stage")
    }

    /// Whose node this is.
    func node(_ user: String) -> SimulatedNode? { world.nodes.first { $0.name == user } }

    // MARK: Before

    /// Everybody gets to know whom the scenario says, and one group holds all.
    mutating func populate() throws {
        for user in scenario.persons { _ = try world.addNode(user, on: storeChoice) }
        world.hasMedia = true
        try useRelays()
        for (place, node) in world.nodes.enumerated() {
            for (other, friend) in world.nodes.enumerated().dropFirst(place + 1) {
                let isNeighbour = other == place + 1
                let isMet =
                    switch scenario.acquaintance {
                    case .everyone: true
                    case .first: place == 0
                    case .circle: place == 0 || isNeighbour
                    }
                if isMet { try world.introduce(node, friend) }
            }
        }
        let members = world.nodes.dropFirst().map(\.identity.person)
        _ = try world.perform(.createGroup(name: "all", members: members), on: world.nodes[0])
        world.run(for: 2_000)
        world.switchedOff = Set(scenario.without ?? [])
        for place in 0..<(scenario.strangers ?? 0) {
            let stranger = try world.addStranger("stranger\(place + 1)")
            for relay in world.relays { try world.use(relay, by: stranger) }
            strangers.append(stranger)
        }
        if scenario.relaysOnly == true { world.keepToRelays() }
        for node in world.nodes { setClock(of: node) }
    }

    /// What nodes keep their operations on.
    var storeChoice: StoreChoice { scenario.store == .sqlite ? .sqlite : .memory }

    func setClock(of node: SimulatedNode) {
        guard let clock = scenario.nodes.first(where: { $0.user == node.name })?.clock else {
            return
        }
        node.clock.skew = (clock.skewSeconds ?? 0) * 1_000
        node.clock.drift = clock.driftPpm ?? 0
    }

    // MARK: Phases

    /// What is so in all of a phase.
    mutating func begin(_ phase: Scenario.Phase) throws {
        if phase.heal == true { return try end() }
        world.model = LinkModel(scenario.links.default)
        setModels()
        world.durabilityDelay = 0...(phase.faults?.diskDelayMs ?? 0)
    }

    /// Gives every way between two who are there its own model.
    func setModels() {
        for (pair, link) in scenario.links.between ?? [:] {
            guard let ends = scenario.ends(of: pair), let left = node(ends.left),
                let right = node(ends.right)
            else { continue }
            world.setModel(LinkModel(link), left, right)
        }
    }

    /// All faults are over.
    private mutating func end() throws {
        for node in world.nodes {
            node.store.failNoMore()
            (node.store.blobs as? MemoryBlobs)?.byteCountMax = .max
        }
        for relay in world.relays.indices { _ = befall(relay, .up) }
        world.model = LinkModel()
        for (place, node) in world.nodes.enumerated() {
            for other in world.nodes[(place + 1)...] { world.setModel(LinkModel(), node, other) }
        }
        world.durabilityDelay = 0...0
        away = []
        joins = []
        parted = nil
        world.heal()
        world.startAll()
        try endLate(all: true)
        // A call that nobody ends would go on for ever.
        for node in world.nodes {
            guard let call = node.core.calls.current else { continue }
            _ = perform(.act(call.id, .hangUp), on: node)
        }
    }

    // MARK: Ways

    /// When the next pair reaches each other again.
    var nextJoin: UInt64? { joins.first?.time }

    /// Joins the pairs whose moment has come.
    mutating func joinDue() {
        while let join = joins.first, join.time <= world.now {
            _ = joins.popFirst()
            guard away.isDisjoint(with: join.pair), let left = node(join.pair[0]),
                let right = node(join.pair[1])
            else { continue }
            world.heal(left, right)
        }
    }

    mutating func part(_ groups: [[String]], isOneWay: Bool) {
        heal(within: 0)
        parted = (groups, isOneWay)
        for (place, group) in groups.enumerated() {
            for other in groups[(place + 1)...] {
                for left in group.compactMap(node) {
                    for right in other.compactMap(node) { separate(left, right) }
                }
            }
        }
        for thief in thieves.values.sorted(by: { $0.index < $1.index }) { hold(thief) }
    }

    private func separate(_ left: SimulatedNode, _ right: SimulatedNode) {
        if parted?.isOneWay == true {
            world.block(from: left, to: right)
        } else {
            world.cut(left, right)
        }
    }

    /// Beside whose device a node is: a thief of a further device runs the copy where that is.
    private func place(of node: SimulatedNode) -> String {
        let robbed = thieves.keys.sorted().first { thieves[$0] === node }
        return robbed.flatMap { scenario.person(of: $0) == $0 ? nil : $0 } ?? node.name
    }

    /// Keeps a node that came since from those of other groups, as all are parted now.
    func hold(_ node: SimulatedNode) {
        let name = place(of: node)
        guard let parted, let own = parted.groups.firstIndex(where: { $0.contains(name) })
        else { return }
        for (place, group) in parted.groups.enumerated() where place != own {
            for other in group.compactMap(self.node) {
                if place < own { separate(other, node) } else { separate(node, other) }
            }
        }
    }

    /// Every parting ends: at once, or pair by pair in an order that is drawn.
    mutating func heal(within time: UInt64) {
        joins = []
        parted = nil
        guard time > 0 else {
            world.heal()
            for user in away.sorted() { isolate(user) }
            return
        }
        let users = scenario.nodes.map(\.user)
        for (place, user) in users.enumerated() {
            for other in users[(place + 1)...] {
                joins.append((world.now + random.next() % time, [user, other]))
            }
        }
        joins.sort { ($0.time, $0.pair[0], $0.pair[1]) < ($1.time, $1.pair[0], $1.pair[1]) }
    }

    /// Nobody reaches this node, and it reaches nobody.
    func isolate(_ user: String) {
        if let node = node(user) { world.isolate(node) }
    }

    mutating func `return`(_ user: String) {
        guard away.remove(user) != nil, let node = node(user) else { return }
        for other in world.nodes where other !== node && !away.contains(other.name) {
            world.heal(node, other)
        }
    }

    // MARK: Counting

    /// What broke so far.
    var faultWords: String {
        deedCounts.keys.sorted().filter { !Mix.isOfPeople($0) }
            .map { ", \($0) \(deedCounts[$0] ?? 0)" }.joined()
    }
}

extension LinkModel {
    /// The way that a scenario describes.
    init(_ link: Scenario.Link) {
        self.init()
        delay = link.delayMs[0]...link.delayMs[1]
        bytesPerMillisecond = link.bytesPerSecond.map { max(1, $0 / 1_000) } ?? 0
    }
}
