import ArgumentParser
import Foundation
import Glibc
import ParleySimulate

/// `parley simulate swarm`: many seeds, one line each.
struct SimulateSwarm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swarm",
        abstract: "run many seeds, one line each",
        discussion: """
            Each seed runs in a process of its own, so that one that crashes is told like any \
            other failure, and one that takes longer than --limit is told as slow. Stops at the \
            first seed that fails, or goes on with --keep-going; keeps failing runs, and prints \
            how to see them again. A swarm of at least 50 seeds must also have hit every mark, of \
            at least 300 every class of worlds: something that never happened was not tried.

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

    @Option(name: .long, help: "seconds of the processor that a seed may take")
    var limit: Double = 30

    @Flag(name: .long, help: "go on after a seed that failed")
    var keepGoing = false

    func run() async throws {
        guard seeds > 0, minutes > 0, jobs > 0, limit > 0 else { throw ExitCode(2) }
        try Simulating.makeFolder(save)
        let base = seedBase ?? UInt64.random(in: 0..<1 << 40)
        World.current.write("seeds from \(base), \(jobs) at once")
        var swarm = Swarm(began: .now)
        let (last, isOver) = base.addingReportingOverflow(seeds - 1)
        var remaining = (base...(isOver ? .max : last)).makeIterator()
        let deadline = ContinuousClock.now + .seconds(minutes * 60)
        await withTaskGroup(of: SeedRun.self) { group in
            let (folder, limit) = (save, limit)
            func begin() {
                guard swarm.failures.isEmpty || keepGoing,
                    ContinuousClock.now < deadline || swarm.runs == 0,
                    let seed = remaining.next()
                else { return }
                group.addTask { SeedRun(seed: seed, folder: folder, limit: limit) }
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
    /// A process that does not even look at its limit is ended after so many times as long.
    private static let patience = 10.0

    let seed: UInt64
    let summary: Summary?
    let status: Int32
    /// Where the run is kept if it failed.
    let record: String

    /// Runs a seed, and waits for it.
    ///
    /// - Parameter limit: seconds of the processor that it may take.
    init(seed: UInt64, folder: String, limit: Double) {
        self.seed = seed
        record = folder + "/seed-\(seed).failure.json"
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [
            "simulate", "run", "--seed", "\(seed)", "--summary", "--limit", "\(limit)",
            "--save", record,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
            let end = SeedRun.end(process, after: limit * Self.patience)
            defer { end.cancel() }
            let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let isCrash = process.terminationReason == .uncaughtSignal
            let isHung = isCrash && process.terminationStatus == SIGKILL
            status = isHung ? 124 : isCrash ? 127 : process.terminationStatus
            // What a process that crashed has written is no summary.
            summary = isCrash ? nil : try? JSONDecoder().decode(Summary.self, from: data)
        } catch {
            summary = nil
            status = 127
        }
    }

    private static func end(_ process: Process, after seconds: Double) -> DispatchWorkItem {
        let identifier = process.processIdentifier
        let end = DispatchWorkItem { kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: end)
        return end
    }
}

/// The results of a swarm.
private struct Swarm {
    /// How often progress is shown, in seconds.
    private static let progressInterval = 60

    let began: ContinuousClock.Instant
    private(set) var runs = 0
    private(set) var failures: [SeedRun] = []
    private var tally = SwarmTally()
    private var progressAt = progressInterval

    init(began: ContinuousClock.Instant) { self.began = began }

    private var seconds: Double { (ContinuousClock.now - began) / .seconds(1) }

    private var progress: String {
        let rate = Double(runs) / max(seconds, 1) * 60
        return "\(runs) seeds, \(failures.count) failed, \(Self.text(rate)) a minute"
    }

    private static func text(_ number: Double) -> String { String(format: "%.1f", number) }

    mutating func add(_ run: SeedRun) {
        runs += 1
        if let summary = run.summary {
            World.current.write(summary.line)
            tally.add(summary)
        }
        if run.status != 0 || run.summary == nil {
            if run.summary == nil {
                World.current.write("seed \(run.seed) \(run.status == 124 ? "HUNG" : "CRASHED")")
            }
            failures.append(run)
        }
        guard Int(seconds) >= progressAt else { return }
        progressAt = Int(seconds) + Self.progressInterval
        World.current.say(progress)
    }

    /// Sums up, and exits as the first failure asks for.
    func finish() throws {
        let world = World.current
        world.write(
            "\(runs) runs, \(tally.operationCount) operations,"
                + " \(Self.text(Double(tally.milliseconds) / 3_600_000)) virtual hours in"
                + " \(Int(seconds)) s: \(progress)")
        if let richness = tally.richness { world.write(Self.line(richness)) }
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", ")
        }
        world.write("classes: " + list(tally.classes))
        world.write("acts: " + list(tally.deeds))
        world.write("marks: " + list(tally.marks))
        for failure in failures {
            if failure.summary != nil {
                world.say("again: parley simulate replay \(failure.record)")
            }
            world.say("again: parley simulate run --seed \(failure.seed)")
        }
        if let failure = failures.first {
            throw ExitCode(failure.summary?.verdict.exitStatus ?? failure.status)
        }
        let shortcomings = tally.shortcomings
        for sentence in shortcomings { world.say(sentence) }
        if !shortcomings.isEmpty { throw ExitCode(129) }
    }

    private static func line(_ richness: SwarmTally.Richness) -> String {
        let known = SwarmTally.Richness.reference
        func part(_ name: String, _ mean: Double, _ known: Double) -> String {
            "\(name) \(text(mean)) (\(text(known)))"
        }
        return "a seed, in the mean (and the reference): "
            + [
                part("operations", richness.operations, known.operations),
                part("nodes", richness.nodes, known.nodes),
                part("virtual s", richness.seconds, known.seconds),
                part("acts", richness.acts, known.acts),
            ].joined(separator: ", ")
    }
}
