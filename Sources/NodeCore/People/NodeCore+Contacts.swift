import ParleyReconciliation
import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NodeCore {
    /// Whether a person may talk to this node as somebody it knows: oneself, and accepted contacts.
    func isAccepted(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        if person == identity.person { return true }
        return try contact(person, store)?.isAccepted ?? false
    }

    /// The note about a person, or nil.
    func contact(_ person: PersonID, _ store: some Store) throws(StoreError) -> Contact? {
        guard let ownSpace else { return nil }
        return try Overview.contact(person, ownSpace: ownSpace.number, in: store)
    }

    /// Creates the direct conversation with a person unless there is one. Of two people who meet by
    /// an invite only the guest does, so that there is one and not two.
    mutating func meet(_ person: PersonID, _ identity: [[UInt8]], _ turn: inout some Turn)
        throws(StoreError)
    {
        if try directSpace(with: person, turn.store) != nil { return }
        let space = try createSpace(
            .direct,
            with: [
                Founder(
                    person: person, role: .owner,
                    name: try CardReader.name(of: person, turn.store), identity: identity,
                    prekeys: try prekeys(of: person, turn.store))
            ], &turn)
        if let usual = try Overview.usualLifetime(ownSpace: ownSpace?.number, in: turn.store) {
            _ = try write([MessageLifetime(seconds: usual).draft], in: space, &turn)
        }
    }

    /// A direct conversation with a person, or nil.
    mutating func directSpace(
        with person: PersonID, _ store: some Store
    ) throws(StoreError) -> SpaceRecord? {
        for space in try spaces(naming: person, store) where space.kind == .direct {
            if try roster(of: space, store)?.member(person) != nil { return space }
        }
        return nil
    }

    /// So often is another one drawn for a conversation that may not be the first of the two.
    private static let drawCount = 4_096

    /// The beginning with the greatest name among many. Of two conversations of the same two people
    /// the one with the smaller name continues: that should be the one that existed before.
    private static func last(
        of first: Genesis, at wall: UInt64, _ drawn: () -> Genesis
    ) -> Genesis {
        var best = (genesis: first, space: first.space(at: wall))
        for _ in 1..<drawCount {
            let genesis = drawn()
            let space = genesis.space(at: wall)
            if space > best.space { best = (genesis, space) }
        }
        return best.genesis
    }

    func ownFounder(_ store: some Store) throws(StoreError) -> Founder {
        Founder(
            person: identity.person, role: .owner,
            name: try CardReader.name(of: identity.person, store), identity: identity.operations,
            prekeys: try prekeys(of: identity.person, store))
    }

    /// A new space with these persons and oneself as its owner.
    mutating func createSpace(
        _ kind: SpaceKind, with others: [Founder], name: String = "", _ turn: inout some Turn
    ) throws(StoreError) -> SpaceRecord {
        let founders = others + [try ownFounder(turn.store)]
        func drawn() -> Genesis {
            Genesis(
                kind: kind, creator: identity.device, random: turn.random.bytes(16),
                founders: founders, name: name)
        }
        var genesis = drawn()
        if kind == .direct, identity.cameBack {
            genesis = Self.last(of: genesis, at: turn.now.wall, drawn)
        }
        let space = try turn.store.addSpace(genesis.space(at: turn.now.wall), kind: kind)
        let author = LogAuthor(
            key: identity.key, space: space, authority: 0, wallClock: turn.now.wall)
        let applied = try author.append([genesis.draft()], to: turn.store, using: &turn.random)
        try noteWords(applied, in: space, turn.store)
        // Nobody holds more of a space that was created a moment ago.
        peers.confirmations.confirm(space.number)
        turn.emit(.commitFully)
        turn.emit(.changed([.conversation(space.number)]))
        guard let roster = try roster(of: space, turn.store) else {
            preconditionFailure("a genesis that was just written makes a roster")
        }
        precondition(belongs(to: roster), "who makes a space is in it")
        try noteNamings(in: space, instead: nil, turn.store)
        try share(space, &turn)
        precondition(applied.count == 1, "a genesis is one operation")
        // A group gets its epoch with its members.
        if kind != .group { try mint(in: space, &turn) }
        return space
    }
}
