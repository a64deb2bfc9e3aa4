import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I4: what is held of a log is what its record says, without a hole inside a span; and whatever
/// an operation names is held, or lies in the hole of a log that is being filled.
final class CausesPresent: Checker {
    static let invariant = "I4"
    private(set) var checkCount = 0
    private var seen: [DeviceID: Int64] = [:]
    /// What was applied before its causes, because these lay on a relay as well.
    private var ahead: [DeviceID: [OperationNumber]] = [:]
    private var haveDied: Set<DeviceID> = []
    private var audited: [DeviceID: AuditedLogs] = [:]

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        let device = step.node.identity.device
        let count = Int64(step.node.store.operationCount)
        var row = min(seen[device] ?? 0, count)
        // The newest of what lies on a relay is taken ahead of the rest; nobody saw what a node took
        // in the step that it died in.
        var mayBeAhead = haveDied.remove(device) != nil
        if case .relay = step.input { mayBeAhead = true }
        // A backup says nothing of logs of which its maker held nothing above their floor.
        if case .started = step.input { mayBeAhead = true }
        // What waited long enough is applied without its causes.
        if case .timer(.waiting) = step.input { row = count }
        while row < count {
            row += 1
            try look(at: OperationNumber(row), of: step.node, mayBeAhead: mayBeAhead)
        }
        seen[device] = count
    }

    func wasSetBack(_ node: SimulatedNode) {
        audited[node.identity.device] = nil
        ahead[node.identity.device] = nil
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        audited[node.identity.device] = nil
        let count = Int64(node.store.operationCount)
        seen[node.identity.device] = min(seen[node.identity.device] ?? 0, count)
        ahead[node.identity.device]?.removeAll { $0.rawValue > count }
        haveDied.insert(node.identity.device)
    }

    private func look(
        at number: OperationNumber, of node: SimulatedNode, mayBeAhead: Bool = false,
        atEndOf world: World? = nil
    ) throws {
        // A conversation that was deleted, or an invitation that was taken back, leaves no rows.
        guard let stored = try node.store.operation(number),
            let log = try node.store.log(stored.log), try node.store.space(log.space) != nil
        else { return }
        let header = stored.operation.header
        for cause in header.dependencies + header.references {
            checkCount += 1
            guard let named = try node.store.log(cause.tag, in: log.space),
                cause.sequence < named.end || isBeyondBound(cause, in: named)
            else {
                // What fills a hole comes after newer operations of its log, backwards.
                let newer = try node.store.operations(
                    in: log.number, (stored.sequence + 1)...UInt64.max, limit: .max)
                if newer.contains(where: { $0.number < number }) { continue }
                if try isClosed(cause, in: log.space, of: node) { continue }
                // What a liar names need not exist.
                if node.world?.liars.contains(log.device) == true { continue }
                // Nor need what somebody lost whose disk was set back.
                if let world, try !isHeld(cause, of: log.space, at: node, in: world) { continue }
                // Who answers what came ahead names the root of its thread, which is still to come.
                let isOwn = log.device == node.identity.device
                if try mayBeAhead || isOwn && isRoot(cause, above: header, in: log.space, of: node)
                {
                    ahead[node.identity.device, default: []].append(number)
                    return
                }
                throw violation(
                    "\(node.name) applied \(log.tag)/\(stored.sequence) before its cause"
                        + " \(cause.tag)/\(cause.sequence)")
            }
        }
    }

    /// Whether an operation names a cause only as the root above another one that it answers.
    private func isRoot(
        _ cause: OperationReference, above header: OperationHeader, in space: SpaceNumber,
        of node: SimulatedNode
    ) throws(StoreError) -> Bool {
        for answered in header.references where answered != cause {
            guard let log = try node.store.log(answered.tag, in: space),
                let parent = try node.store.operation(at: answered.sequence, in: log.number)
            else { continue }
            if parent.operation.header.references.contains(cause) { return true }
        }
        return false
    }

    /// What never comes is not waited for: another branch, or what a removal cut off.
    private func isBeyondBound(_ cause: OperationReference, in log: LogRecord) -> Bool {
        log.bound.map { cause.sequence >= $0.sequence } ?? false
    }

    /// The same of a log of somebody who is out, of which nothing was ever held.
    private func isClosed(
        _ cause: OperationReference, in number: SpaceNumber, of node: SimulatedNode
    ) throws -> Bool {
        guard let space = try node.store.space(number), let roster = try node.roster(of: space)
        else { return false }
        for device in roster.everyDevice where roster.isFormer(device) {
            for lane in Lane.allCases where lane != .control {
                let log = OperationHash.log(space: space.id, device: device, lane: lane)
                guard LogTag(log) == cause.tag else { continue }
                let limit = roster.limit(of: device, lane: lane, log)
                return limit.map { cause.sequence >= $0.sequence } ?? false
            }
        }
        return false
    }

    func looked(at world: World) throws { try look(at: world, isSettled: false) }

    func settled(_ world: World) throws {
        try look(at: world, isSettled: true)
        for node in world.honestNodes where try !world.isRevoked(node) {
            for number in ahead[node.identity.device] ?? [] where try isInSpace(of: number, node) {
                try look(at: number, of: node, atEndOf: world)
            }
        }
    }

    /// Whether anybody holds a cause who is in the space, as far as a node knows, and of whom it hears.
    private func isHeld(
        _ cause: OperationReference, of number: SpaceNumber, at node: SimulatedNode,
        in world: World
    ) throws -> Bool {
        guard !world.stuckLogs.contains(cause.tag), let space = try node.store.space(number),
            let roster = try node.roster(of: space)
        else { return false }
        return try world.honestNodes.contains { other in
            // Who was invited and has not accepted serves nobody.
            guard roster.takesPart(other.identity.device),
                let record = try other.store.space(space.id),
                let log = try other.store.log(cause.tag, in: record.number)
            else { return false }
            // What a removal cut off they hold and hand to nobody.
            return try log.holds(cause.sequence) && !isBeyondBound(cause, in: log)
                && world.comes(from: other, to: node, in: space)
        }
    }

    /// Whether a node is in the space of an operation: who is out gets no more of it.
    private func isInSpace(of number: OperationNumber, _ node: SimulatedNode) throws -> Bool {
        guard let stored = try node.store.operation(number),
            let log = try node.store.log(stored.log),
            let space = try node.store.space(log.space)
        else { return false }
        return try node.roster(of: space)?.takesPart(node.identity.device) ?? false
    }

    /// Audits what logs got since they were last seen in order.
    func glanced(at world: World) throws {
        for node in world.honestNodes {
            var known = audited[node.identity.device] ?? AuditedLogs()
            var heldCount = 0
            for (_, logs) in try node.eachSpace() {
                for log in logs {
                    heldCount += log.heldCount
                    try audit(log, of: node, &known)
                }
            }
            let count = node.store.operationCount
            // Rows are numbered on where the end of a log was dropped.
            let heldRows = try heldCount == count ? count : count - Self.droppedCount(of: node)
            guard heldCount == heldRows else {
                throw violation(
                    "\(node.name) says that it holds \(heldCount) operations, and holds \(heldRows)"
                )
            }
            audited[node.identity.device] = known
        }
    }

    /// Rows that hold no operation any more.
    private static func droppedCount(of node: SimulatedNode) throws(StoreError) -> Int {
        var dropped = 0
        for row in stride(from: 1, through: node.store.operationCount, by: 1) {
            let number = OperationNumber(Int64(row))
            let stored = try node.store.operation(number)
            let held = try stored.flatMap { row throws(StoreError) in
                try node.store.operation(at: row.sequence, in: row.log)
            }
            if held?.number != number { dropped += 1 }
        }
        return dropped
    }

    private func audit(
        _ log: LogRecord, of node: SimulatedNode, _ known: inout AuditedLogs
    ) throws {
        guard let rest = known.rest(of: log) else { return }
        do {
            try look(at: rest, of: node, mayWait: true)
        } catch is Violation {
            // One branch of a fork may have taken the other's place within the step: of that all is new.
            try look(at: log, of: node, mayWait: true)
        }
        // What no signature covers yet is looked at again when it does.
        let end = log.spans.last.map(\.last)
        if let end, try node.store.head(atOrAfter: end, in: log.number) == nil { return }
        known.isInOrder(log)
    }

    private func look(at world: World, isSettled: Bool) throws {
        let liars = world.liars
        for node in world.honestNodes {
            // Nobody brings a revoked device what its last operations wait for.
            let isRevoked = try isSettled && world.isRevoked(node)
            for (space, logs) in try node.eachSpace() {
                // Nor somebody what those have who keep them away.
                let isAlone = try isSettled && !world.hearsEverybody(node, in: space)
                for log in logs {
                    // What a cut has caught while it waited waits no more, and is shown to nobody.
                    let isBeyond = log.bound.map { $0.sequence < log.end } ?? false
                    // What a revoked device named, it alone may hold. A disk that rots tells nothing.
                    let isOfLiar = liars.contains(log.device)
                    let author = world.nodes.first { $0.identity.device == log.device }
                    let isOfRevoked =
                        try isSettled && !isOfLiar && author.map(world.isRevoked) == true
                    let mayWait =
                        !isSettled || isRevoked || isAlone || isOfLiar || isBeyond || isOfRevoked
                    try lookForStrays(in: log, of: node)
                    try look(at: log, of: node, mayWait: mayWait)
                }
            }
        }
    }

    private func lookForStrays(in log: LogRecord, of node: SimulatedNode) throws {
        let all = try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
        guard all.count == log.heldCount, all.allSatisfy({ log.holds($0.sequence) }) else {
            throw violation(
                "\(node.name) says that it holds \(log.heldCount) of log \(log.tag), and holds"
                    + " \(all.count)")
        }
    }

    /// - Parameters:
    ///   - log: the record, or the part of it that is to be audited.
    ///   - mayWait: whether the signed end of the log may still wait for its causes; those that a
    ///     liar invents never come.
    private func look(at log: LogRecord, of node: SimulatedNode, mayWait: Bool) throws {
        checkCount += 1
        // As its author sees it: there every signature is missed.
        var audit = LogAudit(of: log.device)
        try audit.check(log, in: node.store)
        let isOpen = try log.spans.last.map {
            try node.store.head(atOrAfter: $0.last, in: log.number) == nil
        }
        let unsignedCount = audit.unsignedCount - (isOpen == true && mayWait ? 1 : 0)
        guard audit.brokenCount == 0, unsignedCount <= 0 else {
            throw violation(
                "\(node.name) holds a log \(log.tag) that does not verify: \(audit.brokenCount)"
                    + " links of its chain, \(unsignedCount) signatures")
        }
    }
}

