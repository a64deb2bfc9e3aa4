import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NodeCore {
    mutating func send(
        _ messages: [TextMessage], _ parent: OperationNumber?, to id: SpaceID,
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        guard !messages.isEmpty else { return .failure(.empty) }
        let messages = try withLifetime(try shelved(messages, &turn), in: space, turn.store)
        for message in messages {
            if let refusal = Self.refusal(message) { return .failure(refusal) }
            // Lines of logs may be blank; nobody writes such a message on purpose.
            if message.files.isEmpty, VisibleName.drawsNothing(message.text) {
                return .failure(.empty)
            }
            for blob in message.files.compactMap(\.blob)
            where try !mayPassOn(blob, turn.store) { return .failure(.fileNotHeld) }
        }
        var references: [OperationReference] = []
        if let parent {
            guard let target = try target(parent, turn.store), target.space == space else {
                return .failure(.unknownMessage)
            }
            references = MessageThread.references(answering: target.reference, target.header)
        }
        if let refusal = try refusal(writingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        try fetchWhatIsPassedOn(messages, &turn)
        let drafts = messages.map { message in
            var draft = message.draft()
            draft.references = references
            return draft
        }
        if ownHistory.hasGap(in: space.number) {
            guard try keptCount(of: space.number, turn.store) + drafts.count <= Self.keptCountMax
            else {
                return .failure(.awaitsOwn)
            }
            try keep(drafts, for: space, &turn)
            return .success(.kept(drafts.count))
        }
        let applied = try write(drafts, in: space, &turn)
        return .success(.messages(applied.filter(\.isMessage).map(\.number)))
    }

    mutating func importRows(
        _ rows: [ImportedRow], through throughLine: Int, of names: [Digest], to id: SpaceID,
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        if let refusal = try refusal(writingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        let messages = try withLifetime(rows.map(\.message), in: space, turn.store)
        let rows = zip(rows, messages).map { row, message in
            var row = row
            row.message = message
            return row
        }
        for row in rows {
            if let refusal = Self.refusal(row.message) { return .failure(refusal) }
        }
        let known = names.isEmpty ? 0 : try ImportProgress.line(of: names[0], in: id, turn.store)
        let above = rows.filter { $0.line > known }
        let person = identity.person
        let held = try HeldImports(
            of: above, in: space, try knownRoster(of: space, turn.store), turn.store
        ) { $0 == person }
        let sent = try sentAgain(above, turn.store)
        let new = above.filter { row in
            !held.contains(row) && row.original.map { !sent.contains($0) } ?? true
        }
        if !new.isEmpty {
            let applied = try write(new.map { $0.message.draft() }, in: space, &turn)
            try noteSentAgain(new, as: applied.filter(\.isMessage), in: id, &turn)
        }
        // What may yet turn out to be another line is asked about again.
        let noted = above.contains(where: held.mayBeOther) ? [] : names
        for name in noted where try ImportProgress.line(of: name, in: id, turn.store) < throughLine
        {
            try ImportProgress.set(throughLine, of: name, in: id, turn.store)
        }
        turn.emit(.commitFully)
        return .success(
            .imported(
                stored: new.count, known: rows.count - new.count,
                deleted: above.count(where: held.wasDeleted)))
    }

    /// What devices of the person have sent again, if any of these rows does that.
    private func sentAgain(
        _ rows: [ImportedRow], _ store: some Store
    ) throws(StoreError) -> Set<SentAgain.Original> {
        guard let ownSpace, rows.contains(where: { $0.original != nil }) else { return [] }
        return Set(
            try Overview.sentAgain(ownSpace: ownSpace.number, in: store).map(\.original))
    }

    /// Tells the person's other devices what these rows, which were written now, say again. Rows that are
    /// only kept for later have no place yet: nothing is told of them.
    private mutating func noteSentAgain(
        _ rows: [ImportedRow], as applied: [AppliedOperation], in id: SpaceID,
        _ turn: inout some Turn
    ) throws(StoreError) {
        guard let ownSpace, applied.count == rows.count else { return }
        let words = zip(rows, applied).compactMap { row, applied in
            row.original.map { original in
                let message = OperationReference(
                    tag: applied.operation.tag, sequence: applied.operation.sequence,
                    check: applied.operation.id.check)
                return SentAgain(original, by: identity.device, in: id, as: message)
            }
        }
        guard !words.isEmpty else { return }
        _ = try write(words.map { $0.preference.draft() }, in: ownSpace, &turn)
    }

    func knownRoster(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Roster? {
        if let judge = rosters.judges[space.number] { return judge.roster }
        return try RosterReader.roster(of: space, in: store)
    }

    /// Why nothing may be written in a space, or nil.
    ///
    /// - Parameter act: what its rules must allow besides; nil where they do not matter.
    func refusal(
        writingIn space: SpaceRecord, doing act: GroupAct? = nil, _ store: some Store
    ) throws(StoreError) -> CommandRefusal? {
        let roster = try knownRoster(of: space, store)
        guard belongs(to: roster), let roster, let own = roster.member(identity.person) else {
            return outsideRefusal(roster)
        }
        guard own.role >= .member else { return .notAllowed }
        if let act, !roster.allows(act, to: own) { return .notAllowed }
        guard try holdsOwnControl(of: space, store) else { return .rejoining }
        // Nobody would ever get it, as long as nobody links with them.
        return try isShut(space, store) ? .blocked : nil
    }

    /// Writes one operation about a message.
    ///
    /// - Parameter byAuthor: true where only its author may, false where an admin may as well,
    ///   nil where everyone may.
    mutating func change(
        _ number: OperationNumber, byAuthor: Bool?, _ turn: inout some Turn,
        _ draft: (OperationReference) -> Draft, unless refusal: () -> CommandRefusal?
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let target = try target(number, turn.store) else { return .failure(.unknownMessage) }
        if target.hasDisappeared { return .failure(.disappeared) }
        // It may still be taken back from everybody else.
        if target.isDeletedForOneself, byAuthor != false { return .failure(.deleted) }
        if let refusal = refusal() { return .failure(refusal) }
        if target.isDeleted {
            // A person who came back learns of an earlier deletion only by a repeated one.
            guard byAuthor == false,
                try isDeletionLacked(of: target.reference, in: target.space, turn.store)
            else { return .failure(.deleted) }
        }
        let isAuthor = target.author == identity.person
        // What waits for somebody who is blocked now can be taken back before it reaches them.
        let act: GroupAct? = byAuthor == true ? .write : nil
        if let refusal = try self.refusal(writingIn: target.space, doing: act, turn.store),
            refusal != .blocked || byAuthor != false || !isAuthor
        {
            return .failure(refusal)
        }
        let roster = try roster(of: target.space, turn.store)
        let own = roster?.member(identity.person)
        let isAdmin = target.space.kind == .group && own.map { $0.role >= .admin } ?? false
        guard byAuthor == nil || isAuthor || (byAuthor == false && isAdmin) else {
            return .failure(.notAuthor(orAdmin: byAuthor == false && target.space.kind == .group))
        }
        _ = try write([draft(target.reference)], in: target.space, &turn)
        return .success(.messages([number]))
    }

    private struct CommandTarget {
        var space: SpaceRecord
        var reference: OperationReference
        var header: OperationHeader
        var author: PersonID
        var isDeleted: Bool
        var isDeletedForOneself: Bool
        var hasDisappeared: Bool
    }

    private mutating func target(
        _ number: OperationNumber, _ store: some Store
    ) throws(StoreError) -> CommandTarget? {
        guard let stored = try store.operation(number), stored.operation.header.kind.isMessage,
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let author = try roster(of: space, store)?.person(of: log.device)
        else { return nil }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        return CommandTarget(
            space: space, reference: reference, header: stored.operation.header, author: author,
            isDeleted: try Overview.isDeleted(reference, in: space.number, store: store),
            isDeletedForOneself: try Overview.isDeletedForOneself(
                stored, ownSpace: ownSpace?.number, in: store),
            hasDisappeared: Self.refusal(keeping: stored) == .disappeared)
    }
}
