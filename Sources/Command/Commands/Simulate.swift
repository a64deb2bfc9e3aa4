import ArgumentParser
import Foundation
import Glibc
import Parley
import ParleyImporting
import ParleySimulate

/// `parley simulate`: many nodes in one process, under virtual time and real faults.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "test the node against partitions, crashes and wrong clocks",
        discussion: """
            Runs the production node in a simulated world. A scenario says who is there, what \
            they do and what breaks; a seed decides all that it leaves open: the same scenario \
            and seed give the same trace, in every process. Exits with 0 when every promise was \
            kept, 2 where it was misused, 124 where a run took longer than it may, 127 where the \
            program crashed, 128 where nodes did not become equal after the faults, and 129 where \
            a promise was broken.

            Example:
              parley simulate run --seed 7
              parley simulate swarm --seeds 20 --seed-base 1 --minutes 1
            """,
        subcommands: [
            SimulateRun.self, SimulateSwarm.self, SimulateReplay.self, SimulateShrink.self,
            SimulateReal.self,
        ])
}

/// `parley simulate run`: one run, told in full.
struct SimulateRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "run one scenario, or one that a seed draws, and tell each phase",
        discussion: """
            A run that fails is kept as data, to be replayed and shrunk.

            Example:
              parley simulate run --seed 7
              parley simulate run Simulations/Scenarios/two-halves.json
            """)

    @Argument(help: "a scenario as JSON")
    var file: String?

    @Option(name: .long, help: "what decides everything that the scenario leaves open")
    var seed: UInt64?

    @Flag(name: .long, help: "print the scenario as JSON, and do not run it")
    var show = false

    @Flag(name: .long, help: "print one line of JSON and nothing else")
    var summary = false

    @Option(name: .long, help: "seconds of the processor that it may take; any number without")
    var limit: Double?

    @Option(name: .long, help: "where a failing run is kept; nowhere without")
    var save: String?

    @OptionGroup var pages: SimulatePages

    func run() async throws {
        var scenario = try Simulating.scenario(file, seed)
        if let seed { scenario.seed = seed }
        let world = World.current
        if show { return world.write(String(decoding: try scenario.json(), as: UTF8.self)) }
        let log = try Simulating.log(of: scenario, beside: file)
        let record = FailureRecord(
            scenario: scenario, tape: Tape(drawing: scenario, log: log), verdict: .kept,
            version: Simulating.version)
        try Simulating.play(record, isQuiet: summary, limit: limit, save: save, pages)
    }
}

/// The processor time of a run so far, whatever else the machine does.
enum ProcessorTime {
    /// Begins to measure; what it gives tells whether so many seconds are over.
    static func limit(_ seconds: Double) -> () -> Bool {
        let began = now
        return { now - began > seconds }
    }

    /// Seconds of the processor that this process has used.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The files of a run for inspection.
struct SimulatePages: ParsableArguments {
    @Option(name: .long, help: "where a page that shows the run goes")
    var html: String?

    @Option(name: .long, help: "where a report for programs goes")
    var json: String?
}

/// `parley simulate replay`: a run that failed, once more.
struct SimulateReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "run once more what failed",
        discussion: """
            Example:
              parley simulate replay seed-7.failure.json
            """)

    @Argument(help: "what `run --save` or `swarm --save` kept")
    var file: String

    @Option(name: .long, help: "seconds of the processor that it may take; any number without")
    var limit: Double?

    @OptionGroup var pages: SimulatePages

    func run() async throws {
        try Simulating.play(
            try Simulating.record(file), isQuiet: false, limit: limit, save: nil, pages)
    }
}

/// `parley simulate shrink`: makes a failing run small.
struct SimulateShrink: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shrink",
        abstract: "make a failing run as small as it gets while it fails the same way",
        discussion: """
            Leaves out whole classes of acts, time, people, single acts and words. Ends after \
            500 runs or 5 minutes, or where nothing gets smaller. The file is replaced only by \
            a run that still breaks the same promise.

            Example:
              parley simulate shrink seed-7.failure.json --out small.json
            """)

    @Argument(help: "what `run --save` or `swarm --save` kept")
    var file: String

    @Option(name: .long, help: "where the small run goes; the file itself without")
    var out: String?

    @Option(name: .long, help: "runs at most")
    var runs = 500

    @Option(name: .long, help: "minutes at most")
    var minutes: Double = 5

    @Option(name: .long, help: "seconds of the processor that each run may take")
    var limit: Double = 30

    func run() async throws {
        let world = World.current
        var record = try Simulating.record(file)
        let began = ContinuousClock.now
        let (runs, minutes, limit) = (runs, minutes, limit)
        // A verdict from elsewhere is no evidence: the run to shrink has failed here.
        record.verdict = try SimulationRun(
            record.scenario, tape: record.tape, isOverdue: ProcessorTime.limit(limit)
        ).run().verdict
        let shrinking = Shrinker(record) { count in
            count < runs && ContinuousClock.now - began < .seconds(minutes * 60)
        } limit: {
            ProcessorTime.limit(limit)
        } say: {
            world.say($0)
        }
        guard var shrinker = shrinking else {
            throw NodeError(
                "nothing-failed", "The run keeps every promise.",
                hint: "`parley simulate replay \(file)` runs it.")
        }
        shrinker.shrink()
        let place = out ?? file
        try Simulating.write(shrinker.record, to: place)
        world.write(
            "\(place): \(shrinker.record.tape.acts.count) acts,"
                + " \(shrinker.record.scenario.nodes.count) nodes, after \(shrinker.runCount) runs")
    }
}

