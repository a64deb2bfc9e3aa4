import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I12: what waits stays within its bounds, whatever the others do.
final class QueuesStayBounded: Checker {
    static let invariant = "I12"
    /// Runs that may wait for their causes.
    static let waitingRunCountMax = 1024
    /// Bytes that may be under way on one link in one direction: the credit that a peer grants,
    /// one step's worth beyond it, and what is not counted for credit.
    static let flightByteCountMax = 4 << 20
    /// Bytes of a control log that are kept before the person has accepted, with the frame that goes
    /// beyond it. Source: `Protocol/08-roster.md`, "Consent".
    static let unacceptedByteCountMax = 1 << 20 + Limits.runByteCountMax
    private(set) var checkCount = 0
    private let unacceptedByteCountMax: Int

    init(unacceptedByteCountMax: Int = QueuesStayBounded.unacceptedByteCountMax) {
        self.unacceptedByteCountMax = unacceptedByteCountMax
    }

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        checkCount += 1
        guard step.node.core.waitingRunCount <= Self.waitingRunCountMax else {
            throw violation("\(step.node.name) lets \(step.node.core.waitingRunCount) runs wait")
        }
    }

    func looked(at world: World) throws {
        for node in world.honestNodes { try lookAtUnaccepted(of: node) }
        // What a liar throws at others is on its way until it is refused.
        guard world.liars.isEmpty else { return }
        checkCount += 1
        guard world.flightByteCountMax <= Self.flightByteCountMax else {
            throw violation("\(world.flightByteCountMax) bytes were under way on one link")
        }
    }

    /// Whoever is put into a group without being asked keeps no more of it than they must. What they
    /// asked for themselves, or were in before, is theirs to keep.
    private func lookAtUnaccepted(of node: SimulatedNode) throws {
        for space in try node.store.spaces() where space.kind == .group {
            guard let roster = try node.roster(of: space),
                roster.isInvited(node.identity.person),
                try node.store.value(.join, space.id.bytes) == nil
            else { continue }
            let logs = try node.store.logs(in: space.number)
            let own = roster.devicesEver(of: node.identity.person)
            if logs.contains(where: { own.contains($0.device) }) { continue }
            var byteCount = 0
            for log in logs {
                let held = try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                byteCount += held.reduce(0) { $0 + $1.operation.byteCount }
            }
            checkCount += 1
            guard byteCount <= unacceptedByteCountMax else {
                throw violation(
                    "\(node.name) keeps \(byteCount) bytes of a group that it has not accepted")
            }
        }
    }
}
