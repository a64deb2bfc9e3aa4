import ParleyCheckers
import Testing

@testable import ParleySimulate

@Suite("A swarm")
struct SwarmTests {
    /// Those of every swarm, and of every class.
    private static let allMarks =
        SimulationRun.marks + SimulationRun.marksOfClasses.values.joined()

    private static func summary(_ change: (inout Summary) -> Void = { _ in }) -> Summary {
        var summary = Summary(
            name: "seed-1", seed: 1, verdict: .kept, traceHash: 0, milliseconds: 6_000_000,
            nodeCount: 5, classes: Scenario.allClasses, operationCount: 3_000, checks: [:],
            marks: Dictionary(allMarks.map { ($0, 1) }) { first, _ in first },
            deeds: ["write": 430])
        change(&summary)
        return summary
    }

    private static func shortcomings(
        of count: Int, _ change: (inout Summary) -> Void = { _ in }
    ) -> [String] {
        var tally = SwarmTally()
        for _ in 0..<count { tally.add(summary(change)) }
        return tally.shortcomings
    }

    @Test("asks nothing of few seeds, and of many that all was tried")
    func shortcomings() {
        #expect(Self.shortcomings(of: 400).isEmpty)
        #expect(Self.shortcomings(of: 49) { $0.marks = [:] }.isEmpty)
        #expect(Self.shortcomings(of: 50) { $0.marks["died"] = nil }.count <= 1)
        #expect(Self.shortcomings(of: 50) { $0.marks = [:] }.first?.hasPrefix("never hap") == true)
        #expect(
            Self.shortcomings(of: 50) { $0.marks["kind-39"] = nil } == ["never happened: kind-39"])
        let plain = Self.shortcomings(of: 50) {
            $0.marks["kind-39"] = nil
            $0.classes = $0.classes.filter { $0 != "curation" }
        }
        #expect(plain.isEmpty)
        #expect(Self.shortcomings(of: 299) { $0.classes = [] }.isEmpty)
        #expect(Self.shortcomings(of: 300) { $0.classes = [] }.first?.hasPrefix("never dr") == true)
    }

    @Test("says where its worlds are poorer than they were")
    func poorer() {
        let poor = Self.shortcomings(of: 50) { $0.operationCount = 1_000 }
        #expect(poor == ["worlds are poorer than they were: 1000 operations in the mean, not 2860"])
        // Of few seeds it may be chance.
        #expect(Self.shortcomings(of: 50) { $0.operationCount = 2_200 }.isEmpty)
        #expect(Self.shortcomings(of: 300) { $0.operationCount = 2_200 }.count == 1)
    }

    @Test("draws worlds of every class, no poorer than they were")
    func drawn() {
        var classes: [String: Int] = [:]
        var (nodes, minutes, relays, acts) = (0, UInt64(0), 0, UInt64(0))
        for seed in 777_000_200_000..<777_000_200_600 as Range<UInt64> {
            let scenario = Scenario.drawn(seed: seed)
            for name in scenario.classes { classes[name, default: 0] += 1 }
            nodes += scenario.nodes.count
            relays += scenario.relays ?? 0
            let busy = scenario.phases.filter { $0.heal != true && $0.isBusy != false }
            let time = busy.reduce(0) { $0 + $1.for.milliseconds } / 60_000
            minutes += time
            acts += time * scenario.workload.actsPerMinute
        }
        for name in Scenario.allClasses { #expect(classes[name] ?? 0 > 0, "\(name)") }
        // What 600 seeds drew on 23 November 2026.
        #expect(nodes >= 3_277)
        #expect(minutes >= 10_352)
        #expect(acts >= 285_371)
        #expect(relays >= 452)
    }

    @Test("a run that takes longer than it may says so, and ends at once")
    func slow() throws {
        let run = SimulationRun(.drawn(seed: 5), isOverdue: { true })
        let summary = try run.run()
        guard case .slow = summary.verdict else {
            Issue.record("\(summary.verdict)")
            return
        }
        #expect(summary.verdict.exitStatus == 124)
        #expect(summary.line.contains("SLOW"))
    }

    @Test("a run that has time enough is the run that it is without a limit")
    func enough() throws {
        let limited = try SimulationRun(.drawn(seed: 5), isOverdue: { false }).run()
        #expect(try limited == SimulationRun(.drawn(seed: 5)).run())
    }
}
