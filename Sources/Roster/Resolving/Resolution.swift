import ParleySealing
import ParleyWire

/// A person's standing in a set of operations.
struct Standing: Sendable {
    let member: Member
    /// What gives them their role: the newest that hold, of which the senior one counts.
    let heads: [Int]
    /// For each device what let it in.
    let admissions: [DeviceID: [Int]]
    /// What of the past is not for them.
    let horizon: Horizon
    /// How many operations had been seen by what let them in, of several the most.
    let age: Int
}

/// What follows from a set of operations: which of them hold, and everybody's standing.
///
/// It grows by one operation at a time. Most change one person's standing, which is worked out of
/// the few operations that still decide about it; one that voids others has all of them heard again.
/// Source: `Protocol/08-roster.md`, "Resolution".
struct Resolution: Sendable {
    private(set) var set = ClosedSet()
    /// By node; what is beyond the end or not in the set does not hold.
    private var live: [Bool] = []
    /// The newest of the set.
    private(set) var frontier: [Int] = []
    var standings: [PersonID: Standing] = [:]
    /// For each person the operations that may still decide their standing, ascending: those
    /// covered by others never do again, unless something is voided or revived.
    var deciding: [PersonID: [Int]] = [:]
    /// Devices that were admitted and are out, with their owners; of persons who are not awaited.
    var former: [PersonID: [DeviceID: FormerDevice]] = [:]
    /// Persons whose former devices are found when a roster is made.
    var awaitsFormer: Set<PersonID> = []
    var owners: [DeviceID: PersonID] = [:]
    /// Devices that several persons call theirs, with all of them, ascending.
    var contested: [DeviceID: [PersonID]] = [:]
    var settings = SettingRegisters()
    private(set) var endsOfDevices: [PersonID: [DeviceID]] = [:]
    /// Made when it is asked for.
    var roster: Roster?
    /// While all are heard: who came by each invite so far.
    private var heard: [Int: Set<PersonID>]?

    func holds(_ node: Int) -> Bool { node < live.count && live[node] }

    /// The operations of a list that are in the set and hold.
    func holding(_ nodes: [Int]?) -> [Int] { (nodes ?? []).filter(holds) }

    // MARK: Growing

    /// What follows from all operations of a set.
    init(of set: ClosedSet, _ index: AuthorityIndex, _ identities: inout IdentityCache) {
        self.set = set
        frontier = index.frontier(of: set)
        hearAll(index, &identities)
        for person in index.persons
        where index.about[person]?.contains(where: {
            index.contains(set, $0)
        }) == true {
            placeAnew(person, index, &identities)
        }
        settings = SettingRegisters(holding(index.settings), index)
    }

    init() {}

    /// Takes in an operation all of whose past is in the set.
    mutating func take(
        _ node: Int, _ index: AuthorityIndex, _ identities: inout IdentityCache
    ) {
        let new = index[node]
        set.raise(new.log, to: new.index + 1)
        frontier = frontier.filter { !index.isInPast($0, of: node) } + [node]
        roster = nil
        let subjects = new.subjects
        for person in subjects { deciding[person, default: []].append(node) }
        awaitFormer(node, index)
        var mustHearAll = false
        // A revocation may prove nothing that was not known: then it is the first to ask for it.
        for testimony in new.testimonies where testimony.isNews || new.isRevocation {
            mustHearAll = weigh(testimony.person, index, &identities) || mustHearAll
        }
        setLive(node, verdict(on: node, index) == .holds)
        identities.work += 1
        if mustHearAll || (holds(node) && voidsAny(node, index)) {
            hearAgain(besides: subjects, index, &identities)
        } else {
            if holds(node), new.changesSettings { settings.take(node, index) }
            for person in subjects { place(person, index, &identities) }
        }
    }

    private mutating func hearAgain(
        besides subjects: [PersonID], _ index: AuthorityIndex, _ identities: inout IdentityCache
    ) {
        let before = live
        hearAll(index, &identities)
        var changed = Set(subjects)
        for other in 0..<max(before.count, live.count)
        where holds(other) != (other < before.count && before[other]) {
            changed.formUnion(index[other].subjects)
            awaitFormer(other, index)
        }
        for person in changed.sorted() { placeAnew(person, index, &identities) }
        settings = SettingRegisters(holding(index.settings), index)
    }

    /// Records whose former devices may change with whether an operation holds: besides the
    /// affected persons, the owners of devices that these had revoked.
    private mutating func awaitFormer(_ node: Int, _ index: AuthorityIndex) {
        for person in index[node].subjects {
            awaitsFormer.insert(person)
            awaitsFormer.formUnion(index.revokedOwners[person] ?? [])
        }
    }

    private mutating func setLive(_ node: Int, _ isLive: Bool) {
        if node >= live.count {
            guard isLive else { return }
            live += repeatElement(false, count: node + 1 - live.count)
        }
        live[node] = isLive
    }

    /// Looks which devices a person's identity log revokes, and says whether that changed while
    /// revocations rest on it.
    private mutating func weigh(
        _ person: PersonID, _ index: AuthorityIndex, _ identities: inout IdentityCache
    ) -> Bool {
        guard index.revocations[person] != nil else { return false }
        let revoked = identities.state(of: person, in: set, index).revoked
        guard revoked != endsOfDevices[person] ?? [] else { return false }
        endsOfDevices[person] = revoked
        return true
    }

