import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// A device's log of lane 0 with a proven fork.
private struct Fork {
    let device: DeviceID
    /// Where the branches part.
    let place: UInt64
    /// Each from the beginning of the log.
    var branches: [[Int]]

    func tag(in village: Village) -> LogTag {
        LogTag(OperationHash.log(space: village.space, device: device, lane: .control))
    }
}

extension Village {
    fileprivate static let acknowledgement = Draft(
        kind: .acknowledgement, lane: .control, payload: nil, isErasable: false)

    /// Lets a device go on from a place as if it had written nothing above. Returns the fork, to
    /// which the caller adds the branch that comes of it.
    fileprivate mutating func part(_ device: DeviceID, at place: Int) -> Fork {
        let branch = logs[device] ?? []
        logs[device] = Array(branch.prefix(place))
        return Fork(device: device, place: UInt64(place), branches: [branch])
    }

    /// Takes operations in whatever order they stand.
    private func graph(of places: [Int], ends: [LogTag: UInt64]) -> ControlGraph {
        var graph = ControlGraph(space: space, forks: ends)
        var rest = places
        while true {
            let before = rest.count
            rest.removeAll { graph.add(written[$0].operation, by: written[$0].device) }
            if rest.count == before { return graph }
        }
    }

    /// What a node comes to that holds everybody's operations and one branch, and gets the other
    /// where others vouch for that.
    fileprivate func settled(
        _ order: [Int], _ fork: Fork, held: [Int]
    ) -> (roster: Roster, end: UInt64) {
        let tag = fork.tag(in: self)
        let others = order.filter { written[$0].device != fork.device }
        var base = graph(of: others + held, ends: [tag: fork.place])
        let names = base.names(of: tag, by: fork.device)
        for branch in [held] + fork.branches {
            let end = Vouching.end(of: names) { place in
                place < UInt64(branch.count) ? written[branch[Int(place)]].operation.id : nil
            }
            guard let end else { continue }
            var whole = graph(of: others + branch, ends: [tag: end])
            return (whole.roster(), end)
        }
        return (base.roster(), fork.place)
    }

    /// The same for everybody, whatever came first; else nil.
    fileprivate func agreed(
        _ fork: Fork, orders: Int, _ draws: inout Draws
    ) -> (roster: Roster, end: UInt64)? {
        var first: (roster: Roster, end: UInt64)?
        for _ in 0..<orders {
            let order = Array(written.indices).shuffled(using: &draws)
            for branch in fork.branches {
                let result = settled(order, fork, held: branch)
                if let first, first != result { return nil }
                first = result
            }
        }
        return first
    }
}

@Suite("Rosters of forked logs")
struct ForkedRosterTests {
    private func isIn(_ person: Int, _ village: Village, _ roster: Roster) -> Bool {
        roster.member(village.people[person].person) != nil
    }

    @Test("Attack 20: what others have named outlives a fork that a thief makes long after")
    func longAfter() throws {
        var village = try Village(seed: 20, people: 6, founders: 3)
        village.write(village.add(3), by: 0)
        village.write(Village.acknowledgement, by: 1)
        village.write(village.add(4), by: 0)
        var fork = village.part(village.people[0].devices[0].device, at: 1)
        let theft = village.write(village.add(5), by: 0, seen: [])
        village.write(Village.acknowledgement, by: 5, seen: [theft])
        fork.branches.append(village.logs[fork.device] ?? [])
        var draws = Draws(seed: 20)
        let (roster, end) = try #require(village.agreed(fork, orders: 40, &draws))
        #expect(end == 2)
        #expect((0...3).allSatisfy { isIn($0, village, roster) })
        #expect(!isIn(4, village, roster), "nobody had named it")
        #expect(!isIn(5, village, roster), "only those whom the thief let in named it")
    }

    @Test("Attack 20: where nobody else named anything what lies below the fork is left")
    func unnamed() throws {
        var village = try Village(seed: 21, people: 4)
        village.write(village.add(1), by: 0)
        village.write(Village.acknowledgement, by: 1)
        var fork = village.part(village.people[0].devices[0].device, at: 1)
        let theft = village.write(village.add(2), by: 0, seen: [])
        village.write(Village.acknowledgement, by: 2, seen: [theft])
        fork.branches.append(village.logs[fork.device] ?? [])
        var draws = Draws(seed: 21)
        let (roster, end) = try #require(village.agreed(fork, orders: 20, &draws))
        #expect(end == 1)
        #expect(roster.members.map(\.person) == [village.people[0].person])
    }

