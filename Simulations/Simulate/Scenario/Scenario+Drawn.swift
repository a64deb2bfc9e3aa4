import ParleySimulation

extension Scenario {
    /// The scenario that a seed draws: which faults are on, and how strong they are.
    ///
    /// Each class is on in half of all seeds, so that runs with few faults, in which much happens,
    /// are as common as runs in which everything breaks. One seed in ten runs on the production
    /// store; in another one half of all that is done changes who is in a group; one in four has a
    /// member who misbehaves.
    public static func drawn(seed: UInt64) -> Scenario {
        var random = SeededRandom(seed: seed, purpose: "scenario")
        let count = Int(2 + random.next() % 4)
        let minutes = 5 + random.next() % 26
        let rate = 8 + random.next() % 40
        var links = Links(default: Link(delayMs: [1, 20], bytesPerSecond: nil), between: nil)
        let faults = Faults(seed: seed, store: seed % 10 == 0 ? .sqlite : .memory)
        func draw(_ range: ClosedRange<UInt64>) -> UInt64? {
            // Both are always drawn: a class that is off does not shift the others.
            let (isOn, value) = (random.next() % 2 == 0, UInt64.random(in: range, using: &random))
            return isOn ? value : nil
        }
        if let delay = draw(50...500) { links.default.delayMs = [1, 2 * delay] }
        let names = ["ann", "ben", "cara", "dan", "eve"]
        if let rate = draw(1_000...10_000) {
            let slow = Link(delayMs: links.default.delayMs, bytesPerSecond: rate)
            links.between = Dictionary(
                uniqueKeysWithValues: names[1..<count].map { ("ann-\($0)", slow) })
        }
        let hasWrongClocks = draw(1...1) != nil
        var nodes = drawnDevices(
            of: names.prefix(count), seed: seed, hasWrongClocks: hasWrongClocks, using: &random)
        let isStolen = seed % 20 == 13 && count >= 3 && nodes[count - 1].malicious == nil
        let household = DrawnHouseholds(seed: seed, of: nodes.map(\.user))
        nodes += household.devices
        let actions =
            household.links(within: minutes)
            + (isStolen ? household.theft(from: names[count - 1], minutes: minutes) : [])
        let busy = Phase(
            for: .minutes(minutes), faults: faults, actions: actions.isEmpty ? nil : actions)
        var scenario = Scenario(
            name: "seed-\(seed)", story: "Drawn from the seed \(seed).", seed: seed,
            store: seed % 10 == 0 ? .sqlite : .memory,
            isChaotic: random.next() % 2 == 0 ? true : nil,
            nodes: nodes, acquaintance: household.acquaintance,
            links: links,
            workload: Workload(
                actsPerMinute: rate, mix: seed % 10 == 3 ? Mix.membership : nil,
                devicesPerHour: household.rate),
            phases: [busy] + household.rest + [Phase(for: .minutes(15), heal: true)],
            expect: Expectation(invariants: nil, marks: nil))
        scenario.drawRelays()
        scenario.drawTalk()
        scenario.drawLate(minutes: minutes)
        scenario.drawCuration()
        scenario.drawTeamwork()
        scenario.drawFiles()
        scenario.drawReturns(minutes: minutes)
        scenario.drawForeignEdits()
        scenario.drawForeignPins()
        scenario.drawLateGuests(minutes: minutes)
        scenario.drawApart(minutes: minutes)
        return scenario
    }

    /// A device for each of these persons: its clock, and whether the last of them misbehaves.
    private static func drawnDevices(
        of names: ArraySlice<String>, seed: UInt64, hasWrongClocks: Bool,
        using random: inout SeededRandom
    ) -> [Device] {
        var nodes = names.map { Device(user: $0) }
        for place in nodes.indices {
            let (drift, isFrozen) = (
                Int64.random(in: -500...500, using: &random), random.next() % 8 == 0
            )
            let skew = Int64.random(in: -86_400...86_400, using: &random)
            let clock = Clock(
                skewSeconds: wrongness(of: place, seed: seed, skew),
                // A clock that runs a million parts in a million too slow stands still.
                driftPpm: isFrozen ? -1_000_000 : drift)
            if hasWrongClocks { nodes[place].clock = clock }
        }
        let (isLiar, first, second) = (random.next() % 4 == 0, random.next(), random.next())
        if isLiar, nodes.count >= 3 {
            let kinds = Malice.drawn(for: seed)
            let drawn = [first, second].map { kinds[Int($0 % UInt64(kinds.count))] }
            nodes[nodes.count - 1].malicious = drawn[0] == drawn[1] ? [drawn[0]] : drawn
        }
        return nodes
    }

    /// A wrong clock is off by seconds, by hours, or by years, from a stream of its own.
    private static func wrongness(of place: Int, seed: UInt64, _ skew: Int64) -> Int64 {
        var random = SeededRandom(seed: seed, purpose: "clock \(place)")
        switch random.next() % 3 {
        case 0: return skew / 2_880
        case 1: return skew
        default: return skew * 3_653
        }
    }

