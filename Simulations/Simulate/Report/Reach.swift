import ParleySimulation

/// Who reaches whom at one moment, as groups.
struct Reach: Equatable {
    /// The group of each node: nodes of one number reach each other, if need be through others.
    var groups: [Int]
    /// Whether nothing is cut, only held back in one direction.
    var isOneWay: Bool
    /// Ways between nodes of one group that are cut or blocked all the same.
    var brokenWayCount: Int

    /// Nobody is apart from anybody.
    static func whole(_ count: Int) -> Self {
        Reach(groups: Array(repeating: 0, count: count), isOneWay: false, brokenWayCount: 0)
    }

    var isWhole: Bool { !groups.contains { $0 != 0 } }

    /// How it is in this world now.
    init(of world: World) {
        let count = world.nodes.count
        self = .whole(count)
        if world.isWhole { return }
        groups = Array(repeating: -1, count: count)
        var group = 0
        for start in 0..<count where groups[start] < 0 {
            groups[start] = group
            var reached = [start]
            while let here = reached.popLast() {
                for there in 0..<count where groups[there] < 0 && Self.passes(here, there, world) {
                    groups[there] = group
                    reached.append(there)
                }
            }
            group += 1
        }
        countWays(in: world)
    }

    private init(groups: [Int], isOneWay: Bool, brokenWayCount: Int) {
        self.groups = groups
        self.isOneWay = isOneWay
        self.brokenWayCount = brokenWayCount
    }

    private static func passes(_ here: Int, _ there: Int, _ world: World) -> Bool {
        !world.isCut(here, there) && !world.isBlocked(from: here, to: there)
            && !world.isBlocked(from: there, to: here)
    }

    private mutating func countWays(in world: World) {
        isOneWay = true
        for here in groups.indices {
            for there in groups.indices where here < there {
                if world.isCut(here, there) { isOneWay = false }
                if groups[here] == groups[there], !Self.passes(here, there, world) {
                    brokenWayCount += 1
                }
            }
        }
    }

    /// Whether nobody at all is in the group of this node.
    func isAlone(_ node: Int) -> Bool {
        groups.filter { $0 == groups[node] }.count == 1
    }

    /// The letter of a node's group, or nil where it is alone or nobody is apart. Small where
    /// what is sent is held back in one direction only.
    func letter(of node: Int) -> Character? {
        guard groups.indices.contains(node), !isWhole, !isAlone(node) else { return nil }
        let named = Set(groups.indices.filter { !isAlone($0) }.map { groups[$0] }).sorted()
        let letters = Array(isOneWay ? "abcdefghijklmnopqrstuvwxyz" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        return named.firstIndex(of: groups[node]).map { letters[$0 % letters.count] }
    }

    /// The groups by name, as "ann ben | cara dan".
    func words(_ names: [String]) -> String {
        if isWhole {
            return brokenWayCount == 0 ? "all reach each other" : "\(brokenWayCount) ways cut"
        }
        let parts = Set(groups).sorted().map { group in
            groups.indices.filter { groups[$0] == group && $0 < names.count }
                .map { names[$0] }.joined(separator: " ")
        }
        return parts.joined(separator: isOneWay ? " > " : " | ")
    }
}
