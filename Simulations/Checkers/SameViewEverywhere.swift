import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I1: nodes that hold the same operations of a space show the same, byte for byte.
final class SameViewEverywhere: Checker {
    static let invariant = "I1"
    private(set) var checkCount = 0

    private struct Held: Equatable {
        var tag: LogTag
        var spans: [Span]
    }

    func looked(at world: World) throws {
        var seen: [(space: SpaceID, held: [Held], digest: Digest?, node: SimulatedNode)] = []
        for node in world.honestNodes {
            for (space, logs) in try node.eachSpace() where space.kind != .own {
                let held = logs.filter { !$0.spans.isEmpty }.map {
                    Held(tag: $0.tag, spans: $0.spans)
                }
                let digest = try node.digest(of: space.id)
                let equal = seen.first { $0.space == space.id && $0.held == held }
                if let equal {
                    checkCount += 1
                    guard equal.digest == digest else {
                        throw violation(
                            "\(equal.node.name) and \(node.name) hold the same and show another")
                    }
                } else {
                    seen.append((space.id, held, digest, node))
                }
            }
        }
    }
}
