import Foundation
import ParleySimulate
import Synchronization
import Testing

@testable import ParleyReal

@Suite("A real run", .serialized, .timeLimit(.minutes(4)))
struct RealRunTests {
    static let machine = Machine.probe()

    /// The program lies beside the tests: both come out of one build.
    static let program: String = {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let beside = own.deletingLastPathComponent().appendingPathComponent("parley").path
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        return root + "/.build/debug/parley"
    }()

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    static func scenario(_ name: String) throws -> Scenario {
        let file = URL(fileURLWithPath: root + "/Simulations/Scenarios/\(name).json")
        return try Scenario(json: Data(contentsOf: file))
    }

    /// What of this process is left.
    static func leftovers() -> [String] {
        let folders = ["/run/netns", "/tmp"]
        return folders.flatMap { folder in
            // No folder, nothing left.
            ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
                .filter { Leftovers.owner(of: $0) == getpid() && !$0.hasSuffix(".probe") }
                // Networks that other tests have made for themselves are numbered.
                .filter { $0.firstMatch(of: /^parley-\d+-\d+-/) == nil && !$0.hasSuffix("-probe") }
        }
    }

    @Test(
        "the scenarios of real runs are read, and told in times that fit",
        arguments: [
            ("two-for-a-moment", 1), ("five-on-bad-lines", 10),
        ])
    func scenarios(name: String, partings: Int) throws {
        let scenario = try Self.scenario(name)
        #expect(scenario.name == name)
        #expect(scenario.phases.count { $0.partition != nil } == partings)
        #expect(scenario.phases.last?.heal == true)
    }

    @Test(
        "of two processes, one of them killed while they are parted, ends with the same on both",
        .enabled(if: machine.lack == nil, "no network namespaces here"))
    func two() async throws {
        let lines = Mutex<[String]>([])
        var settings = RealRun.Settings(program: Self.program, machine: Self.machine)
        settings.lossPerMille = 10
        settings.speed = 2
        settings.secondsMax = 60
        let run = RealRun(try Self.scenario("two-for-a-moment"), settings: settings) { line in
            lines.withLock { $0.append(line) }
        }
        let result = try await run.run()
        let story = lines.withLock { $0.joined(separator: "\n") }
        guard case .equal = result.verdict else {
            Issue.record("\(result.verdict)\n\(story)")
            return
        }
        #expect(result.killCount == 1)
        #expect(result.partingCount == 1)
        #expect(result.savedCount > 5)
        #expect(story.contains("ann | ben"))
        #expect(Self.leftovers().isEmpty)
    }

    @Test(
        "that is cancelled leaves nothing behind",
        .enabled(if: machine.lack == nil, "no network namespaces here"))
    func cancelled() async throws {
        let (beats, beat) = AsyncStream.makeStream(of: Void.self)
        let settings = RealRun.Settings(program: Self.program, machine: Self.machine)
        let run = RealRun(try Self.scenario("two-for-a-moment"), settings: settings) { line in
            if line.contains("met") { beat.finish() }
        }
        let work = Task { try await run.run() }
        for await _ in beats {}
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(Self.leftovers().isEmpty)
    }

    @Test(
        "removes what a dead run left",
        .enabled(if: machine.lack == nil, "no network namespaces here"))
    func sweep() throws {
        let dead = try ChildProcess(["true"], output: 2, isApart: false)
        #expect(dead.wait() == 0)
        let name = Leftovers.name("-ann", of: dead.processID)
        try Tool.run(["ip", "netns", "add", name])
        #expect(Leftovers.sweep().contains(name))
        #expect(!FileManager.default.fileExists(atPath: "/run/netns/" + name))
    }
}
