import ParleySimulation

/// Somebody who calls, answers, types and comes and goes. Drawn apart from all else, so that the
/// same seed does the same with and without it.
struct Talker: Occupation {
    private let user: String
    private let others: [String]
    private let mix: [String: UInt64]
    let pause: UInt64
    var random: SeededRandom

    init(_ scenario: Scenario, _ index: Int) {
        user = scenario.nodes[index].user
        let person = scenario.person(of: user)
        others = scenario.persons.filter { $0 != person }
        let rate = scenario.workload.talkPerMinute ?? 0
        pause = rate == 0 ? 0 : 60_000 * UInt64(scenario.nodes.count) / rate
        mix = scenario.workload.isUnruly == true ? Mix.unrulyTalk : Mix.talk
        random = SeededRandom(seed: scenario.seed, purpose: "person \(index), calls")
    }

    mutating func act() -> (by: String, deed: Deed) { (user, deed()) }

    private mutating func deed() -> Deed {
        let space = Int(random.next() % 4)
        switch Mix.draw(mix, &random) {
        case "ringAndGo":
            return .ringAndGo(
                space: space, after: .milliseconds(1_000 + random.next() % 20_000),
                dies: random.next() % 3 == 0)
        case "ringAt": return .ringAt(user: others[Int(random.next() % UInt64(others.count))])
        case "shutOut":
            return .shutOut(
                user: others[Int(random.next() % UInt64(others.count))],
                for: .milliseconds(60_000 + random.next() % 180_000))
        case "call": return .call(space: space)
        case "turnDown": return .turnDown
        case "hangUp": return .hangUp
        case "typing": return .typing(space: space, on: random.next() % 3 != 0)
        case "appear":
            return .appear(how: ["offline", "away", "online"][Int(random.next() % 3)])
        case "confide":
            let how = ["everything", "nowOnly", "nothing"][Int(random.next() % 3)]
            return .confide(user: others[Int(random.next() % UInt64(others.count))], how: how)
        default: return .pickUp
        }
    }
}
