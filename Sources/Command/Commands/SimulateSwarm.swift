import ArgumentParser
import Foundation
import ParleySimulate

/// `parley simulate swarm`: many seeds, one line each.
struct SimulateSwarm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swarm",
        abstract: "run many seeds, one line each",
        discussion: """
            Each seed runs in a process of its own, so that one that crashes is told like any
            other failure. Stops at the first seed that fails, keeps its run, and prints how to
            see it again. A swarm of at least 50 seeds must also have hit every mark: something
            that never happened was not tried.

            Example:
              parley simulate swarm --seeds 20 --seed-base 1 --minutes 1
            """)

    @Option(name: .long, help: "how many seeds at most")
    var seeds: UInt64 = 1_000_000

    @Option(name: .long, help: "the first seed; drawn by the machine without")
    var seedBase: UInt64?

    @Option(name: .long, help: "begin no seed after so many minutes")
    var minutes: Double = 10

    @Option(name: .long, help: "how many seeds run at once")
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    @Option(name: .long, help: "the folder in which failing runs are kept")
    var save = "."

    func run() async throws {
        guard seeds > 0, minutes > 0, jobs > 0 else { throw ExitCode(2) }
        try Simulating.makeFolder(save)
        let base = seedBase ?? UInt64.random(in: 0..<1 << 40)
        World.current.write("seeds from \(base), \(jobs) at once")
        var swarm = Swarm(began: .now, save: save)
        let (last, isOver) = base.addingReportingOverflow(seeds - 1)
        var remaining = (base...(isOver ? .max : last)).makeIterator()
        let deadline = ContinuousClock.now + .seconds(minutes * 60)
        await withTaskGroup(of: SeedRun.self) { group in
            let folder = save
            func begin() {
                guard swarm.failure == nil, ContinuousClock.now < deadline || swarm.runs == 0,
                    let seed = remaining.next()
                else { return }
                group.addTask { SeedRun(seed: seed, folder: folder) }
            }
            for _ in 0..<jobs { begin() }
            for await run in group {
                swarm.add(run)
                begin()
            }
        }
        try swarm.finish()
    }
}

/// One seed in a process of its own.
struct SeedRun: Sendable {
    let seed: UInt64
    let summary: Summary?
    let status: Int32
    /// Where the run is kept if it failed.
    let record: String

    /// Runs a seed, and waits for it.
    init(seed: UInt64, folder: String) {
        self.seed = seed
        record = folder + "/seed-\(seed).failure.json"
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [
            "simulate", "run", "--seed", "\(seed)", "--summary", "--save", record,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
            let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let isCrash = process.terminationReason == .uncaughtSignal
            status = isCrash ? 127 : process.terminationStatus
            // What a process that crashed has written is no summary.
            summary = isCrash ? nil : try? JSONDecoder().decode(Summary.self, from: data)
        } catch {
            summary = nil
            status = 127
        }
    }
}

/// What a swarm has seen.
private struct Swarm {
    let began: ContinuousClock.Instant
    let save: String
    private(set) var runs = 0
    private(set) var failure: SeedRun?
    private var operations = 0
    private var milliseconds: UInt64 = 0
    private var marks: [String: Int] = [:]
    private var deeds: [String: Int] = [:]

    init(began: ContinuousClock.Instant, save: String) {
        self.began = began
        self.save = save
    }

    mutating func add(_ run: SeedRun) {
        runs += 1
        if let summary = run.summary {
            World.current.write(summary.line)
            operations += summary.operationCount
            milliseconds += summary.milliseconds
            marks.merge(summary.marks, uniquingKeysWith: +)
            deeds.merge(summary.deeds, uniquingKeysWith: +)
        }
        if run.status != 0 || run.summary == nil {
            if run.summary == nil { World.current.write("seed \(run.seed) CRASHED") }
            failure = failure ?? run
        }
    }

    /// Sums up, and exits as the first failure asks for.
    func finish() throws {
        let world = World.current
        let elapsed = Double((ContinuousClock.now - began).components.seconds)
        let hours = Double(milliseconds) / 3_600_000
        world.write(
            "\(runs) runs, \(operations) operations,"
                + " \(String(format: "%.1f", hours)) virtual hours in"
                + " \(String(format: "%.0f", elapsed)) s")
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", ")
        }
        world.write("acts: " + list(deeds))
        world.write("marks: " + list(marks))
        if let failure {
            if failure.summary != nil {
                world.say("again: parley simulate replay \(failure.record)")
            }
            world.say("again: parley simulate run --seed \(failure.seed)")
            throw ExitCode(failure.summary?.verdict.exitStatus ?? failure.status)
        }
        let missed = SimulationRun.marks.filter { marks[$0] == nil }
        if runs >= 50, !missed.isEmpty {
            world.say("never happened: " + missed.joined(separator: ", "))
            throw ExitCode(129)
        }
    }
}
