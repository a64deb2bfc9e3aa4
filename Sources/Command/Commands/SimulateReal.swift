import ArgumentParser
import Foundation
import ParleyReal
import ParleySimulate

/// `parley simulate real`: a scenario with real processes on a network of our own.
struct SimulateReal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "real",
        abstract: "play a scenario with real processes over real TCP",
        discussion: """
            Runs one node in a process for each person of the scenario, each in a network \
            namespace of its own, and parts, delays and kills them as the scenario says. At the \
            end all must show the same, and nothing that was reported as saved may be missing.

            Needs Linux, the right to make network or user namespaces, iproute2, and nftables or \
            /dev/net/tun. Where something is missing it says "skipped" and exits with 0. Else it \
            exits with 0 when all was kept, 2 where the scenario cannot be read, 128 where nodes \
            did not become equal, and 129 where something saved was lost.

            Example:
              parley simulate real Simulations/Scenarios/five-on-bad-lines.json --loss 20
            """)

    @Argument(help: "the scenario, a JSON file")
    var file: String

    @Option(
        name: .long,
        help: "virtual seconds in a real one (default: what makes it last 5 minutes)")
    var speed: Double?

    @Option(name: .long, help: "how long it may take, in real minutes")
    var minutes: Double = 10

    @Option(name: .long, help: "how many packets in a thousand are lost on their way, 0 to 900")
    var loss: UInt64 = 0

    func validate() throws {
        guard speed.map({ $0.isFinite && $0 > 0 }) ?? true else {
            throw ValidationError("--speed must be more than 0.")
        }
        guard (0.1...1_440).contains(minutes) else {
            throw ValidationError("--minutes must be from 0.1 to 1440.")
        }
        guard loss <= 900 else { throw ValidationError("--loss must be from 0 to 900.") }
    }

    func run() async throws {
        let world = World.current
        let scenario = try Simulating.scenario(file, nil)
        let tape = Tape(
            drawing: scenario, log: try Simulating.log(of: scenario, beside: file))
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let arguments = Array(CommandLine.arguments.dropFirst())
        UserNamespace.enter(program: program, arguments: arguments)
        let machine = Machine.probe()
        if let lack = machine.lack { return world.write("skipped: \(lack)") }
        var settings = RealRun.Settings(program: program, machine: machine)
        settings.speed = speed
        settings.secondsMax = minutes * 60
        settings.lossPerMille = loss
        let run = RealRun(scenario, tape: tape, settings: settings) { world.write($0) }
        let result: RealRun.Result
        do {
            result = try await Stop.cancelling { try await run.run() }
        } catch is CancellationError {
            world.say("stopped; everything that was made is removed")
            throw ExitCode(130)
        }
        world.write(Self.figures(result))
        try Self.finish(result.verdict)
    }

    private static func figures(_ result: RealRun.Result) -> String {
        var words = [
            "\(result.savedCount) messages saved", "\(result.doneCount) acts done",
            "\(result.refusedCount) refused", "\(result.missedCount) while down",
            "\(result.killCount) kills", "\(result.partingCount) partings",
            "\(result.resetCount) resets",
        ]
        let left = result.notPlayed.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        if !left.isEmpty { words.append("not played: " + left.joined(separator: ", ")) }
        return words.joined(separator: "; ")
    }

    private static func finish(_ verdict: RealRun.Result.Verdict) throws {
        let world = World.current
        switch verdict {
        case .equal(let seconds):
            let text = String(format: "%.1f", max(0, seconds))
            world.write("kept: all nodes showed the same \(text) s after the heal")
        case .unequal(let difference):
            world.write("UNEQUAL: \(difference)")
            throw ExitCode(128)
        case .lost(let what):
            world.write("LOST: \(what)")
            throw ExitCode(129)
        }
    }
}
