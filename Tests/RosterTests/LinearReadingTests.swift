import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// Whatever a member writes into the control log: who reads it pays for each operation once.
@Suite("Reading a roster is linear in its control log")
struct LinearReadingTests {
    /// What one kind of flood is made of, operation by operation.
    struct Flood: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var kind = SpaceKind.group
        /// Writes the operations of one round; told how many rounds there were.
        let write: @Sendable (inout Village, Int) throws -> Void
    }

    static let floods = [
        Flood(testDescription: "the own devices, told again and again") { village, _ in
            village.write(own(1, village), by: 1)
        },
        Flood(testDescription: "the own devices, by two devices that see nothing") {
            village, round in
            let devices = village.people[1].devices
            if devices.count == 1 { _ = try village.people[1].addDevice(&village.draws) }
            let device = village.people[1].devices[round % 2]
            village.write(own(1, village), by: device.device, seen: [0, 1])
        },
        Flood(testDescription: "one device, revoked again and again") { village, round in
            if round == 0 {
                let device = try village.people[1].addDevice(&village.draws)
                village.write(own(1, village), by: 1)
                try village.people[1].revoke(device.device)
            }
            let device = village.people[1].devices[1].device
            village.write(
                Ident(
                    person: village.people[1].person, identity: village.people[1].log.encoded,
                    change: .revoke(device, cut: Cut())
                ).draft(), by: 1)
        },
        Flood(testDescription: "settings of a direct conversation", kind: .direct) {
            village, round in
            village.write(SpaceSettings(rotationHours: UInt32(1 + round % 9)).draft(), by: 1)
        },
        Flood(testDescription: "leaves, acknowledgements, faults and epochs") {
            village, round in
            var key = village.draws.bytes(32)
            key[31] &= 0x7f
            village.write(draft(.leafUpdate, key), by: 1)
            village.write(draft(OperationKind(rawValue: 14), [1]), by: 1)
            village.write(draft(.fault, village.draws.bytes(32)), by: 1)
            village.write(draft(.epoch, village.draws.bytes(80)), by: 1)
        },
        Flood(testDescription: "a role, changed to and fro") { village, round in
            village.write(village.set(2, round % 2 == 0 ? .reader : .member), by: 0)
        },
        Flood(testDescription: "a person, taken in and out") { village, round in
            village.write(round % 2 == 0 ? village.remove(2) : village.add(2), by: 0)
        },
        Flood(testDescription: "invites, opened and ended") { village, round in
            let key = village.people[0].devices[0].device
            let open = GroupInvite.open(key: key, role: .member, uses: 1, expires: 1).draft()
            let place = village.write(open, by: 0)
            village.write(GroupInvite.end(village.written[place].operation.id).draft(), by: 0)
        },
        Flood(testDescription: "two who do not see each other") { village, round in
            let mine = village.logs[village.people[0].devices[0].device]?.last
            village.write(
                village.set(2, round % 2 == 0 ? .reader : .member), by: 0,
                seen: Set([mine].compactMap { $0 }))
            village.write(own(1, village), by: 1, seen: [0, 1, 2])
        },
        Flood(testDescription: "an admin, demoted by one who had not seen the last deed") {
            village, round in
            if round == 0 { village.write(village.set(1, .admin), by: 0) }
            let seen = Set(village.written.indices)
            village.write(village.set(2, round % 2 == 0 ? .reader : .member), by: 1)
            village.write(village.set(1, .member), by: 0, seen: seen)
            village.write(village.set(1, .admin), by: 0, seen: seen)
        },
        Flood(testDescription: "an admin who voids what another writes, and is voided") {
            village, round in
            if round == 0 {
                village.write(village.set(1, .owner), by: 0)
                village.write(village.set(2, .admin), by: 1)
            }
            let seen = Set(village.written.indices)
            let key = village.people[2].devices[0].device
            let invite = GroupInvite.open(key: key, role: .member, uses: 1, expires: 1)
            village.write(invite.draft(), by: 2)
            village.write(village.set(2, .member), by: 1, seen: seen)
            village.write(village.set(1, .member), by: 0, seen: seen)
            village.write(village.set(1, .owner), by: 0, seen: seen)
        },
        Flood(testDescription: "an admin whose deeds another never sees") { village, round in
            if round == 0 { village.write(village.set(1, .admin), by: 0) }
            let mine = village.logs[village.people[0].devices[0].device]?.last
            village.write(village.set(2, round % 2 == 0 ? .reader : .member), by: 1)
            for role in [Role.member, .admin] {
                village.write(
                    village.set(1, role), by: 0, seen: Set([mine].compactMap { $0 }))
            }
        },
    ]

    private static func own(_ person: Int, _ village: Village) -> Draft {
        Ident(
            person: village.people[person].person, identity: village.people[person].log.encoded,
            prekeys: village.people[person].prekeys, change: .add
        ).draft()
    }

    private static func draft(_ kind: OperationKind, _ payload: [UInt8]) -> Draft {
        Draft(kind: kind, lane: .control, payload: payload, isErasable: false)
    }

    @Test("Attack 85: whatever a member writes", arguments: floods)
    func isLinear(_ flood: Flood) throws {
        let (few, fewSignatures, _) = try Self.cost(of: flood, rounds: 60)
        let (many, manySignatures, written) = try Self.cost(of: flood, rounds: 240)
        #expect(many <= 4 * few + 4 * 16, "\(few) looks became \(many)")
        #expect(many <= 24 * written, "\(many) looks at \(written) operations")
        // Taking somebody in again shows their devices again; nothing else verifies anything twice.
        #expect(manySignatures <= 4 * fewSignatures)
    }

    /// How often operations were looked at, and signatures; and how many operations there are.
    private static func cost(of flood: Flood, rounds: Int) throws -> (Int, Int, Int) {
        var village = try Village(
            seed: 28, people: 3, kind: flood.kind, founders: flood.kind == .direct ? 2 : 1)
        if flood.kind == .group {
            village.write(village.add(1), by: 0)
            village.write(village.add(2), by: 0)
        }
        for round in 0..<rounds { try flood.write(&village, round) }
        let signatures = CountedSignatures()
        let graph = try SignatureMemory.$current.withValue(signatures) {
            var graph = village.graph()
            let roster = graph.roster()
            try #require(roster.members.count >= 2)
            return graph
        }
        return (graph.work, signatures.count, village.written.count)
    }

    @Test("one more operation is folded alone")
    func oneMore() throws {
        var village = try Village(seed: 29, people: 3)
        village.write(village.add(1), by: 0)
        for round in 0..<200 {
            village.write(village.set(1, round % 2 == 0 ? .reader : .member), by: 0)
        }
        village.write(village.add(2), by: 0)
        var graph = village.graph(Array(village.written.indices.dropLast()))
        _ = graph.roster()
        let before = graph.work
        let last = try #require(village.written.last)
        let isTaken = graph.add(last.operation, by: last.device)
        let roster = graph.roster()
        #expect(isTaken && roster.members.count == 3)
        #expect(graph.work - before < 16)
    }

    @Test("what tells of no device that is not known changes nothing, for anybody")
    func addsNothing() throws {
        var village = try Village(seed: 30, people: 2)
        village.write(village.add(1), by: 0)
        let before = village.roster()
        let place = village.write(Self.own(1, village), by: 1)
        #expect(village.outcome(place) == .rejected(.addsNothing))
        #expect(village.roster() == before)
        _ = try village.people[1].addDevice(&village.draws)
        let news = village.write(Self.own(1, village), by: 1)
        #expect(village.outcome(news) == .holds)
        #expect(village.roster().member(village.people[1].person)?.devices.count == 2)
    }
}

/// How often somebody asked whether a signature holds.
final class CountedSignatures: KnownSignatures, @unchecked Sendable {
    // One test alone sees it, on one thread.
    private(set) var count = 0

    func contains(_ claim: SignatureClaim) -> Bool {
        count += 1
        return false
    }

    func insert(_ claim: SignatureClaim) {}
}
