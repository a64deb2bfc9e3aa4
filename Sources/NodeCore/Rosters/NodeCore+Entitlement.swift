import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// Who may talk to this node, and introduce spaces to it.
extension NodeCore {
    /// Whether a person was in a space with this one: they are let in for as long as it takes to tell
    /// them that they are no longer.
    private mutating func wasTogether(
        with device: DeviceID, of person: PersonID, _ store: some Store
    ) throws(StoreError) -> Bool {
        for space in try spaces(naming: person, store) where space.kind != .own {
            // A person who was only invited into a group need not talk to all its members.
            if try roster(of: space, store)?.isInvited(identity.person) == true { continue }
            if try scope(of: space, with: device, of: person, store) != nil { return true }
        }
        return false
    }

    /// Whether a peer is talked to.
    mutating func mayTalk(_ peer: LinkPeer, _ store: some Store) throws(StoreError) -> Bool {
        try mayTalk(to: peer.person, with: peer.device, store)
    }

    /// Whether a device is talked to, if it is this person's.
    mutating func mayTalk(
        to person: PersonID, with device: DeviceID, _ store: some Store
    ) throws(StoreError) -> Bool {
        if try mayLink(person, store) { return true }
        if try contact(person, store)?.isBlocked == true { return false }
        if try pendingJoin(through: person, store) != nil { return true }
        return try wasTogether(with: device, of: person, store)
    }

    /// Whether a person may introduce a space that this node does not know or is not in: the person
    /// themselves, accepted contacts, and anyone who was asked to let this person in. Other members
    /// of a common space could introduce any number.
    func mayIntroduce(
        _ space: SpaceID, _ person: PersonID, _ store: some Store
    ) throws(StoreError) -> Bool {
        if try isAccepted(person, store) { return true }
        return try awaits(space, from: person, store)
    }

    /// Whether operations of a space are accepted from this peer: from a member, or a device about
    /// to let itself in; and before this device is a member, from a peer that may introduce the
    /// space.
    mutating func mayBring(
        _ operations: Operations, _ peer: Bringer, to space: SpaceRecord, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        let roster = try roster(of: space, store)
        if roster?.member(with: peer.device)?.person == peer.person { return true }
        guard let roster, belongs(to: roster) else {
            return try mayIntroduce(space.id, peer.person, store)
        }
        if letsItselfIn(peer.device, of: peer.person, to: roster) { return true }
        return try bearsOnStanding(of: peer, operations, in: space, at: now, store)
    }

    /// Whether operations from a former member are relevant: they make or keep the sender a member, or let
    /// the sender be told why they are not. A sender may take themselves for a member because of an
    /// operation that nobody else holds: they have revoked the device that left for them, or the
    /// member who admitted them again is out as well, or lost. So only operations are kept that let
    /// the sender be told something, and each thing is told once.
    private mutating func bearsOnStanding(
        of peer: Bringer, _ operations: Operations, in space: SpaceRecord, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        let runs = operations.runs.filter { $0.lane == .control }
        let bears = runs.contains { run in
            run.operations.contains { $0.admits(peer.person) || $0.takesRights }
        }
        guard bears,
            let graph = rosters.judges[space.number]?.graph
        else { return false }
        // Credit pays for none of this, and everything may have to be processed again.
        let work = Self.standingWork + Self.standingWorkEach * UInt64(graph.count)
        guard peers.allowances.take(work, for: peer.person, at: now.monotonic) == .fine else {
            try count(.tooManyFrames, store)
            return false
        }
        var parts: [ControlPart] = []
        for run in runs {
            let name = OperationHash.log(space: space.id, device: run.device, lane: run.lane)
            let log = try store.log(LogTag(name), in: space.number)
            // What cannot be verified says nothing here; it is not counted twice.
            let pieces = try? Self.verify(run, in: space.id, against: log, limit: nil)
            parts += (pieces ?? []).map { ControlPart($0.operations, by: run.device) }
        }
        if parts.isEmpty { return false }
        var more = graph
        more.add(parts)
        let roster = more.roster()
        return roster.member(with: peer.device)?.person == peer.person
            || letsItselfIn(peer.device, of: peer.person, to: roster)
            || more.tells(peer.device, of: peer.person, moreThan: graph)
    }

    /// Units of work for finding out what operations of a former member mean, and for each
    /// operation of lane 0.
    private static let standingWork: UInt64 = 100
    private static let standingWorkEach: UInt64 = 8

    /// Accepts a space that a peer introduces, only its lane 0 until this device is in it and its
    /// person has accepted.
    ///
    /// - Returns: why it is not taken in, or nil.
    mutating func adopt(
        _ id: SpaceID, from run: Run, by peer: Bringer, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Refusal? {
        guard run.lane == .control, run.first == 0,
            try mayIntroduce(id, peer.person, store)
        else { return .foreignSpace }
        // Before anything is verified or stored.
        // What cannot be read begins no space.
        let claimed = run.operations.first?.payload.flatMap { try? Genesis(payload: $0) }
        guard let claimed else { return .foreignSpace }
        guard try hasRoomToAdopt(id, claimed.kind, from: peer.person, at: now, store) else {
            return .invitation
        }
        // What proves nothing makes no space, whatever is wrong with it.
        let verified = try? OperationVerifier.verify(run, in: id, held: [])
        guard let first = verified?.first?.operations.first else { return .foreignSpace }
        var graph = ControlGraph(space: id)
        graph.add(first, by: run.device)
        let roster = graph.roster()
        guard roster.contains(run.device) else { return .foreignSpace }
        // Members of a group may come later; the others begin with all persons that they will have.
        switch roster.kind {
        case .group: break
        case .direct:
            guard roster.member(identity.person) != nil, roster.member(peer.person) != nil,
                try mayReturn(id, roster, store)
            else { return .foreignSpace }
        case .own:
            guard roster.member(identity.person) != nil, peer.person == identity.person else {
                return .foreignSpace
            }
        }
        let space = try store.addSpace(id, kind: roster.kind)
        if roster.kind == .own, ownSpace == nil { ownSpace = space }
        rosters.judges[space.number] = Judge(ControlGraph(space: id))
        try noteAdopted(space, from: peer.person, at: now, store)
        try restoreEnds(in: space, store)
        return nil
    }
}

extension Operation {
    /// Whether it may take rights from somebody: from whoever put its author out, as it may be.
    fileprivate var takesRights: Bool { [.removeMember, .setRole].contains(header.kind) }

    /// Whether it may let this person in, or devices of theirs, or change which of these there are.
    fileprivate func admits(_ person: PersonID) -> Bool {
        // What does not parse changes no roster.
        (try? admitted()) == person
    }

    private func admitted() throws(ControlRejection) -> PersonID? {
        guard let payload else { return nil }
        return switch header.kind {
        case .addMember: try AddMember(payload: payload).newcomer.person
        case .redeem: try Redeem(payload: payload).newcomer.person
        case .ident: try Ident(payload: payload).person
        default: nil
        }
    }
}
