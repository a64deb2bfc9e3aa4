import ParleyLedger
import ParleySealing
import ParleyWire

extension Resolution {
    /// Works out a person's standing of what holds.
    ///
    /// Looked at is the last of each log alone where it has seen what was before: departures and
    /// changes of the role; and admissions that had seen all departures, additions of devices that
    /// had seen one of these.
    mutating func place(
        _ person: PersonID, _ index: AuthorityIndex, _ identities: inout IdentityCache
    ) {
        let own = lives.persons[person] ?? PersonalLists()
        let leavings = index.newest(own.leavings.lasts)
        let admissions = own.admissions.ends { admission in
            leavings.allSatisfy { index.isInPast($0, of: admission) }
        }
        func isAfterAdmission(_ node: Int) -> Bool {
            admissions.contains { index.isInPast($0, of: node) }
        }
        let changes = own.changes.lasts.filter(isAfterAdmission)
        let additions = own.additions.ends(where: isAfterAdmission)
        identities.work += leavings.count + admissions.count + changes.count + additions.count
        let state = identities.state(of: person, in: set, index)
        let standing = standing(
            of: person, admissions, heads: index.newest(admissions + changes), additions, state,
            index)
        release(person)
        standings[person] = standing
        for device in standing?.member.devices ?? [] { claim(device.device, person) }
    }

    private func standing(
        of person: PersonID, _ admissions: [Int], heads: [Int], _ additions: [Int],
        _ state: IdentityState, _ index: AuthorityIndex
    ) -> Standing? {
        guard let first = heads.min(by: { index[$0].key < index[$1].key }),
            let came = admissions.min(by: { index[$0].key < index[$1].key })
        else { return nil }
        let (role, rank) = right(of: person, by: first, index)
        var letIn: [DeviceID: [Int]] = [:]
        var prekeys: Set<PrekeyCertificate> = []
        for node in admissions + additions {
            guard let testimony = index[node].testimony(of: person) else { continue }
            for device in testimony.devices { letIn[device, default: []].append(node) }
            prekeys.formUnion(testimony.prekeys)
        }
        if index.kind == .own {
            for device in state.certificates.keys.sorted() {
                letIn[device, default: []] += admissions
            }
        }
        let horizons = admissions.compactMap { index[$0].testimony(of: person)?.horizon }
        let horizon = horizons.dropFirst().reduce(horizons.first ?? Horizon()) {
            $0.intersection($1)
        }
        let devices = letIn.keys.sorted().compactMap { device in
            state.certificates[device].map { certificate in
                MemberDevice(
                    certificate, prekeys: Self.newest(prekeys, of: device), horizon: horizon)
            }
        }
        let member = Member(
            person: person, role: role, rank: rank,
            name: index[came].testimony(of: person)?.name ?? "", devices: devices)
        return Standing(
            member: member, heads: heads, admissions: letIn, horizon: horizon,
            age: admissions.map { index[$0].past.count }.max() ?? 0)
    }

    private static func newest(
        _ prekeys: Set<PrekeyCertificate>, of device: DeviceID
    ) -> [PrekeyCertificate] {
        let own = prekeys.filter { $0.device == device }
        guard own.count > 1 else { return Array(own) }
        let sorted = own.sorted {
            ($0.number, $0.key) < ($1.number, $1.key)
        }
        return Array(sorted.suffix(Limits.prekeyCountMax))
    }

    /// The effect of an operation on a person.
    private func right(of person: PersonID, by node: Int, _ index: AuthorityIndex) -> (Role, Int) {
        let role: Role
        switch index[node].deed {
        case .genesis(_, let seats, _):
            guard let seat = seats.first(where: { $0.person == person }) else {
                return (.reader, Member.plainRank)
            }
            return (seat.role, seat.rank)
        case .add(_, let given), .setRole(_, let given): role = given
        case .redeem(_, let invite):
            guard case .invite(_, let given, _, _) = index[invite].deed else {
                return (.reader, Member.plainRank)
            }
            role = given
        case .remove, .leave, .addDevices, .revokeDevice, .settings, .invite, .endInvite:
            preconditionFailure("only what admits or raises somebody gives a right")
        }
        return (role, role >= .admin ? index[node].key.rank + 1 : Member.plainRank)
    }

