import ParleyLedger

extension World {
    /// A node is out of everybody's reach; its links end.
    public func isolate(_ node: SimulatedNode) {
        for other in nodes where other !== node { cut(node, other) }
        guard let index = place(of: node) else { return }
        relayless.insert(index)
        for relay in relays { loseRelay(relay.key, of: index) }
    }

    /// Gives one direction between two nodes a model of its own, whatever the way has.
    public func setModel(
        _ model: LinkModel, from source: SimulatedNode, to target: SimulatedNode
    ) {
        guard let from = place(of: source), let to = place(of: target) else { return }
        directionModels[Way(source: from, target: to)] = model
    }

    /// A node's process dies now; with the power, commits that were not durable are lost.
    ///
    /// - Parameters:
    ///   - node: whose.
    ///   - losingPower: whether the machine dies with it.
    ///   - downtime: how long it stays down; where left out, until ``start(_:)``.
    public func crash(
        _ node: SimulatedNode, losingPower: Bool = false, downFor downtime: Duration? = nil
    ) {
        guard let index = place(of: node), !node.isDown else { return }
        stop(index, losingPower: losingPower)
        guard let downtime else { return }
        events.insert(.restart(node: index, life: node.life), at: now + downtime.milliseconds)
    }

    /// A node's process dies in the middle of a step to come.
    ///
    /// - Parameters:
    ///   - node: whose.
    ///   - step: which; its next command, frame or timer is step 1.
    ///   - point: where in that step.
    ///   - losingPower: whether the machine dies with it.
    ///   - downtime: how long it stays down.
    public func crash(
        _ node: SimulatedNode, inStep step: Int, at point: PlannedDeath.Point,
        losingPower: Bool = false, downFor downtime: Duration
    ) {
        guard place(of: node) != nil else { return }
        node.plannedDeath = PlannedDeath(
            stepCount: step, point: point, isLosingPower: losingPower,
            downtime: downtime.milliseconds)
    }

    /// Starts a node that is down, and does nothing where it is not.
    public func start(_ node: SimulatedNode) {
        guard let index = place(of: node), node.isDown else { return }
        start(index)
    }

    /// Puts a copy in the place of a node's disk, as from an old backup, and starts the node.
    ///
    /// It is told nothing: peers who hold more of its own log than it does stop it from writing,
    /// and give it back what it forgot.
    public func restore(_ node: SimulatedNode, from copy: StoreSnapshot) {
        guard let index = place(of: node) else { return }
        if !node.isDown { stop(index, losingPower: false) }
        node.setBack(to: copy)
        start(index)
    }

    /// How long received operations wait for the disk. Power that is lost meanwhile takes them
    /// along; nobody was told that they are safe.
    public func setDiskDelay(_ delay: ClosedRange<Duration>) {
        durabilityDelay = delay.lowerBound.milliseconds...delay.upperBound.milliseconds
    }
}

extension SimulatedNode {
    /// Makes a call to the disk fail once.
    ///
    /// - Parameters:
    ///   - call: which, from now on; 1 for the next.
    ///   - isFull: whether it fails because nothing more fits.
    public func failDisk(inCall call: Int, isFull: Bool = false) {
        store.fail(atCall: call, isFull ? .full : .inputOutput)
    }

    /// Forgets a failure that was asked for and has not come up.
    public func mendDisk() { store.failNoMore() }

    /// A copy of the disk, for ``World/restore(_:from:)``.
    public func backUp() -> StoreSnapshot { store.snapshot() }
}

extension LinkModel {
    /// A way that is slow or breaks.
    ///
    /// - Parameters:
    ///   - delay: how long a frame takes, at least and at most.
    ///   - bytesPerSecond: what passes, each direction for itself; nil for any number. Less than
    ///     1000 count as 1000.
    ///   - stallEvery: one frame in so many is held up for up to 20 s; 0 for none.
    ///   - resetEvery: one frame in so many meets a reset somewhere on its way; 0 for none.
    public init(
        delay: ClosedRange<Duration>, bytesPerSecond: UInt64? = nil, stallEvery: UInt64 = 0,
        resetEvery: UInt64 = 0
    ) {
        self.init()
        self.delay = delay.lowerBound.milliseconds...delay.upperBound.milliseconds
        self.stallEvery = stallEvery
        self.resetEvery = resetEvery
        bytesPerMillisecond = bytesPerSecond.map { max(1, $0 / 1_000) } ?? 0
    }
}

extension NodeClock {
    /// A wall clock that is wrong.
    ///
    /// - Parameters:
    ///   - ahead: how far it is ahead; below 0, behind.
    ///   - partsPerMillion: how much too fast it runs; below 0, too slow.
    public init(ahead: Duration, partsPerMillion: Int64 = 0) {
        self.init()
        skew = ahead.signedMilliseconds
        drift = partsPerMillion
    }
}
