import ParleySimulation

/// What a seed draws of persons' devices, from a stream of its own.
struct DrawnHouseholds {
    /// Seeds below this one are of people with one device each who all know each other.
    static let firstSeed: UInt64 = 100

    /// Devices that persons may get in the run.
    private(set) var devices: [Scenario.Device] = []
    /// Acts of each person in an hour about them; nil for none.
    private(set) var rate: UInt64?
    private(set) var acquaintance = Scenario.Acquaintance.everyone
    /// A night to two and a half days in which nobody does anything, after which devices say what they have seen.
    private(set) var rest: [Scenario.Phase] = []
    private let persons: [String]
    private var random: SeededRandom

    init(seed: UInt64, of persons: [String]) {
        self.persons = persons
        random = SeededRandom(seed: seed, purpose: "households")
        guard seed >= Self.firstSeed else { return }
        let all: [Scenario.Acquaintance] = [.everyone, .everyone, .first, .circle]
        acquaintance = all[Int(random.next() % 4)]
        defer {
            if seed % 20 == 7 {
                let hours = Self.restHours(of: persons.count + devices.count)
                rest = [Scenario.Phase(for: .hours(hours), isBusy: false)]
            }
        }
        let (isOn, rate) = (random.next() % 2 == 0, UInt64.random(in: 6...30, using: &random))
        guard isOn || [3, 13].contains(seed % 20) else { return }
        self.rate = rate
        for person in persons {
            let draw = random.next() % 8
            // Most have one device more, and some a third.
            for number in 2...3 where draw >= (number == 2 ? 2 : 6) {
                devices.append(Scenario.Device(user: "\(person)\(number)", of: person))
            }
        }
    }

    /// How long so many nodes do nothing: what a night of many costs, few live through in two and a half days.
    private static func restHours(of nodeCount: Int) -> UInt64 {
        switch nodeCount {
        case ...3: 62
        case 4: 50
        case 5...6: 26
        case 7...9: 9
        default: 7
        }
    }

    /// The second devices come early on.
    func links(within minutes: UInt64) -> [Act] {
        var random = random
        return devices.filter { $0.user.hasSuffix("2") }.compactMap { device in
            let time = 1 + random.next() % (minutes * 15_000)
            return device.of.map {
                Act(at: .milliseconds(time), node: $0, do: .link(device: device.user))
            }
        }
    }

    /// Somebody copies a disk, writes with it, and is put out in the end: the device is revoked by
    /// another one of its person's, or the person is removed where there is none.
    func theft(from person: String, minutes: UInt64) -> [Act] {
        func act(_ tenths: UInt64, _ user: String, _ deed: Deed) -> Act {
            Act(at: .milliseconds(minutes * 6_000 * tenths), node: user, do: deed)
        }
        let second = devices.first { $0.of == person }?.user
        let device = second ?? person
        let end =
            second.map { act(7, person, .revoke(device: $0, byCode: false)) }
            ?? act(7, persons[0], .remove(space: 0, user: person))
        return [act(3, device, .steal)]
            + (4...6).map {
                act($0, device, .impersonate(space: 0, text: "\(person) it is, \($0)"))
            }
            + [end, act(8, device, .impersonate(space: 0, text: "\(person) goes on"))]
    }
}