    /// From the seed 100 on people call in half of all worlds, from a stream of their own; of those
    /// before in one of ten, and the others are what they were.
    private mutating func drawTalk() {
        var random = SeededRandom(seed: seed, purpose: "talk")
        let isOn = random.next() % 2 == 0
        guard seed < 100 ? seed % 10 == 9 : isOn else { return }
        workload.talkPerMinute = 4 + random.next() % 30
    }

    /// From the seed 200 on half of all worlds have relays, from a stream of their own: those before
    /// are what they were.
    private mutating func drawRelays() {
        guard seed >= 200 else { return }
        var random = SeededRandom(seed: seed, purpose: "relays")
        guard random.next() % 2 == 0 else { return }
        relays = Int(1 + random.next() % 2)
        if seed >= 300 { drawRelaysOnly() }
        let (isBroken, rate) = (random.next() % 2 == 0, 4 + random.next() % 40)
        for place in phases.indices where isBroken && phases[place].heal != true {
            var faults = phases[place].faults ?? Faults()
            // In hours in which nobody writes they would meet nothing new.
            faults.relays = phases[place].isBusy == false ? max(4, rate / 4) : rate
            phases[place].faults = faults
        }
    }

    /// From the seed 300 on, in half of all worlds with relays people meet only through these.
    private mutating func drawRelaysOnly() {
        var random = SeededRandom(seed: seed, purpose: "relays only")
        guard random.next() % 2 == 0 else { return }
        relaysOnly = true
        // What a relay lost without a word is told of ever more rarely, and at least once a day.
        phases[phases.count - 1].for = .hours(26)
    }

    /// What was drawn, in one line.
    public var line: String {
        var words = ["nodes \(nodes.count)", "acts/min \(workload.actsPerMinute)"]
        let delay = links.default.delayMs
        words.append("delay \(delay[0])-\(delay[1]) ms")
        if [Mix.membership, Mix.unruly].contains(workload.mix) {
            words.append("comings and goings")
        }
        if acquaintance != .everyone { words.append("\(acquaintance) known") }
        if nodes.count > persons.count { words.append("persons \(persons.count)") }
        if let rate = workload.devicesPerHour { words.append("devices \(rate)/h") }
        if let relays { words.append("relays \(relays)\(relaysOnly == true ? " alone" : "")") }
        if let rate = workload.talkPerMinute {
            words.append("talk/min \(rate)\(workload.isUnruly == true ? ", unruly" : "")")
        }
        if let rate = workload.curationPerMinute { words.append("curation/min \(rate)") }
        if let rate = workload.filesPerHour { words.append("files \(rate)/h") }
        if let rate = workload.teamworkPerMinute { words.append("teamwork/min \(rate)") }
        if let without {
            words.append("without \(without.map(\.rawValue).joined(separator: " and "))")
        }
        if let strangers { words.append("strangers \(strangers)") }
        if store == .sqlite { words.append("SQLite") }
        if isChaotic == true { words.append("any order") }
        if let slow = links.between?.values.compactMap(\.bytesPerSecond).min() {
            words.append("slow way \(slow) B/s")
        }
        if nodes.contains(where: { $0.clock != nil }) { words.append("wrong clocks") }
        for node in nodes {
            guard let malicious = node.malicious, !malicious.isEmpty else { continue }
            let kinds = malicious.map(\.rawValue).joined(separator: " and ")
            words.append("\(node.user): \(kinds)")
        }
        for phase in phases {
            words.append(phase.heal == true ? "heal \(phase.for)" : "\(phase.for)")
            words += phase.faults?.words ?? []
            if phase.actions?.contains(where: { $0.do == .steal }) == true {
                words.append("a thief")
            }
        }
        return words.joined(separator: ", ")
    }
}

extension Scenario.Faults {
    /// What a seed draws.
    init(seed: UInt64, store: Scenario.StoreKind) {
        var random = SeededRandom(seed: seed, purpose: "faults")
        func draw(_ range: ClosedRange<UInt64>) -> UInt64? {
            let (isOn, value) = (random.next() % 2 == 0, UInt64.random(in: range, using: &random))
            return isOn ? value : nil
        }
        crashes = draw(2...60)
        powerLosses = draw(2...60)
        storeFailures = draw(2...60)
        clockJumps = draw(1...6)
        partitions = draw(4...40)
        oneWay = draw(1...1).map { _ in true }
        resets = draw(10...200)
        stalls = draw(10...200)
        flips = draw(1...30)
        diskDelayMs = draw(100...1_000)
        restores = draw(1...4)
        let rot = draw(1...4)
        self.rot = store == .sqlite ? rot : nil
    }

    /// Each class that is on, and how strong.
    var words: [String] {
        let rates: [(String, UInt64?)] = [
            ("crashes", crashes), ("power losses", powerLosses), ("store failures", storeFailures),
            ("rot", rot), ("clock jumps", clockJumps), ("restores", restores),
            ("relay troubles", relays),
            ("partitions", partitions), ("resets", resets), ("stalls", stalls), ("flips", flips),
        ]
        var words = rates.compactMap { name, rate in rate.map { "\(name) \($0)/h" } }
        if oneWay == true { words.append("one-way") }
        if let diskDelayMs { words.append("disk \(diskDelayMs) ms") }
        return words
    }
}
