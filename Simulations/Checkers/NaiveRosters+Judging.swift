import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire

extension NaiveRosters.Fold {
    /// Whose a device is, or was.
    func person(of device: DeviceID) -> PersonID? { owners[device] ?? former[device]?.person }

    /// How much of a device's log counts.
    func limit(of device: DeviceID, _ lane: Lane, _ rosters: NaiveRosters) -> LogLimit {
        if lane == .control || owners[device] != nil { return .all }
        guard let former = former[device] else { return .none }
        if former.ends.isEmpty { return .all }
        let places = heard(of: former.cutting, rosters).compactMap {
            rosters.cut(by: $0, of: device, former.person)?.place(of: device, lane)
        }
        return places.max { ($0.sequence, $0.operation) < ($1.sequence, $1.operation) }
            .map { .through($0.sequence, $0.operation) } ?? .none
    }

    /// Whether a place of lane 1, 3 or 4 counts whose author could write it by what they had seen:
    /// of the revocations that hit it unseen, one of the first at least had seen so much.
    func counts(
        _ device: DeviceID, _ lane: Lane, _ sequence: UInt64, seeing view: Self,
        _ rosters: NaiveRosters
    ) -> Bool {
        guard let person = person(of: device), limit(of: device, lane, rosters).reaches(sequence)
        else { return false }
        let endings = live.filter { end(by: $0, of: device, person, rosters) != nil }
        let unseen = endings.subtracting(view.live)
        let heard = heard(of: endings, rosters).intersection(unseen)
        // Whoever was put out again had come back: that says nothing about what they wrote before.
        let first = heard.filter { rosters.acts[$0].past.isDisjoint(with: heard) }
        return unseen.isEmpty
            || first.contains { act in
                let last = end(by: act, of: device, person, rosters)?.place(of: device, lane)
                return last.map { $0.sequence >= sequence } ?? false
            }
    }

    /// How far an act lets a device's words count, one that lets the person only read included.
    private func end(
        by act: Int, of device: DeviceID, _ person: PersonID, _ rosters: NaiveRosters
    ) -> Cut? {
        if case .setRole(let change) = rosters.acts[act].wish, change.person == person,
            change.role == .reader
        {
            return change.cut
        }
        return rosters.cut(by: act, of: device, person)
    }

    /// Whose word counts on where a device ends: theirs who were in when they gave it, if there are
    /// any such.
    private func heard(of ends: Acts, _ rosters: NaiveRosters) -> Acts {
        let trusted = ends.filter { act in
            guard case .ident = rosters.acts[act].wish, let author = rosters.admissions[act]?.author
            else { return true }
            let wasOut = live.contains { other in
                if other == act || rosters.acts[other].past.contains(act) { return false }
                if rosters.cut(by: other, of: rosters.acts[act].device, author) == nil {
                    return false
                }
                guard rosters.expels(other, author) else { return true }
                return !rosters.acts[act].past.intersection(live).contains {
                    rosters.admits($0, author) && rosters.acts[$0].past.contains(other)
                }
            }
            return !wasOut
        }
        return trusted.isEmpty ? ends : trusted
    }

    /// What a device that is out may have of lane 0: what put it out, and what that follows from. Of
    /// one that came to a person who was out by then, that is what put that person out.
    func departure(
        of device: DeviceID, _ owner: PersonID, _ rosters: NaiveRosters
    ) -> NaiveRosters.Acts {
        guard owners[device] == nil else { return [] }
        let refusal = refusal(of: device, rosters)
        let isLate = refusal.isEmpty && former.values.contains { $0.person == owner }
        guard let person = former[device]?.person ?? (isLate ? owner : nil) else { return refusal }
        let ends = live.filter {
            rosters.expels($0, person) || rosters.cut(by: $0, of: device, person) != nil
        }
        let unheard = reasons(for: challenges(by: person, against: ends, rosters), rosters)
        return ends.reduce(ends.union(refusal).union(unheard)) {
            $0.union(rosters.acts[$1].past)
        }
    }

