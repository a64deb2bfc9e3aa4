import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// The consequences of new control operations in a space: how far each log counts, which device
/// belongs to whom, and who is served.
extension NodeCore {
    /// Resolves what arrived in lane 0, and updates everything that depends on it.
    mutating func follow(_ space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) {
        try prepare(space, turn.store)
        let isVouchedFor = try vouch(in: space, turn.store)
        if try foundAwaitedLog(in: space, turn.store) || isVouchedFor {
            return try judgeAnew(space, &turn)
        }
        guard let former = rosters.judges[space.number]?.refresh() else { return }
        try follow(space, from: former, &turn)
    }

    /// Judges all of a space again: of a forked log of lane 0 another part counts than before, or
    /// something had been applied without one.
    mutating func judgeAnew(_ space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) {
        let former = rosters.judges.removeValue(forKey: space.number)?.roster
        try prepare(space, turn.store)
        try noteNamings(in: space, instead: nil, turn.store)
        guard let former, let judge = rosters.judges[space.number] else { return }
        try ViewWalk.again(through: space, judge, turn.store)
        // A name at or above the end of what counts of lane 0 counts as the last place that does:
        // which clocks an author had seen follows from that.
        _ = try placeAnew(space, turn.store)
        try follow(space, from: former, &turn)
    }

    /// Lets a roster count that has taken the place of another.
    mutating func follow(_ space: SpaceRecord, from former: Roster, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let roster = rosters.judges[space.number]?.roster else { return }
        try noteNamings(in: space, instead: former, turn.store)
        let isBounded = try bound(space, by: roster, turn.store)
        let horizon = newHorizon(by: roster, instead: former)
        // What lies below a floor keeps its stand: the cuts of the roster that sets it count for that.
        if horizon != nil, isBounded { _ = try placeAnew(space, turn.store) }
        if let horizon { try begin(space, above: horizon, by: roster, turn.store) }
        let isMoved = try learnFormerViews(in: space, turn.store) || horizon != nil
        let chosen = try Self.chooseBranches(in: space, turn.store)
        let isOwned = try turn.store.logs(in: space.number).contains {
            former.person(of: $0.device) != roster.person(of: $0.device)
                && ($0.lane != .control || former.person(of: $0.device) != nil)
        }
        if isMoved || isBounded || isOwned || !chosen.isEmpty {
            _ = try placeAnew(space, turn.store)
        }
        try refold(space, &turn)
        try share(space, &turn)
        if !chosen.isEmpty {
            try grew(chosen, in: space, isOwn: false, from: nil, &turn)
        }
        let hasCome = !former.takesPart(identity.person)
        if roster.takesPart(identity.person) {
            for member in roster.participants where hasCome || !former.takesPart(member.person) {
                try dialDevices(of: member.person, &turn)
            }
        }
        for member in former.members where roster.member(member.person) == nil {
            desk.departed.append(Departed(person: member.person, space: space.id))
        }
        try learnCards(of: roster, instead: former, in: space, &turn)
        // If this device is admitted again, it waits for what it once wrote there.
        try finishRecovery(turn.store)
        turn.emit(.changed([.membership(space.number), .conversation(space.number)]))
        turn.emit(.linksChanged)
    }

    /// Sets how far logs count, and returns whether any counts differently than before. All of lane
    /// 0 does, except for members admitted only by a branch that does not count: others have never
    /// accepted their operations.
    private func bound(
        _ space: SpaceRecord, by roster: Roster, _ store: some Store
    ) throws(StoreError) -> Bool {
        let judge = rosters.judges[space.number]
        var isChanged = false
        for var log in try store.logs(in: space.number) {
            var limit = roster.limit(of: log)
            if log.lane == .control, judge?.hasForks == true, judge?.knows(log.device) == false {
                limit = LogPoint(sequence: 0, anchor: OperationID(reinterpreting: log.id))
            }
            guard log.limit != limit else { continue }
            let wasVouched = log.limit?.sequence == log.end
            log.limit = limit
            try store.update(log)
            if wasVouched { try dropUnsigned(log, store) }
            isChanged = true
        }
        return isChanged
    }

