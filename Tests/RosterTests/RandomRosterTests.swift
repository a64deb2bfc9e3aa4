import Foundation
import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// Graphs with devices, invites, settings and people who date operations back: what the model of
/// persons is silent about.
@Suite("Random rosters")
struct RandomRosterTests {
    static let count =
        ProcessInfo.processInfo.environment["PARLEY_ROSTER_DRAWS"].flatMap(Int.init) ?? 120
    static let first: UInt64 = 1

    @Test("are equal in every causal order, step by step and from scratch, and obey strong removal")
    func draws() throws {
        try SignatureMemory.$current.withValue(Remembered()) {
            for seed in Self.first..<(Self.first + UInt64(Self.count)) {
                try check(seed)
            }
        }
    }

    private func check(_ seed: UInt64) throws {
        let village = try Self.drawn(seed)
        var draws = Draws(seed: seed &+ 1_000_000)
        var graph = village.graph()
        let roster = graph.roster()
        _ = graph.tips(underAuthority: 0)
        for _ in 0..<8 {
            let order = village.drawnOrder(&draws)
            var other = village.graph(order)
            #expect(other.roster() == roster, "seed \(seed), order \(order)")
            _ = other.tips(underAuthority: 0)
            #expect(other.frontiers == graph.frontiers, "seed \(seed), order \(order)")
            for written in village.written {
                let id = written.operation.id
                #expect(other.reason(of: id) == graph.reason(of: id), "seed \(seed)")
            }
        }
        let index = graph.authorities.index
        var identities = IdentityCache()
        let whole = graph.authorities.whole
        var anew = Resolution(of: whole.set, index, &identities)
        // Consent is no part of what is resolved.
        #expect(anew.makeRoster(index) == Self.unasked(roster), "seed \(seed), from scratch")
        anew.roster = nil
        try strongRemoval(whole, index, seed)
        try views(village, &graph, &draws, seed)
        // Founder safety: whoever began it is there unless they left.
        let founder = village.people[0].person
        let left = whole.holding(Array(index.nodes.indices)).contains {
            index[$0].deed == .leave && index[$0].author == founder
        }
        #expect(left || roster.member(founder)?.rank == 0, "seed \(seed)")
    }

    @Test("hold a revocation of what its author knew to be revoked, step by step as well")
    func knownRevocation() throws {
        var village = try Village(seed: 77, people: 2)
        let second = try village.people[1].addDevice(&village.draws)
        village.write(village.add(1), by: 0)
        try village.people[1].revoke(second.device)
        _ = try village.people[1].addDevice(&village.draws)
        let one = village.people[1]
        // The addition brings the revocation along; the revocation itself says no more then.
        village.write(
            Ident(
                person: one.person, identity: one.log.encoded, prekeys: one.prekeys, change: .add
            ).draft(), by: 1)
        let revocation = village.write(
            Ident(
                person: one.person, identity: one.log.encoded,
                change: .revoke(second.device, cut: Cut())
            ).draft(), by: 1)
        #expect(village.outcome(revocation) == .holds)
        var graph = village.graph()
        var identities = IdentityCache()
        let index = graph.authorities.index
        var anew = Resolution(of: graph.authorities.whole.set, index, &identities)
        #expect(anew.makeRoster(index) == Self.unasked(graph.roster()))
    }

    /// Nothing that holds was written by somebody whom a senior removal beside it took out.
    private func strongRemoval(
        _ whole: Resolution, _ index: AuthorityIndex, _ seed: UInt64
    ) throws {
        let live = whole.holding(Array(index.nodes.indices))
        for removal in live {
            guard case .remove(let person) = index[removal].deed else { continue }
            for other in live where index[other].key > index[removal].key {
                guard index[other].author == person || index[other].sponsor?.person == person
                else {
                    continue
                }
                let isBeside =
                    !index.isInPast(other, of: removal) && !index.isInPast(removal, of: other)
                #expect(!isBeside, "seed \(seed): \(other) beside \(removal)")
            }
        }
    }

    /// What a part tells does not depend on what else is known.
    private func views(
        _ village: Village, _ graph: inout ControlGraph, _ draws: inout Draws, _ seed: UInt64
    ) throws {
        for _ in 0..<4 {
            let place = draws.below(village.written.count)
            let operation = village.written[place].operation
            let tips = ControlTips([
                LogTip(tag: operation.tag, sequence: operation.sequence)
            ])
            let view = graph.roster(at: tips)
            let alone = village.roster(village.pasts[place].sorted())
            #expect(view == Self.unasked(alone), "seed \(seed), at \(place)")
        }
    }

