import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Nobody is put into a group without accepting it.
/// Source: `Protocol/08-roster.md`, "Consent".
extension NodeCore {
    /// Pending invitations, from one person and in all.
    static let invitationCountMax = (ofOne: 16, inAll: 64)
    /// Conversations of two with one person: each of their devices may begin one while apart.
    static let directCountMax = 8
    /// Conversations that one person may bring in an hour.
    static let adoptionCountMax: UInt64 = 64
    private static let adoptionInterval: UInt64 = 3_600_000
    /// Bytes of a control log that are kept before the person has accepted.
    static let unacceptedByteCountMax: UInt64 = 1 << 20
    /// What is accepted without asking is accepted this long after it was heard of: the rest of the
    /// control log, with what this device may have said there before, comes first. In milliseconds.
    static let acceptanceDelay: UInt64 = 1_000
    private static let acceptanceRetry: UInt64 = 30_000
    /// An invitation that was withdrawn is forgotten once no more of its control log has arrived
    /// for this long: the last part may restore it. In milliseconds.
    private static let withdrawalDelay: UInt64 = 60_000

    // MARK: What is taken in

    /// Whether a person may introduce one more space. Spaces from own devices, and those that were
    /// requested, do not count.
    ///
    /// - Parameter kind: what the space claims to be; nothing is proven yet.
    mutating func hasRoomToAdopt(
        _ space: SpaceID, _ kind: SpaceKind, from person: PersonID, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        if try isOwnWish(space, from: person, store) { return true }
        if let known = try adoptions(of: person, at: now, store),
            known.count >= Self.adoptionCountMax
        {
            return false
        }
        // Somebody who fills the pending invitations must not keep new contacts from their
        // conversation of two.
        guard kind == .group else {
            return try directCount(with: person, store) < Self.directCountMax
        }
        let waiting = try Invitation.all(in: store).filter {
            $0.invitation.state != .over && $0.invitation.bringer != identity.person
        }
        return waiting.count < Self.invitationCountMax.inAll
            && waiting.count { $0.invitation.bringer == person } < Self.invitationCountMax.ofOne
    }

    /// How many conversations of two there are with a person.
    private func directCount(
        with person: PersonID, _ store: some Store
    ) throws(StoreError) -> Int {
        // Nothing is proven of the new one yet: of others nothing is read but what is noted of the person.
        var count = 0
        for naming in try store.spaces(naming: person) where naming.isShared {
            if try store.space(naming.space)?.kind == .direct { count += 1 }
        }
        return count
    }

    /// A space was taken in that somebody brought.
    func noteAdopted(
        _ space: SpaceRecord, from person: PersonID, at now: Instant, _ store: some Store
    ) throws(StoreError) {
        if try !isOwnWish(space.id, from: person, store) {
            var known =
                try adoptions(of: person, at: now, store)
                ?? AdoptionCount(since: now.wall, count: 0)
            known.count += 1
            try store.setValue(known.bytes, .adoption, person.bytes)
        }
        guard space.kind == .group else { return }
        let invitation = Invitation(broughtBy: person, since: now.wall)
        try store.setValue(invitation.bytes, .invitation, space.id.bytes)
    }

    private func isOwnWish(
        _ space: SpaceID, from person: PersonID, _ store: some Store
    ) throws(StoreError) -> Bool {
        if person == identity.person { return true }
        return try awaits(space, from: person, store)
    }

    private func adoptions(
        of person: PersonID, at now: Instant, _ store: some Store
    ) throws(StoreError) -> AdoptionCount? {
        guard let known = try store.value(.adoption, person.bytes).flatMap(AdoptionCount.init),
            now.wall >= known.since, now.wall - known.since < Self.adoptionInterval
        else { return nil }
        return known
    }

    /// Whether more of a control log that a person delivers is kept: everything once this person
    /// has accepted, or if own devices hold it or it was requested.
    mutating func mayGrow(
        _ space: SpaceRecord, from person: PersonID, on link: LinkID?, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard space.kind == .group, person != identity.person,
            try store.value(.join, space.id.bytes) == nil,
            let known = try Invitation.into(space.id, in: store)
        else { return true }
        // A declined invitation stays, and a person who is added again has to hear of it.
        if known.state == .over, try !isTakenBack(space, store) { return true }
        // What waits for causes that do not come is kept no better than what there is no room for.
        let unconnected = link.flatMap { peers.links[$0]?.unconnected[space.number] } ?? 0
        return known.byteCount + unconnected < Self.unacceptedByteCountMax
    }

