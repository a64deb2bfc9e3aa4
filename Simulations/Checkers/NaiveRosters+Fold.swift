import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NaiveRosters {
    /// Who is in a space by a set of acts.
    struct Fold {
        /// A person in the space.
        struct Seat {
            var role: Role
            var rank: Int
            var name: String
            /// The newest acts that give the role.
            var heads: Acts
            var devices: [DeviceCertificate]
            var horizon: Horizon
        }

        /// A device that was in.
        struct Former {
            /// Whose it was.
            var person: PersonID
            /// What put it out, after all that let it in.
            var ends: Acts
            /// What bounds its logs: that, and what had put it out before.
            var cutting: Acts
        }

        var admitted: Acts
        /// The admitted acts that hold.
        var live: Acts = []
        var kind: SpaceKind?
        var seats: [PersonID: Seat] = [:]
        /// Whose each device is.
        var owners: [DeviceID: PersonID] = [:]
        /// Devices that had been let in and are out.
        var former: [DeviceID: Former] = [:]
        /// All that admitted acts say of persons' devices, whether they hold or not.
        var identities: [PersonID: Set<IdentityOperation>] = [:]
        var settings = SpaceSettings()
        var authority: UInt64 = 0
        var digest = ParleySealing.digest(.roster, [] as [UInt8]) as Digest
    }
}

extension NaiveRosters.Fold {
    typealias Acts = NaiveRosters.Acts

    init(of admitted: Acts, in rosters: NaiveRosters) {
        self.admitted = admitted
        for act in admitted {
            for (person, operations) in rosters.admissions[act]?.identity ?? [:] {
                identities[person, default: []].formUnion(operations)
            }
            if case .genesis(let genesis) = rosters.acts[act].wish { kind = genesis.kind }
        }
        hear(rosters)
        let persons = Set(live.flatMap { rosters.subjects(of: $0) }).sorted()
        for person in persons { seat(person, rosters) }
        for person in persons { findFormer(of: person, rosters) }
        settings.history = newest(rosters) { $0.history }
        settings.rotationHours = newest(rosters) { $0.rotationHours }
        for act in GroupAct.allCases { settings.rules[act] = newest(rosters) { $0.rules[act] } }
        let tips = rosters.newest(of: admitted)
        authority = OperationHash.authority(tips.map { rosters.acts[$0].id })
        let counted = live.filter { rosters.isInDigest($0) }.map { rosters.acts[$0].id }
        digest = ParleySealing.digest(.roster) { hash in
            for id in counted.sorted() { hash.update(id) }
        }
    }

    /// The role that these acts ask for: of whoever is no admin, what the rules say.
    func need(_ act: GroupAct, _ role: Role) -> Role {
        guard role < .admin else { return .admin }
        return rights(of: role).contains(act) ? .member : .admin
    }

    /// What somebody with a role may do: unless the owners say otherwise all write, and admins do the rest.
    func rights(of role: Role) -> Set<GroupAct> {
        guard role >= .member else { return [] }
        if kind != .group { return [.write, .pin] }
        return Set(
            GroupAct.allCases.filter { act in
                let isOpen = settings.rules[act].map { $0 == .everybody } ?? (act == .write)
                return isOpen || role >= .admin
            })
    }

    // MARK: What holds

    private mutating func hear(_ rosters: NaiveRosters) {
        let keyed = admitted.compactMap { act in rosters.admissions[act].map { (act, $0) } }
        for (act, admission) in keyed.sorted(by: { $0.1.key < $1.1.key })
        where holds(act, admission, rosters) { live.insert(act) }
    }

    private func holds(
        _ act: Int, _ admission: NaiveRosters.Admission, _ rosters: NaiveRosters
    ) -> Bool {
        switch rosters.acts[act].wish {
        case .genesis: return true
        case .ident(let ident):
            guard case .revoke(let device, _) = ident.change else { break }
            let log = rosters.log(of: identities[ident.person] ?? [])
            return log?.revoked.contains(device) ?? false
        default: break
        }
        let grants = admission.grants.intersection(live)
        if grants.isEmpty { return false }
        if admission.sponsor != nil, admission.seating.isDisjoint(with: live) { return false }
        for other in live where !rosters.acts[other].past.contains(act) {
            if revokes(other, act, admission, grants, rosters) { return false }
        }
        if case .redeem(let redeem) = rosters.acts[act].wish {
            return mayCome(act, redeem, rosters)
        }
        return true
    }

    /// Whether something senior that holds, and had not seen an act, takes its author's right away.
    private func revokes(
        _ other: Int, _ act: Int, _ admission: NaiveRosters.Admission, _ grants: Acts,
        _ rosters: NaiveRosters
    ) -> Bool {
        let isGivenBack = grants.contains { rosters.acts[$0].past.contains(other) }
        switch rosters.acts[other].wish {
        case .remove(let remove):
            if remove.person == admission.author, !isGivenBack { return true }
            return remove.person == admission.sponsor
                && !rosters.acts[act].past.contains(other)
        case .setRole(let change):
            if change.person == admission.author, change.role < admission.need, !isGivenBack {
                return true
            }
            return change.person == admission.sponsor && admission.isByAdmin && change.role < .admin
                && !rosters.acts[act].past.contains(other)
        case .ident(let ident):
            guard case .revoke(let device, _) = ident.change else { return false }
            return device == rosters.acts[act].device
                && [admission.author, admission.sponsor].contains(ident.person)
                && !rosters.acts[act].past.contains(other)
        default: return false
        }
    }

