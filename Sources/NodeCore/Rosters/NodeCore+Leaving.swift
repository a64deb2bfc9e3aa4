import ParleyConversation
public import ParleyLedger
import ParleyReconciliation
public import ParleyRoster
public import ParleyWire

/// Who is known to have the Leave that this device wrote for its person, and that nobody else has made
/// needless.
public struct ToldLeave: Equatable, Sendable {
    /// Devices that said that they have it, ascending.
    public var devices: [DeviceID] = []
    /// Relays that have it on their disks, ascending.
    public var relays: [NoiseKey] = []
}

/// Whether the others know that this device left a group for its person: who is out is told nothing of
/// what they write, except that a member who is linked acknowledges that they are out.
extension NodeCore {
    /// Who has the Leave with which this device took its person out; nil if it did not, or if the others
    /// know from somebody else that they are out.
    ///
    /// - Parameter roster: that of the space.
    public func toldLeave(
        _ space: SpaceRecord, _ roster: Roster, _ store: some Store
    ) throws(StoreError) -> ToldLeave? {
        guard let (leave, log) = try ownLeave(in: space, roster, store) else { return nil }
        let judge: Judge
        if let known = rosters.judges[space.number] {
            judge = known
        } else {
            judge = try RosterReader.judge(of: space, in: store)
        }
        let expulsions = judge.graph.expulsions(of: identity.person, limit: 2)
        guard expulsions == [leave.id] else { return nil }
        var told = ToldLeave()
        for mark in try store.marks(.acknowledged, in: space.number)
        where mark.tag == log.tag && mark.places.contains(leave.sequence) {
            let device = DeviceID(reinterpreting: mark.actor)
            if roster.person(of: device) != nil { told.devices.append(device) }
        }
        for (key, value) in try store.values(.outbox) {
            guard let relay = Outbox.relay(of: key, space.id, log.tag),
                let entry = Outbox.Entry(value), entry.end > leave.sequence
            else { continue }
            told.relays.append(relay)
        }
        told.devices.sort()
        told.relays.sort()
        return told
    }

    /// The last control operation of this device, if that is a Leave and its person is out.
    private func ownLeave(
        in space: SpaceRecord, _ roster: Roster, _ store: some Store
    ) throws(StoreError) -> (StoredOperation, LogRecord)? {
        guard space.kind == .group, roster.member(identity.person) == nil else { return nil }
        let name = OperationHash.log(space: space.id, device: identity.device, lane: .control)
        guard let log = try store.log(LogTag(name), in: space.number), log.end > 0,
            let last = try store.operation(at: log.end - 1, in: log.number),
            last.operation.header.kind == .leave
        else { return nil }
        return (last, log)
    }

    /// Whether a device says how far it holds own logs of a space: one of those that share all of it; one of
    /// somebody who is asked into it, of lane 0; and of a
    /// space that this person is out of the members' and the own ones that were in it.
    mutating func mayAcknowledge(
        _ peer: LinkPeer, in space: SpaceRecord, on id: LinkID, _ store: some Store
    ) throws(StoreError) -> Bool {
        if peers.links[id]?.session?.shares(space.number) == true { return true }
        guard peers.links[id]?.session?.knows(space.number) == true,
            let roster = try roster(of: space, store)
        else { return false }
        guard roster.member(identity.person) == nil else { return roster.isGuest(peer.device) }
        return roster.member(with: peer.device)?.person == peer.person
            || peer.person == identity.person
                && roster.person(of: peer.device) == identity.person
    }

    /// A linked device holds the same of lane 0, up to what took this person out. So it has the Leave, which it
    /// may have from others, or could not acknowledge because the link ended.
    mutating func heardLeave(
        in space: SpaceRecord, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let peer = peers.links[id]?.peer,
            try mayAcknowledge(peer, in: space, on: id, turn.store),
            let judge = rosters.judges[space.number],
            let (leave, log) = try ownLeave(in: space, judge.roster, turn.store),
            judge.graph.departure(of: identity.device, identity.person).contains(where: {
                $0.tag == log.tag && $0.sequence >= leave.sequence
            })
        else { return }
        let last = OperationReference(
            tag: log.tag, sequence: leave.sequence, check: leave.id.check)
        try turn.store.acknowledge(last, by: peer.device, in: space.number)
        turn.emit(.changed([.receipts(space.number)]))
    }
}
