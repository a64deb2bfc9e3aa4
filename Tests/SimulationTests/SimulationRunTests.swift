import Foundation
import Testing

@testable import ParleySimulate

@Suite("A simulated run")
struct SimulationRunTests {
    @Test("tells what it drew first, keeps every promise, and checked each of them")
    func kept() throws {
        var lines: [String] = []
        let report = try SimulationRun(.drawn(seed: 5), say: { lines.append($0) }).run()
        #expect(report.verdict == .kept)
        #expect(lines.first?.hasPrefix("seed-5, seed 5: nodes ") == true)
        #expect(lines.count == 4)
        #expect(report.checks["I2"] ?? 0 > 0)
        #expect(report.deeds["write"] ?? 0 > 0)
    }

    @Test("is the same run whenever it is run")
    func same() throws {
        let first = try SimulationRun(.drawn(seed: 12)).run()
        let second = try SimulationRun(.drawn(seed: 12)).run()
        #expect(first == second)
    }

    @Test("is drawn whole before it begins: the same tape played alone is the same run")
    func tape() throws {
        let scenario = Scenario.drawn(seed: 12)
        let tape = Tape(drawing: scenario)
        let kept = FailureRecord(
            scenario: scenario, tape: tape, verdict: .kept, version: "test")
        let record = try FailureRecord(json: try kept.json())
        #expect(record == kept)
        let replayed = try SimulationRun(record.scenario, tape: record.tape).run()
        #expect(try replayed == SimulationRun(scenario).run())
    }
}

@Suite("A scenario file")
struct ScenarioFileTests {
    static let minimal = """
        {"name": "two", "story": "Two talk.", "seed": 1, "store": "memory",
         "nodes": [{"user": "ann"}, {"user": "ben", "clock": {"skewSeconds": -600}}],
         "acquaintance": "everyone", "links": {"default": {"delayMs": [1, 20]}},
         "workload": {"actsPerMinute": 10},
         "phases": [{"for": "10m", "partition": [["ann"], ["ben"]], "faults": {"crashes": 6},
           "actions": [{"at": "5m", "node": "ann", "do": {"write": {"space": 0, "text": "hi"}}}]},
           {"for": "15m", "heal": true}],
         "expect": {"invariants": ["I1", "I2"]}}
        """

    @Test("is read, written and read again without a change")
    func roundTrip() throws {
        let scenario = try Scenario(json: Data(Self.minimal.utf8))
        #expect(scenario.phases[0].for == .minutes(10))
        #expect(try Scenario(json: scenario.json()) == scenario)
        let drawn = Scenario.drawn(seed: 3)
        #expect(try Scenario(json: drawn.json()) == drawn)
    }

    @Test(
        "is turned away with a sentence that names what is wrong",
        arguments: [
            (#""crashes": 6"#, #""crashs": 6"#, "'phases.0.faults.crashs' means nothing here"),
            (#""for": "10m""#, #""for": "10 m""#, "is no time like 1h30m"),
            (#""user": "ben""#, #""user": "ann""#, "two nodes have the same user"),
            (#""user": "ben""#, #""user": "Ben!""#, "'Ben!' is no user"),
            (#"["ben"]]"#, #"["bob"]]"#, "'bob' is parted and is nobody"),
            (#""node": "ann""#, #""node": "eve""#, "'eve' is in an action"),
            (#""at": "5m""#, #""at": "11m""#, "behind its phase"),
            (#"[1, 20]"#, #"[20, 1]"#, "the smaller one first"),
            (#""I2""#, #""I99""#, "'I99' is no promise"),
            (#""seed": 1,"#, "", "'seed' is missing at the top"),
            (#""text": "hi""#, #""text": "hi", "loud": true"#, "loud' means nothing here"),
            ("{", "(", "no JSON"),
        ])
    func refused(part: String, wrong: String, sentence: String) throws {
        let text = Self.minimal.replacing(part, with: wrong, maxReplacements: 1)
        let error = #expect(throws: ScenarioError.self) {
            try Scenario(json: Data(text.utf8))
        }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "none")")
    }

    @Test("times are read as they are written, the longest unit first, each once")
    func times() {
        for time in [0, 1, 999, 1_000, 61_001, 86_400_000, 90_061_001] as [UInt64] {
            let written = VirtualTime(milliseconds: time).description
            #expect(VirtualTime(written) == VirtualTime(milliseconds: time))
        }
        for wrong in ["", "5", "m", "5m5m", "5s1m", "-1s", "1.5h", "99999999999999999999d", "5 m"] {
            #expect(VirtualTime(wrong) == nil, "\(wrong)")
        }
    }
}

@Suite("Shrinking")
struct ShrinkingTests {
    /// What is left of a run whose nodes do not become equal.
    private func shrunk(_ scenario: Scenario, _ tape: Tape) throws -> FailureRecord {
        let report = try SimulationRun(scenario, tape: tape).run()
        #expect(report.verdict.invariant == "I2")
        let record = FailureRecord(
            scenario: scenario, tape: tape, verdict: report.verdict, version: "test")
        var shrinker = try #require(Shrinker(record, mayGoOn: { $0 < 100 }, say: { _ in }))
        shrinker.shrink()
        return shrinker.record
    }

    /// A run that fails for a reason of its own: a promise that nobody can keep.
    @Test("leaves what the failure needs and nothing else")
    func shrinks() throws {
        var scenario = try Scenario(json: Data(ScenarioFileTests.minimal.utf8))
        scenario.nodes.append(Scenario.Device(user: "cara", habit: .chatty))
        scenario.phases[1].for = .milliseconds(1)
        let tape = Tape(drawing: scenario)
        let small = try shrunk(scenario, tape)
        #expect(small.tape.acts.count <= 2)
        #expect(small.scenario.nodes.count == 2)
        #expect(small.verdict.invariant == "I2")
        let again = try SimulationRun(small.scenario, tape: small.tape).run()
        #expect(again.verdict.invariant == "I2")
    }

    /// What a scenario says of a phase stayed behind the end of the phase, and no file may hold that.
    @Test("leaves a file that can be replayed")
    func leavesAFile() throws {
        var scenario = try Scenario(json: Data(ScenarioFileTests.minimal.utf8))
        scenario.phases[0].faults = nil
        scenario.phases[0].for = .minutes(20)
        scenario.phases[0].actions?[0].at = .minutes(15)
        scenario.phases[1].for = .milliseconds(1)
        let tape = Tape([
            Act(
                at: .milliseconds(0), node: "ann",
                do: .part(groups: [["ann"], ["ben"]], oneWay: false)),
            Act(at: .milliseconds(10_000), node: "ann", do: .write(space: 0, text: "hi")),
        ])
        let small = try shrunk(scenario, tape)
        #expect(small.scenario.phases[0].for < .minutes(15))
        #expect(try FailureRecord(json: small.json()) == small)
    }
}
