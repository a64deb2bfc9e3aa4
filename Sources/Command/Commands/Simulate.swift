import ArgumentParser
import Foundation
import ParleySimulate

/// `parley simulate`: many nodes in one process, under virtual time and real faults.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "try the node against partitions, crashes and wrong clocks",
        discussion: """
            Runs the production node in a simulated world. A seed decides everything: the same
            seed gives the same trace, in every process. Exits with 0 when every promise was
            kept, 2 where nothing was asked for, 128 where nodes did not become equal after
            the faults, and 129 where a promise was broken.

            Example:
              parley simulate run --seed 7
              parley simulate swarm --seeds 20 --seed-base 1 --minutes 1
            """,
        subcommands: [SimulateRun.self, SimulateSwarm.self, SimulateReal.self])
}

/// `parley simulate run`: one seed, told in full.
struct SimulateRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "run one seed and print what it drew, each phase and the trace hash",
        discussion: """
            Example:
              parley simulate run --seed 7
            """)

    @Option(name: .long, help: "what decides everything")
    var seed: UInt64

    func run() async throws { try Simulating.finish([try Simulating.run(seed, isQuiet: false)]) }
}

/// `parley simulate swarm`: many seeds, one line each.
struct SimulateSwarm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swarm",
        abstract: "run many seeds, one line each",
        discussion: """
            Stops at the first seed that breaks a promise, and prints how to run it again.

            Example:
              parley simulate swarm --seeds 20 --seed-base 1 --minutes 1
            """)

    @Option(name: .long, help: "how many seeds at most")
    var seeds: UInt64 = 1_000_000

    @Option(name: .long, help: "the first seed; drawn by the machine without")
    var seedBase: UInt64?

    @Option(name: .long, help: "begin no seed after so many minutes")
    var minutes: Double = 10

    func run() async throws {
        guard seeds > 0, minutes > 0 else { throw ExitCode(2) }
        let base = seedBase ?? UInt64.random(in: 0..<1 << 40)
        let began = ContinuousClock.now
        var reports: [Report] = []
        for seed in base..<base.addingReportingOverflow(seeds).partialValue {
            let report = try Simulating.run(seed, isQuiet: true)
            reports.append(report)
            if report.verdict != .kept { break }
            if ContinuousClock.now - began >= .seconds(minutes * 60) { break }
        }
        try Simulating.finish(reports)
    }
}

private enum Simulating {
    static func run(_ seed: UInt64, isQuiet: Bool) throws -> Report {
        let world = World.current
        var lines: [String] = []
        let report = try SimulationRun(seed: seed) { line in
            lines.append(line)
            if !isQuiet { world.write(line) }
        }.run()
        // What led to a failure is told in full, whoever ran it.
        if isQuiet, report.verdict != .kept { for line in lines { world.write(line) } }
        world.write(line(report))
        return report
    }

    private static func line(_ report: Report) -> String {
        let verdict =
            switch report.verdict {
            case .kept: "kept"
            case .stuck(let difference): "STUCK \(difference)"
            case .broken(let violation): "BROKEN \(violation)"
            }
        let hash = String(report.traceHash, radix: 16)
        return "seed \(report.seed) \(verdict); operations \(report.operationCount),"
            + " virtual \(report.milliseconds / 1_000) s, trace \(hash);"
            + " checks \(report.checks.joined(separator: " "))"
    }

    /// Sums up, and exits as the worst of them asks for.
    static func finish(_ reports: [Report]) throws {
        let hours = Double(reports.reduce(0) { $0 + $1.milliseconds }) / 3_600_000
        World.current.write(
            "\(reports.count) runs, \(reports.reduce(0) { $0 + $1.operationCount }) operations,"
                + " \(String(format: "%.1f", hours)) virtual hours")
        guard let bad = reports.first(where: { $0.verdict != .kept }) else { return }
        World.current.say("again: parley simulate run --seed \(bad.seed)")
        if case .stuck = bad.verdict { throw ExitCode(128) }
        throw ExitCode(129)
    }
}