    /// Drops the part of a log that was held only on the word of a cut that is no longer valid: the
    /// cut's author could have put anything there. Signed parts arrive again.
    private func dropUnsigned(_ log: LogRecord, _ store: some Store) throws(StoreError) {
        guard let last = log.spans.last,
            try store.head(atOrAfter: last.last, in: log.number) == nil
        else { return }
        let signed = try store.heads(in: log.number, last.first...last.last).last?.sequence
        var point = LogPoint(sequence: last.first, anchor: last.anchor)
        for end in [signed.map { $0 + 1 }, log.bound?.sequence] {
            guard let end, end > point.sequence, end <= last.last,
                let stored = try store.operation(at: end - 1, in: log.number),
                end != log.bound?.sequence || stored.id == log.bound?.anchor
            else { continue }
            point = LogPoint(sequence: end, anchor: stored.id)
        }
        guard log.bound != LogPoint(sequence: last.last + 1, anchor: last.tip) else { return }
        try store.drop(log.number, from: point)
    }

    /// What this device is not given, where that is something else than before.
    private func newHorizon(by roster: Roster, instead former: Roster) -> Horizon? {
        guard let horizon = roster.device(identity.device)?.horizon,
            horizon != former.device(identity.device)?.horizon
        else { return nil }
        return horizon
    }

    /// Sets where logs begin for this device.
    private func begin(
        _ space: SpaceRecord, above horizon: Horizon, by roster: Roster, _ store: some Store
    ) throws(StoreError) {
        guard let judge = rosters.judges[space.number] else { return }
        for log in try store.logs(in: space.number)
        where log.floor != nil && horizon.place(of: log.device, log.lane) == nil {
            try begin(log, at: nil, judge, store)
        }
        for place in horizon.places {
            let name = OperationHash.log(space: space.id, device: place.device, lane: place.lane)
            let known = try store.log(LogTag(name), in: space.number)
            var log: LogRecord
            if let known {
                guard known.id == name else { continue }
                log = known
            } else {
                log = try store.addLog(
                    name, device: place.device, lane: place.lane, in: space.number)
                log.limit = roster.limit(of: log)
            }
            try begin(log, at: place, judge, store)
        }
        try store.placeBelowFloors(in: space.number)
    }

    /// Sets where a log begins for this device: above what its person is not given, and above what
    /// was deleted here.
    private func begin(
        _ record: LogRecord, at place: LogPlace?, _ judge: Judge, _ store: some Store
    ) throws(StoreError) {
        var log = record
        let former = try FormerLog.kept(log.id, in: store)
        if let former, former.end > place.map({ $0.sequence + 1 }) ?? 0 {
            log.begin(at: former.point, below: former.stand)
        } else {
            log.begin(
                at: place.map { LogPoint(sequence: $0.sequence + 1, anchor: $0.operation) },
                below: place?.stand ?? Stand())
            if let place, log.lane.carriesAuthority {
                let tips = judge.tips([], naming: place.view) ?? []
                try ViewWalk.note(place, of: log, tips, store)
            }
        }
        try store.update(log)
        guard log.lane.carriesAuthority else { return }
        // A claim above a gap is known if the log begins above that gap.
        try ViewWalk.again(through: log, judge, store)
    }

    // MARK: What passes on links

    /// Gives every link what its peer may have of a space, no more.
    mutating func share(_ space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) {
        for id in peers.links.keys.sorted() where peers.links[id]?.session != nil {
            guard let peer = peers.links[id]?.peer else { continue }
            let scope = try scope(of: space, with: peer, turn.store)
            if try peers.links[id]?.session?.share(space, scope, store: turn.store) == true {
                // A person who came in by the recovery code is about to revoke the lost devices.
                try tellBranches(of: space, on: id, &turn)
            }
        }
    }

