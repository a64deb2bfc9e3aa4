import ParleySimulation

/// What one person does about their devices, about backups and with links into groups: drawn from a
/// stream of its own, beside all that is written and read.
struct Household: Occupation {
    private let devices: [String]
    private let others: [String]
    let pause: UInt64
    var random: SeededRandom
    private var nameCount = 0
    private var linkCount: UInt64 = 0
    /// Whether anything comes of links into groups: in runs that are kept nothing did.
    private let hasLinks: Bool

    init(_ scenario: Scenario, of person: String) {
        devices = scenario.devices(of: person)
        others = scenario.persons.filter { $0 != person }
        let rate = scenario.workload.devicesPerHour ?? 0
        pause = rate == 0 ? 0 : 3_600_000 / rate
        random = SeededRandom(seed: scenario.seed, purpose: "household of \(person)")
        hasLinks = scenario.seed >= Scenario.firstLateSeed
    }

    mutating func act() -> (by: String, deed: Deed) {
        let device = one(of: devices)
        return (device, deed())
    }

    private mutating func deed() -> Deed {
        switch Mix.draw(Mix.household, &random) {
        case "nameDevice":
            nameCount += 1
            return .nameDevice(device: one(of: devices), name: "old machine number \(nameCount)")
        case "revoke" where devices.count > 1:
            return .revoke(device: one(of: devices), byCode: random.next() % 4 == 0)
        case "keepBackup": return .keepBackup
        case "recover":
            let (isHelped, helper) = (random.next() % 2 == 0, one(of: others))
            let kept = devices.filter { _ in random.next() % 2 == 0 }
            return .recover(
                device: one(of: devices), helper: isHelped ? helper : nil, keep: kept)
        case "openGroup":
            linkCount += 1
            let time = linkCount % 2 == 1 ? VirtualTime.minutes(1 + linkCount % 3) : .days(1)
            return .openGroup(
                space: Int(random.next() % 3), uses: Int(1 + random.next() % 3),
                for: hasLinks ? time : nil)
        case "closeGroup": return .closeGroup(space: Int(random.next() % 3))
        case "join": return .join(user: one(of: others))
        default: return .link(device: one(of: devices))
        }
    }

    private mutating func one(of names: [String]) -> String {
        names[Int(random.next() % UInt64(names.count))]
    }
}
