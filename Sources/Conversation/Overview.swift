public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// One line of a list of conversations.
public struct ConversationSummary: Equatable, Sendable {
    /// The conversation.
    public var space: SpaceRecord
    /// The name that it was given, if any.
    public var name: String?
    /// Everyone in it.
    public var members: [Member]
    /// Messages of others that the person has not read.
    public var unreadCount: Int
    /// Messages of others that mention the person where they have not read it.
    public var unreadMentionCount: Int
    /// Whether the person marked it as unread.
    public var isMarkedUnread: Bool
    /// That the person silenced it, and until when; nil where it is heard.
    public var mute: Mute?
    /// Whether the person put it away, and nothing came since.
    public var isArchived: Bool
    /// Whether the person has it stand above others.
    public var isKeptFirst: Bool
    /// The draft of the person in it.
    public var unsentText: String?
    /// The order of the newest message, to sort by.
    public var newest: OrderKey?
    /// Its row here.
    public var newestNumber: OperationNumber?
    /// When the newest message was written, by its author's clock, in Unix milliseconds.
    public var newestTime: UInt64?
    /// When the conversation began, by its founder's clock, in Unix milliseconds; nil where there are
    /// messages.
    public var began: UInt64?
}

/// Reads what lists of conversations and of contacts show.
public enum Overview {
    /// The conversation in one line.
    public static func summary(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID, ownSpace: SpaceNumber?,
        in store: some MergeStore
    ) throws(StoreError) -> ConversationSummary {
        let newest = try newestShown(of: space, roster: roster, ownSpace: ownSpace, in: store)
        let unread = try UnreadPlaces(of: space, roster, ownPerson, ownSpace, in: store)
        let unreadCount = try unread.messageCount(of: space, in: store)
        var (isMarkedUnread, isKeptFirst) = (false, false)
        var archive: Archive?
        var mute: Mute?
        var unsentText: String?
        if let ownSpace {
            isMarkedUnread = try Self.isMarkedUnread(space.id, ownSpace: ownSpace, in: store)
            isKeptFirst =
                try preference(
                    .keptFirst, about: space.id.bytes, ownSpace: ownSpace, in: store) == [1]
            archive = try Self.archive(space.id, ownSpace: ownSpace, in: store)
            mute = try Self.mute(space.id, ownSpace: ownSpace, in: store)
            unsentText = try Self.unsentText(in: space.id, ownSpace: ownSpace, store: store)
        }
        return ConversationSummary(
            space: space, name: try name(of: space.number, in: store), members: roster.members,
            unreadCount: unreadCount,
            unreadMentionCount: try unread.mentionCount(of: space, in: store),
            isMarkedUnread: isMarkedUnread, mute: mute,
            isArchived: archive?.covers(newest: newest?.order, unreadCount: unreadCount) ?? false,
            isKeptFirst: isKeptFirst,
            unsentText: unsentText, newest: newest?.order,
            newestNumber: newest?.operation,
            newestTime: try newest.flatMap { row throws(StoreError) in
                try time(of: row, in: store)
            }, began: newest == nil ? try began(space.number, in: store) : nil)
    }

    /// So many messages are looked through for one that is shown.
    private static let hiddenLookedAtCountMax = 4_096

    /// The newest message of a conversation that is not hidden: what a blocked person says neither lifts it in
    /// a list nor brings it back from the archive.
    public static func newestShown(
        of space: SpaceRecord, roster: Roster, ownSpace: SpaceNumber?, in store: some MergeStore
    ) throws(StoreError) -> MessageRow? {
        var isHidden: [LogTag: Bool] = [:]
        var (before, lookedAt) = (OrderKey?.none, 0)
        while lookedAt < hiddenLookedAtCountMax {
            // Almost always the first is shown.
            let rows = try store.messages(
                in: space.number, before: before, limit: lookedAt == 0 ? 1 : 256)
            for row in rows {
                let tag = row.order.tag
                if isHidden[tag] == nil {
                    let author = try store.log(tag, in: space.number).flatMap {
                        roster.person(of: $0.device)
                    }
                    isHidden[tag] = try author.map { author throws(StoreError) in
                        try self.isHidden(author, in: space, ownSpace: ownSpace, store)
                    }
                }
                if isHidden[tag] != true { return row }
            }
            guard let last = rows.last else { return nil }
            (before, lookedAt) = (last.order, lookedAt + rows.count)
        }
        return nil
    }