    /// The role that an operation gives to a person.
    func role(of person: PersonID, by node: Int, _ index: AuthorityIndex) -> Role {
        right(of: person, by: node, index).0
    }

    // MARK: Devices

    private mutating func claim(_ device: DeviceID, _ person: PersonID) {
        guard let other = owners[device], other != person else {
            owners[device] = person
            return
        }
        let all = Set((contested[device] ?? [other]) + [person]).sorted()
        contested[device] = all
        owners[device] = all[0]
    }

    private mutating func release(_ person: PersonID) {
        for device in standings[person]?.member.devices ?? [] {
            guard var all = contested[device.device] else {
                owners[device.device] = nil
                continue
            }
            all.removeAll { $0 == person }
            contested[device.device] = all.count > 1 ? all : nil
            owners[device.device] = all.first
        }
    }

    /// Whether a device was ever let in for a person by something that holds.
    func wasLetIn(_ device: DeviceID, for person: PersonID, _ index: AuthorityIndex) -> Bool {
        (index.about[person] ?? []).contains {
            holds($0) && index[$0].testimony(of: person)?.devices.contains(device) == true
        }
    }

    /// Finds the former devices of persons whose state has changed.
    mutating func findFormer(_ index: AuthorityIndex) {
        for person in awaitsFormer.sorted() {
            let found = formerDevices(
                of: person, standings[person], holding(index.about[person]), index)
            former[person] = found.isEmpty ? nil : found
        }
        awaitsFormer = []
    }

    /// The devices of a person that were let in by something that holds, and are out.
    private func formerDevices(
        of person: PersonID, _ standing: Standing?, _ nodes: [Int], _ index: AuthorityIndex
    ) -> [DeviceID: FormerDevice] {
        let present = Set(standing?.member.devices.map(\.device) ?? [])
        var letIn: [DeviceID: [Int]] = [:]
        for node in nodes {
            for device in index[node].testimony(of: person)?.devices ?? []
            where !present.contains(device) {
                letIn[device, default: []].append(node)
            }
        }
        guard !letIn.isEmpty else { return [:] }
        let horizon = Horizon(
            nodes.flatMap { index[$0].testimony(of: person)?.horizon.places ?? [] })
        var former: [DeviceID: FormerDevice] = [:]
        for device in letIn.keys.sorted() {
            var ended = nodes.filter { ends(index[$0].deed, person, device) }
            // What was written after a return ends where the last removal says. What an earlier cut
            // granted still counts: nobody who knows the return has ever accepted what it cut.
            let returns = index.newest(letIn[device] ?? [])
            let isEnded = index.newest(ended).contains { node in
                !returns.contains { index.isInPast(node, of: $0) }
            }
            if !isEnded { ended = [] }
            former[device] = FormerDevice(
                person: person,
                limits: Self.limits(of: device, witnesses(ended, index).map { index[$0].cut }),
                horizon: horizon)
        }
        return former
    }

    private func ends(_ deed: AuthorityDeed, _ person: PersonID, _ device: DeviceID) -> Bool {
        switch deed {
        case .remove(let other): other == person
        case .revokeDevice(_, let other): other == device
        case .genesis, .add, .redeem, .setRole, .leave, .addDevices, .settings, .invite,
            .endInvite:
            false
        }
    }

    /// The union of cuts: of each log as much as any of them grants.
    private static func limits(of device: DeviceID, _ cuts: [Cut]) -> [LogLimit] {
        Lane.allCases.dropFirst().map { lane in
            guard !cuts.isEmpty else { return .all }
            let places = cuts.compactMap { $0.place(of: device, lane) }
            let last = places.max {
                ($0.sequence, $0.operation) < ($1.sequence, $1.operation)
            }
            return last.map { .through($0.sequence, $0.operation) } ?? .none
        }
    }
}