    /// Whether a device is a member's that the space has not been told of: as one that the recovery
    /// code has just made, whose person has no other that could tell.
    ///
    /// That it is the person's, its link has shown, or this node knows of itself.
    func letsItselfIn(_ device: DeviceID, of person: PersonID, to roster: Roster) -> Bool {
        roster.member(person) != nil && roster.person(of: device) == nil
    }

    /// How much of a space passes between this device and a peer; nil for nothing.
    mutating func scope(
        of space: SpaceRecord, with peer: LinkPeer, _ store: some Store
    ) throws(StoreError) -> SharingScope? {
        try scope(of: space, with: peer.device, of: peer.person, store)
    }

    /// The same with a device, if it is this person's.
    mutating func scope(
        of space: SpaceRecord, with other: DeviceID, of otherPerson: PersonID, _ store: some Store
    ) throws(StoreError) -> SharingScope? {
        try prepare(space, store)
        guard let judge = rosters.judges[space.number] else { return nil }
        let roster = judge.roster
        if otherPerson == identity.person,
            let departed = try departedScope(of: space, judge, store)
        {
            return departed
        }
        let isIn = roster.member(with: other)?.person == otherPerson
        if isIn && letsItselfIn(identity.device, of: identity.person, to: roster)
            || isListed(in: roster) && letsItselfIn(other, of: otherPerson, to: roster)
        {
            return .welcome
        }
        if isIn, isListed(in: roster) {
            // A person who has not accepted is served the control log, and nothing else is accepted
            // from them.
            guard roster.takesPart(identity.person), roster.takesPart(otherPerson) else {
                return .welcome
            }
            var firsts: [LogTag: UInt64] = [:]
            for place in roster.device(other)?.horizon.places ?? [] {
                let log = OperationHash.log(
                    space: space.id, device: place.device, lane: place.lane)
                firsts[LogTag(log)] = place.sequence + 1
            }
            return .everything(from: firsts)
        }
        var ends: [LogTag: UInt64]?
        for device in [identity.device, other] {
            let places: [LogTip]
            if let person = roster.person(of: device) {
                guard roster.isFormer(device) else { continue }
                guard device == identity.device || person == otherPerson else { return nil }
                places = judge.departure(of: device, person)
            } else {
                guard device == other else { return nil }
                places = reasons(against: device, of: otherPerson, judge)
                if places.isEmpty { return nil }
            }
            // Where both are out, each hears what it may have itself: whoever left without having heard that
            // somebody put the other out is often the only one who could tell that.
            var known: [LogTag: UInt64] = [:]
            for place in places { known[place.tag] = place.sequence + 1 }
            ends = known
        }
        return .control(below: ends ?? [:])
    }

    /// What own devices tell each other of a group that the person was in and is out of; nil for
    /// any other, and for one that was deleted on a device: nothing restores that.
    private func departedScope(
        of space: SpaceRecord, _ judge: Judge, _ store: some Store
    ) throws(StoreError) -> SharingScope? {
        guard space.kind == .group, judge.roster.member(identity.person) == nil,
            judge.graph.hadAccepted(identity.person), try !isDeleted(space, store)
        else { return nil }
        var ends: [LogTag: UInt64] = [:]
        for place in judge.graph.departure(of: identity.person) {
            ends[place.tag] = place.sequence + 1
        }
        return ends.isEmpty ? nil : .departed(below: ends)
    }

    /// What a device unknown to a space may be told of why it is not admitted: including one that
    /// its person got, for example by the recovery code, after that person was out.
    private func reasons(
        against device: DeviceID, of person: PersonID, _ judge: Judge
    ) -> [LogTip] {
        let refusal = judge.graph.refusal(of: device, person)
        guard refusal.isEmpty, judge.roster.member(person) == nil,
            !judge.roster.devicesEver(of: person).isEmpty
        else { return refusal }
        return judge.departure(of: device, person)
    }
}
