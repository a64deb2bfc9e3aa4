import ParleySimulation

// Deeds that show who may do what, which seeds from 400 on draw, each from a stream of its own.
extension Scenario {
    /// Liars do one thing more; and in half of all worlds, or where a liar needs it, people want to be
    /// asked before anybody puts them into a group.
    mutating func drawLies(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "late lies")
        let (kind, isAsked) = (random.next() % 2, random.next() % 2 == 0)
        var wants = isAsked
        for place in nodes.indices where nodes[place].malicious?.isEmpty == false {
            let lie = Malice.besides[Int(kind)]
            nodes[place].malicious?.append(lie)
            wants = wants || lie == .floodUnasked
        }
        var acts: [Act] = []
        for person in persons {
            let (does, time) = (random.next() % 3 != 0, random.next() % (minutes * 15_000))
            guard wants, does else { continue }
            acts.append(
                Act(at: .milliseconds(time), node: person, do: .permit(contacts: false)))
        }
        if !acts.isEmpty { phases[0].actions = (phases[0].actions ?? []) + acts }
    }

    static let firstForeignEditSeed: UInt64 = 600

    /// From the seed 600 on, in one world of ten in which there are three people, the last of them edits
    /// what others wrote, whatever they do besides. It draws nothing: those before are what they were.
    mutating func drawForeignEdits() {
        guard seed >= Self.firstForeignEditSeed, seed % 10 == 4, persons.count >= 3,
            let liar = nodes.firstIndex(where: { $0.user == persons[persons.count - 1] })
        else { return }
        let kinds = nodes[liar].malicious ?? []
        if !kinds.contains(.editOthers) { nodes[liar].malicious = kinds + [.editOthers] }
    }

    /// From the seed 700 on, in another world of ten the last of three or more people pins what others wrote,
    /// without the right to. It draws nothing either.
    mutating func drawForeignPins() {
        guard seed >= Self.firstLateGuestSeed, seed % 10 == 1, persons.count >= 3,
            let liar = nodes.firstIndex(where: { $0.user == persons[persons.count - 1] })
        else { return }
        nodes[liar].malicious = (nodes[liar].malicious ?? []) + [.pinAnyway]
    }

    /// In one world of three somebody founds a group into which others come by links alone, each of use
    /// for some minutes at most; some try when it is too late, or are let in when it is.
    mutating func drawLinks(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "links into groups")
        guard random.next() % 3 == 0 else { return }
        func act(_ time: UInt64, _ user: String, _ deed: Deed) -> Act {
            Act(at: .milliseconds(time), node: user, do: deed)
        }
        let host = persons[Int(random.next() % UInt64(persons.count))]
        let others = persons.filter { $0 != host }
        var acts = [act(5_000 + random.next() % 30_000, host, .found(name: "by link", members: []))]
        for _ in 0..<(3 + random.next() % 4) {
            let opened = 40_000 + random.next() % (minutes * 60_000 - 60_000)
            let time = 10_000 + random.next() % 240_000
            // The first of their groups holds everybody.
            acts.append(
                act(
                    opened, host,
                    .openGroup(
                        space: 1, uses: Int(1 + random.next() % 3), for: .milliseconds(time))))
            for guest in others where random.next() % 2 == 0 {
                let asked = opened + 1_000 + random.next() % (2 * time)
                acts.append(act(asked, guest, .join(user: host)))
            }
        }
        let end = minutes * 60_000
        phases[0].actions = (phases[0].actions ?? []) + acts.filter { $0.at.milliseconds < end }
    }

    /// In two of three worlds where people talk and have one device each, they meet only through a relay
    /// that tells again what it told before.
    mutating func drawRepeats(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "repeats")
        guard random.next() % 3 != 0, workload.talkPerMinute != nil,
            workload.devicesPerHour == nil
        else { return }
        (relays, relaysOnly, pipes) = (1, true, false)
        workload.talkPerMinute = max(workload.talkPerMinute ?? 0, 20)
        // What it lost without a word is told of ever more rarely, and at least once a day.
        phases[phases.count - 1].for = .hours(26)
        var acts: [Act] = []
        for minute in stride(from: 0, to: minutes, by: 2) {
            acts.append(
                Act(
                    at: .minutes(minute), node: persons[0], do: .befall(relay: 0, how: .replay)))
        }
        phases[0].actions = (phases[0].actions ?? []) + acts
    }
}
