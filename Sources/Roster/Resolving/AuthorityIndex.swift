import ParleyLedger
import ParleyWire

/// All nodes of a graph, and the indexes to find them. Only grows.
struct AuthorityIndex: Sendable {
    private(set) var nodes: [AuthorityNode] = []
    /// The nodes of each log, in its order.
    private(set) var logs: [[Int]] = []
    private(set) var byID: [OperationID: Int] = [:]
    /// For each person the nodes that change their standing.
    private(set) var about: [PersonID: [Int]] = [:]
    /// For each person the nodes that remove them or set their role.
    private(set) var takers: [PersonID: NodesByLog] = [:]
    /// For each person the nodes that hold by their right, or that they wrote for others.
    private(set) var written: [PersonID: NodesByLog] = [:]
    private(set) var writtenBy: [DeviceID: NodesByLog] = [:]
    private(set) var testimonies: [PersonID: [Int]] = [:]
    /// Of those the ones that say something of a person's devices that their authors had not seen.
    private(set) var witnesses: [PersonID: [Int]] = [:]
    /// For each person whose devices they revoked.
    private(set) var revokedOwners: [PersonID: Set<PersonID>] = [:]
    /// Every device that any of them lets in.
    private(set) var devices: Set<DeviceID> = []
    private(set) var revocations: [PersonID: [Int]] = [:]
    private(set) var redemptions: [Int: [Int]] = [:]
    private(set) var endings: [Int: [Int]] = [:]
    private(set) var settings: [Int] = []
    private(set) var invites: [Int] = []
    /// Everyone who ever had a standing, ascending.
    private(set) var persons: [PersonID] = []
    /// The same in the order in which they came.
    private(set) var arrivals: [PersonID] = []
    private(set) var kind: SpaceKind?

    subscript(node: Int) -> AuthorityNode { nodes[node] }

    func isInPast(_ node: Int, of other: Int) -> Bool {
        nodes[other].past.contains(log: nodes[node].log, index: nodes[node].index)
    }

    func contains(_ set: ClosedSet, _ node: Int) -> Bool {
        set.contains(log: nodes[node].log, index: nodes[node].index)
    }

    /// The nodes of some logs that a set does not hold, log by log.
    func unseen(_ nodes: NodesByLog?, by set: ClosedSet) -> [ArraySlice<Int>] {
        (nodes?.lists ?? []).map { list in
            let count = set.count(of: list.log)
            return list.nodes[list.nodes.firstIndex(afterAll: { self.nodes[$0].index < count })...]
        }
    }

    /// Of some logs the last node each that a set holds.
    func last(_ nodes: NodesByLog?, in set: ClosedSet) -> [Int] {
        (nodes?.lists ?? []).compactMap { list in
            let count = set.count(of: list.log)
            let held = list.nodes.firstIndex(afterAll: { self.nodes[$0].index < count })
            return held > 0 ? list.nodes[held - 1] : nil
        }
    }

    /// The one that is heard before the others; nil of none.
    func senior(_ nodes: [Int]) -> Int? {
        nodes.min { self.nodes[$0].key < self.nodes[$1].key }
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

    /// The members of a set that are in no past of another member.
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
        for person in node.subjects {
            if about[person] == nil { insert(person) }
            about[person, default: []].append(number)
        }
        for testimony in node.testimonies {
            testimonies[testimony.person, default: []].append(number)
            if testimony.isNews { witnesses[testimony.person, default: []].append(number) }
            devices.formUnion(testimony.devices)
        }
        written[node.author, default: NodesByLog()].append(number, of: node.log)
        if let sponsor = node.sponsor?.person, sponsor != node.author {
            written[sponsor, default: NodesByLog()].append(number, of: node.log)
        }
        writtenBy[node.device, default: NodesByLog()].append(number, of: node.log)
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
        case .revokeDevice(let person, _):
            revocations[person, default: []].append(number)
            revokedOwners[nodes[number].author, default: []].insert(person)
        case .remove(let person), .setRole(let person, _):
            takers[person, default: NodesByLog()].append(number, of: nodes[number].log)
        case .add, .leave, .addDevices: break
        }
    }

    private mutating func insert(_ person: PersonID) {
        arrivals.append(person)
        persons.insert(person, at: persons.firstIndex(afterAll: { $0 < person }))
    }
}

/// Nodes by their logs, each in the order of its log: what an author had seen of them is a prefix
/// of each.
struct NodesByLog: Sendable {
    struct List: Sendable {
        let log: Int
        var nodes: [Int]
    }

    private(set) var lists: [List] = []

    mutating func append(_ node: Int, of log: Int) {
        if let place = lists.firstIndex(where: { $0.log == log }) {
            lists[place].nodes.append(node)
        } else {
            lists.append(List(log: log, nodes: [node]))
        }
    }
}
