import ParleySimulation

/// What breaks in one phase: each class from a stream of its own, so that leaving one out does not
/// shift the others.
struct FaultDrawing {
    private let seed: UInt64
    private let users: [String]
    private let phase: Int
    private let start: UInt64
    private let end: UInt64
    private let faults: Scenario.Faults
    private let isParted: Bool
    private let relayCount: Int

    init(_ scenario: Scenario, phase: Int, from start: UInt64, to end: UInt64) {
        seed = scenario.seed
        users = scenario.nodes.map(\.user)
        self.phase = phase
        self.start = start
        self.end = end
        faults = scenario.phases[phase].faults ?? Scenario.Faults()
        isParted = scenario.phases[phase].partition != nil
        relayCount = scenario.relays ?? 0
    }

    func acts() -> [Act] {
        var acts: [Act] = []
        for user in users {
            acts += happening("crashes \(user)", faults.crashes) { random in
                [(user, Self.crash(power: false, &random))]
            }
            acts += happening("power losses \(user)", faults.powerLosses) { random in
                [(user, Self.crash(power: true, &random))]
            }
            acts += happening("store failures \(user)", faults.storeFailures) { random in
                let isFull = random.next() % 2 == 0
                return [(user, .failStore(calls: Int(1 + random.next() % 100), full: isFull))]
            }
            acts += happening("clock jumps \(user)", faults.clockJumps) { random in
                let tenYears: Int64 = 10 * 365 * 86_400
                return [
                    (
                        user,
                        .jumpClock(seconds: Int64.random(in: -tenYears...tenYears, using: &random))
                    )
                ]
            }
            acts += restores(of: user)
        }
        // One disk at most: nodes whose disks decay are promised nothing.
        acts += happening("rot", faults.rot) { random in
            [(users[0], .rot(page: Int(random.next() % 4_096)))]
        }
        acts += onLinks("resets", faults.resets) { other, _ in .reset(user: other) }
        acts += onLinks("stalls", faults.stalls) { other, random in
            .stall(user: other, for: .milliseconds(1_000 + random.next() % 19_000))
        }
        acts += onLinks("flips", faults.flips) { other, random in
            .flip(user: other, bit: Int(random.next() % 65_536))
        }
        return acts + (isParted ? [] : partings()) + relayTroubles()
    }

    /// A relay is in trouble for up to five minutes.
    private func relayTroubles() -> [Act] {
        guard relayCount > 0 else { return [] }
        return happening("relay troubles", faults.relays) { random in
            let relay = Int(random.next() % UInt64(relayCount))
            let all = faults.relayTroubles ?? RelayTrouble.drawn(for: seed)
            let how = all[Int(random.next() % UInt64(all.count))]
            return [(users[0], .befall(relay: relay, how: how))]
        }
    }

    /// Something that happens so often an hour, at moments that are drawn.
    private func happening(
        _ purpose: String, _ perHour: UInt64?,
        _ draw: (inout SeededRandom) -> [(user: String, deed: Deed)]
    ) -> [Act] {
        guard let perHour, perHour > 0 else { return [] }
        var random = SeededRandom(seed: seed, purpose: "phase \(phase), \(purpose)")
        var acts: [Act] = []
        var time = start
        while true {
            time += 1 + random.next() % (7_200_000 / perHour)
            if time >= end { return acts }
            for one in draw(&random) {
                acts.append(Act(at: .milliseconds(time), node: one.user, do: one.deed))
            }
        }
    }

    private func onLinks(
        _ purpose: String, _ perHour: UInt64?, _ deed: (String, inout SeededRandom) -> Deed
    ) -> [Act] {
        happening(purpose, perHour) { random in
            let pair = users.shuffled(using: &random)
            return [(pair[0], deed(pair[1], &random))]
        }
    }

    private static func crash(power: Bool, _ random: inout SeededRandom) -> Deed {
        let point = CrashPoint.allCases[Int(random.next() % 3)]
        return .crash(
            steps: Int(1 + random.next() % 12), point: point, power: power,
            down: .milliseconds(random.next() % 60_000))
    }

    /// A copy is made some minutes before it is put back.
    private func restores(of user: String) -> [Act] {
        var acts: [Act] = []
        for act in happening("restores \(user)", faults.restores, { _ in [(user, .restore)] }) {
            let early = max(start, act.at.milliseconds - min(act.at.milliseconds, 180_000))
            acts.append(Act(at: .milliseconds(early), node: user, do: .backUp))
            acts.append(act)
        }
        return acts
    }

    private func partings() -> [Act] {
        guard let perHour = faults.partitions, perHour > 0 else { return [] }
        var random = SeededRandom(seed: seed, purpose: "phase \(phase), partitions")
        var acts: [Act] = []
        var time = start
        while true {
            time += 1 + random.next() % (7_200_000 / perHour)
            if time >= end { return acts }
            let isOneWay = random.next() % 2 == 0 && faults.oneWay ?? false
            let groups = Self.groups(of: users, &random)
            acts.append(
                Act(
                    at: .milliseconds(time), node: users[0],
                    do: .part(groups: groups, oneWay: isOneWay)))
            // From seconds to ten minutes, each order of length as often as the others.
            time = min(end, time + (1_000 << random.next() % 10) + random.next() % 1_000)
            let slowly = random.next() % 3 == 0 ? random.next() % 30_000 : 0
            acts.append(
                Act(
                    at: .milliseconds(time), node: users[0],
                    do: .heal(within: .milliseconds(slowly))))
        }
    }

    /// One alone, two halves, or any split.
    private static func groups(of users: [String], _ random: inout SeededRandom) -> [[String]] {
        let order = users.shuffled(using: &random)
        switch random.next() % 3 {
        case 0: return [[order[0]], Array(order.dropFirst())]
        case 1:
            let half = order.count / 2
            return [Array(order.prefix(half)), Array(order.dropFirst(half))]
        default:
            var groups: [[String]] = [[], [], []]
            for user in order { groups[Int(random.next() % 3)].append(user) }
            return groups.filter { !$0.isEmpty }
        }
    }
}
