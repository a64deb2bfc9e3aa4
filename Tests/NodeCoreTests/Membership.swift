import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyReconciliation
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

/// People who all know each other, some of whom are in a group that Ann made.
struct Village {
    let world: World
    let nodes: [SimulatedNode]
    let group: SpaceID

    var ann: SimulatedNode { nodes[0] }
    var ben: SimulatedNode { nodes[1] }
    var cara: SimulatedNode { nodes[2] }
    var dora: SimulatedNode { nodes[3] }

    /// - Parameter memberCount: how many of them the group begins with.
    init(seed: UInt64, memberCount: Int = 4) throws {
        world = World(seed: seed)
        var nodes: [SimulatedNode] = []
        for name in ["ann", "ben", "cara", "dora"] { nodes.append(try world.addNode(name)) }
        self.nodes = nodes
        try world.introduce(nodes)
        let others = nodes[1..<memberCount].map(\.identity.person)
        let reply = try world.perform(.createGroup(name: "trip", members: others), on: nodes[0])
        guard case .space(let number) = reply, let space = try nodes[0].store.space(number) else {
            throw CommandRefusal.unknownConversation
        }
        group = space.id
        world.run(for: 3_000)
    }

    func type(_ text: String, _ node: SimulatedNode) throws {
        try world.type(text, on: node, in: group)
    }

    func perform(_ command: Command, _ node: SimulatedNode) throws {
        _ = try world.perform(command, on: node)
    }

    func add(_ node: SimulatedNode, _ role: Role = .member, by other: SimulatedNode) throws {
        try perform(.addMember(group, node.identity.person, role), other)
    }

    func remove(_ node: SimulatedNode, by other: SimulatedNode) throws {
        try perform(.removeMember(group, node.identity.person), other)
    }

    /// Lets everything settle that was held up.
    func settle() {
        world.heal()
        world.run(for: 700_000)
    }

    func record(_ node: SimulatedNode) throws -> SpaceRecord {
        try #require(try node.observed { try node.store.space(group) })
    }

    func roster(_ node: SimulatedNode) throws -> Roster {
        let record = try record(node)
        return try #require(
            try node.observed { try RosterReader.roster(of: record, in: node.store) })
    }

    func members(_ node: SimulatedNode) throws -> Set<String> {
        let persons = try roster(node).members.map(\.person)
        return Set(nodes.filter { persons.contains($0.identity.person) }.map(\.name))
    }

    func texts(_ node: SimulatedNode) throws -> [String] { try node.texts(in: group) }

    /// What nodes compare on a link; it must be one for all members.
    func frontiers(_ members: [SimulatedNode]) throws -> Int {
        var seen: [FrontierDigests] = []
        for node in members {
            let record = try record(node)
            let digests = try node.observed {
                try FrontierDigests(of: record.number, in: node.store)
            }
            if !seen.contains(digests) { seen.append(digests) }
        }
        return seen.count
    }

    func refusal(_ command: Command, _ node: SimulatedNode) -> CommandRefusal? {
        do {
            _ = try world.perform(command, on: node)
            return nil
        } catch {
            return error
        }
    }
}

extension SimulatedNode {
    /// Looks without being counted.
    func observed<R>(_ look: () throws -> R) rethrows -> R {
        let before = store.isObserved
        store.isObserved = true
        defer { store.isObserved = before }
        return try look()
    }
}
