import ParleySimulation

/// Somebody who does something together with the others of a conversation. Drawn apart from all else, so that
/// the same seed does the same with and without it.
struct Team: Occupation {
    private let user: String
    let pause: UInt64
    var random: SeededRandom

    init(_ scenario: Scenario, _ index: Int) {
        user = scenario.nodes[index].user
        let rate = scenario.workload.teamworkPerMinute ?? 0
        pause = rate == 0 ? 0 : 60_000 * UInt64(scenario.nodes.count) / rate
        random = SeededRandom(seed: scenario.seed, purpose: "person \(index), teamwork")
    }

    mutating func act() -> (by: String, deed: Deed) {
        (user, .together(space: Int(random.next() % 4), what: what()))
    }

    private mutating func what() -> Together {
        let rank = Int(random.next() % 3)
        switch Mix.draw(Mix.together, &random) {
        case "ask":
            let options = 2 + Int(random.next() % 4)
            let minutes = random.next() % 4 == 0 ? 1 + random.next() % 10 : nil
            return .ask(
                question: "what about the plan \(random.next() % 1_000_000)?", options: options,
                isMultiple: random.next() % 3 == 0, minutes: minutes)
        case "close": return .close(poll: rank)
        case "withdraw": return .withdraw(poll: rank)
        case "begin":
            return .begin(
                title: "task number \(random.next() % 1_000_000)",
                message: random.next() % 2 == 0 ? rank : nil)
        case "change":
            let value = random.next() % 1_000
            let fields: [Together.Field] = [.title, .notes, .due, .done, .done, .assignee]
            return .change(
                item: rank, field: fields[Int(random.next() % 6)], value: value)
        case "drop": return .drop(item: rank)
        case "note": return note(rank)
        case "remind":
            return .remind(
                text: "think of the errand \(random.next() % 1_000_000)",
                message: random.next() % 2 == 0 ? rank : nil, minutes: 1 + random.next() % 10)
        case "later":
            return .later(
                text: "said later: \(random.next() % 1_000_000)", minutes: 1 + random.next() % 10)
        case "remember":
            let words: [Together.Word] = [.accept, .withdraw, .reopen]
            return .remember(reminder: rank, word: words[Int(random.next() % 3)])
        case "propose":
            return .propose(
                title: "plan number \(random.next() % 1_000_000)",
                poll: random.next() % 3 == 0 ? rank : nil)
        case "decide":
            let words: [Together.Word] = [
                .approve, .approve, .approve, .retract, .accept, .accept, .reject, .reopen,
                .supersede, .supersede, .withdraw,
            ]
            return .decide(decision: rank, word: words[Int(random.next() % 11)])
        default:
            let count = [1, 1, 1, 2, 0][Int(random.next() % 5)]
            return .vote(
                poll: rank, choices: (0..<count).map { _ in Int(random.next() % 5) }.sorted())
        }
    }

    /// Texts are short: the naive model goes through them scalar by scalar.
    private mutating func note(_ rank: Int) -> Together {
        switch Mix.draw(Mix.notes, &random) {
        case "begin":
            let text = random.next() % 2 == 0 ? "" : "milk\neggs \(random.next() % 100)\n"
            return .note(title: "note number \(random.next() % 1_000_000)", text: text)
        case "write":
            return .write(
                note: rank, text: "milk\nbread \(random.next() % 10)\neggs \(random.next() % 9)\n")
        case "retitle":
            return .retitle(note: rank, title: "note called \(random.next() % 1_000_000)")
        case "tear": return .tear(note: rank)
        default:
            let letters = (0..<random.next() % 4).map { _ in
                Character(Unicode.Scalar(UInt8(97 + random.next() % 26)))
            }
            return .edit(
                note: rank, at: Int(random.next() % 1_000),
                deleted: random.next() % 3 == 0 ? Int(random.next() % 4) : 0,
                text: String(letters), edits: random.next() % 4 == 0 ? Int(random.next() % 4) : 0)
        }
    }
}

extension Scenario {
    /// The first seed of which people do something together.
    static let firstTeamworkSeed: UInt64 = 600

    /// From the seed 600 on people do so in half of all worlds: those before are what they were.
    mutating func drawTeamwork() {
        guard seed >= Self.firstTeamworkSeed else { return }
        var random = SeededRandom(seed: seed, purpose: "teamwork")
        guard random.next() % 2 == 0 else { return }
        workload.teamworkPerMinute = 4 + random.next() % 16
    }
}