    private mutating func hearAll(_ index: AuthorityIndex, _ identities: inout IdentityCache) {
        for person in index.revocations.keys.sorted() { _ = weigh(person, index, &identities) }
        live = []
        heard = [:]
        let seniorsFirst = index.nodes.indices.filter { index.contains(set, $0) }.sorted {
            index[$0].key < index[$1].key
        }
        identities.work += seniorsFirst.count
        for node in seniorsFirst {
            setLive(node, verdict(on: node, index) == .holds)
            if holds(node), case .redeem(let person, let invite) = index[node].deed {
                heard?[invite, default: []].insert(person)
            }
        }
        heard = nil
    }

    /// Whether something that holds so far does not, now that this one does.
    private func voidsAny(_ node: Int, _ index: AuthorityIndex) -> Bool {
        let new = index[node]
        /// The least right that is taken away.
        var need = Role.reader
        let others: [ArraySlice<Int>]
        switch new.deed {
        case .remove(let person): others = index.unseen(index.written[person], by: new.past)
        case .setRole(let person, let role):
            guard let taken = Role(rawValue: role.rawValue + 1) else { return false }
            need = taken
            others = index.unseen(index.written[person], by: new.past)
        case .revokeDevice(_, let device):
            others = index.unseen(index.writtenBy[device], by: new.past)
        case .endInvite(let invite): others = [(index.redemptions[invite] ?? [])[...]]
        case .redeem(_, let invite):
            guard case .invite(_, _, let uses, _) = index[invite].deed else { return false }
            return came(by: invite, index) { _ in true }.count > Int(uses)
        case .genesis, .add, .leave, .addDevices, .settings, .invite: return false
        }
        return others.joined().contains { other in
            holds(other) && other != node && index[other].key > new.key
                && index[other].need >= need && index[other].isVoidable
                && !index.isInPast(other, of: node)
        }
    }

    // MARK: Hearing one

    /// Whether an operation holds, given which of its seniors do.
    func verdict(on node: Int, _ index: AuthorityIndex) -> Verdict {
        let one = index[node]
        switch one.deed {
        case .genesis: return .holds
        case .revokeDevice(let person, let device):
            return endsOfDevices[person]?.contains(device) == true ? .holds : .unproven
        case .add, .remove, .setRole, .leave, .addDevices, .settings, .invite, .endInvite,
            .redeem:
            break
        }
        let grants = holding(one.grants)
        guard !grants.isEmpty else { return .ungranted(index.senior(one.grants)) }
        if let sponsor = one.sponsor, holding(sponsor.grants).isEmpty {
            return .ungranted(index.senior(sponsor.grants))
        }
        if let revocation = revocation(of: node, grants, index) { return .revoked(revocation) }
        if case .redeem(let person, let invite) = one.deed {
            return verdict(onRedemption: node, of: invite, by: person, index)
        }
        return .holds
    }

    /// The most senior of what revokes an operation: whichever came first is no reason to tell.
    private func revocation(of node: Int, _ grants: [Int], _ index: AuthorityIndex) -> Int? {
        let one = index[node]
        func isSenior(_ other: Int) -> Bool {
            holds(other) && index[other].key < one.key && !index.isInPast(node, of: other)
        }
        var found: [Int] = []
        // It restored what a grant had seen.
        let returned = grants.reduce(into: ClosedSet()) { $0.formUnion(index[$1].past) }
        for list in index.unseen(index.takers[one.author], by: returned) {
            // A log that has come to see it once has seen it since.
            found += list.prefix { !index.isInPast(node, of: $0) }.filter {
                isSenior($0) && index[$0].takes(one.need)
            }
        }
        for person in [one.author, one.sponsor?.person].compactMap({ $0 }) {
            for other in index.revocations[person] ?? [] where isSenior(other) {
                guard case .revokeDevice(_, one.device) = index[other].deed else { continue }
                if !index.isInPast(other, of: node) { found.append(other) }
            }
        }
        if let sponsor = one.sponsor {
            found += index.unseen(index.takers[sponsor.person], by: one.past).joined().filter {
                isSenior($0) && index[$0].takes(sponsor.need)
            }
        }
        return index.senior(found)
    }

    private func verdict(
        onRedemption node: Int, of invite: Int, by person: PersonID, _ index: AuthorityIndex
    ) -> Verdict {
        guard holds(invite), case .invite(_, _, let uses, _) = index[invite].deed else {
            return .ungranted(invite)
        }
        let key = index[node].key
        let ends = holding(index.endings[invite]).filter {
            index[$0].key < key && !index.isInPast(node, of: $0)
        }
        if let end = index.senior(ends) { return .revoked(end) }
        let came =
            if let heard {
                heard[invite] ?? []
            } else {
                self.came(by: invite, index) { index[$0].key < key }
            }
        return came.contains(person) || came.count < Int(uses) ? .holds : .usedUp(invite)
    }

    /// How many more persons may come by an invite that holds; zero where it ended.
    func usesLeft(of invite: Int, _ index: AuthorityIndex) -> UInt32 {
        guard holds(invite), case .invite(_, _, let uses, _) = index[invite].deed,
            holding(index.endings[invite]).isEmpty
        else { return 0 }
        return uses - min(uses, UInt32(came(by: invite, index) { _ in true }.count))
    }

    private func came(
        by invite: Int, _ index: AuthorityIndex, where isCounted: (Int) -> Bool
    ) -> Set<PersonID> {
        var came: Set<PersonID> = []
        for other in holding(index.redemptions[invite]) where isCounted(other) {
            if case .redeem(let person, _) = index[other].deed { came.insert(person) }
        }
        return came
    }
}

/// Whether an operation holds, and if not, by what.
enum Verdict: Equatable {
    case holds
    /// What gave its author the right does not hold.
    case ungranted(Int?)
    /// Its author or device was out, or the invite had ended, unseen by them.
    case revoked(Int)
    /// Others came by the invite before.
    case usedUp(Int)
    /// The identity log does not say so.
    case unproven
}
