import Foundation
import Testing

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
