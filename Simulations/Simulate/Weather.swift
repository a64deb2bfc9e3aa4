import ParleyLedger
import ParleySimulation

/// The faults of one run: draws what breaks, when, and for how long.
///
/// Each class has a stream of its own, so that leaving one out does not shift the others.
struct Weather {
    private let options: Options
    private var parting: SeededRandom
    private var dying: SeededRandom
    private var failing: SeededRandom
    private var jumping: SeededRandom
    private var partedUntil: UInt64 = 0
    private(set) var partitionCount = 0
    private(set) var deathCount = 0
    private(set) var jumpCount = 0

    init(_ options: Options, seed: UInt64) {
        self.options = options
        parting = SeededRandom(seed: seed, purpose: "partitions")
        dying = SeededRandom(seed: seed, purpose: "deaths")
        failing = SeededRandom(seed: seed, purpose: "store failures")
        jumping = SeededRandom(seed: seed, purpose: "clocks")
    }

    /// What is wrong from the beginning.
    mutating func begin(in world: World) {
        world.model = options.model
        world.durabilityDelay = 0...options.durabilityDelayMax
        if options.slowPeerBytes > 0 {
            var slow = options.model
            slow.bytesPerMillisecond = options.slowPeerBytes
            for other in world.nodes.dropFirst() { world.setModel(slow, world.nodes[0], other) }
        }
        guard options.hasWrongClocks else { return }
        for node in world.nodes {
            node.clock.skew = Int64.random(in: -86_400_000...86_400_000, using: &jumping)
            node.clock.drift = Int64.random(in: -500...500, using: &jumping)
        }
    }

    /// One tick passes. `away` are out of reach anyhow.
    mutating func tick(in world: World, away: [SimulatedNode]) {
        if parting.happens(onceIn: options.partitionEvery), world.now >= partedUntil {
            part(world)
        } else if partedUntil > 0, world.now >= partedUntil {
            partedUntil = 0
            world.heal()
            for node in away { Weather.isolate(node, in: world) }
        }
        if dying.happens(onceIn: options.deathEvery) { kill(world, losingPower: false) }
        if dying.happens(onceIn: options.powerLossEvery) { kill(world, losingPower: true) }
        if failing.happens(onceIn: options.storeFailureEvery),
            let node = world.nodes.randomElement(using: &failing)
        {
            let code: StoreError.Code = failing.next() % 2 == 0 ? .full : .inputOutput
            node.store.fail(atCall: Int(1 + failing.next() % 300), code)
        }
        if jumping.happens(onceIn: options.clockJumpEvery),
            let node = world.nodes.randomElement(using: &jumping)
        {
            jumpCount += 1
            let tenYears: Int64 = 10 * 365 * 86_400_000
            node.clock.skew = Int64.random(in: -tenYears...tenYears, using: &jumping)
        }
    }

    private mutating func kill(_ world: World, losingPower: Bool) {
        let point = PlannedDeath.Point.allCases.randomElement(using: &dying) ?? .afterCommit
        let death = PlannedDeath(
            stepCount: Int(1 + dying.next() % 12), point: point,
            isLosingPower: losingPower, downtime: dying.next() % 60_000)
        guard let node = world.nodes.randomElement(using: &dying), !node.isDown else { return }
        deathCount += 1
        node.plannedDeath = death
    }

    private mutating func part(_ world: World) {
        partitionCount += 1
        partedUntil = world.now + 1_000 + parting.next() % 600_000
        let nodes = world.nodes.shuffled(using: &parting)
        let isOneWay = parting.next() % 2 == 0 && options.partsOneWay
        switch parting.next() % 3 {
        case 0: separate([nodes[0]], Array(nodes.dropFirst()), isOneWay, in: world)
        case 1:
            let half = nodes.count / 2
            separate(Array(nodes.prefix(half)), Array(nodes.dropFirst(half)), isOneWay, in: world)
        default:
            for (place, node) in nodes.enumerated() where parting.next() % 2 == 0 {
                separate([node], Array(nodes.dropFirst(place + 1)), isOneWay, in: world)
            }
        }
    }

    private func separate(
        _ left: [SimulatedNode], _ right: [SimulatedNode], _ isOneWay: Bool, in world: World
    ) {
        for one in left {
            for other in right {
                if isOneWay {
                    world.block(from: one, to: other)
                } else {
                    world.cut(one, other)
                }
            }
        }
    }

    /// Nobody reaches this node, and it reaches nobody.
    static func isolate(_ node: SimulatedNode, in world: World) {
        for other in world.nodes where other !== node { world.cut(node, other) }
    }
}
