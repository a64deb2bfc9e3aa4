import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NodeCore {
    /// Room for the header of an operation without causes.
    private static let headerByteCountMax = 256

    mutating func createGroup(
        _ name: String, _ members: [PersonID], at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let refusal = Self.refusal(name: name) { return .failure(refusal) }
        guard members.count < Limits.founderCountMax else {
            return .failure(.tooManyMembers(limit: Limits.founderCountMax))
        }
        var founders: [Founder] = []
        for person in members where person != identity.person {
            guard try isAccepted(person, store),
                let card = try CardReader.kept(of: person, store)
            else { return .failure(.unknownPerson) }
            guard !founders.contains(where: { $0.person == person }) else { continue }
            founders.append(
                Founder(
                    person: person, role: .member, name: card.name, identity: card.identity))
        }
        // Identity logs are as long as their persons made them: what does not fit one operation
        // cannot be written.
        let genesis = Genesis(
            kind: .group, creator: identity.device, random: Array(repeating: 0, count: 16),
            founders: founders + [try ownFounder(store)])
        let byteCount = genesis.draft().payload?.count ?? 0
        guard byteCount <= Limits.operationByteCountMax - Self.headerByteCountMax else {
            return .failure(.tooLong(byteCount: byteCount, limit: Limits.operationByteCountMax))
        }
        let space = try createSpace(
            .group, with: founders, at: now, store, &random, &effects)
        let draft = ConversationName(name: name).draft(replacing: [])
        _ = try write([draft], in: space, at: now, store, &random, &effects)
        return .success(.space(space.number))
    }

    mutating func rename(
        _ id: SpaceID, _ name: String, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, store) else { return .failure(.unknownConversation) }
        if let refusal = Self.refusal(name: name) { return .failure(refusal) }
        let role = try roster(of: space, store)?.member(identity.person)?.role ?? .reader
        guard space.kind == .direct || role >= .admin else { return .failure(.notAllowed) }
        let previous = try Overview.nameReferences(of: space.number, in: store)
        let draft = ConversationName(name: name).draft(replacing: previous)
        _ = try write([draft], in: space, at: now, store, &random, &effects)
        return .success(.done)
    }

    mutating func mute(
        _ id: SpaceID, _ isOn: Bool, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard try conversation(id, store) != nil, let ownSpace else {
            return .failure(.unknownConversation)
        }
        let draft = Mute(space: id, isOn: isOn).draft()
        _ = try write([draft], in: ownSpace, at: now, store, &random, &effects)
        return .success(.done)
    }

    mutating func markRead(
        _ id: SpaceID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, store), let roster = try roster(of: space, store)
        else { return .failure(.unknownConversation) }
        let unread = try Overview.unreadCount(
            of: space, roster: roster, ownPerson: identity.person, in: store)
        let progress = try Overview.unreadProgress(
            of: space, roster: roster, ownPerson: identity.person, in: store)
        guard !progress.isEmpty else { return .success(.count(0)) }
        _ = try write(
            [Receipts(read: progress).draft()], in: space, at: now, store, &random, &effects)
        effects.append(.changed([.conversation(space.number)]))
        return .success(.count(unread))
    }

    /// The conversation with this name, or nil. The own space is none.
    func conversation(_ id: SpaceID, _ store: some Store) throws(StoreError) -> SpaceRecord? {
        guard let space = try store.space(id), space.kind != .own else { return nil }
        return space
    }
}
