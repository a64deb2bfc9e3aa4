import ParleySimulation

// People who come back, which seeds from 500 on draw, each from a stream of its own: those before are
// what they were.
extension Scenario {
    static let firstReturnSeed: UInt64 = 500

    /// In one world of ten somebody comes home to more than their node is sent at once, in another
    /// one somebody takes messages back by a rank that they lose before anybody hears of it.
    ///
    /// - Parameter minutes: how long people are busy.
    mutating func drawReturns(minutes: UInt64) {
        guard seed >= Self.firstReturnSeed else { return }
        switch seed % 40 {
        case 2, 12, 22, 32: drawHomecoming(minutes: minutes)
        // In others of these ways of repair are alone.
        case 7, 27, 37: drawLostRank(minutes: minutes)
        default: break
        }
    }

    /// While somebody is away, another one brings in old lines by the hundred. Who comes back is sent the
    /// newest first, over slow ways, and reads all that is there while the rest is on its way.
    private mutating func drawHomecoming(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "homecoming")
        // Mailboxes bring everything in its order.
        (relays, relaysOnly) = (nil, nil)
        for place in phases.indices { phases[place].faults?.relays = nil }
        let late = persons[Int(random.next() % UInt64(persons.count))]
        let others = persons.filter { $0 != late }
        let host = others[Int(random.next() % UInt64(others.count))]
        for other in others {
            let way = Link(
                delayMs: links.default.delayMs, bytesPerSecond: 4_000 + random.next() % 16_000)
            links.between = links.between ?? [:]
            links.between?["\(other)-\(late)"] = nil
            links.between?["\(late)-\(other)"] = way
        }
        var acts = [act(20_000, late, .read(space: 0)), act(30_000, late, .leave)]
        for part in 0..<12 {
            let texts = (0..<100).map { "\(host) found line \(part * 100 + $0)" }
            let deed = Deed.bringIn(space: 0, firstLine: 100_000 + part * 100, texts: texts)
            acts.append(act(40_000 + UInt64(part) * 5_000 + random.next() % 5_000, host, deed))
        }
        var time = 110_000 + random.next() % 30_000
        acts.append(act(time, late, .returns))
        let end = min(time + 150_000, minutes * 60_000)
        while true {
            time += 500 + random.next() % 5_000
            guard time < end else { break }
            acts.append(act(time, late, .read(space: 0, messages: Deed.allMessages)))
        }
        phases[0].actions = (phases[0].actions ?? []) + acts
    }

    /// Somebody who may take back what others wrote does so out of reach; meanwhile the first of all
    /// takes that rank from them. What they did counts, for they could not have heard of it.
    private mutating func drawLostRank(minutes: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "lost rank")
        let (founder, users) = (persons[0], persons.dropFirst())
        let user = users[users.startIndex + Int(random.next() % UInt64(users.count))]
        var acts: [Act] = []
        var time = 10_000 + random.next() % 20_000
        while time + 100_000 < minutes * 60_000 {
            acts.append(act(time, founder, .promote(space: 0, user: user, role: 2)))
            time += 20_000 + random.next() % 20_000
            acts.append(act(time, user, .leave))
            for _ in 0..<3 {
                time += 1_000 + random.next() % 3_000
                acts.append(act(time, user, .delete(space: 0, message: Mix.rank(&random))))
            }
            acts.append(act(time + 2_000, founder, .promote(space: 0, user: user, role: 1)))
            time += 10_000 + random.next() % 10_000
            acts.append(act(time, user, .returns))
            time += 20_000 + random.next() % 40_000
        }
        phases[0].actions = (phases[0].actions ?? []) + acts
    }

    private func act(_ time: UInt64, _ user: String, _ deed: Deed) -> Act {
        Act(at: .milliseconds(time), node: user, do: deed)
    }
}

extension Deed {
    /// More than any conversation of a drawn world holds.
    static let allMessages = 1_000_000

    /// Whether everything that is there is read, far above the newest page.
    var readsAll: Bool { if case .read(_, Self.allMessages?) = self { true } else { false } }

    /// Whether it gives the rank of an admin to somebody, as the story of a lost one begins.
    var makesAdmin: Bool { if case .promote(_, _, 2) = self { true } else { false } }
}
