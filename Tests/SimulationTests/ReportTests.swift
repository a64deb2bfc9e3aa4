import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulate
@testable import ParleySimulation

@Suite("The report of a run")
struct ReportTests {
    @Test("decodes back to itself, and a key that nobody knows is an error")
    func strict() throws {
        let report = try RecordedRun.twoHalves().report(realMilliseconds: 10)
        let json = try report.json()
        #expect(try Report(json: json) == report)
        let text = String(decoding: json, as: UTF8.self)
        let stranger = text.replacingOccurrences(of: "\"seed\"", with: "\"sea\" : 1, \"seed\"")
        #expect(throws: ScenarioError.self) { try Report(json: Data(stranger.utf8)) }
        let lacking = text.replacingOccurrences(of: "\"seed\"", with: "\"sea\"")
        #expect(throws: ScenarioError.self) { try Report(json: Data(lacking.utf8)) }
    }

    @Test("tells of each node what it wrote, holds and got")
    func nodes() throws {
        let report = try RecordedRun.twoHalves().report()
        #expect(report.nodes.map(\.name) == ["ann", "ben", "cara", "dan"])
        #expect(report.nodes.allSatisfy { $0.written >= 1 && $0.lacking == 0 && $0.received > 0 })
        #expect(Set(report.nodes.map(\.held)).count == 2, "ann and dan have a friend less")
        #expect(report.faults["partings"] == 1)
        #expect(report.equalSince != nil)
        #expect(report.frames["operations"] ?? 0 > 0)
        #expect(report.acts == ["write": 4])
    }

    @Test("is the same text for the same run, but for real time")
    func deterministic() throws {
        let first = try RecordedRun.twoHalves().report(realMilliseconds: 10)
        var second = try RecordedRun.twoHalves().report(realMilliseconds: 99)
        #expect(try first.json() != second.json())
        second.realMilliseconds = first.realMilliseconds
        second.speed = first.speed
        #expect(try first.json() == second.json())
    }

    @Test("recording changes nothing of the run")
    func unseen() throws {
        let seen = try RecordedRun.twoHalves()
        let unseen = try RecordedRun.twoHalves(isRecorded: false)
        #expect(seen.world.traceHash == unseen.world.traceHash)
    }

    @Test("a broken promise brings the last events of those whom it names, and no others")
    func events() throws {
        let run = try RecordedRun.twoHalves(
            verdict: .init(.broken, invariant: "I1", sentence: "ann and ben show another"))
        let report = try run.report()
        #expect(Set(report.lastEvents.map(\.node)) == ["ann", "ben"])
        #expect(report.lastEvents.count <= 2 * Recent.countMax)
        #expect(report.lastEvents.map(\.at) == report.lastEvents.map(\.at).sorted())
        #expect(report.divergence?.what == "ann and ben show another")
    }

    @Test("two halves part, drift and meet again, line by line")
    func strips() throws {
        let lines = try RecordedRun.twoHalves().lines
        #expect(lines == RecordedRun.twoHalvesLines, "\(lines.joined(separator: "\n"))")
    }

    @Test("a line shows what a terminal would obey, and obeys it not")
    func plain() {
        let chart = StripChart(names: ["ann\u{1b}[2J"])
        #expect(chart.header == " time       ann?[2J")
        let cell = StripChart.Cell(state: .parted("A"), held: 31, lacking: 4)
        #expect(chart.line(at: 3_723_400, [cell], "a\nb") == " 1:02:03.4  A 31-4     a?b")
    }

    @Test("frames become coarser bundles, and none is forgotten")
    func bundles() {
        var traffic = Traffic()
        let count = 2 * Traffic.bundleCountMax
        for number in 0..<count {
            let passage = WorldEvent.Passage(
                link: LinkID(UInt64(number)), source: 0, target: 1, bytes: [])
            traffic.sent(
                passage, Incident.Contents([]), at: UInt64(number) * 1_000,
                arrival: UInt64(number) * 1_000 + 5)
        }
        #expect(traffic.bundles.count <= Traffic.bundleCountMax)
        #expect(traffic.bundles.reduce(0) { $0 + $1.frameCount } == count)
    }
}

/// Four friends in two halves, who meet again.
struct RecordedRun {
    let world: World
    let recording: Recording
    let lines: [String]

    static let twoHalvesLines = [
        " time       ann        ben        cara       dan",
        " 0:00:20.0  A 2        A 4        B 4        B 2        "
            + "== apart, all equal, ann ben | cara dan",
        " 0:01:20.0  . 4        . 7-1      . 7-1      . 4        "
            + "== together, all reach each other",
        " 0:01:34.4  = 4        = 10       = 10       = 4        all equal",
        " 0:02:20.0  = 4        = 10       = 10       = 4        kept",
    ]

    static func twoHalves(
        isRecorded: Bool = true, text: String = "hello",
        verdict: Report.Verdict = .init(.kept)
    ) throws -> RecordedRun {
        let world = World(seed: 11)
        let nodes = try ["ann", "ben", "cara", "dan"].map { try world.addNode($0) }
        for (left, right) in zip(nodes, nodes.dropFirst()) { try world.introduce(left, right) }
        let space = try world.introduce(nodes[1], nodes[2])
        let recording = Recording(of: world)
        if !isRecorded { world.onEvent = nil }
        let lines = Lines()
        recording.onLine = { lines.all.append($0) }
        recording.phase("apart")
        world.partition(Array(nodes[..<2]), Array(nodes[2...]))
        world.run(for: 10_000)
        for node in nodes {
            let own = try node.conversations().first {
                $0.id == space || !nodes[1...2].contains { $0 === node }
            }
            let act = Act(
                at: .milliseconds(world.now), node: node.name, do: .write(space: 0, text: text))
            recording.acted(act)
            if let own { try world.type(text, on: node, in: own.id) }
        }
        world.run(for: 50_000)
        recording.phase("together")
        world.heal()
        world.run(for: 60_000)
        recording.verdict(verdict)
        recording.finish()
        return RecordedRun(world: world, recording: recording, lines: lines.all)
    }

    static func scenario() throws -> Scenario {
        try JSONDecoder().decode(
            Scenario.self,
            from: Data(
                """
                {"name": "two-halves", "story": "Two halves part and meet.", "seed": 11,
                "store": "memory", "nodes": [], "acquaintance": "everyone", "phases": [],
                "links": {"default": {"delayMs": [1, 20]}}, "workload": {"actsPerMinute": 0},
                "expect": {}}
                """.utf8))
    }

    func report(realMilliseconds: UInt64? = nil, name: String? = nil) throws -> Report {
        var scenario = try Self.scenario()
        if let name { scenario.name = name }
        return try recording.report(
            RunCircumstances(
                scenario: scenario, version: "test", realMilliseconds: realMilliseconds,
                invariants: ["I1": 3, "I2": 0]))
    }

    private final class Lines { var all: [String] = [] }
}
