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
/// It grows by operations whose past it has. What these change is heard again, and what that
/// changes; and the standing of everyone concerned is worked out of what still decides about it.
/// Source: `Protocol/08-roster.md`, "Resolution".
struct Resolution: Sendable {
    private(set) var set = ClosedSet()
    /// By node; what is beyond the end or not in the set does not hold.
    private var live: [Bool] = []
    /// The same, filed by whom it may concern.
    private(set) var lives = LiveIndex()
    /// The newest of the set.
    private(set) var frontier: [Int] = []
    var standings: [PersonID: Standing] = [:]
    /// Devices that were admitted and are out, with their owners; of persons who are not awaited.
    var former: [PersonID: [DeviceID: FormerDevice]] = [:]
    /// Persons whose former devices are found when a roster is made.
    var awaitsFormer: Set<PersonID> = []
    var owners: [DeviceID: PersonID] = [:]
    /// Devices that several persons call theirs, with all of them, ascending.
    var contested: [DeviceID: [PersonID]] = [:]
    private(set) var endsOfDevices: [PersonID: [DeviceID]] = [:]
    /// Made when it is asked for.
    var roster: Roster?

    func holds(_ node: Int) -> Bool { node < live.count && live[node] }

    /// The operations of a list that are in the set and hold.
    func holding(_ nodes: [Int]?) -> [Int] { (nodes ?? []).filter(holds) }

    // MARK: Growing

    /// What follows from all operations of a set.
    init(of set: ClosedSet, _ index: AuthorityIndex, _ identities: inout IdentityCache) {
        let missing = index.logs.enumerated().flatMap { $1.prefix(set.count(of: $0)) }
        take(missing.sorted(), index, &identities)
    }

    init() {}

    /// Takes in operations, causes first, all of whose past is in the set or among them.
    mutating func take(
        _ new: [Int], _ index: AuthorityIndex, _ identities: inout IdentityCache
    ) {
        var queue = HearingQueue()
        for node in new {
            set.raise(index[node].log, to: index[node].index + 1)
            queue.push(node, index)
        }
        if new.count > index.logs.count {
            frontier = index.frontier(of: set)
        } else {
            for node in new {
                frontier = frontier.filter { !index.isInPast($0, of: node) } + [node]
            }
        }
        roster = nil
        var subjects = Set(new.flatMap { index[$0].subjects })
        // A revocation may prove nothing that was not known: then it is the first to ask for it.
        let told = new.flatMap { index[$0].told }
        for person in Set(told).sorted() where weigh(person, index, &identities) {
            for node in index.revocations[person] ?? [] where index.contains(set, node) {
                queue.push(node, index)
            }
        }
        for node in new { awaitFormer(node, index) }
        while let node = queue.pop() {
            identities.work += 1
            guard hear(node, index, &queue) else { continue }
            subjects.formUnion(index[node].subjects)
            awaitFormer(node, index)
        }
        for person in subjects.sorted() { place(person, index, &identities) }
    }

    /// Finds out whether an operation holds, after all its seniors. If that has changed, it awaits
    /// those to be heard that this concerns, and returns true.
    private mutating func hear(
        _ node: Int, _ index: AuthorityIndex, _ queue: inout HearingQueue
    ) -> Bool {
        let verdict = verdict(on: node, index, mostSenior: false)
        var concerned: [Int] = []
        if case .revoked(let other) = verdict {
            lives.note(node, isKeptBy: other)
        } else {
            lives.note(node, isKeptBy: nil)
        }
        let isLate = if case .usedUp = verdict { true } else { false }
        let isLive = verdict == .holds
        let changes = isLive != holds(node)
        if changes {
            setLive(node, isLive)
            lives.file(node, index, isLive: isLive)
            concerned += index.dependents[node] ?? []
            concerned += lives.affected(by: node, index, isLive: isLive)
            if !isLive { concerned += lives.release(by: node) }
        }
        if let next = lives.note(node, isLate: isLate, index) { concerned.append(next) }
        for other in concerned where index.contains(set, other) { queue.push(other, index) }
        return changes
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

    // MARK: Hearing one

    /// Whether an operation holds, given which of its seniors do.
    ///
    /// - Parameter mostSenior: whether it has to be the most senior of what revokes it that is
    ///   told: whichever came first is no reason to tell.
    func verdict(
        on node: Int, _ index: AuthorityIndex, mostSenior: Bool = true
    ) -> Verdict {
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
        let countMax = mostSenior ? Int.max : 1
        let revocations = lives.revocations(of: node, grants, index, atMost: countMax)
        if let revocation = index.senior(revocations) { return .revoked(revocation) }
        guard case .redeem(let person, let invite) = one.deed else { return .holds }
        guard holds(invite), case .invite(_, _, let uses, _) = index[invite].deed else {
            return .ungranted(invite)
        }
        let endings = lives.endings(of: invite, before: node, index, atMost: countMax)
        if let end = index.senior(endings) { return .revoked(end) }
        return lives.hasUse(of: invite, uses, for: person, node, index) ? .holds : .usedUp(invite)
    }

    /// How many more persons may come by an invite that holds; zero where it ended.
    func usesLeft(of invite: Int, _ index: AuthorityIndex) -> UInt32 {
        guard holds(invite), case .invite(_, _, let uses, _) = index[invite].deed,
            !lives.isEnded(invite)
        else { return 0 }
        return uses - min(uses, UInt32(lives.comerCount(by: invite)))
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
