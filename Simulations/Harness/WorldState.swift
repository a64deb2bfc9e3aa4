import ParleyNodeCore
import ParleyWire

/// All that equality hangs on: while it is the same, so are those who differ, and so is what they show.
public struct WorldState: Equatable {
    private struct Node: Equatable {
        let changeCount: UInt64?
        let life: Int
        let isDown: Bool
        let isHonest: Bool
    }

    private struct Line: Equatable {
        let link: LinkID
        let ends: [Int]
    }

    private let nodes: [Node]
    /// Who may be asked for a text that is missing.
    private let lines: [Line]
    private let stuckLogs: Set<LogTag>
    private let hasRelaysOnly: Bool

    /// Whether each store tells when it changes: else what is equal may have changed all the same.
    public var isKnown: Bool { nodes.allSatisfy { $0.changeCount != nil } }

    /// The state of a world now.
    public init(of world: World) {
        nodes = world.nodes.map {
            Node(
                changeCount: $0.store.changeCount, life: $0.life, isDown: $0.isDown,
                isHonest: $0.isHonest)
        }
        lines = world.wires.keys.sorted().map { link in
            Line(link: link, ends: world.wires[link].map { [$0.near.node, $0.far.node] } ?? [])
        }
        stuckLogs = world.stuckLogs
        hasRelaysOnly = world.hasRelaysOnly
    }
}
