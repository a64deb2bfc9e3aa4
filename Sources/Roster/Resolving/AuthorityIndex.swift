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
    /// For each node those that need it: as a grant, or as the invite by which they come.
    private(set) var dependents: [Int: [Int]] = [:]
    private(set) var testimonies: [PersonID: [Int]] = [:]
    /// Of those the ones that say something of a person's devices that their authors had not seen.
    private(set) var witnesses: [PersonID: [Int]] = [:]
    /// For each person whose devices they revoked.
    private(set) var revokedOwners: [PersonID: Set<PersonID>] = [:]
    /// Every device that any of them lets in.
    private(set) var devices: Set<DeviceID> = []
    private(set) var revocations: [PersonID: [Int]] = [:]
    private(set) var redemptions: [Int: [Int]] = [:]
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
        for grant in Set(node.grants + (node.sponsor?.grants ?? [])) {
            dependents[grant, default: []].append(number)
        }
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
        case .redeem(_, let invite):
            redemptions[invite, default: []].append(number)
            dependents[invite, default: []].append(number)
        case .revokeDevice(let person, _):
            revocations[person, default: []].append(number)
            revokedOwners[nodes[number].author, default: []].insert(person)
        case .add, .remove, .setRole, .leave, .addDevices, .endInvite: break
        }
    }

    private mutating func insert(_ person: PersonID) {
        arrivals.append(person)
        persons.insert(person, at: persons.firstIndex(afterAll: { $0 < person }))
    }
}
