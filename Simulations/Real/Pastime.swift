internal import ParleySimulate
internal import ParleySimulation

/// All acts of a scenario, drawn before anything begins.
struct Pastime {
    private static let emojis = ["👍", "🎉", "❤️"]
    private var random: SeededRandom
    private let scenario: Scenario
    private var acts: [Act] = []
    private var saidCount = 0

    /// The acts of this scenario up to its heal, ascending by time.
    static func acts(of scenario: Scenario) -> [Act] {
        var pastime = Pastime(scenario)
        var start: UInt64 = 0
        for phase in scenario.phases where phase.heal != true {
            pastime.draw(phase, from: start)
            start += phase.for.milliseconds
        }
        return pastime.acts.enumerated()
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    private init(_ scenario: Scenario) {
        self.scenario = scenario
        random = SeededRandom(seed: scenario.seed, purpose: "pastime")
    }

    private mutating func draw(_ phase: Scenario.Phase, from start: UInt64) {
        let end = start + phase.for.milliseconds
        let first = scenario.nodes.first?.user ?? ""
        if let groups = phase.partition {
            let deed = Deed.part(groups: groups, oneWay: phase.oneWay ?? false)
            add(start, first, deed)
        }
        for act in phase.actions ?? [] { add(start + act.at.milliseconds, act.node, act.do) }
        if phase.isBusy != false { people(from: start, to: end) }
        if let faults = phase.faults { breakThings(faults, from: start, to: end) }
        if phase.partition != nil { add(end, first, .heal(within: .seconds(0))) }
    }

    private mutating func people(from start: UInt64, to end: UInt64) {
        let users = scenario.nodes.filter { $0.habit != .silent }.map(\.user)
        for at in times(scenario.workload.actsPerMinute * 60, from: start, to: end) {
            guard let user = users.randomElement(using: &random) else { return }
            add(at, user, deed(of: user))
        }
    }

    private mutating func deed(of user: String) -> Deed {
        let message = Int(random.next() % 8)
        saidCount += 1
        let text = "\(user) \(saidCount) of seed \(scenario.seed)"
        switch random.next() % 100 {
        case 0..<70: return .write(space: 0, text: text)
        case 70..<80: return .reply(space: 0, message: message, text: text)
        case 80..<88:
            let emoji = Self.emojis[Int(random.next() % 3)]
            return .react(space: 0, message: message, emoji: emoji, on: true)
        case 88..<93: return .edit(space: 0, message: message, text: text)
        case 93..<97: return .read(space: 0)
        case 97..<99: return .delete(space: 0, message: message)
        default: return .mute(space: 0, on: message % 2 == 0)
        }
    }

    private mutating func breakThings(
        _ faults: Scenario.Faults, from start: UInt64, to end: UInt64
    ) {
        let deaths = (faults.crashes ?? 0) + (faults.powerLosses ?? 0)
        for user in scenario.nodes.map(\.user) {
            for at in times(deaths, from: start, to: end) {
                let down = VirtualTime.seconds(random.next() % 60)
                add(at, user, .crash(steps: 0, point: .afterCommit, power: false, down: down))
            }
        }
        let users = scenario.nodes.map(\.user)
        for at in times(faults.partitions ?? 0, from: start, to: end) {
            let shuffled = users.shuffled(using: &random)
            let count = 1 + Int(random.next() % UInt64(max(1, users.count - 1)))
            let groups = [Array(shuffled.prefix(count)), Array(shuffled.dropFirst(count))]
            let isOneWay = faults.oneWay == true && random.next() % 2 == 0
            add(at, users[0], .part(groups: groups, oneWay: isOneWay))
            add(
                min(end, at + 1_000 + random.next() % 60_000), users[0],
                .heal(within: .seconds(0)))
        }
    }

    /// Moments of something that happens so often in an hour, each as likely as any other.
    private mutating func times(_ perHour: UInt64, from start: UInt64, to end: UInt64) -> [UInt64] {
        guard end > start else { return [] }
        let share = perHour * (end - start)
        let isOneMore = random.next() % 3_600_000 < share % 3_600_000
        let count = share / 3_600_000 + (isOneMore ? 1 : 0)
        return (0..<count).map { _ in start + random.next() % (end - start) }.sorted()
    }

    private mutating func add(_ at: UInt64, _ node: String, _ deed: Deed) {
        acts.append(Act(at: .milliseconds(at), node: node, do: deed))
    }
}
