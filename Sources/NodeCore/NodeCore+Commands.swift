import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleySealing
public import ParleyWire

extension NodeCore {
    mutating func start(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        if try store.value(.card, identity.person.bytes) == nil {
            try publishCard(name: "", addresses: [], store)
        }
        ownSpace = try store.spaces().first { $0.kind == .own }
        if ownSpace == nil {
            ownSpace = try createSpace(.own, with: [], at: now, store, &random, &effects)
        }
        _ = try generation(store, &random)
        try dialEveryone(at: now, store, &effects)
    }

    /// A number that tells peers when this store was replaced by another.
    func generation(
        _ store: some Store, _ random: inout some RandomNumberGenerator
    ) throws(StoreError) -> UInt64 {
        let key = Array("generation".utf8)
        if let bytes = try store.value(.profile, key), bytes.count == 8 {
            return bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        let generation = random.next()
        var writer = ByteWriter()
        writer.uint64(generation)
        try store.setValue(writer.bytes, .profile, key)
        return generation
    }

    private func publishCard(
        name: String, addresses: [String], _ store: some Store
    ) throws(StoreError) {
        let known = try store.value(.card, identity.person.bytes).flatMap { try? Card(bytes: $0) }
        let version = known?.parts.first { $0.device == identity.device }?.version ?? 0
        let part = CardPart.make(
            version: version + 1, noiseKey: identity.noiseKey, name: name,
            addresses: addresses, key: identity.key)
        let fresh = Card(
            person: identity.person, identity: identity.operations, parts: [part])
        let card = known.map { $0.merged(with: fresh).card } ?? fresh
        try store.setValue(card.encoded, .card, identity.person.bytes)
    }

    /// Carries out a command, or says why not. A refusal has changed nothing.
    mutating func perform(
        _ command: Command, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if rejoin != nil { return .failure(.rejoining) }
        switch command {
        case .setProfile(let name, let addresses):
            return try setProfile(name, addresses, store, &effects)
        case .createGroup(let name, let members):
            return try createGroup(name, members, at: now, store, &random, &effects)
        case .send(let space, let messages, let parent):
            return try send(messages, parent, to: space, at: now, store, &random, &effects)
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
                Self.refusal(emoji: reaction.emoji)
            }
        case .markRead(let space):
            return try markRead(space, at: now, store, &random, &effects)
        case .rename(let space, let name):
            return try rename(space, name, at: now, store, &random, &effects)
        case .mute(let space, let isOn):
            return try mute(space, isOn, at: now, store, &random, &effects)
        case .createInvite(let secret, let expires):
            try store.setValue(
                OpenInvite(secret: secret, expires: expires).bytes, .invite,
                OpenInvite.key(Invite.hash(of: secret)))
            effects.append(.commitFully)
            return .success(.done)
        case .acceptInvite(let invite, let alias):
            return try accept(invite, alias, at: now, store, &effects)
        case .markVerified(let person):
            return try markVerified(person, at: now, store, &random, &effects)
        case .importMessages(let space, let hash, let rows, let throughLine):
            return try importRows(
                rows, through: throughLine, of: hash, to: space, at: now, store, &random, &effects)
        }
    }

    // MARK: Oneself and others

    private func setProfile(
        _ name: String?, _ addresses: [String]?, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let name, let refusal = Self.refusal(name: name) { return .failure(refusal) }
        let card = try store.value(.card, identity.person.bytes).flatMap { try? Card(bytes: $0) }
        let part = card?.parts.first { $0.device == identity.device }
        let wanted = (name ?? part?.name ?? "", addresses ?? part?.addresses ?? [])
        guard wanted != (part?.name ?? "", part?.addresses ?? []) else { return .success(.done) }
        try publishCard(name: wanted.0, addresses: wanted.1, store)
        effects.append(.commitFully)
        for id in links.keys.sorted() where links[id]?.session != nil {
            try introduce(on: id, invite: nil, store, &effects)
        }
        return .success(.done)
    }

