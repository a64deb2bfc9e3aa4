import ParleySimulation

// Guests who come when it is too late, which seeds from 700 on draw, from a stream of their own: those before
// are what they were.
extension Scenario {
    static let firstLateGuestSeed: UInt64 = 700

    /// In one world of five somebody gives out invites for minutes at most while the guest is out of reach,
    /// and ends some of them: some guests come in time, and others do not.
    ///
    /// - Parameter minutes: how long people are busy.
    mutating func drawLateGuests(minutes: UInt64) {
        guard seed >= Self.firstLateGuestSeed, seed % 5 == 4, without == nil else { return }
        var random = SeededRandom(seed: seed, purpose: "late guests")
        func act(_ time: UInt64, _ user: String, _ deed: Deed) -> Act {
            Act(at: .milliseconds(time), node: user, do: deed)
        }
        let host = persons[Int(random.next() % UInt64(persons.count))]
        let others = persons.filter { $0 != host }
        var acts: [Act] = []
        var time = 10_000 + random.next() % 30_000
        while time + 60_000 < minutes * 60_000 {
            let guest = others[Int(random.next() % UInt64(others.count))]
            let length = 10_000 + random.next() % 60_000
            let (isEnded, end, back) = (
                random.next() % 3 == 0, random.next() % 5_000, random.next() % (2 * length)
            )
            acts.append(act(time, guest, .leave))
            let opened = time + 5_000
            acts.append(act(opened, host, .invite(user: guest, for: .milliseconds(length))))
            if isEnded { acts.append(act(opened + 1_000 + end, host, .uninvite)) }
            acts.append(act(opened + 7_000 + back, guest, .returns))
            time = opened + 10_000 + back + random.next() % 60_000
        }
        let last = minutes * 60_000
        phases[0].actions = (phases[0].actions ?? []) + acts.filter { $0.at.milliseconds < last }
    }
}

extension Deed {
    /// Whether it is an invite that ends before long.
    var invitesBriefly: Bool { if case .invite(_, .some) = self { true } else { false } }
}
