public import ParleySimulation

/// What one run is made of. Drawn from the seed alone: which faults are on, and how strong.
///
/// Each class is on in half of all seeds, so that runs with few faults, in which much happens, are
/// as common as runs in which everything breaks.
public struct Options: Equatable, Sendable {
    /// People, each with one device.
    public var nodeCount: Int
    /// How long the safety phase lasts, in virtual minutes.
    public var minutes: UInt64
    /// Links: delay, and whether they stall and break.
    public var model = LinkModel()
    /// One node is reached through so many bytes a millisecond; 0 where none is slow.
    public var slowPeerBytes: UInt64 = 0
    /// Once in so many ticks the network parts; 0 for never.
    public var partitionEvery: UInt64 = 0
    /// Whether parting may be in one direction, and silent.
    public var partsOneWay = false
    /// Once in so many ticks a node dies; 0 for never.
    public var deathEvery: UInt64 = 0
    /// Once in so many ticks a machine loses its power; 0 for never.
    public var powerLossEvery: UInt64 = 0
    /// Once in so many ticks a store fails; 0 for never.
    public var storeFailureEvery: UInt64 = 0
    /// Whether wall clocks are off and drift.
    public var hasWrongClocks = false
    /// Once in so many ticks a wall clock jumps; 0 for never.
    public var clockJumpEvery: UInt64 = 0
    /// Received operations wait for the disk at most so long, in milliseconds.
    public var durabilityDelayMax: UInt64 = 0

    /// What this seed draws.
    public init(seed: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "options")
        nodeCount = Int(2 + random.next() % 4)
        minutes = 5 + random.next() % 26
        func draw(_ range: ClosedRange<UInt64>) -> UInt64 {
            // Both are always drawn: a class that is off does not shift the others.
            let (isOn, value) = (random.next() % 2 == 0, UInt64.random(in: range, using: &random))
            return isOn ? value : 0
        }
        let delay = draw(50...500)
        if delay > 0 { model.delay = 1...2 * delay }
        model.stallEvery = draw(20...500)
        model.resetEvery = draw(20...1_000)
        slowPeerBytes = draw(1...10)
        partitionEvery = draw(60...600)
        partsOneWay = draw(1...1) > 0
        deathEvery = draw(20...400)
        powerLossEvery = draw(20...200)
        storeFailureEvery = draw(20...400)
        hasWrongClocks = draw(1...1) > 0
        clockJumpEvery = draw(200...2_000)
        durabilityDelayMax = draw(100...1_000)
    }

    /// Everything that was drawn, in one line.
    public var line: String {
        var words = ["nodes \(nodeCount)", "minutes \(minutes)"]
        words.append("delay \(model.delay.lowerBound)-\(model.delay.upperBound) ms")
        func add(_ name: String, _ value: UInt64) {
            if value > 0 {
                words.append(name.hasSuffix("/") ? "\(name)\(value)" : "\(name) \(value)")
            }
        }
        add("stall 1/", model.stallEvery)
        add("reset 1/", model.resetEvery)
        add("slow peer B/ms", slowPeerBytes)
        add("partition 1/", partitionEvery)
        if partsOneWay { words.append("one-way") }
        add("death 1/", deathEvery)
        add("power loss 1/", powerLossEvery)
        add("store failure 1/", storeFailureEvery)
        if hasWrongClocks { words.append("wrong clocks") }
        add("clock jump 1/", clockJumpEvery)
        add("disk ms", durabilityDelayMax)
        return words.joined(separator: ", ")
    }
}
