import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NodeCore {
    mutating func start(_ turn: inout some Turn) throws(StoreError) {
        try tellWhatWasThere(in: turn.store, &turn)
        intake.bodyRequests.setMissing(try !turn.store.values(.missingBody).isEmpty)
        if ownHistory.found != nil { try spendUsedChains(turn.store) }
        try loadAwaited(turn.store)
        try placeAll(&turn)
        try resumeOwnGaps(turn.store)
        try finishRecovery(turn.store)
        scheduleBodyRequests(&turn)
        try resumeRepairs(&turn)
        try resumeReminders(&turn)
        try requestOwnHistory(&turn)
        try awaitInvitations(&turn)
        try resumeWithdrawals(&turn)
        if let log = try NodeIdentity.log(in: turn.store), log.person == identity.person {
            identity.log = log
        } else {
            try NodeIdentity.keep(identity.log, in: turn.store)
        }
        let card = try CardReader.kept(of: identity.person, turn.store)
        if card?.parts.contains(where: { $0.device == identity.device }) != true {
            try publishCard(addresses: [], at: turn.now, turn.store)
        }
        // Others may write to a prekey that went with what the store forgot; of its card as well they
        // know a newer part than it does.
        let isCardBehind = try isCardBehind(turn.store)
        if ownHistory.found != nil || isCardBehind {
            try drawPrekey(&turn)
        }
        try tendKeys(&turn)
        intake.disappearing = try DisappearanceDesk(from: turn.store)
        // Before there is anything that this program folded itself.
        try foldAnew(&turn)
        ownSpace = try turn.store.spaces().first { $0.kind == .own }
        // A device that was linked takes in the space that the others have already.
        if ownSpace == nil, identity.log.devices.map(\.device) == [identity.device] {
            ownSpace = try createSpace(.own, with: [], &turn)
            try resumeRelays(of: card, &turn)
        }
        try enterOwnSpace(&turn)
        try nameInboxes(&turn)
        _ = try generation(&turn)
        // A device just made with the recovery code is in no space yet, and a change of devices may
        // have been interrupted before every space knew of it.
        watchDevices(&turn)
        try dialEveryone(&turn)
        shareCard(&turn)
        try resumePolls(&turn)
        try resumeFiles(&turn)
        try resumeShelves(&turn)
        try resumeFileReceipts(&turn)
        try scheduleRinging(&turn)
        try scheduleSending(&turn)
        hastenDisappearing(&turn)
    }

    /// Prepares a node that is only asked and never steps: its store may not be written.
    public mutating func look(in store: some Store) throws(StoreError) {
        ownSpace = try store.spaces().first { $0.kind == .own }
        try resumeOwnGaps(store)
    }

    /// A number that tells peers when this store was replaced by another.
    func generation(_ turn: inout some Turn) throws(StoreError) -> UInt64 {
        let key = Array("generation".utf8)
        if let generation = try turn.store.number(.profile, key) { return generation }
        let generation = turn.random.next()
        try turn.store.setNumber(generation, .profile, key)
        return generation
    }

    /// Signs a new part of the own card.
    ///
    /// - Parameters:
    ///   - name: what the person calls themself from now on; nil for the present name, whichever device gave it.
    ///   - mailboxes: those to name; nil for the ones that it names already.
    ///   - prekeys: likewise.
    mutating func publishCard(
        name: String? = nil, addresses: [String], mailboxes: [CardMailbox]? = nil,
        prekeys: [PrekeyCertificate]? = nil, at now: Instant, _ store: some Store
    ) throws(StoreError) {
        let known = try CardReader.kept(of: identity.person, store)
        let own = known?.parts.first { $0.device == identity.device }
        // By the clock, too: above those that a store which was set back has forgotten. Two
        // different parts of one version are a fork. Where the clock was ahead then, the guard remembers,
        // or a peer brings the part.
        let version = CardVersion.next(
            after: max(own?.version ?? .zero, people.cardVersionMin),
            besides: known?.parts.map(\.version) ?? [], at: now.wall)
        let part = CardPart.make(
            version: version, noiseKey: identity.noiseKey, name: name ?? known?.name ?? "",
            addresses: addresses, mailboxes: mailboxes ?? own?.mailboxes ?? [],
            prekeys: prekeys ?? own?.prekeys ?? [], key: identity.key)
        let fresh = Card(
            person: identity.person, identity: identity.operations, parts: [part])
        let card = known.map { $0.merged(with: fresh).card } ?? fresh
        try store.setValue(card.encoded, .card, identity.person.bytes)
        courier.relayUpkeep.note(.showInviteCards)
    }

    /// Carries out a command, or says why not. A refusal has changed nothing.
    mutating func perform(_ command: Command, _ turn: inout some Turn) throws(StoreError) -> Result<
        CommandReply, CommandRefusal
    > {
        if let refusal = try refusal(ofAny: command, turn.store) { return .failure(refusal) }
        switch command {
        case .setProfile(let name, let addresses): return try setProfile(name, addresses, &turn)
        case .createGroup(let name, let members):
            return try createGroup(name, members, &turn)
        case .send(let space, let messages, let parent):
            return try sendEndingUnsent(messages, parent, to: space, &turn)
        case .sendOnce(let space, let messages, let parent, let key):
            return try sendOnce(messages, parent, to: space, key, &turn)
        case .edit, .delete, .react:
            return try changeMessage(command, &turn)
        case .star, .deleteForOneself: return try mark(command, &turn)
        case .report(let number, let text, let spaces):
            return try report(number, text, to: spaces, &turn)
        case .file(let command): return try file(command, &turn)
        case .pin(let number, let isOn): return try pin(number, isOn, &turn)
        case .acceptInvitation(let space): return try acceptInvitation(to: space, &turn)
        case .declineInvitation(let space): return try declineInvitation(to: space, &turn)
        case .setAdditionPolicy(let policy): return try set(policy, &turn)
        case .deleteConversation(let space):
            return try deleteConversation(space, &turn)
        case .addMember, .removeMember, .setRole, .leave, .changeSettings:
            return try changeMembers(command, &turn)
        case .markRead(let space, let shown):
            return try markRead(shown, in: space, &turn)
        case .rename(let space, let name): return try rename(space, name, &turn)
        case .say(let field): return try say(field, &turn)
        case .describe(let space, let text): return try describe(space, text, &turn)
        case .setLifetime(let space, let seconds):
            return try setLifetime(space, seconds, &turn)
        case .setPicture(let space, let content):
            return try setPicture(space, content, &turn)
        case .mute, .markUnread, .keepUnsent, .archive, .keepFirst:
            return try list(command, &turn)
        case .createInvite, .revokeInvite, .acceptInvite, .requestContact, .answerContact,
            .markVerified, .setAlias, .createGroupInvite, .endGroupInvite, .joinGroup,
            .withdrawJoin:
            return try meet(command, &turn)
        case .addDevice, .revokeDevice, .renameDevice:
            return try equip(command, &turn)
        case .chooseRelays(let choices, let tickets):
            return try choose(choices, tickets: tickets, &turn)
        case .importMessages(let space, let hash, let rows, let throughLine, let beginnings):
            return try importRows(
                rows, through: throughLine, of: [hash] + beginnings, to: space, &turn)
        case .setPrivacy, .setCallServer, .removeCallServer, .noteRecoveryCheck,
            .setLinkPreviews, .setDisclosure, .setUsualLifetime:
            return try prefer(command, &turn)
        case .call, .act, .types, .setPresence:
            return try signal(command, &turn)
        case .together(let command): return try together(command, &turn)
        case .remind(let command): return try remind(command, &turn)
        case .schedule(let command): return try schedule(command, &turn)
        }
    }

    /// Why this device may do nothing of this kind now, whatever the command is about; nil where it
    /// may.
    private func refusal(
        ofAny command: Command, _ store: some Store
    ) throws(StoreError) -> CommandRefusal? {
        if identity.isRevoked { return .revoked }
        // Which files are here stands in no log.
        if case .file = command { return nil }
        // Where this device can be found stands in no log, and who could help it must find it.
        if rejoin != nil, !command.isOfAddresses, !command.isVolatile { return .rejoining }
        if try hasOwnFork(store) { return .ownFork }
        guard let id = command.governedSpace, let space = try store.space(id) else { return nil }
        if ownHistory.hasGap(in: space.number) { return .awaitsOwn }
        // Whoever wants to leave, or has to take somebody out, can do so in any case.
        let reserve =
            switch command {
            case .leave, .removeMember: 1
            default: Self.controlReserve
            }
        return try hasControlRoom(in: space, besides: reserve, store)
            ? nil : .tooManyChanges(limit: Limits.controlOperationCountMax)
    }

    /// Performs commands that change an existing message.
    private mutating func changeMessage(_ command: Command, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        switch command {
        case .edit(let number, let text, let mentions):
            if let stored = try turn.store.operation(number),
                let refusal = Self.refusal(keeping: stored)
            {
                return .failure(refusal)
            }
            return try change(number, byAuthor: true, &turn) {
                MessageEdit(text: text, mentions: mentions).draft(of: $0)
            } unless: {
                VisibleName.drawsNothing(text) ? .empty : Self.refusal(text: text)
            }
        case .delete(let number):
            return try change(number, byAuthor: false, &turn) {
                MessageDeletion.draft(of: $0)
            } unless: {
                nil
            }
        case .react(let number, let reaction):
            return try change(number, byAuthor: nil, &turn) {
                reaction.draft(to: $0)
            } unless: {
                // Data accepted by an earlier version can be taken back.
                reaction.isOn ? Self.refusal(emoji: reaction.emoji) : nil
            }
        default: preconditionFailure("a command that changes no message")
        }
    }

    /// Performs commands that change who is in a conversation.
    private mutating func changeMembers(_ command: Command, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        switch command {
        case .addMember(let space, let person, let role):
            return try addMember(person, role, to: space, &turn)
        case .removeMember(let space, let person):
            return try removeMember(person, from: space, &turn)
        case .setRole(let space, let person, let role):
            return try setRole(role, of: person, in: space, &turn)
        case .leave(let space, let anyway):
            return try leave(space, anyway: anyway, &turn)
        case .changeSettings(let space, let settings):
            return try change(settings, of: space, &turn)
        default: preconditionFailure("a command that is not about members")
        }
    }

    /// Performs commands about other persons.
    private mutating func meet(_ command: Command, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        switch command {
        case .createInvite(let secret, let expires, let uses):
            return try openInvite(secret, until: expires, uses: uses, &turn)
        case .revokeInvite(let number):
            return try revokeInvite(number, &turn)
        case .requestContact(let card, let alias):
            return try request(card, alias, &turn)
        case .answerContact(let person, let answer):
            return try self.answer(person, answer, &turn)
        case .acceptInvite(let invite, let alias):
            return try accept(invite, alias, &turn)
        case .markVerified(let person):
            return try markVerified(person, &turn)
        case .setAlias(let person, let alias):
            return try setAlias(alias, of: person, &turn)
        case .createGroupInvite(let space, let secret, let role, let uses, let expires):
            return try openGroupInvite(
                secret, role: role, uses: uses, until: expires, to: space, &turn)
        case .endGroupInvite(let space, let invite):
            return try endGroupInvite(invite, of: space, &turn)
        case .joinGroup(let link):
            return try join(link, &turn)
        case .withdrawJoin(let space):
            return try withdrawJoin(of: space, &turn)
        default: preconditionFailure("a command that is not about other persons")
        }
    }

    // MARK: Oneself and others

    private mutating func setProfile(
        _ name: String?, _ addresses: [String]?, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let name, let refusal = Self.refusal(personName: name) { return .failure(refusal) }
        let card = try CardReader.kept(of: identity.person, turn.store)
        let part = card?.parts.first { $0.device == identity.device }
        let former = (card?.name ?? "", part?.addresses ?? [])
        let wanted = (name ?? former.0, addresses ?? former.1)
        guard wanted != former else { return .success(.done) }
        try publishCard(name: wanted.0, addresses: wanted.1, at: turn.now, turn.store)
        turn.emit(.commitFully)
        for id in peers.links.keys.sorted() where peers.links[id]?.session != nil {
            try introduce(on: id, &turn)
        }
        shareCard(&turn)
        return .success(.done)
    }
}
