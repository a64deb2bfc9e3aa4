import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NodeCore {
    mutating func start(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        try tellWhatWasThere(in: store, &effects)
        hasMissingBodies = try !store.values(.missingBody).isEmpty
        if foundBehind != nil { try spendUsedChains(store) }
        try loadAwaited(store)
        try placeAll(at: now, store, &effects)
        try loadOwnGaps(store)
        try finishRejoin(store)
        askForBodies(at: now, &effects)
        try loadRepairs(at: now, store, &effects)
        try loadReminders(at: now, store, &effects)
        try askForPast(at: now, store, &effects)
        try awaitInvitations(at: now, store, &effects)
        try loadTakenBack(at: now, store, &effects)
        if let log = try NodeIdentity.log(in: store), log.person == identity.person {
            identity.log = log
        } else {
            try NodeIdentity.keep(identity.log, in: store)
        }
        let card = try CardReader.kept(of: identity.person, store)
        if card?.parts.contains(where: { $0.device == identity.device }) != true {
            try publishCard(name: card?.name ?? "", addresses: [], at: now, store)
        }
        // Others may write to a prekey that went with what the store forgot; of its card as well they
        // know a newer part than it does.
        let isCardBehind = try isCardBehind(store)
        if foundBehind != nil || isCardBehind {
            try drawPrekey(at: now, store, &random, &effects)
        }
        try tendKeys(at: now, store, &random, &effects)
        ownSpace = try store.spaces().first { $0.kind == .own }
        // A device that was linked takes in the space that the others have already.
        if ownSpace == nil, identity.log.devices.map(\.device) == [identity.device] {
            ownSpace = try createSpace(.own, with: [], at: now, store, &random, &effects)
            try resumeRelays(of: card, at: now, store, &random, &effects)
        }
        try enterOwnSpace(at: now, store, &random, &effects)
        _ = try generation(store, &random)
        // A device that the recovery code has just made is in no space yet, and a change of devices
        // may have been cut off before every space knew of it.
        watchDevices(at: now, &effects)
        try dialEveryone(at: now, store, &effects)
        shareCard(at: now, &effects)
    }

    /// Prepares a node that is only asked and never steps: its store may not be written.
    public mutating func look(in store: some Store) throws(StoreError) {
        ownSpace = try store.spaces().first { $0.kind == .own }
        try loadOwnGaps(store)
    }

    /// A number that tells peers when this store was replaced by another.
    func generation(
        _ store: some Store, _ random: inout some RandomNumberGenerator
    ) throws(StoreError) -> UInt64 {
        let key = Array("generation".utf8)
        if let generation = try store.number(.profile, key) { return generation }
        let generation = random.next()
        try store.setNumber(generation, .profile, key)
        return generation
    }

    /// Signs a new part of the own card.
    ///
    /// - Parameters:
    ///   - mailboxes: those to name; nil for the ones that it names already.
    ///   - prekeys: likewise.
    mutating func publishCard(
        name: String, addresses: [String], mailboxes: [CardMailbox]? = nil,
        prekeys: [PrekeyCertificate]? = nil, at now: Instant, _ store: some Store
    ) throws(StoreError) {
        let known = try CardReader.kept(of: identity.person, store)
        let own = known?.parts.first { $0.device == identity.device }
        // By the clock, too: above those that a store which was set back has forgotten. Two
        // different parts of one version are a fork. Where the clock was ahead then, the guard remembers,
        // or a peer brings the part.
        let version = CardVersion.next(
            after: max(own?.version ?? .zero, cardVersionMin),
            besides: known?.parts.map(\.version) ?? [], at: now.wall)
        let part = CardPart.make(
            version: version, noiseKey: identity.noiseKey, name: name,
            addresses: addresses, mailboxes: mailboxes ?? own?.mailboxes ?? [],
            prekeys: prekeys ?? own?.prekeys ?? [], key: identity.key)
        let fresh = Card(
            person: identity.person, identity: identity.operations, parts: [part])
        let card = known.map { $0.merged(with: fresh).card } ?? fresh
        try store.setValue(card.encoded, .card, identity.person.bytes)
        invites.areCardsDue = true
    }

    /// Carries out a command, or says why not. A refusal has changed nothing.
    mutating func perform(
        _ command: Command, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let refusal = try refusal(ofAny: command, store) { return .failure(refusal) }
        switch command {
        case .setProfile(let name, let addresses):
            return try setProfile(name, addresses, at: now, store, &effects)
        case .createGroup(let name, let members):
            return try createGroup(name, members, at: now, store, &random, &effects)
        case .send(let space, let messages, let parent):
            return try send(messages, parent, to: space, at: now, store, &random, &effects)
        case .edit, .delete, .react:
            return try changeMessage(command, at: now, store, &random, &effects)
        case .acceptInvitation(let space):
            return try acceptInvitation(to: space, at: now, store, &random, &effects)
        case .declineInvitation(let space):
            return try declineInvitation(to: space, at: now, store, &random, &effects)
        case .setAdditionPolicy(let policy):
            return try set(policy, at: now, store, &random, &effects)
        case .deleteConversation(let space):
            return try deleteConversation(space, at: now, store, &random, &effects)
        case .addMember, .removeMember, .setRole, .leave, .changeSettings:
            return try changeMembers(command, at: now, store, &random, &effects)
        case .markRead(let space, let shown):
            return try markRead(shown, in: space, at: now, store, &random, &effects)
        case .rename(let space, let name):
            return try rename(space, name, at: now, store, &random, &effects)
        case .mute(let space, let isOn):
            return try mute(space, isOn, at: now, store, &random, &effects)
        case .createInvite, .revokeInvite, .acceptInvite, .requestContact, .answerContact,
            .markVerified, .setAlias, .createGroupInvite, .endGroupInvite, .joinGroup:
            return try meet(command, at: now, store, &random, &effects)
        case .addDevice, .revokeDevice, .renameDevice:
            return try equip(command, at: now, store, &random, &effects)
        case .chooseRelays(let choices, let tickets):
            return try choose(choices, tickets: tickets, at: now, store, &random, &effects)
        case .importMessages(let space, let hash, let rows, let throughLine, let beginnings):
            return try importRows(
                rows, through: throughLine, of: [hash] + beginnings, to: space, at: now, store,
                &random, &effects)
        case .setPrivacy, .setCallServer, .removeCallServer, .noteRecoveryCheck:
            return try prefer(command, at: now, store, &random, &effects)
        case .call, .act, .types, .setPresence:
            return try signal(command, at: now, store, &random, &effects)
        }
    }

    /// Why this device may do nothing of this kind now, whatever the command is about; nil where it
    /// may.
    private func refusal(
        ofAny command: Command, _ store: some Store
    ) throws(StoreError) -> CommandRefusal? {
        if identity.isRevoked { return .revoked }
        // Where this device can be found stands in no log, and who could help it must find it.
        if rejoin != nil, !command.isOfAddresses, !command.isVolatile { return .rejoining }
        if try hasOwnFork(store) { return .ownFork }
        if let id = command.governedSpace, let space = try store.space(id),
            ownGaps[space.number] != nil
        {
            return .awaitsOwn
        }
        return nil
    }

    /// Carries out what changes a message that is there.
    private mutating func changeMessage(
        _ command: Command, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        switch command {
        case .edit(let number, let text):
            return try change(number, byAuthor: true, at: now, store, &random, &effects) {
                MessageEdit(text: text).draft(of: $0)
            } unless: {
                Self.refusal(text: text)
            }
        case .delete(let number):
            return try change(number, byAuthor: false, at: now, store, &random, &effects) {
                MessageDeletion.draft(of: $0)
            } unless: {
                nil
            }
        case .react(let number, let reaction):
            return try change(number, byAuthor: nil, at: now, store, &random, &effects) {
                reaction.draft(to: $0)
            } unless: {
                // What an earlier program let through can be taken back.
                reaction.isOn ? Self.refusal(emoji: reaction.emoji) : nil
            }
        default: preconditionFailure("a command that changes no message")
        }
    }

    /// Carries out what changes who is in a conversation.
    private mutating func changeMembers(
        _ command: Command, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        switch command {
        case .addMember(let space, let person, let role):
            return try addMember(person, role, to: space, at: now, store, &random, &effects)
        case .removeMember(let space, let person):
            return try removeMember(person, from: space, at: now, store, &random, &effects)
        case .setRole(let space, let person, let role):
            return try setRole(role, of: person, in: space, at: now, store, &random, &effects)
        case .leave(let space, let anyway):
            return try leave(space, anyway: anyway, at: now, store, &random, &effects)
        case .changeSettings(let space, let settings):
            return try change(settings, of: space, at: now, store, &random, &effects)
        default: preconditionFailure("a command that is not about members")
        }
    }

    /// Carries out what is about other persons.
    private mutating func meet(
        _ command: Command, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        switch command {
        case .createInvite(let secret, let expires, let uses):
            return try openInvite(
                secret, until: expires, uses: uses, at: now, store, &effects)
        case .revokeInvite(let number):
            return try revokeInvite(number, store, &effects)
        case .requestContact(let card, let alias):
            return try request(card, alias, at: now, store, &random, &effects)
        case .answerContact(let person, let answer):
            return try self.answer(person, answer, at: now, store, &random, &effects)
        case .acceptInvite(let invite, let alias):
            return try accept(invite, alias, at: now, store, &random, &effects)
        case .markVerified(let person):
            return try markVerified(person, at: now, store, &random, &effects)
        case .setAlias(let person, let alias):
            return try setAlias(alias, of: person, at: now, store, &random, &effects)
        case .createGroupInvite(let space, let secret, let role, let uses, let expires):
            return try openGroupInvite(
                secret, role: role, uses: uses, until: expires, to: space, at: now, store,
                &random, &effects)
        case .endGroupInvite(let space, let invite):
            return try endGroupInvite(invite, of: space, at: now, store, &random, &effects)
        case .joinGroup(let link):
            return try join(link, at: now, store, &random, &effects)
        default: preconditionFailure("a command that is not about other persons")
        }
    }

    // MARK: Oneself and others

    private mutating func setProfile(
        _ name: String?, _ addresses: [String]?, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let name, let refusal = Self.refusal(name: name) { return .failure(refusal) }
        let card = try CardReader.kept(of: identity.person, store)
        let part = card?.parts.first { $0.device == identity.device }
        let wanted = (name ?? part?.name ?? "", addresses ?? part?.addresses ?? [])
        guard wanted != (part?.name ?? "", part?.addresses ?? []) else { return .success(.done) }
        try publishCard(name: wanted.0, addresses: wanted.1, at: now, store)
        effects.append(.commitFully)
        for id in links.keys.sorted() where links[id]?.session != nil {
            try introduce(on: id, store, &effects)
        }
        shareCard(at: now, &effects)
        return .success(.done)
    }
}