    /// What a person did, in vain, to those who put them out, and what these had not seen.
    private func challenges(
        by person: PersonID, against ends: NaiveRosters.Acts, _ rosters: NaiveRosters
    ) -> NaiveRosters.Acts {
        admitted.subtracting(live).filter { act in
            guard rosters.admissions[act]?.author == person else { return false }
            let other: PersonID
            switch rosters.acts[act].wish {
            case .remove(let removal): other = removal.person
            case .setRole(let change): other = change.person
            default: return false
            }
            return ends.contains {
                rosters.admissions[$0]?.author == other && !rosters.acts[$0].past.contains(act)
            }
        }
    }

    /// What a device may have that only acts let in that do not hold: why they do not.
    private func refusal(of device: DeviceID, _ rosters: NaiveRosters) -> NaiveRosters.Acts {
        let void = admitted.subtracting(live).filter { act in
            rosters.admissions[act]?.devices.values.contains { $0.contains(device) } ?? false
        }
        return reasons(for: void, rosters)
    }

    /// Why these acts do not hold, and what that follows from.
    private func reasons(
        for acts: NaiveRosters.Acts, _ rosters: NaiveRosters
    ) -> NaiveRosters.Acts {
        var void = acts
        // Whoever had no right of their own had one from something that does not hold.
        var known: NaiveRosters.Acts = []
        while known != void {
            known = void
            for act in known {
                guard let admission = rosters.admissions[act] else { continue }
                void.formUnion(admission.grants.union(admission.seating).subtracting(live))
            }
        }
        let reasons = void.reduce(into: [] as NaiveRosters.Acts) {
            $0.formUnion(whatVoids($1, rosters))
        }
        return reasons.reduce(reasons) { $0.union(rosters.acts[$1].past) }
    }
}

extension NaiveRosters.Fold {
    /// In what a roster differs from this one, or nil.
    func difference(
        from roster: Roster, _ rosters: NaiveRosters, about devices: [DeviceID]
    ) -> String? {
        let expected = seats.keys.sorted().compactMap { person in
            seats[person].map { line(person, $0) }
        }
        let found = roster.members.map(Self.line)
        if let (one, other) = zip(found, expected).first(where: { $0 != $1 }) {
            return "\(one) and not \(other)"
        }
        if found.count != expected.count {
            return "\(found.count) members and not \(expected.count)"
        }
        if roster.authority != authority { return "another authority" }
        if roster.digest != digest { return "another digest" }
        if roster.settings != settings { return "\(roster.settings) and not \(settings)" }
        let invites = invites(rosters)
        let others = roster.invites.map(Self.line).sorted()
        if others != invites { return "invites \(others) and not \(invites)" }
        for device in devices {
            for lane in Lane.allCases where lane != .control {
                let (one, other) = (
                    roster.limit(of: device, lane: lane), limit(of: device, lane, rosters)
                )
                if one != other {
                    return "\(lane) log of \(device) through \(one) and not \(other)"
                }
            }
        }
        return nil
    }

    private func line(_ person: PersonID, _ seat: Seat) -> String {
        let devices = seat.devices.map { "\($0.device) \($0.noiseKey) \($0.rank)" }
        return "\(person) \(seat.role) \(seat.rank) \(seat.name) \(devices)"
            + " \(devices.isEmpty ? [] : seat.horizon.places)"
    }

    private static func line(_ member: Member) -> String {
        let devices = member.devices.map { "\($0.device) \($0.noiseKey) \($0.rank)" }
        return "\(member.person) \(member.role) \(member.rank) \(member.name) \(devices)"
            + " \(member.devices.first?.horizon.places ?? [])"
    }

    private func invites(_ rosters: NaiveRosters) -> [String] {
        live.compactMap { act -> String? in
            guard case .invite(.open(let key, let role, _, let expires)) = rosters.acts[act].wish,
                let inviter = rosters.admissions[act]?.author, let seat = seats[inviter],
                seat.role >= need(.invite, seat.role)
            else { return nil }
            let left = usesLeft(of: act, in: rosters)
            let id = rosters.acts[act].id
            return left == 0 ? nil : "\(id) \(inviter) \(key) \(role) \(left) \(expires)"
        }.sorted()
    }

