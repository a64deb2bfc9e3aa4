import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// An own message that nobody takes, and where it stands among the others: where it was written.
struct UntakenMessage {
    let order: OrderKey
    let view: MessageView
}

/// What this person wrote before they heard that they were out or a reader, or that this device was revoked.
extension Views {
    /// Such messages of a conversation, in its order. Not those that they deleted.
    func untakenMessages(in space: SpaceRecord, _ roster: Roster) throws -> [UntakenMessage] {
        if let known = names.untakenMessages[space.number] { return known }
        var written: [StoredOperation] = []
        try eachUntaken(in: space, roster) { stored throws(StoreError) in
            if stored.operation.header.kind.isMessage { written.append(stored) }
            return true
        }
        let sent = try written.isEmpty ? [] : originals(in: space)
        let found = try written.compactMap { stored in
            try untakenMessage(stored, in: space, roster, sent)
        }
        let sorted = found.sorted { $0.order < $1.order }
        names.untakenMessages[space.number] = sorted
        return sorted
    }

    /// How many of them the person has not sent again.
    func untakenCount(in space: SpaceRecord, _ roster: Roster) throws -> Int {
        let all = try untakenMessages(in: space, roster)
        return all.count { $0.view.isSentAgain != true }
    }

    /// How many changes of theirs nobody takes: of messages that others have, and of what people do together.
    func untakenChangeCount(in space: SpaceRecord, _ roster: Roster) throws -> Int {
        let words = try undelivered(in: space, roster).count {
            Self.untakenStates.contains($0.state)
        }
        let changes = try untakenChanges(in: space, roster)
        if changes.isEmpty { return words }
        // What changed a message that nobody takes is in that.
        var own: Set<OperationReference> = []
        try eachUntaken(in: space, roster) { stored throws(StoreError) in
            if stored.operation.header.kind == .text, let log = try store.log(stored.log) {
                own.insert(
                    OperationReference(
                        tag: log.tag, sequence: stored.sequence, check: stored.id.check))
            }
            return true
        }
        return changes.reduce(words) { count, change in
            own.contains(change.key) ? count : count + change.value.count
        }
    }

    private func untakenMessage(
        _ stored: StoredOperation, in space: SpaceRecord, _ roster: Roster,
        _ sent: [SentAgain.Original]
    ) throws -> UntakenMessage? {
        guard let log = try store.log(stored.log), var text = stored.searchableText?.text,
            let payload = stored.operation.payload, let said = TextMessage(payload: payload)
        else { return nil }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        // What changed it is taken by nobody either: it is what its author sees of it.
        let changes = try untakenChanges(in: space, roster)[reference] ?? []
        if changes.contains(where: { $0.subject == .deletion }) { return nil }
        let edit = changes.last { $0.subject == .edit }?.operation.operation.payload
            .flatMap(MessageEdit.init(payload:))
        text = edit?.text ?? text
        let isSentAgain = sent.contains { original in
            original.tag == log.tag && original.sequence == stored.sequence
                && original.check.map { $0 == reference.check } ?? true
        }
        var view = own(
            text, at: stored.operation.header.wallClock,
            state: try untakenState(of: stored, in: log, roster)
                + (isSentAgain ? "; sent again since" : ""),
            in: space, try name(of: ownPerson, in: roster))
        view.isStranded = revokedPart(of: log) != nil
        view.untaken = untakenState(in: roster)
        view.isSentAgain = isSentAgain
        view.editCount = edit == nil ? 0 : 1
        let mentions = edit?.mentions ?? said.mentions
        view.mentions = try self.mentions(mentions, roster)
        view.mentionsEveryone = mentions.everyone
        // As with others: once it was edited, nobody is named beside the words.
        view.forwardedFrom =
            edit == nil ? said.forwardedFrom.map(VisibleName.shownPerson) : nil
        view.files = try files(of: said)
        view.number = stored.number.rawValue
        view.id = try identifier(reference, in: space.number)
        if let parent = stored.operation.header.references.first {
            let (id, answered) = try self.answered(parent, in: space.number)
            (view.replyToID, view.replyTo) = (id, answered?.number.rawValue)
            view.quote = try answered.flatMap { try quote(of: $0, in: space, roster) }
        }
        return UntakenMessage(order: stored.messagePlace(in: log), view: view)
    }

    /// What devices of the person have sent again here.
    private func originals(in space: SpaceRecord) throws -> [SentAgain.Original] {
        guard let own = core.ownSpace else { return [] }
        return try Overview.sentAgain(ownSpace: own.number, in: store)
            .filter { $0.space == space.id }.map(\.original)
    }

    /// The outcome: somebody may have had it before they heard of that themselves.
    private func untakenState(
        of stored: StoredOperation, in log: LogRecord, _ roster: Roster
    ) throws -> String {
        let what =
            switch try ending(of: stored, in: log)?.kind {
            case _ where revokedPart(of: log) != nil: "this device was revoked"
            case .removeMember: "you were removed"
            case .setRole: "you were made a reader"
            default: "you were removed or made a reader"
            }
        let told = try Overview.told(
            of: stored.sequence, in: log, besides: ownPerson, roster, store)
        guard let told else { return "not delivered: \(what) before it arrived" }
        return "\(told.rawValue) before others heard that \(what); they no longer see it"
    }
}
