import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I41: what a device of another person holds of one's words in lanes 3 and 4 does not wait for them for
/// ever: where two are linked and hold the same, their author knows it within ten minutes. Of messages
/// receipts tell, which are operations themselves.
final class HeldIsKnown: Checker {
    static let invariant = "I41"
    /// Equal digests are shown every 30 s; lines may be slow, and disks late.
    private static let patience: UInt64 = 600_000
    private(set) var checkCount = 0

    private struct Wait: Hashable {
        let author: DeviceID
        let holder: DeviceID
        let log: LogTag
        let end: UInt64
    }

    private var since: [Wait: UInt64] = [:]

    func looked(at world: World) throws {
        guard world.liars.isEmpty else { return }
        var waiting: [Wait: UInt64] = [:]
        for node in world.honestNodes where !node.isDown {
            for other in world.honestNodes where isLinked(node, other) {
                for wait in try waits(of: node, for: other) {
                    let begun = since[wait] ?? world.now
                    guard world.now - begun < Self.patience else {
                        throw violation(
                            "\(node.name) does not know that \(other.name) has what both hold")
                    }
                    waiting[wait] = begun
                }
            }
        }
        since = waiting
    }

    private func isLinked(_ node: SimulatedNode, _ other: SimulatedNode) -> Bool {
        !other.isDown && other.identity.person != node.identity.person
            && node.core.linkedPeers.contains { $0.device == other.identity.device }
            && other.core.linkedPeers.contains { $0.device == node.identity.device }
    }

    private func waits(of node: SimulatedNode, for other: SimulatedNode) throws -> [Wait] {
        var found: [Wait] = []
        for space in try node.conversations() {
            let known = try NodeCore.wordsKnown(
                of: space, by: node.identity.device, in: node.store)
            guard !known.isEmpty else { continue }
            let said = try node.store.marks(.acknowledged, in: space.number).filter {
                $0.actor == Digest(reinterpreting: other.identity.device)
            }
            for (tag, first) in known.sorted(by: { $0.key < $1.key }) {
                guard let log = try node.store.log(tag, in: space.number), log.end > first else {
                    continue
                }
                checkCount += 1
                let isSaid = said.contains { $0.tag == tag && $0.places.contains(log.end - 1) }
                guard !isSaid, try holdTheSame(node, other, space) else { continue }
                found.append(
                    Wait(
                        author: node.identity.device, holder: other.identity.device, log: tag,
                        end: log.end))
            }
        }
        return found
    }

    /// Whether both take part, and have all of a conversation alike.
    private func holdTheSame(
        _ node: SimulatedNode, _ other: SimulatedNode, _ space: SpaceRecord
    ) throws -> Bool {
        guard let record = try other.store.space(space.id) else { return false }
        for (reader, space) in [(node, space), (other, record)] {
            guard let roster = try reader.roster(of: space),
                roster.takesPart(node.identity.device), roster.takesPart(other.identity.device)
            else { return false }
        }
        guard let mine = try ends(node, space) else { return false }
        return try mine == ends(other, record)
    }

    /// The tips of all logs; nothing where one is forked or has a hole, of which nobody says how far it is.
    private func ends(
        _ node: SimulatedNode, _ space: SpaceRecord
    ) throws -> [LogTag: OperationID?]? {
        var ends: [LogTag: OperationID?] = [:]
        for log in try node.store.logs(in: space.number) where log.end > 0 {
            guard log.fork == nil, log.isWhole else { return nil }
            ends[log.tag] = log.tip
        }
        return ends
    }
}
