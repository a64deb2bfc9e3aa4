public import ParleySimulation

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
        checkCount += world.honestNodes.count
    }

    /// The first difference between two members of a conversation, or nil where all are equal.
    public static func difference(in world: World) throws -> String? { try world.difference }
}
