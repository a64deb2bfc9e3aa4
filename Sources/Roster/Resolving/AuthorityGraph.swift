import ParleyWire

/// The operations from which rosters are computed, and what follows from any set of them.
///
/// It knows no bytes: ``ControlGraph`` reads those. Results are cached by set, and computed from
/// the largest known part of it.
struct AuthorityGraph: Sendable {
    /// How many persons all remembered sets together may have: few sets of a great space, and in a
    /// small one a set for each device that anybody writes with.
    private static let knownPersonCountMax = 16_384
    /// How many sets beside the whole are remembered.
    private var knownCountMax: Int {
        let size = index.persons.count + index.nodes.count / 16 + 1
        return min(256, max(16, Self.knownPersonCountMax / size))
    }
    /// Up to so many operations are taken in one by one; beyond, all are heard at once.
    private static let stepCountMax = 64

    private(set) var index = AuthorityIndex()
    private(set) var whole = Resolution()
    private var identities = IdentityCache()
    /// The last ones used come last.
    private var known: [Resolution] = []

    /// Takes an operation whose past is in the graph, or says why it changes no roster.
    mutating func take(_ candidate: Candidate) throws(ControlRejection) -> Int {
        let number = index.append(try judge(candidate))
        whole.take([number], index, &identities)
        return number
    }

    /// What the view and the index are copied for ends with this: otherwise each operation would
    /// have all of them copied.
    private mutating func judge(_ candidate: Candidate) throws(ControlRejection) -> AuthorityNode {
        let isNext = candidate.past == whole.set
        let admission = Admission(
            candidate: candidate, index: index, view: isNext ? whole : view(candidate.past))
        return try admission.node(&identities)
    }

    /// What follows from a causally closed part of the graph.
    mutating func view(_ set: ClosedSet) -> Resolution {
        if set == whole.set { return whole }
        if let place = known.firstIndex(where: { $0.set == set }) {
            let resolution = known.remove(at: place)
            known.append(resolution)
            return resolution
        }
        let resolution = resolve(set)
        known = known.suffix(max(1, knownCountMax) - 1) + [resolution]
        return resolution
    }

    private mutating func resolve(_ set: ClosedSet) -> Resolution {
        let parts = (known + [whole]).filter { $0.set.isSubset(of: set) }
        guard var part = parts.max(by: { $0.set.count < $1.set.count }),
            set.count - part.set.count <= max(Self.stepCountMax, set.count / 4)
        else { return Resolution(of: set, index, &identities) }
        var missing: [Int] = []
        for (log, nodes) in index.logs.enumerated() {
            missing +=
                nodes[part.set.count(of: log)..<max(part.set.count(of: log), set.count(of: log))]
        }
        part.take(missing.sorted(), index, &identities)
        return part
    }

    /// How many operations were looked at so far, each as often as it was.
    var work: Int { identities.work }

    /// The roster of the whole.
    mutating func roster() -> Roster {
        if let roster = whole.roster { return roster }
        let roster = whole.makeRoster(index)
        whole.roster = roster
        return roster
    }

    /// The roster of a part.
    mutating func roster(_ set: ClosedSet) -> Roster {
        if set == whole.set { return roster() }
        var resolution = view(set)
        if let roster = resolution.roster { return roster }
        let roster = resolution.makeRoster(index)
        resolution.roster = roster
        known[known.count - 1] = resolution
        return roster
    }
}
