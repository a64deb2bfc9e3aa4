/// What a swarm of seeds has tried: how rich its worlds were, and of which classes.
public struct SwarmTally: Sendable {
    /// How rich worlds are, in the mean.
    public struct Richness: Equatable, Sendable {
        /// Operations held in all stores together, in the end.
        public var operations: Double
        /// Nodes that were there in the end.
        public var nodes: Double
        /// Virtual seconds.
        public var seconds: Double
        /// Acts that were played.
        public var acts: Double

        /// The means of 60 seeds from 777000200000 on, of 23 November 2026: no world is to be
        /// poorer than then.
        public static let reference = Richness(
            operations: 2_860, nodes: 4.95, seconds: 5_880, acts: 424)
    }

    /// So many seeds tell what worlds are like in the mean, and must have hit every mark.
    public static let seedCountForMeans = 50
    /// So many seeds must have drawn every class: the rarest is one world in 35.
    public static let seedCountForClasses = 300
    /// Worlds that hold less than this part of what they held are poorer: means of few seeds differ by chance.
    static func leastPart(ofSeeds count: Int) -> Double {
        count < seedCountForClasses ? 0.6 : 0.85
    }

    /// Seeds that ended with a summary.
    public private(set) var runCount = 0
    /// How often each mark was hit.
    public private(set) var marks: [String: Int] = [:]
    /// How often each deed was done.
    public private(set) var deeds: [String: Int] = [:]
    /// How many worlds were of each class.
    public private(set) var classes: [String: Int] = [:]
    /// Operations of all seeds.
    public private(set) var operationCount = 0
    /// Virtual milliseconds of all seeds.
    public private(set) var milliseconds: UInt64 = 0
    private var nodeCount = 0

    /// Nothing was tried yet.
    public init() {}

    /// Counts a seed.
    public mutating func add(_ summary: Summary) {
        runCount += 1
        operationCount += summary.operationCount
        milliseconds += summary.milliseconds
        nodeCount += summary.nodeCount
        marks.merge(summary.marks, uniquingKeysWith: +)
        deeds.merge(summary.deeds, uniquingKeysWith: +)
        for name in summary.classes { classes[name, default: 0] += 1 }
    }

    /// The means so far; nil before the first seed.
    public var richness: Richness? {
        guard runCount > 0 else { return nil }
        let count = Double(runCount)
        return Richness(
            operations: Double(operationCount) / count, nodes: Double(nodeCount) / count,
            seconds: Double(milliseconds) / 1_000 / count,
            acts: Double(deeds.values.reduce(0, +)) / count)
    }

    /// What was not tried, in sentences: marks that nothing hit, classes that no seed drew, and
    /// means that are poorer than the reference. Nothing is asked of few seeds.
    public var shortcomings: [String] {
        var found: [String] = []
        if runCount >= Self.seedCountForMeans {
            let further = SimulationRun.marksOfClasses.filter { classes[$0.key] != nil }
            let due = SimulationRun.marks + further.values.joined().sorted()
            let missed = due.filter { marks[$0] == nil }
            if !missed.isEmpty {
                found.append("never happened: " + missed.joined(separator: ", "))
            }
            let part = Self.leastPart(ofSeeds: runCount)
            if let richness { found += richness.shortcomings(beside: .reference, atLeast: part) }
        }
        if runCount >= Self.seedCountForClasses {
            let missed = Scenario.allClasses.filter { classes[$0] == nil }
            if !missed.isEmpty { found.append("never drawn: " + missed.joined(separator: ", ")) }
        }
        return found
    }
}

extension SwarmTally.Richness {
    /// Where worlds are poorer than others. Virtual time is not compared: a world ends as soon as
    /// all is settled.
    func shortcomings(beside other: Self, atLeast part: Double) -> [String] {
        let all = [
            ("operations", operations, other.operations), ("nodes", nodes, other.nodes),
            ("acts", acts, other.acts),
        ]
        return all.filter { $1 < $2 * part }.map {
            "worlds are poorer than they were: \(Int($1)) \($0) in the mean, not \(Int($2))"
        }
    }
}