    /// Notes how much of a control log is kept, as long as the person has not accepted.
    func noteGrown(
        _ space: SpaceRecord, by byteCount: UInt64, _ store: some Store
    ) throws(StoreError) {
        guard space.kind == .group, byteCount > 0,
            var known = try Invitation.into(space.id, in: store)
        else { return }
        known.byteCount += min(byteCount, Self.unacceptedByteCountMax)
        try store.setValue(known.bytes, .invitation, space.id.bytes)
    }

    // MARK: What waits

    /// Looks how the person stands in a group whose roster changed.
    mutating func heedInvitation(to number: SpaceNumber, _ turn: inout some Turn) throws(StoreError)
    {
        guard let space = try turn.store.space(number), space.kind == .group,
            let roster = try roster(of: space, turn.store)
        else { return }
        let before = try Invitation.into(space.id, in: turn.store)
        var after = before
        if roster.takesPart(identity.person) {
            after = nil
        } else if roster.isInvited(identity.person) {
            var invitation = before ?? Invitation(broughtBy: identity.person, since: turn.now.wall)
            if invitation.state != .waiting { invitation.since = turn.now.wall }
            invitation.state = .waiting
            try describe(&invitation, into: space, roster, turn.store)
            after = invitation
        } else if !roster.devicesEver(of: identity.person).isEmpty {
            after?.state = .over
            // What the person was in stands here as on the device that brought it.
            if rosters.judges[number]?.graph.hadAccepted(identity.person) == true,
                try !isDeleted(space, turn.store)
            {
                after = nil
            }
        }
        guard after != before else { return }
        if let after, after.state == .over, try isForgettable(space, turn.store) {
            watchWithdrawal(of: after, into: number, &turn)
        }
        try turn.store.setValue(after?.bytes, .invitation, space.id.bytes)
        turn.emit(.changed([.invitation(space.id)]))
        if after?.state == .waiting { try awaitInvitations(&turn) }
    }

    /// Whether the person is out of a group by nobody's word but others'.
    private mutating func isTakenBack(
        _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        try prepare(space, store)
        return rosters.judges[space.number]?.graph.leavers(of: identity.person).isEmpty == true
    }

    /// Whether nothing of an invitation that is over is to stay: it was taken back, or own devices
    /// brought a group that was deleted here.
    private mutating func isForgettable(
        _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        if try isTakenBack(space, store) { return true }
        return try isDeleted(space, store)
    }

    /// Checks again later, when everything in transit has arrived: a long control log comes in
    /// parts, and one part may remove a person whom a later one admits again.
    private mutating func watchWithdrawal(
        of invitation: Invitation, into number: SpaceNumber, _ turn: inout some Turn
    ) {
        people.withdrawnInvitations.watch(number, holding: invitation.byteCount)
        timers.set(.takenBack(number), in: Self.withdrawalDelay, &turn)
    }

    /// Continues at the start with invitations that were withdrawn.
    mutating func resumeWithdrawals(_ turn: inout some Turn) throws(StoreError) {
        for (id, invitation) in try Invitation.all(in: turn.store) where invitation.state == .over {
            guard let space = try turn.store.space(id) else { continue }
            watchWithdrawal(of: invitation, into: space.number, &turn)
        }
    }

    /// Forgets an invitation that was withdrawn before it was answered: it concerns nobody here.
    mutating func forgetWithdrawnInvitation(
        into number: SpaceNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        let heldBefore = people.withdrawnInvitations.endWatch(of: number)
        guard let space = try turn.store.space(number) else { return }
        try prepare(space, turn.store)
        guard let known = try Invitation.into(space.id, in: turn.store), known.state == .over,
            try isForgettable(space, turn.store)
        else { return }
        guard known.byteCount == heldBefore else {
            return watchWithdrawal(of: known, into: number, &turn)
        }
        let isDeleted = try isDeleted(space, turn.store)
        let isOthers = try holdsControlOfOthersAlone(space, turn.store)
        if isDeleted || isOthers {
            try remove(space, &turn)
        }
    }

