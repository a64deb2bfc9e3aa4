import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

// How people come into groups by a link: `Protocol/05-identity.md`, "Links into groups".
extension NodeCore {
    /// Opens an invite into a group; the reply names its operation.
    mutating func openGroupInvite(
        _ secret: [UInt8], role: Role, uses: UInt32, until expires: UInt64, to id: SpaceID,
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        switch try changeable(id, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (space, roster, own)):
            guard roster.allows(.invite, to: own), role <= .member else {
                return .failure(.notAllowed)
            }
            guard (1...GroupInvite.useCountMax).contains(uses) else {
                return .failure(.tooManyUses(limit: Int(GroupInvite.useCountMax)))
            }
            guard roster.invites.count < Limits.openInviteCountMax else {
                return .failure(.tooManyInvites(limit: Limits.openInviteCountMax))
            }
            let invite = GroupInvite.open(
                key: GroupLink.key(of: secret).device, role: role, uses: uses, expires: expires)
            try changeRoster([invite.draft()], in: space, &turn)
            let key = GroupLink.key(of: secret).device
            let made = try self.roster(of: space, turn.store)?.invites.first { $0.key == key }
            return made.map { .success(.operation($0.operation)) } ?? .failure(.notAllowed)
        }
    }

    /// Ends an invite into a group.
    mutating func endGroupInvite(_ invite: OperationID, of id: SpaceID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        switch try changeable(id, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (space, roster, own)):
            let found = roster.invites.first { $0.operation == invite }
            // A member ends the links that they made.
            let isOwn = found?.inviter == own.person && roster.allows(.invite, to: own)
            guard own.role >= .admin || isOwn else { return .failure(.notAllowed) }
            guard found != nil else { return .failure(.unknownInvite) }
            try changeRoster([GroupInvite.end(invite).draft()], in: space, &turn)
            return .success(.done)
        }
    }

    // MARK: The guest

    /// Records that the person wants to join, and looks for a member who can let them in.
    mutating func join(_ link: GroupLink, _ turn: inout some Turn) throws(StoreError) -> Result<
        CommandReply, CommandRefusal
    > {
        guard turn.now.wall < link.expires else { return .failure(.expired) }
        guard let (card, _) = CardReader.verified(link.card) else {
            return .failure(.unknownPerson)
        }
        guard card.person != identity.person else { return .failure(.ownInvite) }
        if let space = try turn.store.space(link.space) {
            let roster = try roster(of: space, turn.store)
            if belongs(to: roster) { return .failure(.alreadyMember) }
            if isListed(in: roster) {
                return try acceptInvitation(to: space.id, &turn)
            }
        }
        if try contact(card.person, turn.store)?.isBlocked == true { return .failure(.blocked) }
        let known = try turn.store.values(.join).count
        guard known < Limits.openInviteCountMax else {
            return .failure(.tooManyInvites(limit: Limits.openInviteCountMax))
        }
        try keep(card, &turn)
        try PendingJoin.forgetRefused(of: link.space, at: turn.now.wall, turn.store)
        try turn.store.setValue(link.bytes, .join, link.space.bytes)
        turn.emit(.commitFully)
        turn.emit(.linksChanged)
        for id in peers.links.keys.sorted()
        where peers.links[id]?.peer.person == card.person && peers.links[id]?.isEnding == false {
            try introduce(on: id, &turn)
        }
        try seek(card.person, &turn)
        return .success(.done)
    }

    /// Records that the person no longer wants to join. A member who was shown the request before
    /// may let them in all the same.
    mutating func withdrawJoin(of space: SpaceID, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        let keys = [space.bytes, PendingJoin.refusedKey(space)]
        var isKnown = false
        for key in keys where try turn.store.value(.join, key) != nil {
            isKnown = true
            try turn.store.setValue(nil, .join, key)
        }
        guard isKnown else { return .failure(.unknownInvite) }
        turn.emit(.commitFully)
        turn.emit(.linksChanged)
        return .success(.done)
    }

    /// The group that one wants to come into with the help of this person, or nil.
    func pendingJoin(
        through person: PersonID, _ store: some Store
    ) throws(StoreError) -> GroupLink? {
        // The card was verified before the link was kept, and this is asked at every letter and card.
        try PendingJoin.all(store).first { CardReader.claimed($0.card)?.person == person }
    }

    /// What shows this member that one was invited, and wants to come; nil where one does not.
    func wish(
        through person: PersonID, _ store: some Store
    ) throws(StoreError) -> Introduction.Join? {
        guard let link = try pendingJoin(through: person, store) else { return nil }
        return try wish(link, store)
    }

    private func wish(
        _ link: GroupLink, _ store: some Store
    ) throws(StoreError) -> Introduction.Join? {
        let departures = try departures(from: link.space, store)
        let signature = Redeem.signature(
            to: link.invite, in: link.space, for: identity.person, identity.device,
            with: GroupLink.key(of: link.secret))
        let consent = Redeem.consent(
            to: link.invite, in: link.space, for: identity.person, after: departures,
            with: identity.key)
        guard let signature = SignatureBytes(signature.bytes),
            let consent = SignatureBytes(consent.bytes)
        else { return nil }
        return Introduction.Join(
            space: link.space, invite: link.invite, signature: signature, consent: consent,
            departures: departures)
    }

    /// What took the person out of a group, as far as it is known here.
    private func departures(
        from id: SpaceID, _ store: some Store
    ) throws(StoreError) -> [OperationID] {
        if let space = try store.space(id) {
            let judge =
                if let judge = rosters.judges[space.number] { judge } else {
                    try RosterReader.judge(of: space, in: store)
                }
            return judge.graph.expulsions(of: identity.person, limit: Limits.departureCountMax)
        }
        // A group that was deleted here is known by the earlier record.
        guard let ownSpace else { return [] }
        let said = try Overview.preference(
            .deleted, about: id.bytes, ownSpace: ownSpace.number, in: store)
        return said.flatMap(Deletion.init)?.expulsions ?? []
    }

    /// Whether a space may come from this person although they are no contact.
    func awaits(
        _ space: SpaceID, from person: PersonID, _ store: some Store
    ) throws(StoreError) -> Bool {
        try PendingJoin.all(store).contains {
            $0.space == space && CardReader.claimed($0.card)?.person == person
        }
    }

    /// Forgets the wishes that came true.
    mutating func settleJoins(_ turn: inout some Turn) throws(StoreError) {
        for link in try PendingJoin.all(turn.store) + PendingJoin.refused(turn.store) {
            guard let space = try turn.store.space(link.space),
                try belongs(to: space, turn.store)
            else { continue }
            try turn.store.setValue(nil, .join, link.space.bytes)
            try turn.store.setValue(nil, .join, PendingJoin.refusedKey(link.space))
            turn.emit(.linksChanged)
        }
    }

    /// The asked member refuses: the invite was used up, has ended or expired.
    func joinRefused(by person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        guard let link = try pendingJoin(through: person, turn.store) else { return }
        try turn.store.setValue(nil, .join, link.space.bytes)
        // It is kept to be told, and shown to nobody again.
        try turn.store.setValue(link.bytes, .join, PendingJoin.refusedKey(link.space))
        try count(.ownInvite, turn.store)
        turn.emit(.linksChanged)
        turn.emit(.changed([.contact(person)]))
    }

    // MARK: The sponsor

    /// Lets somebody in who shows that they have a link.
    mutating func sponsor(
        _ join: Introduction.Join, _ card: Card, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) -> Sponsored {
        guard try mayWrite(turn.store), let peer = peers.links[id]?.peer,
            let space = try turn.store.space(join.space),
            try chargeReading(rosterOf: space, peer.person, at: turn.now, turn.store),
            let roster = try roster(of: space, turn.store)
        else { return .later }
        // A former member lets nobody in any more, and neither do their other devices.
        guard belongs(to: roster) else { return isListed(in: roster) ? .later : .refused }
        if roster.member(with: peer.device)?.person == peer.person { return .isMember }
        guard let invite = roster.invites.first(where: { $0.operation == join.invite }) else {
            // This device may soon hear of what it has not heard of yet.
            let isKnown = rosters.judges[space.number]?.graph.reason(of: join.invite) != nil
            return isKnown ? .refused : .later
        }
        guard turn.now.wall < invite.expires, roster.member(peer.person) == nil,
            roster.members.count < Limits.memberCountMax,
            rosters.judges[space.number]?.graph.mayCome(
                peer.person, by: join.invite, after: join.departures) == true,
            let signature = Signature(join.signature.bytes),
            let consent = Signature(join.consent.bytes)
        else { return .refused }
        let newcomer = Newcomer(
            person: peer.person, name: card.name, identity: card.identity,
            prekeys: card.parts.flatMap(\.prekeys),
            horizon: try horizon(by: roster.history, in: space, at: turn.now, turn.store))
        let redeem = Redeem(
            invite: join.invite, newcomer: newcomer, device: peer.device, signature: signature,
            departures: join.departures, consent: consent)
        guard redeem.isProven(in: space.id, by: invite.key), redeem.isWanted(in: space.id),
            Self.refusal(newcomer) == nil
        else { return .refused }
        try changeRoster([redeem.draft()], in: space, &turn)
        guard try self.roster(of: space, turn.store)?.member(peer.person) != nil else {
            return .refused
        }
        try nameAnew(space, for: peer.person, by: roster.history, &turn)
        try deleteAnew(for: peer.person, in: space, &turn)
        return .isMember
    }
}