    private static func line(_ invite: LiveInvite) -> String {
        "\(invite.operation) \(invite.inviter) \(invite.key) \(invite.role) \(invite.usesLeft)"
            + " \(invite.expires)"
    }
}

/// What the model makes of what one store holds of one space.
struct NaiveControl {
    let rosters: NaiveRosters
    /// The acts that are held.
    let held: NaiveRosters.Acts
    /// What follows from them.
    let now: NaiveRosters.Fold
    /// Whose store it is.
    let person: PersonID
    /// Who is in the space and has not accepted, ascending.
    let invited: [PersonID]

    init(_ rosters: NaiveRosters, holding held: NaiveRosters.Acts, of person: PersonID) {
        self.rosters = rosters
        self.held = held
        now = rosters.fold(held)
        self.person = person
        invited = Self.invited(now, rosters, held)
    }

    /// What a device that is out may have of lane 0 from this store: what put it out. Devices of one person
    /// may tell each other as well what put that person out, whatever let the device in, and that they
    /// had accepted to be in a group, though who put them out had not heard so.
    func departure(of device: DeviceID, _ owner: PersonID) -> NaiveRosters.Acts {
        let departure = now.departure(of: device, owner, rosters)
        guard owner == person, now.kind == .group, now.seats[owner] == nil, !departure.isEmpty
        else { return departure }
        let said = held.filter { Self.says($0, that: owner, now, rosters) }
            .union(now.live.filter { rosters.expels($0, owner) })
        return said.reduce(departure.union(said)) { $0.union(rosters.acts[$1].past) }
    }

    private static func invited(
        _ now: NaiveRosters.Fold, _ rosters: NaiveRosters, _ held: NaiveRosters.Acts
    ) -> [PersonID] {
        guard now.kind == .group else { return [] }
        return now.seats.keys.sorted().filter { person in
            let leavings = now.live.filter { rosters.expels($0, person) }
            return !held.contains { act in
                leavings.isSubset(of: rosters.acts[act].past)
                    && says(act, that: person, now, rosters)
            }
        }
    }

    /// Whether an act says that a person wants to be in the space.
    private static func says(
        _ act: Int, that person: PersonID, _ now: NaiveRosters.Fold, _ rosters: NaiveRosters
    ) -> Bool {
        switch rosters.acts[act].wish {
        case .accept:
            rosters.fold(rosters.acts[act].past).owners[rosters.acts[act].device] == person
        case .redeem(let redeem): now.live.contains(act) && redeem.newcomer.person == person
        case .genesis: now.live.contains(act) && rosters.admissions[act]?.author == person
        default: false
        }
    }
}

/// The models of all spaces, so that what was worked out for one node need not be for another.
final class NaiveBook {
    private struct Name: Hashable {
        var space: SpaceID
        var forks: [LogTag: UInt64]
    }

    private var all: [Name: NaiveRosters] = [:]

    /// The model of what a node holds of lane 0.
    func read(
        _ space: SpaceRecord, of node: SimulatedNode
    ) throws(StoreError) -> NaiveControl {
        let store = node.store
        var forks: [LogTag: UInt64] = [:]
        var held: [(operation: VerifiedOperation, device: DeviceID)] = []
        for log in try store.logs(in: space.number) where log.lane == .control {
            forks[log.tag] = log.fork?.sequence
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                held.append((VerifiedOperation(stored: stored, tag: log.tag), log.device))
            }
        }
        let name = Name(space: space.id, forks: forks)
        let rosters = all[name] ?? NaiveRosters(of: space.id, forks: forks)
        all[name] = rosters
        let acts = rosters.take(held)
        return NaiveControl(rosters, holding: acts, of: node.identity.person)
    }
}
