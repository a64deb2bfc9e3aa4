import ParleyWire

/// Operations that hold, in lists by what decides whom they reach.
///
/// Logs are chains, so of each list what somebody had seen is a prefix, and what had seen an
/// operation is an end: who is reached is found by halving.
struct LiveLists: Sendable {
    /// What the operations of a list have in common.
    struct Mark: Hashable, Sendable {
        let log: Int
        /// By which they are heard before others.
        var rank = 0
        /// What they need; of those that take a right, the least that nobody keeps.
        var role = 0
    }

    private struct List: Sendable {
        let mark: Mark
        /// In the order of their log; never empty.
        var nodes: [Int]
    }

    private var lists: [List] = []

    var isEmpty: Bool { lists.isEmpty }

    mutating func insert(_ node: Int, _ mark: Mark) {
        guard let place = lists.firstIndex(where: { $0.mark == mark }) else {
            lists.append(List(mark: mark, nodes: [node]))
            return
        }
        let spot = lists[place].nodes.firstIndex(afterAll: { $0 < node })
        lists[place].nodes.insert(node, at: spot)
    }

    mutating func remove(_ node: Int, _ mark: Mark) {
        guard let place = lists.firstIndex(where: { $0.mark == mark }) else { return }
        let spot = lists[place].nodes.firstIndex(afterAll: { $0 < node })
        guard spot < lists[place].nodes.count, lists[place].nodes[spot] == node else { return }
        lists[place].nodes.remove(at: spot)
        if lists[place].nodes.isEmpty { lists.remove(at: place) }
    }

    /// The last of each list: whatever had seen it had seen the others, and it has seen them.
    var lasts: [Int] { lists.compactMap(\.nodes.last) }

    /// Those from which on this is so in each list, ascending: who comes later has seen as much.
    func ends(where isSo: (Int) -> Bool) -> [Int] {
        lists.flatMap { list in
            list.nodes[list.nodes.firstIndex(afterAll: { !isSo($0) })...]
        }.sorted()
    }

    /// What a past does not hold and what had not seen an operation, if one is given, list by list.
    func beside(
        _ past: ClosedSet, _ node: Int?, _ index: AuthorityIndex, where counts: (Mark) -> Bool
    ) -> [ArraySlice<Int>] {
        lists.compactMap { list in
            guard counts(list.mark) else { return nil }
            let seen = past.count(of: list.mark.log)
            let start = list.nodes.firstIndex(afterAll: { index[$0].index < seen })
            let end = list.nodes.firstIndex(afterAll: { other in
                !(node.map { index.isInPast($0, of: other) } ?? false)
            })
            return start < end ? list.nodes[start..<end] : nil
        }
    }
}

/// What holds of what decides about one person.
struct PersonalLists: Sendable {
    var leavings = LiveLists()
    var admissions = LiveLists()
    /// Of their role.
    var changes = LiveLists()
    /// Of devices.
    var additions = LiveLists()

    mutating func file(
        _ number: Int, of person: PersonID, _ index: AuthorityIndex, isLive: Bool
    ) {
        let node = index[number]
        let mark = LiveLists.Mark(log: node.log)
        func put(in lists: inout LiveLists) {
            if isLive { lists.insert(number, mark) } else { lists.remove(number, mark) }
        }
        if node.expels(person) { put(in: &leavings) }
        if node.admits(person) { put(in: &admissions) }
        switch node.deed {
        case .setRole: put(in: &changes)
        case .addDevices: put(in: &additions)
        case .genesis, .add, .remove, .leave, .revokeDevice, .settings, .invite, .endInvite,
            .redeem:
            break
        }
    }
}

/// Those who came by one invite, and those who came too late.
struct Comers: Sendable {
    /// For each person what holds, seniors first.
    private(set) var byPerson: [PersonID: [Int]] = [:]
    /// All that hold.
    private(set) var lists = LiveLists()
    /// What found all uses taken, seniors first; and the same for each person.
    private var late: [Int] = []
    private var lateByPerson: [PersonID: [Int]] = [:]

    mutating func file(_ node: Int, of person: PersonID, _ index: AuthorityIndex, isLive: Bool) {
        let mark = LiveLists.Mark(log: index[node].log, rank: index[node].key.rank)
        if isLive {
            byPerson[person, default: []].insert(node, byKeyOf: index)
            lists.insert(node, mark)
        } else {
            byPerson[person]?.remove(node, byKeyOf: index)
            if byPerson[person]?.isEmpty == true { byPerson[person] = nil }
            lists.remove(node, mark)
        }
    }

    /// Notes whether a redemption found all uses taken, and tells whether it had before.
    mutating func note(
        _ node: Int, of person: PersonID, _ index: AuthorityIndex, isLate: Bool
    ) -> Bool {
        let spot = late.place(of: node, byKeyOf: index)
        let wasLate = spot < late.count && late[spot] == node
        guard isLate != wasLate else { return wasLate }
        if isLate {
            late.insert(node, at: spot)
            lateByPerson[person, default: []].insert(node, byKeyOf: index)
        } else {
            late.remove(at: spot)
            lateByPerson[person]?.remove(node, byKeyOf: index)
        }
        return wasLate
    }

    /// Whether a use is left for a person by what is heard before this.
    func hasUse(
        for person: PersonID, _ node: Int, atMost limit: Int, _ index: AuthorityIndex
    ) -> Bool {
        let key = index[node].key
        if let first = byPerson[person]?.first, index[first].key < key { return true }
        return byPerson.values.count { index[$0[0]].key < key } < limit
    }

    /// What may hold no more, or again, since a redemption does or does not.
    func affected(
        by node: Int, of person: PersonID, atMost limit: Int, _ index: AuthorityIndex, isLive: Bool
    ) -> [Int] {
        guard isLive else {
            return (byPerson[person] ?? []).after(node, byKeyOf: index)
                + [nextLate(after: node, index)].compactMap { $0 }
        }
        let again = (lateByPerson[person] ?? []).after(node, byKeyOf: index)
        guard byPerson.count > limit else { return again }
        let last = byPerson.values.sorted { index[$0[0]].key > index[$1[0]].key }
        let key = index[node].key
        return again + last.prefix(byPerson.count - limit).joined().filter { index[$0].key > key }
    }

    /// The first that found all uses taken after this one.
    func nextLate(after node: Int, _ index: AuthorityIndex) -> Int? {
        let spot = late.firstIndex(afterAll: { index[$0].key <= index[node].key })
        return spot < late.count ? late[spot] : nil
    }
}

extension [Int] {
    fileprivate func place(of node: Int, byKeyOf index: AuthorityIndex) -> Int {
        firstIndex(afterAll: { index[$0].key < index[node].key })
    }

    fileprivate mutating func insert(_ node: Int, byKeyOf index: AuthorityIndex) {
        insert(node, at: place(of: node, byKeyOf: index))
    }

    fileprivate mutating func remove(_ node: Int, byKeyOf index: AuthorityIndex) {
        let spot = place(of: node, byKeyOf: index)
        if spot < count, self[spot] == node { remove(at: spot) }
    }

    /// Those that are heard after an operation.
    fileprivate func after(_ node: Int, byKeyOf index: AuthorityIndex) -> [Int] {
        Array(self[firstIndex(afterAll: { index[$0].key <= index[node].key })...])
    }
}
