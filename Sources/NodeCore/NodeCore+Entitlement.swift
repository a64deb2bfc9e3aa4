import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// Who may talk to this node, and bring it new spaces.
extension NodeCore {
    /// Whether a person was in a space with this one: they are let in for as long as it takes to tell
    /// them that they are no longer.
    private mutating func wasTogether(
        with device: DeviceID, of person: PersonID, _ store: some Store
    ) throws(StoreError) -> Bool {
        for space in try spaces(naming: person, store) where space.kind != .own {
            // Who was only asked into a group by somebody need not talk to all who are in it.
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

    /// Whether a person may bring this node a space that it does not know or is not in: oneself,
    /// accepted contacts, and who was asked to let one into it. Others in a common space could bring
    /// any number.
    func mayIntroduce(
        _ space: SpaceID, _ person: PersonID, _ store: some Store
    ) throws(StoreError) -> Bool {
        if try isAccepted(person, store) { return true }
        return try awaits(space, from: person, store)
    }

    /// Whether operations of a space are taken from this peer: from who is in it, or is about to let
    /// itself in; and before this device is, from who may introduce it.
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

    /// Whether what somebody brings who is out bears on that: they are in by it, or may be told by it why
    /// they are not. They take themselves for a member by what it may be that nobody else holds: they
    /// have revoked the device that left for them, or who let them in again is out as well by now, or
    /// lost. So nothing is kept but what leaves them something to hear, and they hear each thing once.
    private mutating func bearsOnStanding(
        of peer: Bringer, _ operations: Operations, in space: SpaceRecord, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        let runs = operations.runs.filter { $0.lane == .control }
        guard runs.contains(where: { $0.operations.contains { $0.admits(peer.person) } }),
            let graph = judges[space.number]?.graph
        else { return false }
        // Nothing of it is paid for by credit, and all may have to be heard again.
        let work = Self.standingWork + Self.standingWorkEach * UInt64(graph.count)
        guard allowances.take(work, for: peer.person, at: now.monotonic) == .fine else {
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

    /// Units of work that it costs to find out what something says of who is out, and for each
    /// operation of lane 0.
    private static let standingWork: UInt64 = 100
    private static let standingWorkEach: UInt64 = 8

    /// Takes in a space that somebody introduces, its lane 0 alone until this device is in it and its
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
        judges[space.number] = Judge(ControlGraph(space: id))
        try noteAdopted(space, from: peer.person, at: now, store)
        try restoreEnds(in: space, store)
        return nil
    }
}

extension Operation {
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
