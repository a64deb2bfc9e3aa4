public import ParleyNodeCore

/// When and how a process is to die.
public struct PlannedDeath: Equatable, Sendable {
    /// Where in a step it happens.
    public enum Point: CaseIterable, Sendable {
        /// In the middle of the transaction: nothing of the step is left.
        case beforeCommit
        /// After the commit: the step happened, and nobody hears of it.
        case afterCommit
        /// Some effects were performed, and some were not.
        case amongEffects
    }

    /// Steps until then; 1 for the next.
    public var stepCount: Int
    /// Where in that step.
    public var point: Point
    /// Whether the machine dies, and with it what was not durable.
    public var isLosingPower: Bool
    /// How long it stays down, in milliseconds.
    public var downtime: UInt64

    /// A death with these fields.
    public init(stepCount: Int, point: Point, isLosingPower: Bool, downtime: UInt64) {
        self.stepCount = stepCount
        self.point = point
        self.isLosingPower = isLosingPower
        self.downtime = downtime
    }
}

extension World {
    /// A node's process dies and starts again at once.
    ///
    /// - Parameters:
    ///   - node: whose.
    ///   - losingPower: whether the machine dies, and with it what was not durable.
    ///   - rejoin: what its shell found out about the store being behind.
    public func restart(
        _ node: SimulatedNode, losingPower: Bool = false, rejoin: Rejoin? = nil
    ) {
        guard let index = place(of: node) else { return }
        stop(index, losingPower: losingPower)
        start(index, rejoin: rejoin)
    }

    /// A node's process ends in good order, and stays down until ``startAll()``.
    public func stopProcess(of node: SimulatedNode) {
        guard let index = place(of: node), !node.isDown else { return }
        stop(index, losingPower: false)
    }

    /// Starts every node that is down.
    public func startAll() {
        for index in nodes.indices {
            nodes[index].plannedDeath = nil
            if nodes[index].isDown { start(index) }
        }
    }

    func die(_ index: Int, _ death: PlannedDeath) {
        stop(index, losingPower: death.isLosingPower)
        events.insert(.restart(node: index, life: nodes[index].life), at: now + death.downtime)
    }

    func stop(_ index: Int, losingPower: Bool) {
        for wire in wires(of: index) { close(wire) }
        leaveRelays(of: index)
        nodes[index].timers = [:]
        nodes[index].stop(losingPower: losingPower)
        onDeath?(nodes[index], losingPower)
        onEvent?(.died(node: index, losingPower: losingPower))
    }

    func start(_ index: Int, rejoin: Rejoin? = nil) {
        nodes[index].start(rejoin: rejoin)
        guard !nodes[index].isDown else { return }
        onEvent?(.started(node: index))
        offer(.started, to: index)
    }
}