/// What the commands share.
enum Simulating {
    static let version = "1"

    static func scenario(_ file: String?, _ seed: UInt64?) throws -> Scenario {
        guard let file else {
            guard let seed else {
                World.current.say("parley: error: neither a scenario nor a seed was given")
                throw ExitCode(2)
            }
            return Scenario.drawn(seed: seed)
        }
        do {
            return try Scenario(json: try read(file))
        } catch let error as ScenarioError {
            throw misused("\(file) is no scenario: \(error)")
        }
    }

    static func record(_ file: String) throws -> FailureRecord {
        do {
            return try FailureRecord(json: try read(file))
        } catch let error as ScenarioError {
            throw misused("\(file) is no kept run: \(error)")
        }
    }

    /// The lines of the log that a scenario names, which lies beside it.
    static func log(of scenario: Scenario, beside file: String?) throws -> [LoggedLine] {
        guard let name = scenario.workload.log else { return [] }
        let folder = file.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
        let place = folder?.appendingPathComponent(name).path ?? name
        return try LogReader.lines(try read(place))
    }

    private static func read(_ file: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw misused("\(file) cannot be read.")
        }
    }

    static func write(_ record: FailureRecord, to file: String) throws {
        try write(try record.json(), to: file)
    }

    /// Writes a file, in a folder that is made where it is missing.
    private static func write(_ bytes: Data, to file: String) throws {
        let place = URL(fileURLWithPath: file)
        try makeFolder(place.deletingLastPathComponent().path)
        do {
            try bytes.write(to: place, options: .atomic)
        } catch {
            throw misused("\(file) cannot be written")
        }
    }

    static func makeFolder(_ folder: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw misused("\(folder) is no folder, and cannot be made one")
        }
    }

    private static func misused(_ sentence: String) -> ExitCode {
        World.current.say("parley: error: " + harmless(sentence))
        return ExitCode(2)
    }

    /// Plays a run, reports it, keeps it if it failed, and exits with its status.
    ///
    /// - Parameter limit: seconds of the processor that it may take; nil for any number.
    static func play(
        _ record: FailureRecord, isQuiet: Bool, limit: Double?, save: String?,
        _ pages: SimulatePages
    ) throws {
        let world = World.current
        let run = SimulationRun(
            record.scenario, tape: record.tape, isOverdue: limit.map(ProcessorTime.limit)
        ) { line in
            if !isQuiet { world.write(line) }
        }
        let isRecorded = !isQuiet || pages.html != nil || pages.json != nil
        if isRecorded { run.record { if !isQuiet { world.write($0) } } }
        let began = ContinuousClock.now
        let summary = try run.run()
        let elapsed = (ContinuousClock.now - began) / .milliseconds(1)
        try write(pages, of: run, summary, realMilliseconds: UInt64(max(1, elapsed)))
        if summary.verdict != .kept, let save {
            var record = record
            record.verdict = summary.verdict
            try write(record, to: save)
        }
        if isQuiet {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            world.write(String(decoding: try encoder.encode(summary), as: UTF8.self))
        } else {
            world.write(summary.line)
        }
        if summary.verdict != .kept { throw ExitCode(summary.verdict.exitStatus) }
    }

    private static func write(
        _ pages: SimulatePages, of run: SimulationRun, _ summary: Summary,
        realMilliseconds: UInt64
    ) throws {
        guard let recording = run.recording else { return }
        recording.finish()
        let report = try recording.report(
            RunCircumstances(
                scenario: run.scenario, version: version, realMilliseconds: realMilliseconds,
                invariants: summary.checks, marks: summary.marks))
        if let json = pages.json {
            try write(try report.json(), to: json)
        }
        if let html = pages.html {
            let page = try Timeline(of: recording, report: report, story: run.scenario.story)
                .html()
            try write(Data(page.utf8), to: html)
        }
    }
}