    /// What of all that holds would take an act's author's right away, or came by its invite before.
    func whatVoids(_ act: Int, _ rosters: NaiveRosters) -> Acts {
        guard let admission = rosters.admissions[act] else { return [] }
        let grants = admission.grants.intersection(live)
        return live.filter { other in
            if rosters.acts[other].past.contains(act) { return false }
            guard let key = rosters.admissions[other]?.key, key < admission.key else {
                return false
            }
            if case .redeem(let redeem) = rosters.acts[act].wish {
                if case .redeem(let before) = rosters.acts[other].wish,
                    before.invite == redeem.invite
                {
                    return true
                }
                if let invite = rosters.number(of: redeem.invite), rosters.ends(other, invite) {
                    return true
                }
            }
            return revokes(other, act, admission, grants, rosters)
        }
    }

    private func mayCome(_ act: Int, _ redeem: Redeem, _ rosters: NaiveRosters) -> Bool {
        guard let invite = rosters.number(of: redeem.invite), live.contains(invite),
            case .invite(.open(_, _, let uses, _)) = rosters.acts[invite].wish
        else { return false }
        let ends = live.filter { rosters.ends($0, invite) && !rosters.acts[$0].past.contains(act) }
        let came = rosters.persons(by: invite, of: live)
        return ends.isEmpty && (came.contains(redeem.newcomer.person) || came.count < Int(uses))
    }

    func usesLeft(of invite: Int, in rosters: NaiveRosters) -> Int {
        guard live.contains(invite),
            case .invite(.open(_, _, let uses, _)) = rosters.acts[invite].wish,
            !live.contains(where: { rosters.ends($0, invite) })
        else { return 0 }
        return max(0, Int(uses) - rosters.persons(by: invite, of: live).count)
    }

    // MARK: Who is in

    /// What lets a person in: all that had seen everything which put them out.
    func comings(of person: PersonID, in rosters: NaiveRosters) -> Acts {
        let about = live.filter { rosters.subjects(of: $0).contains(person) }
        let leavings = about.filter { rosters.expels($0, person) }
        return about.filter { act in
            rosters.admits(act, person) && leavings.isSubset(of: rosters.acts[act].past)
        }
    }

    private mutating func seat(_ person: PersonID, _ rosters: NaiveRosters) {
        let about = live.filter { rosters.subjects(of: $0).contains(person) }
        let comings = comings(of: person, in: rosters)
        func hasCome(before act: Int) -> Bool {
            !comings.isDisjoint(with: rosters.acts[act].past)
        }
        let changes = about.filter { act in
            if case .setRole = rosters.acts[act].wish { hasCome(before: act) } else { false }
        }
        let heads = rosters.newest(of: comings.union(changes))
        guard let first = rosters.senior(of: heads), let came = rosters.senior(of: comings),
            let right = rosters.right(of: person, by: first)
        else { return }
        let additions = about.filter { act in
            if case .ident = rosters.acts[act].wish { hasCome(before: act) } else { false }
        }
        var letIn = comings.union(additions).reduce(into: Set<DeviceID>()) {
            $0.formUnion(rosters.admissions[$1]?.devices[person] ?? [])
        }
        let log = rosters.log(of: identities[person] ?? [])
        if kind == .own { letIn.formUnion(log?.devices.map(\.device) ?? []) }
        let devices = (log?.devices ?? []).filter { letIn.contains($0.device) }
        seats[person] = Seat(
            role: right.role, rank: right.rank, name: rosters.name(of: person, by: came),
            heads: heads, devices: devices,
            horizon: NaiveRosters.common(comings.map { rosters.horizon(of: person, by: $0) }))
        for device in devices.map(\.device) where owners[device].map({ person < $0 }) ?? true {
            owners[device] = person
        }
    }

    private mutating func findFormer(of person: PersonID, _ rosters: NaiveRosters) {
        let about = live.filter { rosters.subjects(of: $0).contains(person) }
        let present = Set(seats[person]?.devices.map(\.device) ?? [])
        for device in Set(about.flatMap { rosters.admissions[$0]?.devices[person] ?? [] })
        where !present.contains(device) && owners[device] == nil && former[device] == nil {
            let comings = about.filter {
                rosters.admissions[$0]?.devices[person]?.contains(device) ?? false
            }
            let all = about.filter { rosters.cut(by: $0, of: device, person) != nil }
            let ends = all.filter { act in
                !comings.contains { rosters.acts[$0].past.contains(act) }
            }
            former[device] = Former(person: person, ends: ends, cutting: ends.isEmpty ? [] : all)
        }
    }

    private func newest<Value>(
        _ rosters: NaiveRosters, _ value: (SpaceSettings) -> Value?
    ) -> Value? {
        let given = live.filter { rosters.settings(by: $0).flatMap(value) != nil }
        return rosters.senior(of: rosters.newest(of: given)).flatMap {
            rosters.settings(by: $0).flatMap(value)
        }
    }
}
