import ParleyLedger
import ParleyNodeCore
import ParleyRoster
public import ParleyWire

/// What a changed program can do about who is in a space, with the valid keys of somebody who is or
/// was in it; and what somebody can do who copied a disk.
extension World {
    /// Goes on writing under the roster that it last was in, and shows that to everybody.
    @discardableResult
    public func writeOn(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try publish(liar, in: space, "still here", at: wall(of: liar))
    }

    /// Changes the roster as if it had seen nothing since a moment of the past: takes others out,
    /// lets accomplices in, raises itself, silences somebody.
    @discardableResult
    public func backdateRoster(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let others = nodes.filter { $0.identity.person != liar.identity.person }
            guard !others.isEmpty else { return false }
            let other = others[Int(liar.randomNumber() % UInt64(others.count))]
            liar.lieCount += 1
            let draft: Draft
            switch liar.lieCount % 4 {
            case 0: draft = RemoveMember(other.identity.person, cut: Cut()).draft()
            case 1:
                draft = AddMember(
                    Newcomer(
                        person: other.identity.person, name: other.name,
                        identity: other.identity.operations), role: .owner
                ).draft()
            case 2: draft = SetRole(liar.identity.person, role: .owner).draft()
            default: draft = SetRole(other.identity.person, role: .reader, cut: Cut()).draft()
            }
            guard
                let run = try forgery.run(
                    draft, at: wall(of: liar), naming: try forgery.momentOfThePast())
            else { return false }
            try forgery.keep(run)
            let victims = victims(of: liar, forgery)
            for victim in victims { show(run, of: space, from: liar, to: victim) }
            return !victims.isEmpty
        }
    }

    /// Signs two changes of the roster at one place and shows each to others.
    @discardableResult
    public func equivocateRoster(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let others = nodes.filter { $0.identity.person != liar.identity.person }
            guard let first = others.first, let last = others.last else { return false }
            return try part(
                forgery, RemoveMember(first.identity.person, cut: Cut()).draft(),
                SetRole(last.identity.person, role: .admin).draft(), of: space)
        }
    }

    /// Somebody copies the disk of a node with all its keys, and runs it elsewhere as well.
    ///
    /// Two devices of one name now write one log: nothing more is promised to either, nor about what
    /// they write.
    ///
    /// - Returns: the node of the thief.
    /// - Throws: whatever the store's copy does.
    @discardableResult
    public func steal(_ node: SimulatedNode) throws -> SimulatedNode {
        let index = nodes.count
        let thief = try observe {
            try SimulatedNode(
                copying: node, name: "thief of \(node.name)", seed: seed, index: index)
        }
        node.distrust()
        thief.world = self
        nodes.append(thief)
        offer(.started, to: index)
        return thief
    }
}

extension Forgery {
    /// One control operation of somebody else, whichever: who names it claims to have seen none that
    /// came later.
    func momentOfThePast() throws(StoreError) -> [OperationReference] {
        let logs = try liar.store.logs(in: space.number).filter {
            $0.lane == .control && $0.end > 0 && $0.device != liar.identity.device
        }
        guard !logs.isEmpty else { return [] }
        let log = logs[Int(liar.randomNumber() % UInt64(logs.count))]
        let place = liar.randomNumber() % log.end
        guard let named = try liar.store.operation(at: place, in: log.number) else { return [] }
        return [OperationReference(tag: log.tag, sequence: place, check: named.id.check)]
    }
}