    private mutating func accept(
        _ invite: Invite, _ alias: String, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard invite.person != identity.person else { return .failure(.ownInvite) }
        guard now.wall < invite.expires else { return .failure(.expired) }
        guard alias.utf8.count <= Limits.nameByteCountMax else {
            return .failure(
                .tooLong(byteCount: alias.utf8.count, limit: Limits.nameByteCountMax))
        }
        guard let card = try? Card(bytes: invite.card), card.person == invite.person,
            let identity = try? IdentityLog(operations: card.identity),
            identity.person == invite.person, let verified = try? card.verified(by: identity)
        else { return .failure(.unknownPerson) }
        if try isAccepted(invite.person, store) { return .success(.done) }
        try CardReader.keep(verified, store)
        try store.setValue(
            PendingInvite(secret: invite.secret, alias: alias).bytes, .introduction,
            invite.person.bytes)
        effects.append(.commitFully)
        effects.append(.changed([.contact(invite.person)]))
        try dialEveryone(at: now, store, &effects)
        return .success(.done)
    }

    private mutating func markVerified(
        _ person: PersonID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let ownSpace, var contact = try contact(person, store) else {
            return .failure(.unknownPerson)
        }
        contact.isVerified = true
        _ = try write([contact.draft()], in: ownSpace, at: now, store, &random, &effects)
        return .success(.done)
    }

    // MARK: Conversations