/// What one node's logs held when they were last seen in order.
///
/// A log is a chain, so what was in order stays so while nobody touches it, and what comes in front
/// or behind is in order if it fits.
private struct AuditedLogs {
    private var spans: [LogNumber: [Span]] = [:]

    mutating func isInOrder(_ log: LogRecord) { spans[log.number] = log.spans }

    /// The log with only what it held not when it was last in order; nil where that is nothing.
    func rest(of log: LogRecord) -> LogRecord? {
        let old = spans[log.number] ?? []
        if old == log.spans { return nil }
        var rest = log
        rest.spans = log.spans.flatMap { Self.rest(of: $0, without: old) }
        return rest
    }

    private static func rest(of span: Span, without old: [Span]) -> [Span] {
        let inside = old.filter { $0.first >= span.first && $0.last <= span.last }
        var parts: [Span] = []
        var (next, anchor) = (span.first, span.anchor)
        for known in inside {
            if next < known.first {
                parts.append(
                    Span(first: next, last: known.first - 1, anchor: anchor, tip: known.anchor))
            } else if anchor != known.anchor {
                return [span]
            }
            (next, anchor) = (known.last + 1, known.tip)
        }
        if next <= span.last {
            parts.append(Span(first: next, last: span.last, anchor: anchor, tip: span.tip))
        } else if anchor != span.tip {
            return [span]
        }
        return parts
    }
}
