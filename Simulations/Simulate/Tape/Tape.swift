import ParleySimulation

/// All acts of one run, in the order in which they happen.
///
/// It is drawn whole before the run begins, from the scenario and its seed, and never looks at what
/// comes of it. So a run can be told, repeated, and repeated without some of its acts.
public struct Tape: Codable, Equatable, Sendable {
    /// The acts, ascending by time.
    public var acts: [Act]

    /// A tape of these acts; those of one moment stay in their order.
    public init(_ acts: [Act]) {
        let places = acts.indices.sorted { (acts[$0].at, $0) < (acts[$1].at, $1) }
        self.acts = places.map { acts[$0] }
    }

    /// What happens in this scenario.
    ///
    /// - Parameter log: what is typed, where the scenario names a log.
    public init(drawing scenario: Scenario, log: [LoggedLine] = []) {
        var acts: [Act] = []
        var start: UInt64 = 0
        var people = scenario.nodes.indices.map { TypingPerson(scenario, $0) }
        var talkers = scenario.nodes.indices.map { Talker(scenario, $0) }
        var curators = scenario.nodes.indices.map { Curator(scenario, $0) }
        var senders = scenario.nodes.indices.map { FileSender(scenario, $0) }
        var teams = scenario.nodes.indices.map { Team(scenario, $0) }
        var households = scenario.persons.map { Household(scenario, of: $0) }
        for (place, phase) in scenario.phases.enumerated() {
            let end = start + phase.for.milliseconds
            acts += Self.partition(of: phase, from: start, to: end, first: scenario.nodes[0].user)
            if phase.heal != true {
                let faults = FaultDrawing(scenario, phase: place, from: start, to: end)
                acts += faults.acts()
                if phase.isBusy ?? true {
                    for index in people.indices { acts += people[index].acts(from: start, to: end) }
                    for index in talkers.indices {
                        acts += talkers[index].acts(from: start, to: end)
                    }
                    for index in curators.indices {
                        acts += curators[index].acts(from: start, to: end)
                    }
                    for index in senders.indices {
                        acts += senders[index].acts(from: start, to: end)
                    }
                    for index in teams.indices { acts += teams[index].acts(from: start, to: end) }
                    for index in households.indices {
                        acts += households[index].acts(from: start, to: end)
                    }
                }
            }
            for var act in phase.actions ?? [] {
                act.at.milliseconds += start
                acts.append(act)
            }
            start = end
        }
        acts += LoggedLine.acts(log, in: scenario)
        self.init(acts)
    }

    private static func partition(
        of phase: Scenario.Phase, from start: UInt64, to end: UInt64, first: String
    ) -> [Act] {
        guard let groups = phase.partition else { return [] }
        func act(_ time: UInt64, _ deed: Deed) -> Act {
            Act(at: .milliseconds(time), node: first, do: deed)
        }
        return [
            act(start, .part(groups: groups, oneWay: phase.oneWay ?? false)),
            act(end, .heal(within: .milliseconds(0))),
        ]
    }
}

/// One line of a chat log, to be typed again.
public struct LoggedLine: Equatable, Sendable {
    /// Who said it.
    public var author: String
    /// When, in Unix milliseconds.
    public var time: UInt64
    /// What.
    public var text: String

    /// A line with these fields.
    public init(author: String, time: UInt64, text: String) {
        self.author = author
        self.time = time
        self.text = text
    }

    /// The lines, shared among the people by who said them first, in the time that the scenario's
    /// phases before the heal leave: the pauses of the log, only shorter. Who has several devices
    /// from the first phase on types on one after the other.
    static func acts(_ lines: [LoggedLine], in scenario: Scenario) -> [Act] {
        guard let first = lines.first?.time, let last = lines.map(\.time).max() else { return [] }
        let room = scenario.phases.filter { $0.heal != true }.reduce(0) {
            $0 + $1.for.milliseconds
        }
        let length = max(1, last - min(first, last))
        let persons = scenario.persons
        var voices: [String: String] = [:]
        var counts: [String: Int] = [:]
        return lines.map { line in
            let person = voices[line.author] ?? persons[voices.count % persons.count]
            voices[line.author] = person
            let devices = scenario.earlyDevices(of: person)
            let device = devices[counts[person, default: 0] % devices.count]
            counts[person, default: 0] += 1
            let elapsed = line.time - min(first, line.time)
            return Act(
                at: .milliseconds(elapsed * room / (length + 1)), node: device,
                do: .write(space: 0, text: line.text))
        }
    }
}
