import ParleyLedger
import ParleyWire

/// The past in lane 0 of an author whose own log does not tell it: a node that holds only the end
/// of a log takes its word for that. Which words can be taken follows from the set of operations
/// alone.
/// Source: `Protocol/03-operations.md`, "Views".
extension ControlGraph {
    /// For so many pairs an operation is looked at together with others that it had not seen.
    private static let pairCountMax = 128
    /// A wider frontier is not looked for: to hash all of them would cost too much.
    private static let frontierWidthMax = 64

    /// Tips with this authority, or nil if it is none of those that are looked up.
    public mutating func tips(underAuthority authority: UInt64) -> ControlTips? {
        if frontiers == nil { frontiers = makeFrontiers() }
        return frontiers?[authority]
    }

    private func makeFrontiers() -> [UInt64: ControlTips] {
        let index = authorities.index
        var frontiers: [UInt64: ControlTips] = [:]
        func note(_ frontier: [Int]) {
            guard frontier.count <= Self.frontierWidthMax else { return }
            let authority = OperationHash.authority(frontier.map { index[$0].id })
            frontiers[authority] = ControlTips(frontier.map { index[$0].place })
        }
        for node in index.nodes.indices { note([node]) }
        notePairs(note)
        var frontier: [Int] = []
        for node in inOrder(index.nodes.indices) {
            frontier = frontier.filter { !index.isInPast($0, of: node) } + [node]
            note(frontier)
        }
        return frontiers
    }

    /// Two that had not seen each other: of each other log the first few that one of them had not.
    private func notePairs(_ note: ([Int]) -> Void) {
        let index = authorities.index
        let width = Self.pairCountMax / max(1, index.logs.count)
        for (node, known) in index.nodes.enumerated() {
            for (log, others) in index.logs.enumerated() where log != known.log {
                for other in others.dropFirst(known.past.count(of: log)).prefix(width)
                where !index.isInPast(node, of: other) {
                    note([node, other])
                }
            }
        }
    }

    /// Operations as they stand in lane 0: each above all that it follows from.
    private func inOrder(_ given: some Sequence<Int>) -> [Int] {
        let index = authorities.index
        let standing = given.map { node in
            (stand: stand(at: index[node].place) ?? 0, id: index[node].id, node: node)
        }
        return standing.sorted { ($0.stand, $0.id) < ($1.stand, $1.id) }.map(\.node)
    }
}
