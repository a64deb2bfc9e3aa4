import ParleyLedger
import ParleyNodeCore
import ParleyRoster
public import ParleySimulation
import ParleyWire

/// I2: once faults are over, all members of a conversation hold the same and show the same.
public final class Convergence: Checker {
    /// The promise's number.
    public static let invariant = "I2"
    /// Pairs that were compared.
    public private(set) var checkCount = 0

    /// Nothing was compared yet.
    public init() {}

    /// While faults are on nothing is promised.
    public func looked(at world: World) throws {}

    /// All must be equal.
    public func settled(_ world: World) throws {
        if let difference = try Self.difference(in: world) { throw violation(difference) }
        checkCount += world.nodes.count
    }

    /// The first difference between two members of a conversation, or nil where all are equal.
    public static func difference(in world: World) throws -> String? {
        for node in world.nodes {
            for (space, logs) in try node.eachSpace() where space.kind != .own {
                let roster = try RosterReader.roster(of: space, in: node.store)
                let others = world.nodes.filter { other in
                    other !== node && roster?.member(other.identity.person) != nil
                }
                for other in others {
                    if let found = try difference(node, other, space, logs) { return found }
                }
            }
        }
        return nil
    }

    private static func difference(
        _ node: SimulatedNode, _ other: SimulatedNode, _ space: SpaceRecord, _ logs: [LogRecord]
    ) throws -> String? {
        let pair = "\(node.name) and \(other.name)"
        guard let record = try other.store.space(space.id) else {
            return "\(other.name) never heard of a conversation that \(node.name) has"
        }
        for log in logs {
            let held = try other.store.log(log.tag, in: record.number)
            guard log.isWhole, held?.spans ?? [] == log.spans else {
                return "\(pair) hold log \(log.tag) lane \(log.lane) up to \(log.end)"
                    + " and \(held?.end ?? 0)"
            }
        }
        guard try node.digest(of: space.id) == other.digest(of: space.id) else {
            return "\(pair) hold the same and show another"
        }
        return nil
    }
}
