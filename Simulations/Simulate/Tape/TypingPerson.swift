import ParleySimulation

/// Somebody who uses a node by themselves: draws when they do something, and what.
struct TypingPerson {
    private let user: String
    private let others: [String]
    private let habit: Scenario.Habit
    private let malicious: [Malice]
    private let mix: [String: UInt64]
    /// Milliseconds between two acts, on average.
    private let pause: UInt64
    private var random: SeededRandom
    private var trips: SeededRandom
    private var malice: SeededRandom
    private var saidCount = 0
    private var importedLine = 1

    init(_ scenario: Scenario, _ index: Int) {
        let person = scenario.nodes[index]
        user = person.user
        others = scenario.persons.filter { $0 != scenario.person(of: person.user) }
        habit = Self.habit(of: scenario, index)
        malicious = person.malicious ?? []
        mix = habit == .lurking ? Mix.lurking : scenario.workload.mix ?? Mix.usual
        let seed = scenario.seed
        random = SeededRandom(seed: seed, purpose: "person \(index)")
        trips = SeededRandom(seed: seed, purpose: "person \(index), trips")
        malice = SeededRandom(seed: seed, purpose: "person \(index), malice")
        let total = scenario.nodes.indices.reduce(0) {
            $0 + Self.share(Self.habit(of: scenario, $1))
        }
        let rate = scenario.workload.actsPerMinute * Self.share(habit)
        pause = rate == 0 ? 0 : 60_000 * total / rate
    }

    /// The habit that the scenario gives, or the one that the seed draws.
    private static func habit(of scenario: Scenario, _ index: Int) -> Scenario.Habit {
        if let habit = scenario.nodes[index].habit { return habit }
        var random = SeededRandom(seed: scenario.seed, purpose: "habit \(index)")
        return [.chatty, .lurking, .commuting][Int(random.next() % 3)]
    }

    /// How much of what is done somebody does.
    private static func share(_ habit: Scenario.Habit) -> UInt64 {
        switch habit {
        case .chatty: 6
        case .commuting: 3
        case .lurking: 1
        case .silent: 0
        }
    }

    /// What they do in this stretch of the run.
    mutating func acts(from start: UInt64, to end: UInt64) -> [Act] {
        var acts: [Act] = []
        var time = start
        while pause > 0 {
            // Three of four pauses are short: people talk in bursts.
            let isShort = random.next() % 4 != 0
            time += 1 + random.next() % (isShort ? max(1, pause / 2) : pause * 13 / 2)
            if time >= end { break }
            acts.append(act(time, deed()))
        }
        if habit == .commuting { acts += journeys(from: start, to: end) }
        for kind in malicious {
            var time = start
            while true {
                time += 1 + malice.next() % 240_000
                if time >= end { break }
                acts.append(act(time, .misbehave(kind)))
            }
        }
        return acts
    }

    private func act(_ time: UInt64, _ deed: Deed) -> Act {
        Act(at: .milliseconds(time), node: user, do: deed)
    }

    private mutating func journeys(from start: UInt64, to end: UInt64) -> [Act] {
        var acts: [Act] = []
        var time = start
        while true {
            time += 60_000 + trips.next() % 300_000
            if time >= end { break }
            acts.append(act(time, .leave))
            time += 60_000 + trips.next() % 600_000
            acts.append(act(min(time, end), .returns))
        }
        return acts
    }

    private mutating func deed() -> Deed {
        let space = Int(random.next() % 4)
        switch Mix.draw(mix, &random) {
        case "reply": return .reply(space: space, message: Mix.rank(&random), text: text())
        case "edit": return .edit(space: space, message: Mix.rank(&random), text: text())
        case "delete": return .delete(space: space, message: Mix.rank(&random))
        case "react":
            let emoji = ["👍", "🎉", "❤️"][Int(random.next() % 3)]
            let isOn = random.next() % 4 != 0
            return .react(space: space, message: Mix.rank(&random), emoji: emoji, on: isOn)
        case "read": return .read(space: space)
        case "rename": return .rename(space: space, name: "\(user) \(random.next() % 100)")
        case "mute": return .mute(space: space, on: random.next() % 2 == 0)
        case "bringIn": return bringingIn(to: space)
        case "found":
            return .found(name: "group", members: others.filter { _ in random.next() % 2 == 0 })
        case "nameSelf": return .nameSelf(name: "\(user) \(random.next() % 100)")
        case "invite": return .invite(user: other())
        case "verify": return .verify(user: other())
        case "ask": return .ask(user: other())
        case "answer":
            let how = ["accept", "accept", "decline", "block"][Int(random.next() % 4)]
            return .answer(user: other(), how: how)
        case "uninvite": return .uninvite
        case "add": return .add(space: group(), user: other(), role: role())
        case "remove": return .remove(space: group(), user: other())
        case "promote": return .promote(space: group(), user: other(), role: role())
        case "quit": return .quit(space: group())
        case "consent": return .consent(accepting: random.next() % 3 != 0)
        case "permit": return .permit(contacts: random.next() % 2 == 0)
        case "govern":
            return .govern(space: group(), historyDays: [0, -1, 1][Int(random.next() % 3)])
        default: return .write(space: space, text: text())
        }
    }

    /// The first group, mostly: those of two are fixed.
    private mutating func group() -> Int { Int(random.next() % 4 / 3) }

    /// Members mostly; more of those who may remove others than there should be.
    private mutating func role() -> Int { [0, 1, 1, 1, 2, 2, 3, 3][Int(random.next() % 8)] }

    private mutating func other() -> String { others[Int(random.next() % UInt64(others.count))] }

    private mutating func bringingIn(to space: Int) -> Deed {
        let texts = (0...Int(random.next() % 20)).map { _ in text() }
        let line = importedLine
        // Some lines come twice, as from a file that is read again.
        importedLine += random.next() % 3 == 0 ? texts.count / 2 : texts.count
        return .bringIn(space: space, firstLine: line, texts: texts)
    }

    /// Words, and one that nobody else says: wherever it is found, this message was.
    private mutating func text() -> String {
        saidCount += 1
        let canary = String(random.next(), radix: 36)
        let isLong = random.next() % 200 == 0
        let length = Int(random.next() % (isLong ? 20_000 : 120))
        return "\(user) \(saidCount) \(canary) " + String(repeating: "word ", count: length / 5)
    }
}
