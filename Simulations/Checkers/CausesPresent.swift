import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I4: what is held of a log is what its record says, without a hole inside a span; and whatever
/// an operation names is held, or lies in the hole of a log that is being filled.
final class CausesPresent: Checker {
    static let invariant = "I4"
    private(set) var checkCount = 0
    private var seen: [DeviceID: Int64] = [:]

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        let device = step.node.identity.device
        let count = Int64(step.node.store.operationCount)
        var row = min(seen[device] ?? 0, count)
        // What waited long enough is applied without its causes.
        if case .timer(.waiting) = step.input { row = count }
        while row < count {
            row += 1
            try look(at: OperationNumber(row), of: step.node)
        }
        seen[device] = count
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        seen[node.identity.device] = min(
            seen[node.identity.device] ?? 0, Int64(node.store.operationCount))
    }

    private func look(at number: OperationNumber, of node: SimulatedNode) throws {
        guard let stored = try node.store.operation(number),
            let log = try node.store.log(stored.log)
        else { throw violation("\(node.name) has no operation in row \(number.rawValue)") }
        let header = stored.operation.header
        for cause in header.dependencies + header.references {
            checkCount += 1
            guard let named = try node.store.log(cause.tag, in: log.space),
                cause.sequence < named.end || isAboveFork(cause, in: named)
            else {
                // What fills a hole comes after newer operations of its log, backwards.
                let tip = try node.store.operation(at: log.end - 1, in: log.number)
                if let tip, tip.number < number { continue }
                // What a liar names need not exist.
                if node.world?.liars.contains(log.device) == true { continue }
                throw violation(
                    "\(node.name) applied \(log.tag)/\(stored.sequence) before its cause"
                        + " \(cause.tag)/\(cause.sequence)")
            }
        }
    }

    /// A branch that never comes is not waited for.
    private func isAboveFork(_ cause: OperationReference, in log: LogRecord) -> Bool {
        log.fork.map { cause.sequence >= $0.sequence } ?? false
    }

    func looked(at world: World) throws { try look(at: world, isSettled: false) }

    func settled(_ world: World) throws { try look(at: world, isSettled: true) }

    private func look(at world: World, isSettled: Bool) throws {
        let liars = world.liars
        for node in world.honestNodes {
            for (_, logs) in try node.eachSpace() {
                for log in logs {
                    let mayWait = !isSettled || liars.contains(log.device)
                    try look(at: log, of: node, mayWait: mayWait)
                }
            }
        }
    }

    /// - Parameter mayWait: whether the signed end of the log may still wait for its causes; those
    ///   that a liar invents never come.
    private func look(at log: LogRecord, of node: SimulatedNode, mayWait: Bool) throws {
        let all = try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
        checkCount += 1
        guard all.count == log.heldCount, all.allSatisfy({ log.holds($0.sequence) }) else {
            throw violation(
                "\(node.name) says that it holds \(log.heldCount) of log \(log.tag), and holds"
                    + " \(all.count)")
        }
        var audit = LogAudit()
        try audit.check(log, in: node.store)
        let isOpen = try log.spans.last.map {
            try node.store.head(atOrAfter: $0.last, in: log.number) == nil
        }
        let unsignedCount = audit.unsignedCount - (isOpen == true && mayWait ? 1 : 0)
        guard audit.brokenCount == 0, unsignedCount <= 0 else {
            throw violation("\(node.name) holds a log \(log.tag) that does not verify")
        }
    }
}
