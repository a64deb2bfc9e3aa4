import ParleySimulation

/// Somebody who sends files and wants those of others. Drawn apart from all else, so that the same seed does
/// the same with and without it.
struct FileSender: Occupation {
    private let user: String
    let pause: UInt64
    var random: SeededRandom

    init(_ scenario: Scenario, _ index: Int) {
        user = scenario.nodes[index].user
        let rate = scenario.workload.filesPerHour ?? 0
        pause = rate == 0 ? 0 : 3_600_000 * UInt64(scenario.nodes.count) / rate
        random = SeededRandom(seed: scenario.seed, purpose: "person \(index), files")
    }

    mutating func act() -> (by: String, deed: Deed) { (user, deed()) }

    private mutating func deed() -> Deed {
        let space = Int(random.next() % 4)
        switch Mix.draw(Mix.files, &random) {
        case "fetch": return .fetch(space: space, message: Mix.rank(&random))
        case "forget": return .forget(space: space, message: Mix.rank(&random))
        case "room":
            // Some have room for little, and some want little by itself.
            return .room(
                bytes: random.next() % 2 == 0 ? 1 << 40 : 200_000 << Int(random.next() % 4),
                byItself: random.next() % 2 == 0 ? 16 << 20 : 50_000,
                pictures: random.next() % 2 == 0 ? 16 << 20 : 0)
        case "picture":
            return .picture(space: space, bytes: Int(random.next() % 4) * 4_000)
        case "fillDisk": return .fillDisk(on: random.next() % 2 == 0)
        default:
            // Most are small; where two send the same, one blob is meant by both.
            let scale = 1 << (8 + random.next() % 13)
            return .attach(
                space: space, bytes: 1 + Int(random.next() % UInt64(scale)),
                number: Int(random.next() % 200))
        }
    }
}

extension Scenario {
    /// The first seed of which people send files.
    static let firstFileSeed: UInt64 = 1000

    /// From the seed 1,000 on people send files in a quarter of all worlds: those before are what they were.
    mutating func drawFiles() {
        guard seed >= Self.firstFileSeed else { return }
        var random = SeededRandom(seed: seed, purpose: "files")
        guard random.next() % 4 == 0 else { return }
        workload.filesPerHour = 10 + random.next() % 50
        for place in nodes.indices where nodes[place].malicious?.isEmpty == false {
            nodes[place].malicious?.append(.spoilFiles)
        }
    }
}
