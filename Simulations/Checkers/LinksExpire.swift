import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I35: nobody comes in by a link into a group after its time: who lets them in looks at a clock.
///
/// Judged by the clock of who let them in, as they wrote it down: it binds nobody else.
/// Source: `Protocol/05-identity.md`, "Links into groups".
final class LinksExpire: Checker {
    static let invariant = "I35"
    private(set) var checkCount = 0

    func looked(at world: World) throws {}

    func settled(_ world: World) throws {
        let liars = world.liars
        for node in world.honestNodes {
            for (space, logs) in try node.eachSpace() where space.kind == .group {
                try look(at: logs.filter { $0.lane == .control }, of: node, liars)
            }
        }
    }

    private func look(
        at logs: [LogRecord], of node: SimulatedNode, _ liars: Set<DeviceID>
    ) throws {
        var expiry: [OperationID: UInt64] = [:]
        var entries: [(invite: OperationID, wall: UInt64, device: DeviceID)] = []
        for log in logs {
            for stored in try node.store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                guard let payload = stored.operation.payload else { continue }
                switch stored.operation.header.kind {
                case .groupInvite:
                    // What cannot be read opens nothing.
                    guard case .open(_, _, _, let expires)? = try? GroupInvite(payload: payload)
                    else { continue }
                    expiry[stored.id] = expires
                case .redeem:
                    // Nor does it let anybody in.
                    guard let redeem = try? Redeem(payload: payload) else { continue }
                    entries.append(
                        (redeem.invite, stored.operation.header.wallClock, log.device))
                default: continue
                }
            }
        }
        for entry in entries where !liars.contains(entry.device) {
            guard let expires = expiry[entry.invite] else { continue }
            checkCount += 1
            guard entry.wall < expires else {
                throw violation(
                    "\(node.name) holds that somebody was let in by a link \(entry.wall - expires)"
                        + " ms after its time")
            }
        }
    }
}
