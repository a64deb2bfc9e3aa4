import ParleySimulation

// What several people do about one thing while they are apart, which seeds from 700 on draw, each from a stream
// of its own: those before are what they were.
extension Scenario {
    static let firstApartSeed: UInt64 = 700

    /// In one world of ten two close a poll apart, in one two groups of people use one link up, and in one
    /// three of three ranks decide about one another.
    ///
    /// - Parameter minutes: how long people are busy.
    mutating func drawApart(minutes: UInt64) {
        // In some of these ways of repair are alone.
        guard seed >= Self.firstApartSeed, without == nil else { return }
        switch seed % 10 {
        case 0: drawLinkUsedApart(minutes: minutes)
        case 5: drawRanksApart(minutes: minutes)
        case 6: drawPollsClosedApart(minutes: minutes)
        default: break
        }
    }

    /// Somebody asks, and then is out of reach as the founder is, who may close the poll as well. Each
    /// votes otherwise and closes it: the first close in order holds, and that one counts.
    private mutating func drawPollsClosedApart(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "polls closed apart")
        let (founder, users) = (persons[0], persons.dropFirst())
        var acts: [Act] = []
        var time = 10_000 + random.next() % 20_000
        while time + 60_000 < minutes * 60_000 {
            let asker = users[users.startIndex + Int(random.next() % UInt64(users.count))]
            let poll = Together.ask(
                question: "who closes this, \(time)?", options: 2, isMultiple: false, minutes: nil)
            acts.append(act(time, asker, .together(space: 0, what: poll)))
            time += 10_000 + random.next() % 10_000
            for (place, user) in [asker, founder].enumerated() {
                acts.append(act(time, user, .leave))
                let voted = time + 1_000 + random.next() % 2_000
                let choices = [place]
                acts.append(
                    act(voted, user, .together(space: 0, what: .vote(poll: 0, choices: choices))))
                let closed = voted + 500 + random.next() % 5_000
                acts.append(act(closed, user, .together(space: 0, what: .close(poll: 0))))
                let back = closed + 1_000 + random.next() % 20_000
                acts.append(act(back, user, .returns))
            }
            time += 70_000 + random.next() % 60_000
        }
        phases[0].actions = (phases[0].actions ?? []) + acts
    }

    /// A link for one guest is used by two, each let in by another member who does not know of the other:
    /// of these the first in order is in.
    private mutating func drawLinkUsedApart(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "link used apart")
        meetDirectly(atLeast: 4)
        let (host, helper, guests) = (persons[0], persons[1], [persons[2], persons[3]])
        let sides = [[host, guests[0]], [helper, guests[1]]].map { side in
            nodes.map(\.user).filter { side.contains(person(of: $0)) }
        }
        var acts = [
            act(1_000, host, .found(name: "by one link", members: [helper])),
            act(8_000, helper, .consent(accepting: true)),
        ]
        var time = 15_000 + random.next() % 20_000
        while time + 60_000 < minutes * 60_000 {
            for guest in guests { acts.append(act(time, host, .remove(space: 1, user: guest))) }
            let opened = time + 5_000 + random.next() % 5_000
            acts.append(act(opened, host, .openGroup(space: 1, uses: 1, for: .minutes(10))))
            let parted = opened + 10_000 + random.next() % 10_000
            acts.append(act(parted, host, .part(groups: sides, oneWay: false)))
            for (guest, member) in zip(guests, [host, helper]) {
                let asked = parted + 1_000 + random.next() % 3_000
                acts.append(act(asked, guest, .join(user: host, through: member)))
            }
            let healed = parted + 20_000 + random.next() % 20_000
            acts.append(act(healed, host, .heal(within: .milliseconds(0))))
            time = healed + 80_000 + random.next() % 60_000
        }
        let end = minutes * 60_000
        phases[0].actions = (phases[0].actions ?? []) + acts.filter { $0.at.milliseconds < end }
    }

    /// The third changes what a fourth may do, the second takes that right from the third, and the first
    /// the second's, all apart. The second and the third hear of each other before they hear of the first:
    /// what the third did does not hold then, and holds again.
    private mutating func drawRanksApart(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "ranks apart")
        meetDirectly(atLeast: 4)
        let (first, second, third, fourth) = (persons[0], persons[1], persons[2], persons[3])
        func promote(_ time: UInt64, _ user: String, _ other: String, to role: Int) -> Act {
            act(time, user, .promote(space: 0, user: other, role: role))
        }
        var acts: [Act] = []
        var time = 10_000 + random.next() % 20_000
        while time + 60_000 < minutes * 60_000 {
            acts.append(promote(time, first, fourth, to: 1))
            acts.append(promote(time + 1_000, first, second, to: 3))
            acts.append(promote(time + 10_000, second, third, to: 2))
            time += 20_000 + random.next() % 10_000
            for user in [first, second, third] { acts.append(act(time, user, .leave)) }
            let deeds = [(third, fourth, 0), (second, third, 1), (first, second, 1)]
            for (user, other, role) in deeds {
                acts.append(promote(time + 1_000 + random.next() % 4_000, user, other, to: role))
            }
            for user in [second, third] {
                acts.append(act(time + 6_000 + random.next() % 4_000, user, .returns))
            }
            acts.append(act(time + 30_000 + random.next() % 10_000, first, .returns))
            time += 130_000 + random.next() % 60_000
        }
        let end = minutes * 60_000
        phases[0].actions = (phases[0].actions ?? []) + acts.filter { $0.at.milliseconds < end }
    }

    /// At least so many people, who reach each other without relays: mailboxes bring everything to
    /// everybody in its order.
    private mutating func meetDirectly(atLeast count: Int) {
        for name in ["ann", "ben", "cara", "dan"] where persons.count < count {
            if !nodes.contains(where: { $0.user == name }) { nodes.append(Device(user: name)) }
        }
        (relays, relaysOnly) = (nil, nil)
        for place in phases.indices { phases[place].faults?.relays = nil }
    }

    private func act(_ time: UInt64, _ user: String, _ deed: Deed) -> Act {
        Act(at: .milliseconds(time), node: user, do: deed)
    }
}

extension Deed {
    /// Whether a poll is closed, as where two close it apart.
    var closesPoll: Bool { if case .together(_, .close) = self { true } else { false } }

    /// Whether somebody comes by a link through another member than the one who made it.
    var joinsThroughAnother: Bool { if case .join(_, .some) = self { true } else { false } }

    /// Whether somebody is let do nothing but read.
    var makesReader: Bool { if case .promote(_, _, 0) = self { true } else { false } }
}
