import ParleyLedger
import ParleyWire

/// All nodes of a graph, and by what they are found. Grows only.
struct AuthorityIndex: Sendable {
    private(set) var nodes: [AuthorityNode] = []
    /// Every node, seniors first.
    private(set) var order: [Int] = []
    /// The nodes of each log, as they stand in it.
    private(set) var logs: [[Int]] = []
    private(set) var byID: [OperationID: Int] = [:]
    /// For each person the nodes that change their standing.
    private(set) var about: [PersonID: [Int]] = [:]
    /// For each person the nodes that hold by their right, or that they wrote for others.
    private(set) var written: [PersonID: [Int]] = [:]
    private(set) var writtenBy: [DeviceID: [Int]] = [:]
    private(set) var testimonies: [PersonID: [Int]] = [:]
    /// Every device that any of them lets in.
    private(set) var devices: Set<DeviceID> = []
    private(set) var revocations: [PersonID: [Int]] = [:]
    private(set) var redemptions: [Int: [Int]] = [:]
    private(set) var endings: [Int: [Int]] = [:]
    private(set) var settings: [Int] = []
    private(set) var invites: [Int] = []
    /// Everyone who ever had a standing, ascending.
    private(set) var persons: [PersonID] = []
    private(set) var kind: SpaceKind?

    subscript(node: Int) -> AuthorityNode { nodes[node] }

    func isInPast(_ node: Int, of other: Int) -> Bool {
        nodes[other].past.contains(log: nodes[node].log, index: nodes[node].index)
    }

    func contains(_ set: ClosedSet, _ node: Int) -> Bool {
        set.contains(log: nodes[node].log, index: nodes[node].index)
    }

    /// Those with none of the others after them: what of the given ones is not in another's past.
    func newest(_ given: [Int]) -> [Int] {
        var kept: [Int] = []
        // Causes have lower numbers, so whatever covers a node was looked at before it.
        for node in given.sorted(by: >) where !kept.contains(where: { isInPast(node, of: $0) }) {
            kept.append(node)
        }
        return kept.reversed()
    }

    /// What is in a set and in no past of another in it.
    func frontier(of set: ClosedSet) -> [Int] {
        var lasts: [Int] = []
        var covered = ClosedSet()
        for (log, nodes) in logs.enumerated() {
            let count = set.count(of: log)
            guard count > 0 else { continue }
            lasts.append(nodes[count - 1])
            covered.formUnion(self.nodes[nodes[count - 1]].past)
        }
        return lasts.filter { !contains(covered, $0) }.sorted()
    }

    mutating func append(_ node: AuthorityNode) -> Int {
        let number = nodes.count
        nodes.append(node)
        byID[node.id] = number
        while logs.count <= node.log { logs.append([]) }
        precondition(logs[node.log].count == node.index, "logs grow at their end")
        logs[node.log].append(number)
        place(number)
        for person in node.subjects {
            if about[person] == nil { insert(person) }
            about[person, default: []].append(number)
        }
        for testimony in node.testimonies {
            testimonies[testimony.person, default: []].append(number)
            devices.formUnion(testimony.devices)
        }
        written[node.author, default: []].append(number)
        if let sponsor = node.sponsor, sponsor != node.author {
            written[sponsor, default: []].append(number)
        }
        writtenBy[node.device, default: []].append(number)
        file(number)
        return number
    }

    private mutating func file(_ number: Int) {
        switch nodes[number].deed {
        case .genesis(let kind, _, _):
            self.kind = kind
            settings.append(number)
        case .settings: settings.append(number)
        case .invite: invites.append(number)
        case .endInvite(let invite): endings[invite, default: []].append(number)
        case .redeem(_, let invite): redemptions[invite, default: []].append(number)
        case .revokeDevice(let person, _): revocations[person, default: []].append(number)
        case .add, .remove, .setRole, .leave, .addDevices: break
        }
    }

    private mutating func place(_ number: Int) {
        let key = nodes[number].key
        order.insert(number, at: order.firstIndex(afterAll: { nodes[$0].key < key }))
    }

    private mutating func insert(_ person: PersonID) {
        persons.insert(person, at: persons.firstIndex(afterAll: { $0 < person }))
    }
}