    /// Whether nothing is held of a space except what others wrote into its control log. A person
    /// who was in it before keeps what they had, and where their own logs ended.
    func holdsControlOfOthersAlone(
        _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        try store.logs(in: space.number).allSatisfy {
            $0.end == 0 || $0.lane == .control && $0.device != identity.device
        }
    }

    /// Reads the inviter and the group's name.
    private func describe(
        _ invitation: inout Invitation, into space: SpaceRecord, _ roster: Roster,
        _ store: some Store
    ) throws(StoreError) {
        invitation.memberCount = UInt64(roster.members.count)
        guard let found = rosters.judges[space.number]?.graph.invitation(of: identity.person) else {
            return
        }
        invitation.inviter = found.inviter
        guard let log = try store.log(found.place.tag, in: space.number),
            let operation = try store.operation(at: found.place.sequence, in: log.number),
            let payload = operation.operation.payload
        else { return }
        if operation.operation.header.kind == .genesis {
            // What does not parse admits nobody.
            invitation.name = (try? Genesis(payload: payload))?.name ?? ""
        } else {
            // Likewise.
            invitation.name = (try? AddMember(payload: payload))?.conversation ?? ""
        }
    }

    /// Sees to it that what needs no answer is accepted, soon.
    mutating func awaitInvitations(_ turn: inout some Turn) throws(StoreError) {
        for (space, invitation) in try Invitation.waiting(in: turn.store)
        where try isUnasked(invitation, into: space, turn.store) {
            return timers.set(.invitations, in: Self.acceptanceDelay, &turn)
        }
    }

    /// Accepts what needs no answer.
    mutating func answerInvitations(_ turn: inout some Turn) throws(StoreError) {
        for (id, invitation) in try Invitation.waiting(in: turn.store)
        where try isUnasked(invitation, into: id, turn.store) {
            guard try mayWrite(turn.store), try canWrite(in: id, turn.store) else {
                return timers.set(.invitations, in: Self.acceptanceRetry, &turn)
            }
            _ = try acceptInvitation(to: id, &turn)
        }
    }

    private func canWrite(in id: SpaceID, _ store: some Store) throws(StoreError) -> Bool {
        try store.space(id).map { space throws(StoreError) in
            try holdsOwnControl(of: space, store)
        } ?? false
    }

    /// Whether an invitation is accepted without asking: the person wants to come there by a link, or
    /// lets contacts add them.
    private func isUnasked(
        _ invitation: Invitation, into space: SpaceID, _ store: some Store
    ) throws(StoreError) -> Bool {
        if try store.value(.join, space.bytes) != nil { return true }
        guard let ownSpace,
            try Overview.additionPolicy(ownSpace: ownSpace.number, in: store) == .contacts
        else { return false }
        return try isAccepted(invitation.inviter, store)
    }

    // MARK: What a person decides

    mutating func acceptInvitation(to id: SpaceID, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        switch try invitation(to: id, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let space):
            _ = try write([Accept().draft()], in: space, &turn)
            try follow(space, &turn)
            try openEpochs(in: space, &turn)
            // From here on the person's keys are their own: none that was sealed to them unasked.
            try mint(in: space, &turn)
            watchDevices(&turn)
            return .success(.done)
        }
    }

    mutating func declineInvitation(to id: SpaceID, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        switch try invitation(to: id, turn.store) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let space):
            // The members read there that this person declines.
            try openEpochs(in: space, isDeclining: true, &turn)
            try changeRoster([Leave().draft()], in: space, &turn)
            return .success(.done)
        }
    }

    /// A group that waits for this person's answer, which this device may give.
    private mutating func invitation(
        to id: SpaceID, _ store: some Store
    ) throws(StoreError) -> Result<SpaceRecord, CommandRefusal> {
        guard let space = try conversation(id, store) else { return .failure(.unknownConversation) }
        guard let roster = try roster(of: space, store), roster.isInvited(identity.person) else {
            return .failure(.notInvited)
        }
        guard isListed(in: roster) else { return .failure(.notMemberYet) }
        guard try holdsOwnControl(of: space, store) else { return .failure(.rejoining) }
        return .success(space)
    }

    mutating func set(_ policy: AdditionPolicy, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        guard let ownSpace else { return .failure(.unknownConversation) }
        let known = try Overview.additionPolicy(ownSpace: ownSpace.number, in: turn.store)
        guard policy != known else { return .success(.done) }
        _ = try write([policy.draft()], in: ownSpace, &turn)
        return .success(.done)
    }
}