    private mutating func createGroup(
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
                let card = try store.value(.card, person.bytes).flatMap({ try? Card(bytes: $0) })
            else { return .failure(.unknownPerson) }
            guard !founders.contains(where: { $0.person == person }) else { continue }
            founders.append(
                Founder(
                    person: person, role: .member, name: card.name, identity: card.identity))
        }
        let space = try createSpace(
            .group, with: founders, at: now, store, &random, &effects)
        let draft = ConversationName(name: name).draft(replacing: [])
        _ = try write([draft], in: space, at: now, store, &random, &effects)
        return .success(.space(space.number))
    }

    private mutating func rename(
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

    private mutating func mute(
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

    private mutating func markRead(
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

    // MARK: Messages

    private mutating func send(
        _ messages: [TextMessage], _ parent: OperationNumber?, to id: SpaceID, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, store) else { return .failure(.unknownConversation) }
        guard !messages.isEmpty else { return .failure(.empty) }
        for message in messages {
            if let refusal = Self.refusal(text: message.text) { return .failure(refusal) }
        }
        var reference: OperationReference?
        if let parent {
            guard let target = try target(parent, store), target.space == space else {
                return .failure(.unknownMessage)
            }
            reference = target.reference
        }
        guard try mayWrite(in: space, store) else { return .failure(.notAllowed) }
        let drafts = messages.map { $0.draft(replyingTo: reference) }
        let applied = try write(drafts, in: space, at: now, store, &random, &effects)
        return .success(.messages(applied.filter { $0.isKind(.text) }.map(\.number)))
    }

    private mutating func importRows(
        _ rows: [ImportedRow], through throughLine: Int, of hash: Digest, to id: SpaceID,
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, store) else { return .failure(.unknownConversation) }
        guard try mayWrite(in: space, store) else { return .failure(.notAllowed) }
        for row in rows {
            if let refusal = Self.refusal(text: row.message.text) { return .failure(refusal) }
        }
        let known = try ImportProgress.line(of: hash, in: id, store)
        let new = rows.filter { $0.line > known }
        if !new.isEmpty {
            _ = try write(
                new.map { $0.message.draft() }, in: space, at: now, store, &random, &effects)
        }
        if throughLine > known { try ImportProgress.set(throughLine, of: hash, in: id, store) }
        effects.append(.commitFully)
        return .success(.imported(stored: new.count, known: rows.count - new.count))
    }

    private func knownRoster(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Roster? {
        if let roster = rosters[space.number] { return roster }
        return try RosterReader.roster(of: space, in: store)
    }

    private func mayWrite(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        let roster = try knownRoster(of: space, store)
        return roster?.member(identity.person).map { $0.role >= .member } ?? false
    }

    /// Writes one operation about a message.
    ///
    /// - Parameter byAuthor: true where only its author may, false where an admin may as well,
    ///   nil where everyone may.
    private mutating func change(
        _ number: OperationNumber, byAuthor: Bool?, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect],
        _ draft: (OperationReference) -> Draft, unless refusal: () -> CommandRefusal?
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let target = try target(number, store) else { return .failure(.unknownMessage) }
        if let refusal = refusal() { return .failure(refusal) }
        if target.isDeleted { return .failure(.deleted) }
        let roster = try roster(of: target.space, store)
        let own = roster?.member(identity.person)
        let isAuthor = target.author == identity.person
        let isAdmin = target.space.kind == .group && own.map { $0.role >= .admin } ?? false
        guard byAuthor == nil || isAuthor || (byAuthor == false && isAdmin) else {
            return .failure(.notAllowed)
        }
        _ = try write(
            [draft(target.reference)], in: target.space, at: now, store, &random, &effects)
        return .success(.messages([number]))
    }

    private struct CommandTarget {
        var space: SpaceRecord
        var reference: OperationReference
        var author: PersonID
        var isDeleted: Bool
    }

    private func target(
        _ number: OperationNumber, _ store: some Store
    ) throws(StoreError) -> CommandTarget? {
        guard let stored = try store.operation(number), stored.operation.header.kind == .text,
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let roster = try knownRoster(of: space, store),
            let author = roster.member(with: log.device)?.person
        else { return nil }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        return CommandTarget(
            space: space, reference: reference, author: author,
            isDeleted: try Overview.isDeleted(reference, in: space.number, store: store))
    }

    // MARK: Writing

    /// Stores, signs and merges operations of this device, and hands them to every link.
    mutating func write(
        _ drafts: [Draft], in space: SpaceRecord, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> [AppliedOperation] {
        guard let roster = try roster(of: space, store) else { return [] }
        let context = try context(of: space, roster: roster, store)
        let author = LogAuthor(
            key: identity.key, space: space, authority: roster.authority, wallClock: now.wall)
        let applied = try author.append(drafts, to: store, using: &random)
        var changes: [ViewChange] = []
        for operation in applied { changes += try Merge.apply(operation, context, in: store) }
        effects.append(.commitFully)
        effects.append(.changed(changes))
        try grew(
            Set(applied.map(\.log.tag)), in: space, isOwn: true, from: nil, at: now, store,
            &effects)
        return applied
    }

    /// Says what was delivered since the last receipts.
    mutating func writeReceipts(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        for number in unreceipted.sorted() {
            guard rejoin == nil, let space = try store.space(number) else { continue }
            var delivered: [Receipts.Progress] = []
            let actor = Digest(reinterpreting: identity.device)
            for log in try store.logs(in: number) where log.lane == .content {
                guard log.device != identity.device, log.isWhole, let place = log.wholeThrough
                else { continue }
                let said = try store.mark(.delivered, of: actor, on: log.tag, in: number)
                if said.map({ $0 < place }) ?? true {
                    delivered.append(.init(tag: log.tag, sequence: place))
                }
            }
            guard !delivered.isEmpty else { continue }
            _ = try write(
                [Receipts(delivered: delivered).draft()], in: space, at: now, store, &random,
                &effects)
        }
        unreceipted.removeAll()
    }

    // MARK: What is refused before anything is written

    static func refusal(text: String) -> CommandRefusal? {
        if text.isEmpty { return .empty }
        guard text.utf8.count <= Limits.messageByteCountMax else {
            return .tooLong(byteCount: text.utf8.count, limit: Limits.messageByteCountMax)
        }
        return nil
    }

    /// Why a name cannot be one, or nil.
    public static func refusal(name: String) -> CommandRefusal? {
        if name.isEmpty { return .empty }
        guard name.utf8.count <= Limits.nameByteCountMax else {
            return .tooLong(byteCount: name.utf8.count, limit: Limits.nameByteCountMax)
        }
        return nil
    }

    static func refusal(emoji: String) -> CommandRefusal? {
        if emoji.isEmpty { return .empty }
        guard emoji.utf8.count <= Limits.emojiByteCountMax else {
            return .tooLong(byteCount: emoji.utf8.count, limit: Limits.emojiByteCountMax)
        }
        return nil
    }
}

extension AppliedOperation {
    func isKind(_ kind: OperationKind) -> Bool { operation.operation.header.kind == kind }
}

/// How far files are imported: a line of a file's content goes into a conversation once.
public enum ImportProgress {
    /// The last line of the file that is in, or 0.
    public static func line(
        of hash: Digest, in space: SpaceID, _ store: some NodeStore
    ) throws(StoreError) -> Int {
        try store.value(.importProgress, space.bytes + hash.bytes).map { bytes in
            Int(truncatingIfNeeded: bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        } ?? 0
    }

    static func set(
        _ line: Int, of hash: Digest, in space: SpaceID, _ store: some NodeStore
    ) throws(StoreError) {
        var writer = ByteWriter()
        writer.uint64(UInt64(line))
        try store.setValue(writer.bytes, .importProgress, space.bytes + hash.bytes)
    }
}
