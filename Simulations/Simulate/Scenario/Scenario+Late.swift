import ParleySimulation

// What seeds from 400 on draw besides, each from a stream of its own: those before are what they
// were.
extension Scenario {
    static let firstLateSeed: UInt64 = 400

    /// Deeds of those who break rules, strangers, and worlds in which one way of repair is alone.
    ///
    /// - Parameter minutes: how long people are busy.
    mutating func drawLate(minutes: UInt64) {
        guard seed >= Self.firstLateSeed else { return }
        var random = SeededRandom(seed: seed, purpose: "late")
        switch seed % 40 {
        case 5: beAlone(with: .puts, &random)
        case 17: beAlone(with: .reminders, &random)
        case 29: beAlone(with: .welcomes, &random)
        default:
            if seed % 10 == 8 { drawRule(&random) }
            if seed % 5 == 1 { drawOldCopies(&random) }
            if seed % 6 == 2 { drawLyingRelays() }
            drawLies(minutes: minutes)
            drawLinks(minutes: minutes)
            drawRepeats(minutes: minutes)
        }
        if workload.talkPerMinute != nil { workload.isUnruly = true }
        drawStrangers(minutes: minutes)
    }

    /// A way of repair that is tried alone.
    private enum LoneRepair {
        /// What a relay did not answer for is given to it again.
        case puts
        /// Who wrote something tells those again who have not said that they hold it.
        case reminders
        /// Who is in a group brings the others into it.
        case welcomes
    }

    /// People come and go, are let do more and less, and take back what others wrote, through
    /// relays that fail.
    private mutating func drawRule(_ random: inout SeededRandom) {
        workload.mix = Mix.unruly
        workload.actsPerMinute = max(workload.actsPerMinute, 24)
        relays = relays ?? Int(1 + random.next() % 2)
        let rate = 10 + random.next() % 40
        changeFaults { faults in
            faults.relays = faults.relays ?? rate
        }
    }

    /// Disks are set back, and power fails, where something is sealed for relays.
    private mutating func drawOldCopies(_ random: inout SeededRandom) {
        relays = relays ?? Int(1 + random.next() % 2)
        let (restores, losses) = (8 + random.next() % 16, 10 + random.next() % 40)
        changeFaults { faults in
            faults.restores = restores
            faults.powerLosses = faults.powerLosses ?? losses
        }
    }

    /// Relays tell of days and starts that are not so, among their other troubles.
    private mutating func drawLyingRelays() {
        var random = SeededRandom(seed: seed, purpose: "lying relays")
        relays = relays ?? Int(1 + random.next() % 2)
        let rate = 10 + random.next() % 40
        let troubles = RelayTrouble.drawn(for: seed) + RelayTrouble.lies
        changeFaults { faults in
            faults.relays = faults.relays ?? rate
            faults.relayTroubles = troubles
        }
    }

    /// Changes what goes wrong while people are busy.
    private mutating func changeFaults(_ change: (inout Faults) -> Void) {
        for place in phases.indices
        where phases[place].heal != true && phases[place].isBusy != false {
            var faults = phases[place].faults ?? Faults()
            change(&faults)
            phases[place].faults = faults
        }
    }

    /// A world behind relays, in which only one way of repair can bring what was lost.
    private mutating func beAlone(with repair: LoneRepair, _ random: inout SeededRandom) {
        store = .memory
        acquaintance = .everyone
        (relays, relaysOnly, pipes) = (1, true, false)
        workload.devicesPerHour = nil
        workload.talkPerMinute = nil
        let count = Int(5 + random.next() % 2)
        nodes = nodes.filter { $0.of == nil }
        let names = ["ann", "ben", "cara", "dan", "eve", "finn"]
        for name in names.prefix(count) where !nodes.contains(where: { $0.user == name }) {
            nodes.append(Device(user: name))
        }
        nodes = Array(nodes.prefix(count))
        for place in nodes.indices {
            nodes[place].malicious = nil
            nodes[place].clock = nil
            // Who is out of reach for long writes little.
            nodes[place].habit = .chatty
        }
        var links = Links(default: self.links.default, between: nil)
        links.default.bytesPerSecond = nil
        self.links = links
        var faults = Faults()
        faults.relays = 20 + random.next() % 60
        faults.relayTroubles = RelayTrouble.harmless
        var busy = Phase(for: .minutes(15 + random.next() % 16), faults: faults)
        switch repair {
        case .puts:
            workload.mix = ["write": 600, "reply": 100, "react": 100, "edit": 60, "read": 80]
            without = RepairPath.allCases
        case .welcomes:
            // Of more groups than a person may bring in an hour only reminders tell again.
            workload.mix = ["write": 600, "reply": 100, "found": 6, "react": 100, "read": 80]
            without = RepairPath.allCases
        case .reminders:
            workload.mix = ["write": 600, "reply": 100, "react": 100, "edit": 60, "read": 80]
            busy.faults = nil
        }
        let heal = Phase(for: .minutes(45), heal: true)
        phases = [busy] + (repair == .reminders ? [lastWords(&random)] : []) + [heal]
    }

    /// A relay loses the last that somebody says, and that device starts again: nobody but it knows
    /// that anything is missing.
    private func lastWords(_ random: inout SeededRandom) -> Phase {
        func act(_ seconds: UInt64, _ user: String, _ deed: Deed) -> Act {
            Act(at: .seconds(seconds), node: user, do: deed)
        }
        let user = nodes[Int(random.next() % UInt64(nodes.count))].user
        var phase = Phase(for: .minutes(5), isBusy: false)
        phase.actions = [
            act(180, user, .befall(relay: 0, how: .swallow)),
            act(185, user, .write(space: 0, text: "\(user) says this last")),
            act(215, user, .befall(relay: 0, how: .up)),
            act(
                220, user,
                .crash(steps: 1, point: .afterCommit, power: false, down: .seconds(5))),
        ]
        return phase
    }

    /// In one world of four somebody who belongs to nothing throws at people whatever goes through.
    private mutating func drawStrangers(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "strangers")
        guard random.next() % 4 == 0, without == nil else { return }
        strangers = 1
        var acts: [Act] = []
        var time: UInt64 = 0
        while true {
            time += 1 + random.next() % 240_000
            guard time < minutes * 60_000 else { break }
            let user = persons[Int(random.next() % UInt64(persons.count))]
            acts.append(Act(at: .milliseconds(time), node: user, do: .intrude(stranger: 0)))
        }
        phases[0].actions = (phases[0].actions ?? []) + acts
    }
}
