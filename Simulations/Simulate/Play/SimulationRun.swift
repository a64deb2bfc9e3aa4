public import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
public import ParleySimulation
import ParleyWire

/// One run: a scenario, its tape, and the promises that are judged meanwhile.
///
/// Phases with faults come first, in which no promise may ever be broken; in a phase that heals
/// faults are over, and everybody must become equal before it ends.
public final class SimulationRun {
    /// What is told.
    public let scenario: Scenario
    /// What happens.
    public let tape: Tape
    /// Where it happens; set an observer before ``run()``.
    public let world: World
    /// Who judges.
    public let jury: Jury
    /// What was written down, where ``record(onLine:)`` asked for it.
    public private(set) var recording: Recording?
    var stage: Stage

    private let say: (String) -> Void
    private let isOverdue: (() -> Bool)?
    private var onLine: ((String) -> Void)?
    private var next = 0

    /// What a swarm must have seen happen.
    public static var marks: [String] { Marks.all }

    /// What a swarm must hit as well that drew this class of worlds.
    public static let marksOfClasses: [String: [String]] = [
        "curation": Marks.ofCuration, "teamwork": Marks.ofTeamwork,
    ]

    /// How often everything is looked at, in virtual milliseconds.
    static let lookEvery: UInt64 = 60_000

    /// A run of this scenario.
    ///
    /// - Parameters:
    ///   - tape: what happens; drawn from the scenario where it is left out.
    ///   - isOverdue: whether real time is up, where it may not take as long as it needs; the
    ///     verdict is ``Summary/Verdict/slow(_:)`` then.
    ///   - say: is told a line for each phase.
    public init(
        _ scenario: Scenario, tape: Tape? = nil, isOverdue: (() -> Bool)? = nil,
        say: @escaping (String) -> Void = { _ in }
    ) {
        self.scenario = scenario
        self.tape = tape ?? Tape(drawing: scenario)
        self.say = say
        world = World(seed: scenario.seed)
        world.isChaotic = scenario.isChaotic ?? false
        self.isOverdue = isOverdue
        jury = Jury(of: world, seed: scenario.seed, only: scenario.expect.invariants)
        stage = Stage(scenario, world)
    }

    /// Has everything written down that happens once all know each other.
    ///
    /// - Parameter onLine: is given the lines of the strip chart.
    public func record(onLine: @escaping (String) -> Void) { self.onLine = onLine }

    /// Plays all phases.
    public func run() throws -> Summary {
        say("\(scenario.name), seed \(scenario.seed): \(scenario.line)")
        try stage.populate()
        world.isOverdue = isOverdue
        if let onLine {
            recording = Recording(
                of: world,
                dishonest: Set(scenario.nodes.filter { $0.malicious != nil }.map(\.user)))
            recording?.onLine = onLine
        }
        status("begun")
        world.askWhetherOverdue()
        let origin = world.now
        var end = origin
        var isHealed = false
        for (place, phase) in scenario.phases.enumerated() {
            end += phase.for.milliseconds
            isHealed = phase.heal == true
            recording?.phase("\(place + 1): \(phase.title)")
            try stage.begin(phase)
            if isHealed {
                let difference = try heal(until: end)
                if world.wasCutShort { return summary(slowness) }
                // A promise that broke ended the wait: it says more than what differs.
                if let difference, jury.verdict == nil { return summary(.stuck(difference)) }
            } else {
                try pass(until: end, from: origin)
                if world.wasCutShort { return summary(slowness) }
            }
            status(isHealed ? "healed" : "phase \(place + 1)")
            if let verdict = jury.verdict { return summary(.broken(verdict)) }
        }
        if isHealed { try settle() }
        if world.wasCutShort { return summary(slowness) }
        if let verdict = jury.verdict { return summary(.broken(verdict)) }
        let missing = (scenario.expect.marks ?? []).filter { !jury.marks.counts.keys.contains($0) }
        return summary(missing.isEmpty ? .kept : .untried(missing.sorted()))
    }

    // MARK: Phases

