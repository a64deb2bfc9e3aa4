import Foundation
import Testing

@Suite("The demonstration", .timeLimit(.minutes(3)))
struct DemoProcessTests {
    /// Half of a number is of one person: the first half of it alone looked like a collision.
    @Test("shows three safety numbers that are told apart, and three equal digests")
    func numbers() async throws {
        let demo = try await Program.run("demo")
        #expect(demo.status == 0, "\(demo.output)")
        let pattern = /\ \ (\w+) and (\w+)  safety number (\d{5} \d{5}) … (\d{5} \d{5}) …\n/
        let shown = demo.output.matches(of: pattern).map(\.output)
        #expect(shown.map { "\($0.1) \($0.2)" } == ["ann ben", "ann cara", "ben cara"])
        let numbers = shown.map { [$0.3, $0.4].sorted() }
        #expect(Set(numbers).count == 3, "\(numbers)")
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            #expect(Set(numbers[one]).intersection(numbers[other]).count == 1, "of one person")
        }
        let digests = demo.output.matches(of: /\b[0-9a-f]{64}\b/).map { String($0.output) }
        #expect(digests.count == 3 && Set(digests).count == 1)
    }
}

@Suite("A benchmark's processes", .timeLimit(.minutes(5)))
struct BenchProcessTests {
    @Test("a relay that was told so stops when nobody holds its input any more")
    func relay() async throws {
        let folder = try TemporaryFolder()
        // Every program here has an input that is at its end.
        let relay = try Program([
            "relay", "run", "--home", folder.home("relay"), "--listen", "127.0.0.1:0",
            "--until-input-ends",
        ])
        #expect(try await relay.ended() == 0)
        #expect(relay.output.contains("stopping"))
    }

    @Test(
        "a benchmark that is told to end leaves no folder, and no process that wants to go on",
        arguments: [SIGTERM, SIGINT])
    func stopped(by signal: Int32) async throws {
        let bench = try Program(["bench", "latency-oneway"])
        try await bench.says("sending 500 messages")
        let folder =
            FileManager.default.temporaryDirectory.path
            + "/parley-bench-\(bench.processID)"
        #expect(FileManager.default.fileExists(atPath: folder))
        bench.signal(signal)
        // Its output ends with the last process that holds it: the other one, too.
        #expect(try await bench.ended() == 128 + signal)
        for place in [folder, folder + "-over"] {
            #expect(!FileManager.default.fileExists(atPath: place))
        }
    }
}
