public import ParleyLedger
import ParleyNodeCore
public import ParleyRoster
import ParleySealing
import ParleyWire

/// What a roster follows from: how far each log of lane 0 is held, and what stands there.
struct RosterKey: Hashable {
    struct Log: Hashable {
        var tag: LogTag
        var end: UInt64
        var tip: OperationID
        var fork: UInt64?
    }

    var space: SpaceID
    var logs: [Log]
}

extension SimulatedNode {
    /// Whether it is in a space by what it holds, and has not heard that its person revoked it:
    /// who is revoked is told that, and no more of any space.
    public func belongs(to space: SpaceRecord) throws(StoreError) -> Bool {
        guard try roster(of: space)?.takesPart(identity.device) ?? false else { return false }
        return try !knowsThatItIsRevoked()
    }

    /// Whether it has heard that its person revoked it.
    func knowsThatItIsRevoked() throws(StoreError) -> Bool {
        try knows(thatRevoked: identity.device)
    }

    /// Whether it has heard that its person revoked a device of theirs.
    func knows(thatRevoked device: DeviceID) throws(StoreError) -> Bool {
        try knownIdentity().certificate(of: device) == nil
    }

    /// Its person's identity log as its store has it; read again only where something was stored
    /// since, for that verifies it.
    private func knownIdentity() throws(StoreError) -> IdentityLog {
        let change = store.changeCount
        if let change, let read = identityRead, read.change == change, read.life == life {
            return read.log
        }
        let log = try NodeIdentity.log(in: store) ?? identity.log
        if let change { identityRead = (change, life, log) }
        return log
    }

    /// Who is in a space by what this node holds, as the production code works it out; nil where it
    /// holds no beginning of the space.
    ///
    /// Worked out once for all nodes of a world that hold the same of lane 0.
    public func roster(of space: SpaceRecord) throws(StoreError) -> Roster? {
        guard let world else { return try RosterReader.roster(of: space, in: store) }
        var key = RosterKey(space: space.id, logs: [])
        for log in try store.logs(in: space.number) where log.lane == .control {
            key.logs.append(
                RosterKey.Log(
                    tag: log.tag, end: log.end, tip: log.tip, fork: log.fork?.sequence))
        }
        if let known = world.rosters[key] { return known }
        let roster = try RosterReader.roster(of: space, in: store)
        if world.rosters.count >= World.rosterCountMax { world.rosters = [:] }
        world.rosters[key] = .some(roster)
        return roster
    }
}

extension World {
    /// Whether a device of the person's knows that a node is revoked: the node may not have heard of
    /// it yet, and others tell it nothing more.
    public func isRevoked(_ node: SimulatedNode) throws -> Bool {
        try nodes.contains { other in
            try other.identity.person == node.identity.person
                && other.knows(thatRevoked: node.identity.device)
        }
    }
}
