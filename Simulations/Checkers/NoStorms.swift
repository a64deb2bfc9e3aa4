import ParleyLedger
public import ParleySimulation
import ParleyWire

/// I13: nodes that are equal fall silent, and becoming equal costs what was missing and little
/// more.
///
/// Told of the heal by ``begin(_:)``; without it nothing is measured.
public final class NoStorms: Checker {
    /// The promise's number.
    public static let invariant = "I13"
    /// How often something was measured.
    public private(set) var checkCount = 0
    /// Bytes that each link may cost beside operations.
    static let linkByteCountMax = 64 << 10
    /// Bytes that a silent world may send for each pair of nodes in a minute: heartbeats.
    static let silentByteCountMax = 4 << 10

    private var begun: (bytes: Int, links: Int, held: Int)?

    /// Nothing is measured yet.
    public init() {}

    /// Faults end now.
    public func begin(_ world: World) throws {
        begun = (world.honestByteCount, world.linkCount, try Self.heldByteCount(in: world))
    }

    /// While faults are on nothing is promised.
    public func looked(at world: World) throws {}

    /// Measures what the heal cost, and a minute of silence.
    public func settled(_ world: World) throws {
        guard let begun else { return }
        let useful = try Self.heldByteCount(in: world) - begun.held
        let spent = world.honestByteCount - begun.bytes
        // Every node may be brought the same by two peers at once, before either knows better.
        let links = world.linkCount - begun.links + world.nodes.count * world.nodes.count
        let bound = useful * 13 / 10 + links * Self.linkByteCountMax
        checkCount += 1
        guard spent <= bound else {
            throw violation("the heal took \(spent) bytes for \(useful) that were missing")
        }
        let before = world.honestByteCount
        world.run(for: 60_000)
        let pairs = world.nodes.count * (world.nodes.count - 1) / 2
        guard world.honestByteCount - before <= pairs * Self.silentByteCountMax else {
            throw violation(
                "equal nodes still sent \(world.honestByteCount - before) bytes in a minute")
        }
    }

    private static func heldByteCount(in world: World) throws -> Int {
        var count = 0
        for node in world.honestNodes {
            for (_, logs) in try node.eachSpace() {
                for log in logs {
                    for stored in try node.store.operations(
                        in: log.number, 0...UInt64.max, limit: .max)
                    {
                        count += stored.operation.byteCount
                    }
                }
            }
        }
        return count
    }
}
