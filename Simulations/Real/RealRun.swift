internal import Glibc
internal import Parley
public import ParleySimulate
internal import ParleySimulation

/// A scenario played by real processes that speak TCP over a network of our own.
///
/// **Contract.** Everything that is made is named after this process and gone again when ``run()``
/// returns or throws, a cancelled run included. Time is virtual time divided by ``Settings/speed``;
/// delays of links are real.
public actor RealRun {
    /// How a run is carried out.
    public struct Settings: Sendable {
        /// The program that is run for each node, as a path.
        public var program: String
        /// Virtual seconds that pass in a real one; nil: as many as it takes to be over in five
        /// minutes, and at least 1.
        public var speed: Double?
        /// How long the run may take, in real seconds.
        public var secondsMax: Double = 600
        /// How many packets in a thousand are lost on their way.
        public var lossPerMille: UInt64 = 0
        /// What this machine can do.
        public var machine: Machine

        /// The usual settings with this program.
        public init(program: String, machine: Machine) {
            self.program = program
            self.machine = machine
        }
    }

    /// What came of a run.
    public struct Result: Equatable, Sendable {
        /// How it ended.
        public enum Verdict: Equatable, Sendable {
            /// All became equal, so many seconds after the last heal, and nothing was lost.
            case equal(seconds: Double)
            /// Nodes did not become equal in time: what still differed.
            case unequal(String)
            /// Something that was reported as saved is gone, or a store is damaged.
            case lost(String)
        }
        /// How it ended.
        public var verdict: Verdict
        /// Messages that nodes said they had saved.
        public var savedCount = 0
        /// Times that a process was killed.
        public var killCount = 0
        /// Times that the network was parted.
        public var partingCount = 0
        /// Connections that were broken.
        public var resetCount = 0
        /// Acts that nodes did, refused, or could not be asked for because they were down.
        public var doneCount = 0
        /// See `doneCount`.
        public var refusedCount = 0
        /// See `doneCount`.
        public var missedCount = 0
        /// Acts that mean nothing outside a simulation, by their name.
        public var notPlayed: [String: Int] = [:]
    }

    /// Real time that a run takes where its speed is not said, in seconds.
    static let usualSeconds: Double = 300

    let scenario: Scenario
    let tape: Tape
    let settings: Settings
    let speed: Double
    let say: @Sendable (String) -> Void
    let strip: Strip
    let began = ContinuousClock.now
    var devices: [Device] = []
    var result = Result(verdict: .unequal("nothing was played"))
    var saved = Saved()
    /// What happens by itself later: nodes that come back, ways that open.
    var waiting: [Task<Void, any Error>] = []
    var chance: SeededRandom
    /// Real seconds at which the last cut ended; nil while there is one, and before the first.
    var healedAt: Double?
    private var built: Network?

    /// A run of this scenario.
    ///
    /// - Parameters:
    ///   - tape: what happens; drawn from the scenario where it is left out.
    ///   - say: is told a line for each change.
    public init(
        _ scenario: Scenario, tape: Tape? = nil, settings: Settings,
        say: @escaping @Sendable (String) -> Void
    ) {
        var (scenario, tape) = (scenario, tape ?? Tape(drawing: scenario))
        // A process for each person: what they do about further devices is not played.
        for device in scenario.nodes where device.of != nil {
            scenario.leave(out: device.user, of: &tape)
        }
        (self.scenario, self.tape) = (scenario, tape)
        chance = SeededRandom(seed: scenario.seed, purpose: "real run")
        self.settings = settings
        self.say = say
        let length = scenario.phases.filter { $0.heal != true }
            .reduce(0) { $0 + Double($1.for.milliseconds) / 1_000 }
        speed = settings.speed ?? max(1, length / Self.usualSeconds)
        strip = Strip(users: scenario.nodes.map(\.user))
    }

    /// Builds, plays, heals, compares and removes everything.
    public func run() async throws -> Result {
        let owner = getpid()
        let swept = Leftovers.sweep()
        if !swept.isEmpty { say("removed what a dead run left: " + swept.joined(separator: " ")) }
        let plan = NetworkPlan(
            scenario, owner: owner, lossPerMille: settings.lossPerMille,
            machine: settings.machine)
        say(plan.text)
        let folder = try Leftovers.makeFolder(owner: owner)
        defer { Leftovers.removeFolder(folder) }
        let network = try Network(plan, seed: scenario.seed)
        built = network
        defer { network.tearDown() }
        do {
            try await play(folder: folder)
        } catch {
            await stopAll()
            throw error
        }
        await stopAll()
        if case .equal = result.verdict { return result }
        if let kept = Leftovers.keepFolder(folder) { say("the homes are kept in " + kept) }
        return result
    }

    private func play(folder: String) async throws {
        try await populate(plan: network.plan, folder: folder)
        say(strip.header)
        try await tell("everybody has met", network.cuts)
        try await phases()
        try await settle()
    }

    /// The network, which stands before anything is played.
    var network: Network {
        guard let built else { preconditionFailure("nothing is played before it is built") }
        return built
    }

    private func stopAll() async {
        for task in waiting { task.cancel() }
        for device in devices { await device.kill() }
    }

    // MARK: Time

    /// Real seconds since the run began.
    var elapsed: Double {
        let (seconds, fraction) = (ContinuousClock.now - began).components
        return Double(seconds) + Double(fraction) / 1e18
    }

    /// Real time of a stretch of virtual time.
    func real(_ time: VirtualTime) -> Duration {
        .milliseconds(Int64(Double(time.milliseconds) / speed))
    }

    /// Waits for something to become true, looking at it again and again.
    func eventually(
        _ what: String, within seconds: Double, _ condition: () async throws -> Bool
    ) async throws {
        let deadline = elapsed + seconds
        while try await !condition() {
            guard elapsed < deadline else {
                throw RealFailure("\(what): not within \(Int(seconds)) s; \(await whoKnowsWhom())")
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Whom each device is linked to, and whom its person knows.
    private func whoKnowsWhom() async -> String {
        var parts: [String] = []
        for device in devices {
            do {
                let links = try await device.node().perform(GetStatus()).links.map(\.address)
                let known = try await device.node().perform(ListContacts()).map {
                    "\($0.name) \($0.state)"
                }
                parts.append("\(device.user) has the links \(links) and knows \(known)")
            } catch {
                parts.append("\(device.user) does not answer: \(error)")
            }
        }
        return parts.joined(separator: "; ")
    }

    /// Says a line of the strip.
    func tell(_ what: String, _ cuts: Cuts) async throws {
        var held: [Int?] = []
        for device in devices {
            // A node that is down, or dies while it is asked, holds nothing that we could see.
            held.append(try? await device.node().perform(GetStatus()).operationCount)
        }
        say(strip.line(at: elapsed, what: what, held: held, cuts: cuts))
    }
}
