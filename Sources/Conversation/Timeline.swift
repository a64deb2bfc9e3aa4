public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// Reads a space's messages as screens show them.
public struct Timeline {
    private let space: SpaceRecord
    private let roster: Roster
    private let ownPerson: PersonID
    private let relayed: [LogTag: [Range<UInt64>]]
    private let includesHistory: Bool
    private let goesByCheck: Bool

    /// A timeline of this space, seen by this person.
    ///
    /// - Parameters:
    ///   - relayed: which places of own logs relays have on their disks.
    ///   - includesHistory: whether messages bring their earlier texts, which have no bound.
    ///   - goesByCheck: whether reactions to another branch of a message are left out, as a screen
    ///     does; in the view digest they go by places alone.
    public init(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID,
        relayed: [LogTag: [Range<UInt64>]] = [:], includesHistory: Bool = true,
        goesByCheck: Bool = false
    ) {
        self.goesByCheck = goesByCheck
        self.includesHistory = includesHistory
        self.space = space
        self.roster = roster
        self.ownPerson = ownPerson
        self.relayed = relayed
    }

    /// At most `limit` messages below `before` (or the newest), newest first.
    public func page(
        before: OrderKey? = nil, limit: Int, in store: some MergeStore
    ) throws(StoreError) -> [Message] {
        try part(before: before, limit: limit, in: store).messages
    }

    /// The same page, and the place of the last row that was read for it, which may show no message; nil where
    /// nothing stands below `before`.
    public func part(
        before: OrderKey?, limit: Int, in store: some MergeStore
    ) throws(StoreError) -> (messages: [Message], end: OrderKey?) {
        let rows = try store.messages(in: space.number, before: before, limit: limit)
        let states = try MessageStates(
            in: space, roster: roster, besides: ownPerson, relayed: relayed, store: store)
        var messages: [Message] = []
        messages.reserveCapacity(rows.count)
        for row in rows {
            if let message = try message(row, states: states, in: store) {
                messages.append(message)
            }
        }
        return (messages, rows.last?.order)
    }

    /// The message in this row of the store, or nil if it is not of this space.
    public func message(
        _ number: OperationNumber, in store: some MergeStore
    ) throws(StoreError) -> Message? {
        try messages([number], in: store).first
    }

    /// Those of these messages that exist, in the requested order.
    public func messages(
        _ numbers: [OperationNumber], in store: some MergeStore
    ) throws(StoreError) -> [Message] {
        let states = try MessageStates(
            in: space, roster: roster, besides: ownPerson, relayed: relayed, store: store)
        var messages: [Message] = []
        for number in numbers {
            guard let stored = try store.operation(number), let log = try store.log(stored.log),
                log.space == space.number,
                let row = try store.message(stored.messageOrder(in: log), in: space.number),
                let message = try message(row, states: states, in: store)
            else { continue }
            messages.append(message)
        }
        return messages
    }

    private func message(
        _ row: MessageRow, states: MessageStates, in store: some MergeStore
    ) throws(StoreError) -> Message? {
        guard let stored = try store.operation(row.operation), let log = try store.log(row.log),
            let author = roster.person(of: log.device)
        else { return nil }
        let content = stored.operation.payload.flatMap(TextMessage.init)
        let notes = try notes(of: stored, in: log, store)
        let isDeleted = row.flags.contains(.deleted)
        let edits = isDeleted ? [] : notes.filter { $0.field == .edit }
        var versions =
            isDeleted
            ? [] : content.map { [MessageEdit(text: $0.text, mentions: $0.mentions)] } ?? []
        versions += try texts(of: edits, isLastEnough: !includesHistory, in: store)
        return Message(
            number: row.operation,
            reference: OperationReference(
                tag: log.tag, sequence: stored.sequence, check: stored.id.check),
            order: row.order, author: author, text: versions.last?.text, content: content,
            lifetime: stored.operation.header.kind == .disappearingText ? content?.lifetime : nil,
            mentions: versions.last?.mentions.known(to: roster) ?? Mentions(),
            time: content?.origin?.time ?? stored.operation.header.wallClock,
            parent: stored.operation.header.references.first,
            thread: MessageThread.root(of: stored.operation.header),
            history: includesHistory ? versions.dropLast().map(\.text) : [], editCount: edits.count,
            reactions: isDeleted ? [] : try reactions(notes, to: stored.id.check, in: store),
            flags: row.flags,
            state: author == ownPerson
                ? Self.state(of: log.tag, stored.sequence, isDeleted, notes, states) : nil,
            waiting: Self.waiting(notes, isDeleted, states))
    }

