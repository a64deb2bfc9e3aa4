import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// Who may talk to this node, and bring it new spaces.
extension NodeCore {
    /// Whether a person was in a space with this one: they are let in for as long as it takes to tell
    /// them that they are no longer.
    mutating func wasTogether(
        with peer: LinkPeer, _ store: some Store
    ) throws(StoreError) -> Bool {
        if try contact(peer.person, store)?.isBlocked == true { return false }
        for space in try store.spaces() where space.kind != .own {
            if try scope(of: space, with: peer, store) != nil { return true }
        }
        return false
    }

    /// Whether a peer is talked to.
    mutating func mayTalk(_ peer: LinkPeer, _ store: some Store) throws(StoreError) -> Bool {
        if try mayLink(peer.person, store) { return true }
        if try pendingJoin(through: peer.person, store) != nil { return true }
        return try wasTogether(with: peer, store)
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

    /// Takes in a space that somebody introduces, its lane 0 alone until this device is in it.
    mutating func adopt(
        _ id: SpaceID, from run: Run, by peer: Bringer, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard run.lane == .control, run.first == 0,
            peer.link.map({ links[$0]?.adoptedCount ?? 0 < Self.introducedCountMax }) ?? true,
            try mayIntroduce(id, peer.person, store),
            // What proves nothing makes no space, whatever is wrong with it.
            let first = try? OperationVerifier.verify(run, in: id, held: []).first?.operations
                .first
        else { return false }
        var graph = ControlGraph(space: id)
        graph.add(first, by: run.device)
        let roster = graph.roster()
        guard roster.contains(run.device) else { return false }
        // Members of a group may come later; the others begin with all persons that they will have.
        switch roster.kind {
        case .group: break
        case .direct:
            guard roster.member(identity.person) != nil, roster.member(peer.person) != nil else {
                return false
            }
        case .own:
            guard roster.member(identity.person) != nil, peer.person == identity.person else {
                return false
            }
        }
        if let link = peer.link { links[link]?.adoptedCount += 1 }
        let space = try store.addSpace(id, kind: roster.kind)
        if roster.kind == .own, ownSpace == nil { ownSpace = space }
        judges[space.number] = Judge(ControlGraph(space: id))
        return true
    }
}
