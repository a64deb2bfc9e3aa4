import ParleyWire

// Joining by an invite. Any member may write it down, so nothing in it counts for more than what
// its writer could give, and what the newcomer and the invite's key have signed.
extension Admission {
    func redeem(
        _ redeem: Redeem, _ identities: inout IdentityCache
    ) throws(ControlRejection) -> AuthorityNode {
        try requireGroup()
        let sponsor = try author()
        guard let standing = view.standings[sponsor] else { throw .notInRoster }
        guard let invite = index.byID[redeem.invite], view.holds(invite),
            case .invite(let key, _, _, _) = index[invite].deed,
            !view.lives.isEnded(invite)
        else { throw .unknownInvite }
        let newcomer = redeem.newcomer
        guard view.standings[newcomer.person] == nil else { throw .alreadyMember }
        guard view.usesLeft(of: invite, index) > 0 else { throw .inviteUsedUp }
        let need = need(for: .invite, by: index[invite].author)
        let right = try right(of: index[invite].author, need)
        if candidate.isProofAsked {
            guard redeem.isProven(in: candidate.space, by: key) else { throw .unprovenInvite }
            guard redeem.isWanted(in: candidate.space) else { throw .unwanted }
        }
        if let refusal = view.refusal(
            of: newcomer.person, by: invite, after: redeem.departures, index)
        {
            throw refusal
        }
        let testimony = try testimony(of: newcomer, below: standing.horizon, &identities)
        guard !candidate.isProofAsked || testimony.devices.contains(redeem.device) else {
            throw .unprovenDevices
        }
        let order = order(of: standing, right, invite)
        return try node(
            right, need, .redeem(newcomer.person, invite: invite), order, [testimony], Cut(),
            sponsor: try self.sponsor(sponsor, standing, order))
    }

    /// Where it is heard: as its writer stands, and after the invite. The inviter may stand elsewhere by
    /// now than when they made that.
    private func order(of sponsor: Standing, _ right: Right, _ invite: Int) -> AuthorityKey {
        let made = index[invite].key
        let rank = max(min(max(sponsor.member.rank, right.rank), AuthorityKey.guestRank), made.rank)
        // Of a member's invite: after what let the inviter in as well.
        let inviter = right.role < .admin ? view.standings[right.author]?.age ?? 0 : 0
        return AuthorityKey(
            rank: rank, phase: 1, age: max(sponsor.age, inviter, made.age),
            depth: candidate.past.count, id: candidate.id)
    }

    private func sponsor(
        _ person: PersonID, _ standing: Standing, _ order: AuthorityKey
    ) throws(ControlRejection) -> Sponsor {
        // A newcomer by an invite joined before they admitted others: the earlier one is processed
        // first.
        let grants = standing.heads.filter { index[$0].key < order }
        guard !grants.isEmpty else { throw .noGrant }
        return Sponsor(
            person: person, need: standing.member.role >= .admin ? .admin : .reader,
            grants: grants)
    }
}

extension Resolution {
    /// Why an invite does not readmit a former member, or nil.
    ///
    /// A removed person comes by an invite that was made since. A person who left comes if they say
    /// so once more: they name the Leave, or something later, or the invite itself is later.
    func refusal(
        of person: PersonID, by invite: Int, after departures: [OperationID],
        _ index: AuthorityIndex
    ) -> ControlRejection? {
        let named = departures.compactMap { index.byID[$0] }.filter { index.contains(set, $0) }
        for node in holding(index.about[person])
        where index[node].expels(person) && !index.isInPast(node, of: invite) {
            guard index[node].deed == .leave else { return .removedSince }
            let isNamed = named.contains { $0 == node || index.isInPast(node, of: $0) }
            if !isNamed { return .unwanted }
        }
        return nil
    }
}
