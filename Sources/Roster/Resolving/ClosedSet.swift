/// A causally closed set of operations of chained logs.
///
/// Logs are chains, so a set is described by how many operations of each log it contains: a past is
/// one look-up.
struct ClosedSet: Hashable, Sendable {
    /// How many operations of each log are in it; logs beyond the end have none.
    private(set) var counts: [UInt32] = []

    /// How many operations it has.
    var count: Int { counts.reduce(0) { $0 + Int($1) } }

    func count(of log: Int) -> Int { log < counts.count ? Int(counts[log]) : 0 }

    func contains(log: Int, index: Int) -> Bool { index < count(of: log) }

    /// Takes at least the first `count` operations of a log in.
    mutating func raise(_ log: Int, to count: Int) {
        guard count > self.count(of: log) else { return }
        while counts.count <= log { counts.append(0) }
        counts[log] = UInt32(count)
    }

    mutating func formUnion(_ other: ClosedSet) {
        if counts.count < other.counts.count {
            counts += repeatElement(0, count: other.counts.count - counts.count)
        }
        for (log, count) in other.counts.enumerated() where count > counts[log] {
            counts[log] = count
        }
    }

    func isSubset(of other: ClosedSet) -> Bool {
        // Ends are never zero: nothing is ever taken out.
        guard counts.count <= other.counts.count else { return false }
        return counts.indices.allSatisfy { counts[$0] <= other.counts[$0] }
    }
}
