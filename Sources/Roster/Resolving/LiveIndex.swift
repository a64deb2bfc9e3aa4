import ParleyWire

/// What holds in a set, filed by whom it may concern: so that one change finds what else it
/// changes, however much there is.
struct LiveIndex: Sendable {
    private(set) var persons: [PersonID: PersonalLists] = [:]
    /// For each person what holds by their right, or that they wrote for others.
    private var rights: [PersonID: LiveLists] = [:]
    private var written: [DeviceID: LiveLists] = [:]
    /// For each person what takes a right from them.
    private var takers: [PersonID: LiveLists] = [:]
    /// For each device what ends it.
    private var revocations: [DeviceID: LiveLists] = [:]
    private var endings: [Int: LiveLists] = [:]
    private var comers: [Int: Comers] = [:]
    private(set) var settings = SettingRegisters()
    /// For each operation those that it keeps from holding, and the other way round; what is kept
    /// by another by now is in both lists.
    private var kept: [Int: [Int]] = [:]
    private var keeper: [Int: Int] = [:]

    // MARK: Filing

    mutating func file(_ number: Int, _ index: AuthorityIndex, isLive: Bool) {
        let node = index[number]
        for person in node.subjects {
            persons[person, default: PersonalLists()].file(
                number, of: person, index, isLive: isLive)
        }
        func put(in lists: inout LiveLists, _ role: Int = 0) {
            let mark = LiveLists.Mark(log: node.log, rank: node.key.rank, role: role)
            if isLive { lists.insert(number, mark) } else { lists.remove(number, mark) }
        }
        if node.isVoidable {
            put(in: &rights[node.author, default: LiveLists()], Int(node.need.rawValue))
            put(in: &written[node.device, default: LiveLists()])
        }
        if let sponsor = node.sponsor {
            put(in: &rights[sponsor.person, default: LiveLists()], Int(sponsor.need.rawValue))
        }
        switch node.deed {
        case .remove(let person), .setRole(let person, _):
            put(in: &takers[person, default: LiveLists()], node.floor)
        case .revokeDevice(_, let device): put(in: &revocations[device, default: LiveLists()])
        case .endInvite(let invite): put(in: &endings[invite, default: LiveLists()])
        case .redeem(let person, let invite):
            comers[invite, default: Comers()].file(number, of: person, index, isLive: isLive)
        case .genesis, .settings: settings.file(number, index, isLive: isLive)
        case .add, .leave, .addDevices, .invite: break
        }
    }

    /// Notes what one operation is kept from holding by: it is heard again when that holds no more.
    mutating func note(_ node: Int, isKeptBy other: Int?) {
        guard keeper[node] != other else { return }
        keeper[node] = other
        if let other { kept[other, default: []].append(node) }
    }

    /// Those that an operation kept from holding, which holds no more.
    mutating func release(by node: Int) -> [Int] {
        (kept.removeValue(forKey: node) ?? []).filter { keeper[$0] == node }
    }

    /// Notes whether a redemption found all uses taken; what is to be heard then, because it had
    /// before and does not now.
    mutating func note(_ node: Int, isLate: Bool, _ index: AuthorityIndex) -> Int? {
        guard case .redeem(let person, let invite) = index[node].deed else { return nil }
        let wasLate =
            comers[invite, default: Comers()].note(node, of: person, index, isLate: isLate)
        return wasLate && !isLate ? comers[invite]?.nextLate(after: node, index) : nil
    }

    // MARK: Finding

    /// What holds so far and may not, now that this one does; or, of redemptions, the other way
    /// round as well.
    func affected(by number: Int, _ index: AuthorityIndex, isLive: Bool) -> [Int] {
        let node = index[number]
        func reached(_ lists: LiveLists?, beside other: Int?, above floor: Int = -1) -> [Int] {
            let beside = lists?.beside(node.past, other, index) {
                $0.rank >= node.key.rank && $0.role > floor
            }
            return (beside ?? []).joined().filter { index[$0].key > node.key }
        }
        switch node.deed {
        case .remove(let person), .setRole(let person, _):
            return isLive ? reached(rights[person], beside: number, above: node.floor) : []
        case .revokeDevice(_, let device):
            return isLive ? reached(written[device], beside: number) : []
        case .endInvite(let invite):
            return isLive ? reached(comers[invite]?.lists, beside: nil) : []
        case .redeem(let person, let invite):
            guard case .invite(_, _, let uses, _) = index[invite].deed else { return [] }
            return comers[invite]?.affected(
                by: number, of: person, atMost: Int(uses), index, isLive: isLive) ?? []
        case .genesis, .add, .leave, .addDevices, .settings, .invite: return []
        }
    }

    /// What takes the right to write an operation from its author or sponsor, or ended its device,
    /// unseen; at most so many of these.
    func revocations(
        of number: Int, _ grants: [Int], _ index: AuthorityIndex, atMost countMax: Int
    ) -> [Int] {
        let node = index[number]
        var found: [Int] = []
        func look(
            _ lists: LiveLists?, beside past: ClosedSet, _ need: Int = .max,
            where counts: (Int) -> Bool = { _ in true }
        ) {
            guard found.count < countMax, let lists else { return }
            // A log that has come to see it once has seen it since.
            let beside = lists.beside(past, number, index) {
                $0.rank <= node.key.rank && $0.role < need
            }
            for slice in beside {
                for other in slice where index[other].key < node.key && counts(other) {
                    found.append(other)
                    if found.count == countMax { return }
                }
            }
        }
        // It restored what a grant had seen.
        let returned = grants.reduce(into: ClosedSet()) { $0.formUnion(index[$1].past) }
        look(takers[node.author], beside: returned, Int(node.need.rawValue))
        look(revocations[node.device], beside: node.past) { other in
            guard case .revokeDevice(let person, _) = index[other].deed else { return false }
            return person == node.author || person == node.sponsor?.person
        }
        if let sponsor = node.sponsor {
            look(takers[sponsor.person], beside: node.past, Int(sponsor.need.rawValue))
        }
        return found
    }

    /// What ended an invite before a redemption was heard; at most so many of these.
    func endings(
        of invite: Int, before number: Int, _ index: AuthorityIndex, atMost countMax: Int
    ) -> [Int] {
        let node = index[number]
        let beside = endings[invite]?.beside(ClosedSet(), number, index) {
            $0.rank <= node.key.rank
        }
        let found = (beside ?? []).joined().lazy.filter { index[$0].key < node.key }
        return Array(found.prefix(countMax))
    }

    func isEnded(_ invite: Int) -> Bool { endings[invite]?.isEmpty == false }

    /// How many persons came by an invite.
    func comerCount(by invite: Int) -> Int { comers[invite]?.byPerson.count ?? 0 }

    /// Whether a use of an invite is left for a person by what is heard before a redemption.
    func hasUse(
        of invite: Int, _ uses: UInt32, for person: PersonID, _ node: Int, _ index: AuthorityIndex
    ) -> Bool {
        (comers[invite] ?? Comers()).hasUse(for: person, node, atMost: Int(uses), index)
    }
}
