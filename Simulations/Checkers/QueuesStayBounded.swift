import ParleyLedger
import ParleyNodeCore
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
    private(set) var checkCount = 0

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        checkCount += 1
        guard step.node.core.waitingRunCount <= Self.waitingRunCountMax else {
            throw violation("\(step.node.name) lets \(step.node.core.waitingRunCount) runs wait")
        }
    }

    func looked(at world: World) throws {
        // What a liar throws at others is on its way until it is refused.
        guard world.liars.isEmpty else { return }
        checkCount += 1
        guard world.flightByteCountMax <= Self.flightByteCountMax else {
            throw violation("\(world.flightByteCountMax) bytes were under way on one link")
        }
    }
}
