import ParleySimulation

/// Somebody who does something with messages and conversations that are there. Drawn apart from all else, so that the
/// same seed does the same with and without it.
struct Curator: Occupation {
    private let user: String
    private let others: [String]
    let pause: UInt64
    var random: SeededRandom

    init(_ scenario: Scenario, _ index: Int) {
        user = scenario.nodes[index].user
        others = scenario.nodes.map(\.user).filter { [user] in $0 != user }
        let rate = scenario.workload.curationPerMinute ?? 0
        pause = rate == 0 ? 0 : 60_000 * UInt64(scenario.nodes.count) / rate
        random = SeededRandom(seed: scenario.seed, purpose: "person \(index), curation")
    }

    mutating func act() -> (by: String, deed: Deed) { (user, deed()) }

    private mutating func deed() -> Deed {
        let (space, message) = (Int(random.next() % 4), Mix.rank(&random))
        switch Mix.draw(Mix.curation, &random) {
        case "archive": return .archive(space: space, on: random.next() % 4 != 0)
        case "keepFirst": return .keepFirst(space: space, on: random.next() % 4 != 0)
        case "pin": return .pin(space: space, message: message, on: random.next() % 4 != 0)
        case "star": return .star(space: space, message: message, on: random.next() % 4 != 0)
        case "report": return .report(space: space, message: message)
        case "deleteForOneself": return .deleteForOneself(space: space, message: message)
        case "draft":
            let number = random.next() % 1_000_000
            return .draft(space: space, text: number % 4 == 0 ? "" : "unsent thought \(number)")
        case "profile":
            let number = random.next() % 1_000_000
            return .profile(field: Int(number % 4), text: number % 5 == 0 ? "" : "busy \(number)")
        case "describe":
            let number = random.next() % 1_000_000
            return .describe(space: space, text: number % 4 == 0 ? "" : "we meet for \(number)")
        case "lifetime":
            // Mostly they stay, or the rest would have nothing to look at.
            let lengths = [0, 0, 0, 20, 300, 3_600]
            return .lifetime(
                space: random.next() % 4 == 0 ? nil : space,
                seconds: lengths[Int(random.next() % 6)])
        case "rule":
            let act = Int(random.next() % 4)
            // Mostly everybody writes, or the rest would have nothing to look at.
            let isOpen = act == 0 ? random.next() % 4 != 0 : random.next() % 2 == 0
            return .rule(space: space, act: act, everybody: isOpen)
        case "discreet":
            let number = random.next()
            return .discreet(
                space: number % 3 == 0 ? nil : space, typing: number % 2 == 0,
                how: Int(random.next() % 3))
        case "mention":
            let names = (0..<random.next() % 3).compactMap { _ in
                others.randomElement(using: &random)
            }
            // Of an edit the message may be somebody else's: then nothing comes of it.
            let edited = random.next() % 2 == 0 ? message : nil
            return .mention(
                space: space, users: names, text: "word \(random.next() % 1_000_000)", edit: edited)
        case "mute":
            let until = 1_700_000_000_000 + random.next() % 86_400_000
            return .mute(space: space, on: true, until: until)
        case "unread": return .unread(space: space, on: random.next() % 4 != 0)
        default:
            return .forward(
                space: space, message: message, to: Int(random.next() % 4),
                withOrigin: random.next() % 4 != 0)
        }
    }
}

extension Scenario {
    /// The first seed of which people do something with messages that are there.
    static let firstCurationSeed: UInt64 = 500

    /// From the seed 500 on people do so in half of all worlds: those before are what they were.
    mutating func drawCuration() {
        guard seed >= Self.firstCurationSeed else { return }
        var random = SeededRandom(seed: seed, purpose: "curation")
        guard random.next() % 2 == 0 else { return }
        workload.curationPerMinute = 2 + random.next() % 12
    }
}
