import ParleyLedger
import ParleyRoster
import ParleyWire

extension NaiveRosters {
    /// Those that are in the past of none of the others.
    func newest(of set: Acts) -> Acts {
        set.filter { one in !set.contains { acts[$0].past.contains(one) } }
    }

    func senior(of set: Acts) -> Int? {
        let keyed = set.compactMap { act in admissions[act].map { (act, $0.key) } }
        return keyed.min { $0.1 < $1.1 }?.0
    }

    /// Whose standing it changes.
    func subjects(of act: Int) -> [PersonID] {
        switch acts[act].wish {
        case .genesis(let genesis): genesis.founders.map(\.person)
        case .add(let add): [add.newcomer.person]
        case .remove(let remove): [remove.person]
        case .setRole(let change): [change.person]
        case .leave: admissions[act].map { [$0.author] } ?? []
        case .ident(let ident): [ident.person]
        case .redeem(let redeem): [redeem.newcomer.person]
        case .settings, .invite, .accept, nil: []
        }
    }

    func admits(_ act: Int, _ person: PersonID) -> Bool {
        switch acts[act].wish {
        case .genesis, .add, .redeem: subjects(of: act).contains(person)
        default: false
        }
    }

    func expels(_ act: Int, _ person: PersonID) -> Bool {
        switch acts[act].wish {
        case .remove, .leave: subjects(of: act).contains(person)
        default: false
        }
    }

    func ends(_ act: Int, _ invite: Int) -> Bool {
        if case .invite(.end(let id)) = acts[act].wish { return number(of: id) == invite }
        return false
    }

    func persons(by invite: Int, of live: Acts) -> Set<PersonID> {
        Set(
            live.compactMap { act in
                guard case .redeem(let redeem) = acts[act].wish,
                    number(of: redeem.invite) == invite
                else { return nil }
                return redeem.newcomer.person
            })
    }

    func isInDigest(_ act: Int) -> Bool {
        switch acts[act].wish {
        case .settings, .invite, .accept, nil: false
        default: true
        }
    }

    /// How far a person's device counts by what puts it out; nil for what does not.
    func cut(by act: Int, of device: DeviceID, _ person: PersonID) -> Cut? {
        switch acts[act].wish {
        case .remove(let remove) where remove.person == person: return remove.cut
        case .ident(let ident) where ident.person == person:
            guard case .revoke(device, let cut) = ident.change else { return nil }
            return cut
        default: return nil
        }
    }

    func name(of person: PersonID, by act: Int) -> String {
        switch acts[act].wish {
        case .genesis(let genesis): genesis.founders.first { $0.person == person }?.name ?? ""
        case .add(let add): add.newcomer.name
        case .redeem(let redeem): redeem.newcomer.name
        default: ""
        }
    }

    /// What is kept of the past from who is let in by an act.
    func horizon(of person: PersonID, by act: Int) -> Horizon {
        switch acts[act].wish {
        case .add(let add) where add.newcomer.person == person:
            admissions[act]?.horizon ?? add.newcomer.horizon
        case .redeem(let redeem) where redeem.newcomer.person == person:
            admissions[act]?.horizon ?? redeem.newcomer.horizon
        default: Horizon()
        }
    }

    /// Where a log ever began for a person, with what it had seen of lane 0 by then, ascending.
    func beginnings(
        of log: LogRecord, for person: PersonID, by held: Acts
    ) -> [(first: UInt64, view: [LogTip])] {
        held.sorted().flatMap { act in
            horizon(of: person, by: act).places
                .filter { $0.device == log.device && $0.lane == log.lane }
                .map { ($0.sequence + 1, $0.view) }
        }.sorted { $0.first < $1.first }
    }

    func settings(by act: Int) -> SpaceSettings? {
        switch acts[act].wish {
        case .genesis(let genesis): genesis.settings
        case .settings(let settings): settings
        default: nil
        }
    }

    /// What all of these horizons withhold.
    static func common(_ horizons: [Horizon]) -> Horizon {
        guard let first = horizons.first else { return Horizon() }
        return Horizon(
            first.places.compactMap { place in
                let all = horizons.map { $0.place(of: place.device, place.lane) }
                guard !all.contains(nil) else { return nil }
                return all.compactMap { $0 }.min { $0.sequence < $1.sequence }
            })
    }
}