    private func pass(until end: UInt64, from origin: UInt64) throws {
        var lookedAt = world.now
        while world.now < end, jury.verdict == nil, !world.wasCutShort {
            let act = next < tape.acts.count ? tape.acts[next] : nil
            // Once nobody does anything more, little changes from one minute to the next.
            let lookEvery = act == nil ? 10 * Self.lookEvery : Self.lookEvery
            let moments = [
                end, lookedAt + lookEvery, stage.nextJoin, stage.nextLate,
                act.map { origin + $0.at.milliseconds },
            ]
            let time = moments.compactMap { $0 }.min() ?? end
            if time > world.now { world.run(for: time - world.now) }
            stage.joinDue()
            try stage.endLate()
            if let act, origin + act.at.milliseconds <= world.now,
                act.at.milliseconds < end - origin
            {
                next += 1
                let isPlayed = try stage.play(act, jury)
                recording?.acted(act, isRefused: !isPlayed)
            } else if world.now >= lookedAt + lookEvery {
                lookedAt = world.now
                jury.look(at: world)
            }
        }
    }

    /// Returns what still differs when the time is over, or nil.
    private func heal(until end: UInt64) throws -> String? {
        for case let storms as NoStorms in jury.checkers { try storms.begin(world) }
        let bound = end - world.now
        // What a phase before it took too long is not taken from this one.
        let end = world.now + bound
        var equalSince: UInt64?
        var difference: String?
        while world.now < end, jury.verdict == nil, !world.wasCutShort {
            world.run(for: min(5_000, end - world.now))
            try stage.endLate()
            // Who is still kept away is not waited for, and will have to be: until then nothing is compared,
            // which costs most where all is equal.
            guard stage.nextLate == nil else {
                equalSince = nil
                continue
            }
            difference = try Convergence.difference(in: world)
            if difference != nil {
                equalSince = nil
            } else {
                equalSince = equalSince ?? world.now
            }
            // Receipts for the last of it are still on their way.
            if let equalSince, world.now >= equalSince + 10_000 { return nil }
        }
        return stage.nextLate == nil ? difference : try Convergence.difference(in: world)
    }

    private func settle() throws {
        jury.settle(world)
        for node in world.honestNodes {
            for space in try node.conversations() {
                world.note(try node.digest(of: space.id)?.bytes ?? [])
            }
        }
    }

    /// What is said of a run whose real time was up.
    private var slowness: Summary.Verdict {
        .slow("after \(world.now / 1_000) virtual s and \(world.frameCount) frames it goes on")
    }

    // MARK: What is said

    private func status(_ phase: String) {
        // A recording tells more.
        if recording != nil { return }
        let failures = world.nodes.reduce(0) { $0 + $1.failedStepCount }
        say(
            "  \(phase) at \(world.now / 1_000) s: done \(stage.doneCount),"
                + " refused \(stage.refusedCount), operations \(operationCount),"
                + " frames \(world.frameCount), bytes \(world.byteCount),"
                + " links \(world.linkCount), resets \(world.resetCount),"
                + " failed steps \(failures)" + stage.faultWords)
    }

    private var operationCount: Int { world.nodes.reduce(0) { $0 + $1.store.operationCount } }

    private func summary(_ verdict: Summary.Verdict) -> Summary {
        recording?.verdict(Report.Verdict(of: verdict))
        return Summary(
            name: scenario.name, seed: scenario.seed, verdict: verdict, traceHash: world.traceHash,
            milliseconds: world.now, nodeCount: world.nodes.count, classes: scenario.classes,
            operationCount: operationCount,
            checks: jury.checkCounts, marks: jury.marks.counts, deeds: stage.deedCounts)
    }
}

extension Scenario.Phase {
    /// What it is, in a few words.
    fileprivate var title: String {
        if heal == true { return "all faults are over, equal within \(self.for)" }
        let groups = partition?.map { $0.joined(separator: " ") }.joined(separator: " | ")
        let parted = groups.map { ", \($0)\(oneWay == true ? " one way" : "")" } ?? ""
        return "\(self.for)\(parted)"
    }
}