/// The outcome of somebody's request to join.
enum Sponsored {
    /// They are in now, or were before.
    case isMember
    /// The invite does not hold.
    case refused
    /// This device cannot say: others may.
    case later
}

/// Groups that one wants to come into and is not in yet.
public enum PendingJoin {
    /// Their links, ascending by group.
    public static func all(_ store: some NodeStore) throws(StoreError) -> [GroupLink] {
        try links(store) { $0.count == SpaceID.byteCount }
    }

    /// Refused links, ascending by group, until another one of that group is accepted.
    public static func refused(_ store: some NodeStore) throws(StoreError) -> [GroupLink] {
        try links(store) { $0.count > SpaceID.byteCount }
    }

    private static func links(
        _ store: some NodeStore, _ isWanted: ([UInt8]) -> Bool
    ) throws(StoreError) -> [GroupLink] {
        // Stored values were parsed before.
        try store.values(.join).filter { isWanted($0.key) }.compactMap { try? GroupLink($0.value) }
    }

    /// Behind the key of the wish itself.
    static func refusedKey(_ space: SpaceID) -> [UInt8] { space.bytes + [1] }

    /// Forgets the refused links of a group, and all expired ones.
    static func forgetRefused(
        of space: SpaceID, at time: UInt64, _ store: some NodeStore
    ) throws(StoreError) {
        for link in try refused(store) where link.space == space || link.expires <= time {
            try store.setValue(nil, .join, refusedKey(link.space))
        }
    }
}