    /// The present text of a message and its author: without the delivery state, which is more
    /// expensive to read. Nil if it does not count.
    public func content(
        of stored: StoredOperation, in store: some MergeStore
    ) throws(StoreError) -> QuotedMessage? {
        guard let log = try store.log(stored.log), let author = roster.person(of: log.device),
            let row = try store.message(stored.messageOrder(in: log), in: space.number)
        else { return nil }
        let content = stored.operation.payload.flatMap(TextMessage.init)
        let isDeleted = row.flags.contains(.deleted)
        let edits =
            isDeleted ? [] : try notes(of: stored, in: log, store).filter { $0.field == .edit }
        let shown = try texts(of: edits, isLastEnough: true, in: store).last?.text
        return QuotedMessage(
            author: author, origin: content?.origin, text: isDeleted ? nil : shown ?? content?.text,
            isDeleted: isDeleted, isEdited: !edits.isEmpty,
            files: isDeleted ? [] : content?.files ?? [])
    }

    /// What is about a message; edits and deletions only if they name it, and not another message
    /// at its place.
    private func notes(
        of stored: StoredOperation, in log: LogRecord, _ store: some MergeStore
    ) throws(StoreError) -> [Entry] {
        let notes = try store.entries(
            about: .operation(log.tag, stored.sequence), in: space.number, field: nil)
        return try Target.notes(notes, about: stored.id.check, in: store)
    }

    /// The state of the newest change. That a deletion was read is nothing that anybody says.
    private static func state(
        of tag: LogTag, _ sequence: UInt64, _ isDeleted: Bool, _ notes: [Entry],
        _ states: MessageStates
    ) -> MessageState {
        let field = isDeleted ? EntryField.deletion : .edit
        let changes = notes.filter { $0.field == field && states.isOwn($0.order.tag) }
        let said = changes.map { states.state(of: $0.order.tag, $0.order.sequence) }
        if isDeleted, let best = said.max() { return min(best, .delivered) }
        let text = states.state(of: tag, sequence)
        guard let last = changes.max(by: { $0.order < $1.order }) else { return text }
        return min(text, states.state(of: last.order.tag, last.order.sequence))
    }

    private static func waiting(
        _ notes: [Entry], _ isDeleted: Bool, _ states: MessageStates
    ) -> [WaitingChange] {
        guard states.hasOthers else { return [] }
        let own = notes.filter { states.isOwn($0.order.tag) }
        func waits(_ field: EntryField, _ subject: WaitingChange.Subject) -> WaitingChange? {
            // Edits replace each other; one deletion is enough; of reactions each stands for itself.
            let changes = own.filter { $0.field == field }.sorted { $0.order < $1.order }
            let said = changes.map { states.state(of: $0.order.tag, $0.order.sequence) }
            let state =
                switch subject {
                case .edit: said.last
                case .deletion: said.max()
                case .reaction: said.min()
                }
            guard let state, state < .delivered else { return nil }
            return WaitingChange(subject: subject, state: state)
        }
        if isDeleted { return [waits(.deletion, .deletion)].compactMap { $0 } }
        return [waits(.edit, .edit), waits(.reaction, .reaction)].compactMap { $0 }
    }

