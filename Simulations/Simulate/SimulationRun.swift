import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// What came of one seed.
public struct Report: Equatable, Sendable {
    /// How a run ends.
    public enum Verdict: Equatable, Sendable {
        /// Every promise was kept.
        case kept
        /// Faults were over, and the nodes did not become equal: what still differed.
        case stuck(String)
        /// A promise was broken: which, and what was seen.
        case broken(String)
    }

    /// The seed.
    public var seed: UInt64
    /// How it ended.
    public var verdict: Verdict
    /// A hash over every input, effect and final digest.
    public var traceHash: UInt64
    /// Virtual milliseconds that passed.
    public var milliseconds: UInt64
    /// Operations held in all stores together.
    public var operationCount: Int
    /// How often each invariant was compared, as "I1 20".
    public var checks: [String]
}

/// One seed: a world, its people, and two phases.
///
/// In the first faults are on and what is promised must never be broken. In the second faults are
/// over, and everybody must become equal within a bound.
public final class SimulationRun {
    /// How often the workload and the faults are looked after, in virtual milliseconds.
    static let tick: UInt64 = 500
    /// How long equal views may take once faults are over: the longest pause between two dials,
    /// a silent link's end, and the transfer.
    static let livenessBound: UInt64 = 15 * 60_000

    private let seed: UInt64
    private let options: Options
    private let world: World
    private let jury: Jury
    private var people: [Person] = []
    private var weather: Weather
    private let say: (String) -> Void

    /// A run of this seed.
    ///
    /// - Parameter say: is told a line for each phase.
    public init(seed: UInt64, say: @escaping (String) -> Void) {
        self.seed = seed
        self.say = say
        options = Options(seed: seed)
        world = World(seed: seed)
        jury = Jury(of: world, seed: seed)
        weather = Weather(options, seed: seed)
    }

    /// Runs both phases.
    public func run() throws -> Report {
        say("seed \(seed): \(options.line)")
        try populate()
        status("begun")
        try safety()
        status("safety")
        if let verdict = jury.verdict { return report(.broken(verdict.description)) }
        let difference = try liveness()
        status("liveness")
        if let verdict = jury.verdict { return report(.broken(verdict.description)) }
        if let difference { return report(.stuck(difference)) }
        jury.settle(world)
        for node in world.nodes {
            for space in try node.conversations() {
                world.note(try node.digest(of: space.id)?.bytes ?? [])
            }
        }
        return report(jury.verdict.map { .broken($0.description) } ?? .kept)
    }

    private func populate() throws {
        let names = ["ann", "ben", "cara", "dan", "eve"]
        for name in names.prefix(options.nodeCount) { _ = try world.addNode(name) }
        for (place, node) in world.nodes.enumerated() {
            for other in world.nodes[(place + 1)...] { try world.introduce(node, other) }
        }
        let members = world.nodes.dropFirst().map(\.identity.person)
        _ = try world.perform(.createGroup(name: "all", members: members), on: world.nodes[0])
        world.run(for: 2_000)
        people = world.nodes.enumerated().map { Person($1, index: $0, seed: seed) }
    }

    // MARK: Phases

    private func safety() throws {
        weather.begin(in: world)
        let end = world.now + options.minutes * 60_000
        var lookedAt = world.now
        while world.now < end, jury.verdict == nil {
            world.run(for: SimulationRun.tick)
            travel()
            weather.tick(in: world, away: people.filter(\.isAway).map(\.node))
            for place in people.indices { try people[place].act(in: world) }
            if world.now >= lookedAt + 60_000 {
                lookedAt = world.now
                jury.look(at: world)
            }
        }
    }

    private func travel() {
        for place in people.indices where people[place].habit == .commuting {
            guard world.now >= people[place].tripChange else { continue }
            people[place].isAway.toggle()
            people[place].tripChange = world.now + 60_000 + people[place].random.next() % 600_000
            if people[place].isAway {
                Weather.isolate(people[place].node, in: world)
            } else {
                world.heal()
                for other in people where other.isAway { Weather.isolate(other.node, in: world) }
            }
        }
    }

    /// Returns what still differs when the time is over, or nil.
    private func liveness() throws -> String? {
        for node in world.nodes { node.store.failNoMore() }
        world.model = LinkModel()
        for (place, node) in world.nodes.enumerated() {
            for other in world.nodes[(place + 1)...] { world.setModel(LinkModel(), node, other) }
        }
        world.heal()
        world.startAll()
        for case let storms as NoStorms in jury.checkers { try storms.begin(world) }
        let end = world.now + SimulationRun.livenessBound
        var equalSince: UInt64?
        var difference: String?
        while world.now < end, jury.verdict == nil {
            world.run(for: 5_000)
            difference = try Convergence.difference(in: world)
            if difference != nil { equalSince = nil } else { equalSince = equalSince ?? world.now }
            // Receipts for the last of it are still on their way.
            if let equalSince, world.now >= equalSince + 10_000 { return nil }
        }
        return difference
    }

    // MARK: What is said

    private func status(_ phase: String) {
        let failures = world.nodes.reduce(0) { $0 + $1.failedStepCount }
        let done = people.reduce(0) { $0 + $1.doneCount }
        let refused = people.reduce(0) { $0 + $1.refusedCount }
        say(
            "  \(phase) at \(world.now / 1_000) s: done \(done), refused \(refused),"
                + " operations \(operationCount), frames \(world.frameCount),"
                + " bytes \(world.byteCount), links \(world.linkCount), resets \(world.resetCount),"
                + " partitions \(weather.partitionCount), deaths \(weather.deathCount),"
                + " failed steps \(failures), clock jumps \(weather.jumpCount)")
    }

    private var operationCount: Int { world.nodes.reduce(0) { $0 + $1.store.operationCount } }

    private func report(_ verdict: Report.Verdict) -> Report {
        Report(
            seed: seed, verdict: verdict, traceHash: world.traceHash, milliseconds: world.now,
            operationCount: operationCount,
            checks: jury.checkers.map { "\(type(of: $0).invariant) \($0.checkCount)" })
    }
}