    @Test("Attack 20: devices that a stolen key certifies do not speak for it")
    func certified() throws {
        var village = try Village(seed: 22, people: 4, founders: 2)
        village.write(village.add(2), by: 0)
        village.write(Village.acknowledgement, by: 1)
        var fork = village.part(village.people[0].devices[0].device, at: 1)
        let theft = village.write(village.add(3), by: 0, seen: [])
        let device = try village.people[0].addDevice(&village.draws).device
        let ident = Ident(
            person: village.people[0].person, identity: village.people[0].log.encoded,
            prekeys: village.people[0].prekeys, change: .add)
        let came = village.write(ident.draft(), by: device, seen: [0])
        village.write(Village.acknowledgement, by: device, seen: [came, theft])
        fork.branches.append(village.logs[fork.device] ?? [])
        var draws = Draws(seed: 22)
        let (roster, end) = try #require(village.agreed(fork, orders: 20, &draws))
        #expect(end == 2)
        #expect(roster.contains(device))
        #expect(isIn(2, village, roster) && !isIn(3, village, roster))
    }

    @Test("of two branches with a voucher each the one counts that the senior names")
    func seniors() throws {
        for senior in [1, 2] {
            var village = try Village(seed: 23, people: 5)
            village.write(village.add(1, senior == 1 ? .admin : .member), by: 0)
            village.write(village.add(2, senior == 2 ? .admin : .member), by: 0)
            let below = Set(village.written.indices)
            let left = village.write(village.add(3), by: 0)
            village.write(Village.acknowledgement, by: 1, seen: [left])
            var fork = village.part(village.people[0].devices[0].device, at: 3)
            let right = village.write(village.add(4), by: 0, seen: below)
            village.write(Village.acknowledgement, by: 2, seen: [right])
            fork.branches.append(village.logs[fork.device] ?? [])
            var draws = Draws(seed: 23)
            let (roster, _) = try #require(village.agreed(fork, orders: 20, &draws))
            #expect(isIn(3, village, roster) == (senior == 1))
            #expect(isIn(4, village, roster) == (senior == 2))
        }
    }

    @Test(
        "a fork anywhere leaves one roster, and takes nothing where all was named",
        arguments: 1...40)
    func anywhere(seed: UInt64) throws {
        try SignatureMemory.$current.withValue(Remembered()) { try check(seed) }
    }

    private func check(_ seed: UInt64) throws {
        var village = try RandomRosterTests.drawn(seed)
        var draws = Draws(seed: seed &+ 2_000_000)
        let whole = village.roster()
        let devices = village.logs.keys.filter { village.logs[$0]?.count ?? 0 > 1 }.sorted()
        let device = devices[draws.below(devices.count)]
        let log = village.logs[device] ?? []
        let place = 1 + draws.below(log.count - 1)
        let untouched = village.written.indices.filter { index in
            !log.dropFirst(place).contains { village.pasts[index].contains($0) }
        }
        var fork = village.part(device, at: place)
        let hasAccomplice = draws.happens(onceIn: 2)
        for _ in 0...draws.below(3) {
            let seen = Set(untouched.filter { _ in draws.happens(onceIn: 4) })
            let draft =
                draws.happens(onceIn: 2)
                ? village.add(draws.below(6), .admin) : village.remove(draws.below(6))
            let forged = village.write(draft, by: device, seen: seen)
            guard hasAccomplice else { continue }
            let helper = village.people[draws.below(6)].devices[0].device
            if helper != device {
                village.write(Village.acknowledgement, by: helper, seen: [forged])
            }
        }
        fork.branches.append(village.logs[device] ?? [])
        let agreed = village.agreed(fork, orders: 4, &draws)
        let (roster, end) = try #require(agreed, "seed \(seed), fork at \(place)")
        #expect(end >= place, "seed \(seed)")
        if !hasAccomplice, end == log.count { #expect(roster == whole, "seed \(seed)") }
    }
}
