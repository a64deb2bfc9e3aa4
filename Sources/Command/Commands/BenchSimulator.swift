import ArgumentParser
import Foundation
import Parley
import ParleyBench
import ParleySimulate

/// `parley bench simulator`: how fast virtual time passes where nobody does anything.
struct BenchSimulator: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "measure how fast an idle world passes in the simulator",
        discussion: """
            Eight people who know each other, behind two relays, on the store in memory, do nothing \
            for some hours. Told is what an hour takes of the processor, checkers included.

            Example:
              parley bench simulator --strict
            """)

    @Flag(name: .long, help: "fail if it is over its budget")
    var strict = false
    @OptionGroup var output: OutputOptions

    /// What passes in a sample, in hours: long enough that to meet in the beginning hardly counts.
    private static let hours = 3
    private static let sampleCount = 3
    /// At most a second of the processor for an hour: 3,600 virtual seconds in each.
    private static let budget = 1.0

    private static let idle = """
        {
          "name": "idle", "story": "Eight people behind two relays do nothing.", "seed": 8,
          "store": "memory",
          "nodes": [
            {"user": "ann", "habit": "silent"}, {"user": "ben", "habit": "silent"},
            {"user": "cara", "habit": "silent"}, {"user": "dan", "habit": "silent"},
            {"user": "eve", "habit": "silent"}, {"user": "finn", "habit": "silent"},
            {"user": "gina", "habit": "silent"}, {"user": "hal", "habit": "silent"}
          ],
          "acquaintance": "everyone",
          "links": {"default": {"delayMs": [1, 40]}},
          "relays": 2,
          "workload": {"actsPerMinute": 0},
          "phases": [{"for": "\(hours)h"}],
          "expect": {}
        }
        """

    func run() throws {
        let samples = try (0..<Self.sampleCount).map { _ in
            let scenario = try Scenario(json: Data(Self.idle.utf8))
            let since = ProcessorTime.now
            let summary = try SimulationRun(scenario).run()
            guard summary.verdict == .kept else {
                throw NodeError("not-idle", "The idle world broke a promise.")
            }
            return (ProcessorTime.now - since) / Double(Self.hours)
        }
        let figure = Figure(
            "simulator-idle-hour", samples: samples, unit: "s", budget: Self.budget,
            note: "an hour of eight idle people behind two relays, in memory")
        let line = BenchFigures.line(figure)
        World.current.write(output.json ? try BenchFigures.object(figure) : line)
        try BenchFigures.check([figure], isStrict: strict)
    }
}