    /// When a message was written by its author's clock: where it stands tells another time where that
    /// clock was wrong.
    private static func time(
        of row: MessageRow, in store: some MergeStore
    ) throws(StoreError) -> UInt64? {
        if row.flags.contains(.imported) { return row.order.stand >> 16 }
        return try store.operation(row.operation)?.operation.header.wallClock
    }

    private static func began(
        _ space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> UInt64? {
        for log in try store.logs(in: space) where log.lane == .control {
            guard let first = try store.operation(at: 0, in: log.number)?.operation.header,
                first.kind == .genesis
            else { continue }
            return first.wallClock
        }
        return nil
    }

    /// The name that a conversation was given, or nil.
    public static func name(
        of space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> String? {
        let shown = try Register.survivors(of: .name, in: space, store: store).first
        return shown?.operation.operation.payload.flatMap(ConversationName.init)?.name
    }

    /// How operations name the values that a new name replaces.
    public static func nameReferences(
        of space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [OperationReference] {
        try Register.survivors(of: .name, in: space, store: store).map(\.entry.order.reference)
    }

    /// That the person silenced this conversation, and until when; nil where they did not, or ended it.
    public static func mute(
        _ space: SpaceID, ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> Mute? {
        let element = try store.locator(space.bytes)
        let entries = try store.entries(
            about: .space, in: ownSpace, field: .mute, element: element)
        guard let entry = entries.first, entry.isOn else { return nil }
        return try store.operation(entry.operation)?.operation.payload.flatMap(Mute.init)
    }

    /// Everyone that the person knows, ascending by person.
    public static func contacts(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [Contact] {
        let said = try notes(Contact.self, ownSpace: ownSpace, in: store)
        let asking = try notes(Contact.self, field: .asking, ownSpace: ownSpace, in: store)
        var known = Dictionary(asking.map { ($0.person, $0) }) { $1 }
        for contact in said {
            known[contact.person] = Contact(said: contact, asking: known[contact.person])
        }
        return known.values.sorted { $0.person < $1.person }
    }

    /// Whether what somebody says in a conversation is not shown to the person, who blocked them. In a
    /// conversation of two it is: nothing new arrives there.
    public static func isHidden(
        _ author: PersonID, in space: SpaceRecord, ownSpace: SpaceNumber?,
        _ store: some MergeStore
    ) throws(StoreError) -> Bool {
        guard space.kind == .group, let ownSpace else { return false }
        return try contact(author, ownSpace: ownSpace, in: store)?.isBlocked == true
    }

    /// What the person noted of another, or nil.
    public static func contact(
        _ person: PersonID, ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> Contact? {
        let element = try store.locator(person.bytes)
        func note(_ field: EntryField) throws(StoreError) -> Contact? {
            let entry = try store.entries(
                about: .space, in: ownSpace, field: field, element: element
            ).first
            return try entry.flatMap { entry throws(StoreError) in
                try store.operation(entry.operation)?.operation.payload.flatMap(Contact.init)
            }
        }
        return try Contact(said: note(.contact), asking: note(.asking))
    }

    /// The places of the deletions of a message, ascending; empty if there are none.
    public static func deletions(
        of message: OperationReference, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> [OrderKey] {
        let object = EntryObject.operation(message.tag, message.sequence)
        guard try store.hasEntry(about: object, in: space, field: .deletion) else { return [] }
        var found: [OrderKey] = []
        for element in try Target.elements(of: message.check, in: store) {
            found += try store.entries(
                about: object, in: space, field: .deletion, element: element
            ).map(\.order)
        }
        return found.sorted()
    }

    /// Whether a message was deleted for everyone.
    public static func isDeleted(
        _ message: OperationReference, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> Bool {
        try Deletion.covers(
            .operation(message.tag, message.sequence), message.check, in: space, store: store)
    }
}
