import ParleySimulate
import Testing

@Suite("A simulated run")
struct SimulationRunTests {
    @Test("tells what it drew first, keeps every promise, and checked each of them")
    func kept() throws {
        var lines: [String] = []
        let report = try SimulationRun(seed: 1) { lines.append($0) }.run()
        #expect(report.verdict == .kept)
        #expect(lines.first?.hasPrefix("seed 1: nodes ") == true)
        #expect(lines.count == 4)
        #expect(report.checks.allSatisfy { !$0.hasSuffix(" 0") }, "\(report.checks)")
    }

    @Test("is the same run whenever it is run")
    func same() throws {
        let first = try SimulationRun(seed: 20) { _ in }.run()
        let second = try SimulationRun(seed: 20) { _ in }.run()
        #expect(first == second)
    }
}