    /// A roster as it is in a view: nobody's consent counts there.
    private static func unasked(_ roster: Roster) -> Roster {
        var roster = roster
        roster.invited = []
        return roster
    }

    /// Some sixty operations by people of whom some see little and some see less than they did.
    static func drawn(_ seed: UInt64) throws -> Village {
        var village = try Village(seed: seed, people: 6)
        var seen: [DeviceID: Set<Int>] = [:]
        let key = DeviceSigningKey.generate(using: &village.draws)
        var invites: [Int] = []
        for _ in 0..<60 {
            let person = village.draws.below(3) == 0 ? village.draws.below(6) : 0
            let author = village.draws.happens(onceIn: 2) ? person : village.draws.below(6)
            let device = village.people[author].devices[
                village.draws.below(village.people[author].devices.count)]
            var known = seen[device.device] ?? [0]
            if village.draws.happens(onceIn: 3) {
                known.formUnion(village.written.indices)
            } else if village.draws.happens(onceIn: 4), !known.isEmpty {
                known = village.pasts[known.sorted()[village.draws.below(known.count)]]
            }
            guard let draft = try draft(author, key, invites, &village) else { continue }
            let place = village.write(draft, by: device.device, seen: known)
            if draft.kind == .groupInvite { invites.append(place) }
            seen[device.device, default: []].formUnion(village.pasts[place])
        }
        return village
    }

    private static func draft(
        _ author: Int, _ key: DeviceSigningKey, _ invites: [Int], _ village: inout Village
    ) throws -> Draft? {
        let target = village.draws.below(6)
        let role = Role(rawValue: UInt8(village.draws.below(4))) ?? .reader
        switch village.draws.below(17) {
        case 0...3: return village.add(target, role)
        case 4, 5: return village.remove(target)
        case 6, 7: return village.set(target, role)
        case 8: return village.draws.happens(onceIn: 3) ? Leave().draft() : nil
        case 9, 10:
            if village.people[author].devices.count < 4 {
                _ = try village.people[author].addDevice(
                    byRoot: village.draws.happens(onceIn: 2), &village.draws)
            }
            return Ident(
                person: village.people[author].person,
                identity: village.people[author].log.encoded,
                prekeys: village.people[author].prekeys, change: .add
            ).draft()
        case 11:
            return try revocation(of: target, &village)
        case 12:
            var rules = GroupRules()
            rules[.add] = role == .reader ? .admins : .everybody
            rules[.invite] = target % 3 == 0 ? .everybody : role == .member ? .admins : nil
            return SpaceSettings(
                history: role == .reader ? .days(7) : .all,
                rotationHours: role == .owner ? 5 : nil, rules: rules
            ).draft()
        case 13:
            if let invite = invites.randomElement(using: &village.draws),
                village.draws.happens(onceIn: 3)
            {
                return GroupInvite.end(village.written[invite].operation.id).draft()
            }
            return GroupInvite.open(
                key: key.device, role: .member, uses: UInt32(1 + village.draws.below(2)),
                expires: 1
            ).draft()
        case 14: return Accept().draft()
        default:
            guard let invite = invites.randomElement(using: &village.draws) else { return nil }
            let leavings = village.written.indices.filter {
                village.written[$0].operation.operation.header.kind == .leave
            }
            let named = leavings.filter { _ in village.draws.happens(onceIn: 2) }
            return village.redeem(
                target, by: invite, of: key, after: Array(named.prefix(Limits.departureCountMax)))
        }
    }

    /// Tells that a device is revoked: of one that was not, or once more of one that was, which
    /// whoever hears it may have known for long.
    private static func revocation(of target: Int, _ village: inout Village) throws -> Draft? {
        let devices = village.people[target].devices
        guard devices.count > 1 else { return nil }
        var device = devices[village.draws.below(devices.count)].device
        if let known = village.people[target].log.revoked.first, village.draws.happens(onceIn: 2) {
            device = known
        } else {
            guard village.draws.happens(onceIn: 2) else { return nil }
            try village.people[target].revoke(device)
        }
        return Ident(
            person: village.people[target].person,
            identity: village.people[target].log.encoded,
            change: .revoke(device, cut: Cut())
        ).draft()
    }
}

/// Signatures that were found to hold: the same ones are looked at in every order.
final class Remembered: KnownSignatures, @unchecked Sendable {
    // One test alone sees it, on one thread.
    private var claims: Set<SignatureClaim> = []

    func contains(_ claim: SignatureClaim) -> Bool { claims.contains(claim) }
    func insert(_ claim: SignatureClaim) { claims.insert(claim) }
}