    /// The texts of edits, oldest first, or the last one alone.
    private func texts(
        of edits: [Entry], isLastEnough: Bool, in store: some MergeStore
    ) throws(StoreError) -> [MessageEdit] {
        var texts: [MessageEdit] = []
        for entry in edits.sorted(by: { $0.order > $1.order }) {
            let payload = try store.operation(entry.operation)?.operation.payload
            if let edit = payload.flatMap(MessageEdit.init) { texts.append(edit) }
            if isLastEnough, !texts.isEmpty { break }
        }
        return texts.reversed()
    }

    /// What this person changed about a message: the last edit, or the deletion, and reactions.
    public func ownChanges(
        of stored: StoredOperation, in log: LogRecord, _ store: some MergeStore
    ) throws(StoreError) -> [(subject: WaitingChange.Subject, operation: OperationNumber)] {
        let notes = try notes(of: stored, in: log, store)
        let states = try MessageStates(
            in: space, roster: roster, besides: ownPerson, store: store)
        let own = notes.filter { states.isOwn($0.order.tag) }.sorted { $0.order < $1.order }
        if let deletion = own.last(where: { $0.field == .deletion }) {
            return [(.deletion, deletion.operation)]
        }
        let edit = own.last { $0.field == .edit }.map { [$0] } ?? []
        return edit.map { (.edit, $0.operation) }
            + own.filter { $0.field == .reaction }.map { (.reaction, $0.operation) }
    }

    /// The deletion of a message for everyone: the first in order; nil for one that is not deleted.
    public func deletion(
        of stored: StoredOperation, in log: LogRecord, _ store: some MergeStore
    ) throws(StoreError) -> OperationNumber? {
        try notes(of: stored, in: log, store).filter { $0.field == .deletion }
            .min { $0.order < $1.order }?.operation
    }

    /// Texts that a message had, oldest first, from this one on, and how many there are: the one that
    /// is shown is the last. None of one that was deleted.
    public func versions(
        of number: OperationNumber, from first: Int, limit: Int, in store: some MergeStore
    ) throws(StoreError) -> (texts: [TextVersion], count: Int)? {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            log.space == space.number, stored.operation.header.kind.isMessage
        else { return nil }
        let object = EntryObject.operation(log.tag, stored.sequence)
        let check = stored.id.check
        if try Deletion.covers(object, check, in: space.number, store: store) { return ([], 0) }
        let edits = try Target.notes(
            store.entries(about: object, in: space.number, field: .edit), about: check, in: store)
        let numbers = [number] + edits.sorted { $0.order < $1.order }.map(\.operation)
        var texts: [TextVersion] = []
        for number in numbers.dropFirst(first).prefix(limit) {
            guard let operation = try store.operation(number)?.operation else { continue }
            let text =
                operation.header.kind == .edit
                ? operation.payload.flatMap(MessageEdit.init)?.text
                : operation.payload.flatMap(TextMessage.init)?.text
            texts.append(TextVersion(text: text, time: operation.header.wallClock))
        }
        return (texts, numbers.count)
    }

    private func reactions(
        _ notes: [Entry], to check: Check, in store: some MergeStore
    ) throws(StoreError) -> [Message.Reactions] {
        var reactions: [Message.Reactions] = []
        var places: [String: Int] = [:]
        let active = notes.filter { $0.field == .reaction && $0.isOn }
        for entry in active.sorted(by: { $0.order < $1.order }) {
            guard let stored = try store.operation(entry.operation),
                !goesByCheck || stored.operation.header.references.first?.check == check,
                let reaction = stored.operation.payload.flatMap(Reaction.init),
                let log = try store.log(stored.log),
                let person = roster.person(of: log.device)
            else { continue }
            if let place = places[reaction.emoji] {
                reactions[place].persons.append(person)
            } else {
                places[reaction.emoji] = reactions.count
                reactions.append(.init(emoji: reaction.emoji, persons: [person]))
            }
        }
        return reactions
    }
}
