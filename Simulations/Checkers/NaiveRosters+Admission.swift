import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NaiveRosters {
    /// Where an operation is heard among all; the lowest first.
    struct Key: Comparable {
        /// The rank of who wrote it, by what they had seen.
        var rank: Int
        /// 1 for who comes by an invite, else 0.
        var phase = 0
        /// Of who comes by an invite: how much had been seen by what let their sponsor in.
        var age = 0
        /// Of who comes by an invite: how much the sponsor had seen.
        var depth = 0
        var id: OperationID

        static func < (left: Self, right: Self) -> Bool {
            (left.rank, left.phase, left.age, left.depth, left.id)
                < (right.rank, right.phase, right.age, right.depth, right.id)
        }
    }

    /// An operation that its author could write by what they had seen.
    struct Admission {
        /// By whose right it was written.
        var author: PersonID
        /// Who wrote it for somebody who comes by an invite.
        var sponsor: PersonID?
        /// Whether the sponsor is heard as an admin.
        var isByAdmin = false
        var need = Role.reader
        var key: Key
        /// What gave the author the right; empty for what needs none.
        var grants: Acts = []
        /// What made the sponsor a member.
        var seating: Acts = []
        /// What is kept from who comes.
        var horizon = Horizon()
        /// What it says of persons' devices.
        var identity: [PersonID: Set<IdentityOperation>] = [:]
        /// The devices that it lets in.
        var devices: [PersonID: Set<DeviceID>] = [:]
    }

    /// Judges an act by its past alone, so that its admission never changes. Nil for a refused one.
    func admission(of number: Int) -> Admission? {
        let act = acts[number]
        guard let wish = act.wish else { return nil }
        let view = fold(act.past)
        switch wish {
        case .genesis(let genesis): return self.genesis(genesis, act)
        case .ident(let ident): return self.ident(ident, act, view)
        case .redeem(let redeem): return self.redeem(redeem, act, view)
        case .accept: return nil
        case .add, .remove, .setRole, .leave, .settings, .invite: break
        }
        guard let author = view.owners[act.device], let seat = view.seats[author],
            let need = need(of: wish, view, by: author, seat.role), seat.role >= need
        else { return nil }
        switch wish {
        case .add(let add):
            guard view.seats[add.newcomer.person] == nil, seat.rank < 254 || need == .member else {
                return nil
            }
        case .remove(let remove):
            guard let target = view.seats[remove.person], seat.rank < target.rank else {
                return nil
            }
        case .setRole(let change):
            guard let target = view.seats[change.person], seat.rank < target.rank, seat.rank < 254
            else { return nil }
        case .invite(.end(let id)):
            guard let invite = self.number(of: id), act.past.contains(invite),
                admissions[invite] != nil, case .invite(.open) = acts[invite].wish
            else { return nil }
        case .leave, .settings, .invite, .genesis, .ident, .redeem, .accept: break
        }
        var admission = Admission(author: author, need: need, key: Key(rank: seat.rank, id: act.id))
        // By the rules of the group, without a rank.
        if need == .member {
            admission.key = Key(
                rank: 254, phase: 1, age: age(of: author, view), depth: size(of: act.past),
                id: act.id)
        }
        guard entitle(&admission, by: seat) else { return nil }
        if case .add(let add) = wish {
            guard prove(add.newcomer, view, &admission) else { return nil }
            admission.horizon = Self.both(add.newcomer.horizon, seat.horizon)
        }
        return admission
    }

    /// The role that something needs; nil where it cannot be in a space of this kind.
    private func need(
        of wish: Wish, _ view: Fold, by author: PersonID, _ role: Role
    ) -> Role? {
        if case .settings = wish {
            switch view.kind {
            case .group: return .owner
            case .direct: return .reader
            case .own, nil: return nil
            }
        }
        guard view.kind == .group else { return nil }
        switch wish {
        case .add(let add): return add.role >= .admin ? .owner : view.need(.add, role)
        case .setRole(let change): return change.role >= .admin ? .owner : .admin
        case .remove: return .admin
        case .invite(.open): return view.need(.invite, role)
        case .invite(.end(let id)):
            let maker = number(of: id).flatMap { admissions[$0]?.author }
            return maker == author ? view.need(.invite, role) : .admin
        case .leave: return .reader
        case .genesis, .ident, .redeem, .settings, .accept: return nil
        }
    }

    /// Notes what gave the author the right: it must be heard before what it allows.
    private func entitle(_ admission: inout Admission, by seat: Fold.Seat) -> Bool {
        let (author, need, key) = (admission.author, admission.need, admission.key)
        admission.grants = seat.heads.filter { head in
            guard let granted = right(of: author, by: head), granted.role >= need else {
                return false
            }
            return admissions[head].map { $0.key < key } ?? false
        }
        return !admission.grants.isEmpty
    }

    /// The role and the rank that an act gives to a person, or nil.
    func right(of person: PersonID, by number: Int) -> (role: Role, rank: Int)? {
        guard let rank = admissions[number]?.key.rank else { return nil }
        func raised(_ role: Role) -> (role: Role, rank: Int) {
            (role, role >= .admin ? rank + 1 : Member.plainRank)
        }
        switch acts[number].wish {
        case .genesis(let genesis):
            guard let founder = genesis.founders.first(where: { $0.person == person }) else {
                return nil
            }
            if genesis.kind != .group || admissions[number]?.author == person {
                return (founder.role, 0)
            }
            return (founder.role, founder.role >= .admin ? 1 : Member.plainRank)
        case .add(let add) where add.newcomer.person == person: return raised(add.role)
        case .setRole(let change) where change.person == person: return raised(change.role)
        case .redeem(let redeem) where redeem.newcomer.person == person:
            guard let invite = self.number(of: redeem.invite),
                case .invite(.open(_, let role, _, _)) = acts[invite].wish
            else { return nil }
            return raised(role)
        default: return nil
        }
    }

    // MARK: Proof

    /// Whether identity operations prove the newcomer's devices, with those that the author knew.
    private func prove(
        _ newcomer: Newcomer, _ view: Fold, _ admission: inout Admission,
        revoking revoked: DeviceID? = nil
    ) -> Bool {
        let given = Set(newcomer.identity.compactMap(identity))
        let known = view.identities[newcomer.person] ?? []
        guard given.count == Set(newcomer.identity).count, let log = log(of: known.union(given)),
            log.person == newcomer.person
        else { return false }
        admission.identity[newcomer.person] = given
        if let revoked { return log.revoked.contains(revoked) }
        guard known.isEmpty || log.operations.count <= 96 else { return false }
        var devices: Set<DeviceID> = []
        for case .addDevice(let device, _, _, _) in given.map(\.content)
        where log.certificate(of: device) != nil { devices.insert(device) }
        admission.devices[newcomer.person] = devices
        return !devices.isEmpty
    }

    // MARK: Kinds with rules of their own

    private func genesis(_ genesis: Genesis, _ act: Act) -> Admission? {
        let persons = genesis.founders.map(\.person)
        let isRightCount =
            switch genesis.kind {
            case .own: persons.count == 1
            case .direct: persons.count == 2
            case .group: !persons.isEmpty
            }
        guard act.past.isEmpty, act.sequence == 0, act.beginsSpace,
            genesis.creator == act.device, isRightCount, Set(persons).count == persons.count
        else { return nil }
        var admission = Admission(author: persons[0], key: Key(rank: -2, id: act.id))
        var creators: [Founder] = []
        for founder in genesis.founders {
            let given = Set(founder.identity.compactMap(identity))
            guard given.count == Set(founder.identity).count, let log = log(of: given),
                log.person == founder.person
            else { return nil }
            if log.certificate(of: act.device) != nil { creators.append(founder) }
            admission.identity[founder.person] = given
            admission.devices[founder.person] = Set(log.devices.map(\.device))
        }
        guard creators.count == 1, creators[0].role == .owner else { return nil }
        admission.author = creators[0].person
        return admission
    }

    private func ident(_ ident: Ident, _ act: Act, _ view: Fold) -> Admission? {
        guard let target = view.seats[ident.person] else { return nil }
        let newcomer = Newcomer(person: ident.person, name: "", identity: ident.identity)
        switch ident.change {
        case .add:
            var admission = Admission(
                author: ident.person, key: Key(rank: target.rank, id: act.id))
            guard prove(newcomer, view, &admission), entitle(&admission, by: target),
                !addsNothing(ident.person, target, view, admission)
            else { return nil }
            // A device that its person certified may let itself in.
            let isOwn = admission.devices[ident.person]?.contains(act.device) ?? false
            let author = view.owners[act.device] ?? (isOwn ? ident.person : nil)
            return author == ident.person ? admission : nil
        case .revoke(let device, _):
            guard let author = view.owners[act.device], let seat = view.seats[author],
                author == ident.person || seat.role >= .admin
            else { return nil }
            if hasRevoked(device, of: ident.person, act, author, view) { return nil }
            var admission = Admission(author: author, key: Key(rank: -1, id: act.id))
            return prove(newcomer, view, &admission, revoking: device) ? admission : nil
        }
    }

    /// Whether the author had seen all of it: the devices in the space, and what the log keeps.
    private func addsNothing(
        _ person: PersonID, _ seat: Fold.Seat, _ view: Fold, _ admission: Admission
    ) -> Bool {
        let known = view.identities[person] ?? []
        let given = admission.identity[person] ?? []
        let kept = log(of: known.union(given))?.operations ?? []
        let seen = Set((log(of: known)?.operations ?? []).map(\.id))
        let present = Set(seat.devices.map(\.device))
        return (admission.devices[person] ?? []).isSubset(of: present)
            && given.intersection(kept).allSatisfy { seen.contains($0.id) }
    }

    /// Whether the same device had revoked it before, and its person has not come back since.
    private func hasRevoked(
        _ device: DeviceID, of person: PersonID, _ act: Act, _ author: PersonID, _ view: Fold
    ) -> Bool {
        let before = act.past.filter { other in
            guard admissions[other] != nil, acts[other].device == act.device,
                case .ident(let ident) = acts[other].wish, ident.person == person,
                case .revoke(device, _) = ident.change
            else { return false }
            return true
        }
        guard let last = before.max(by: { acts[$0].sequence < acts[$1].sequence }) else {
            return false
        }
        let comings = view.comings(of: author, in: self)
        let letIn = view.live.filter { one in
            admissions[one]?.devices[author]?.contains(act.device) == true
                && (comings.contains(one) || !comings.isDisjoint(with: acts[one].past))
        }
        return !letIn.contains { acts[$0].past.contains(last) }
    }

    private func redeem(_ redeem: Redeem, _ act: Act, _ view: Fold) -> Admission? {
        guard view.kind == .group, let sponsor = view.owners[act.device],
            let host = view.seats[sponsor], view.seats[redeem.newcomer.person] == nil,
            let invite = number(of: redeem.invite), view.live.contains(invite),
            case .invite(.open(let key, _, _, _)) = acts[invite].wish,
            view.usesLeft(of: invite, in: self) > 0, let made = admissions[invite],
            let inviter = view.seats[made.author],
            inviter.role >= view.need(.invite, inviter.role), redeem.isProven(in: space, by: key),
            redeem.isWanted(in: space),
            isFresh(redeem, invite, act, view)
        else { return nil }
        var admission = Admission(
            author: made.author, sponsor: sponsor, isByAdmin: host.role >= .admin,
            need: view.need(.invite, inviter.role),
            key: Key(
                rank: max(min(host.rank, 254), min(inviter.rank, 254), made.key.rank), phase: 1,
                age: max(
                    age(of: sponsor, view), made.key.age,
                    inviter.role < .admin ? age(of: made.author, view) : 0),
                depth: size(of: act.past), id: act.id))
        admission.horizon = Self.both(redeem.newcomer.horizon, host.horizon)
        admission.seating = host.heads.filter {
            admissions[$0].map { $0.key < admission.key } ?? false
        }
        guard !admission.seating.isEmpty, prove(redeem.newcomer, view, &admission),
            admission.devices[redeem.newcomer.person]?.contains(redeem.device) == true,
            entitle(&admission, by: inviter)
        else { return nil }
        return admission
    }

    /// How much had been seen by what let a person in.
    private func age(of person: PersonID, _ view: Fold) -> Int {
        view.comings(of: person, in: self).map { size(of: acts[$0].past) }.max() ?? 0
    }

    /// How many acts of a set rosters are made of.
    private func size(of set: Acts) -> Int { set.count { admissions[$0] != nil } }

    /// Whether the invite or the newcomer's own word came after all that had put them out; after a
    /// removal the invite alone.
    private func isFresh(_ redeem: Redeem, _ invite: Int, _ act: Act, _ view: Fold) -> Bool {
        let person = redeem.newcomer.person
        let out = view.live.filter { expels($0, person) && !acts[invite].past.contains($0) }
        let named = Set(redeem.departures.compactMap(number)).intersection(act.past).filter {
            admissions[$0] != nil
        }
        let known = named.reduce(Set(named)) { $0.union(acts[$1].past) }
        return out.allSatisfy { one in
            if case .leave = acts[one].wish { known.contains(one) } else { false }
        }
    }

    /// What either of two horizons keeps from somebody; where there is no room for all, all of the second.
    private static func both(_ one: Horizon, _ least: Horizon) -> Horizon {
        var others = one.places.filter { least.place(of: $0.device, $0.lane) == nil }
        others = Array(others.prefix(600 - least.places.count))
        let higher = one.places.filter { place in
            least.place(of: place.device, place.lane).map { $0.sequence < place.sequence } ?? false
        }
        let rest = least.places.filter { place in
            !higher.contains { $0.device == place.device && $0.lane == place.lane }
        }
        return Horizon(others + higher + rest)
    }
}
