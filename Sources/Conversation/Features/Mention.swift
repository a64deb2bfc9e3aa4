import ParleyPayloads
public import ParleyLedger
public import ParleyRoster
public import ParleyWire

extension EntryField {
    /// That a message mentions this person: about the place of the version that did so first, on while
    /// the version that is shown does. Stores have indexes of this number.
    public static let mention = EntryField(rawValue: 41)
    /// Of each message the version that mentioned this person first.
    static let firstMention = EntryField(rawValue: 42)
    /// Of each message that was edited the edit that is shown.
    static let shownEdit = EntryField(rawValue: 43)
}

/// The persons that a text mentions.
public struct Mentions: Equatable, Sendable {
    /// That a person is mentioned.
    public struct Mention: Equatable, Sendable {
        /// The person.
        public var person: PersonID
        /// Where their name stands in the UTF-8 of the text, the `@` among it; nil where no name stands
        /// there.
        public var place: Range<Int>?

        /// A mention with these fields.
        public init(_ person: PersonID, at place: Range<Int>? = nil) {
            self.person = person
            self.place = place
        }
    }

    /// Persons, in the order in which they stand in the text; at most ``Limits/mentionCountMax``.
    public var persons: [Mention]
    /// Whether everybody in the conversation is mentioned.
    public var everyone: Bool

    /// Mentions of these.
    public init(_ persons: [Mention] = [], everyone: Bool = false) {
        self.persons = persons
        self.everyone = everyone
    }

    /// Whether nobody is mentioned.
    public var isEmpty: Bool { persons.isEmpty && !everyone }

    /// Whether a person is mentioned, by name or with everybody.
    public func includes(_ person: PersonID) -> Bool {
        everyone || persons.contains { $0.person == person }
    }

    /// Without those who neither are in the conversation nor ever were: to mention them has no effect.
    func known(to roster: Roster) -> Mentions {
        Mentions(
            persons.filter { !roster.devicesEver(of: $0.person).isEmpty }, everyone: everyone)
    }

    /// The mentions in a payload of a text: none if they exceed a limit, because a program that
    /// does not know the field shows the text all the same.
    init(_ payload: PayloadMentions, in text: String) {
        self.init()
        guard payload.mentions.count <= Limits.mentionCountMax else { return }
        var persons: [Mention] = []
        for mention in payload.mentions {
            guard let person = PersonID(fieldBytes(mention.person)) else { return }
            let place = Int(mention.start)..<Int(mention.start) + Int(mention.length)
            persons.append(Mention(person, at: place))
        }
        self = Mentions(persons, everyone: payload.everyone).placed(in: text)
    }

    /// The same persons, with those places alone where a name can stand in a text.
    package func placed(in text: String) -> Mentions {
        var (placed, end) = (self, 0)
        for index in placed.persons.indices {
            // A name begins with its sign, after the one before, and cuts no character in two.
            guard let place = persons[index].place, place.lowerBound >= end,
                Self.isName(at: place, in: text)
            else {
                placed.persons[index].place = nil
                continue
            }
            end = place.upperBound
        }
        return placed
    }

    private static func isName(at place: Range<Int>, in text: String) -> Bool {
        let bytes = text.utf8
        guard place.count > 1, place.upperBound <= bytes.count else { return false }
        let start = bytes.index(bytes.startIndex, offsetBy: place.lowerBound)
        let end = bytes.index(start, offsetBy: place.count)
        return bytes[start] == UInt8(ascii: "@") && end.samePosition(in: text.unicodeScalars) != nil
    }

    var payload: PayloadMentions {
        var payload = PayloadMentions()
        payload.everyone = everyone
        payload.mentions = persons.map { mention in
            var field = PayloadMention()
            field.person = ParleyPayloads.field(mention.person.bytes)
            field.start = UInt32(mention.place?.lowerBound ?? 0)
            field.length = UInt32(mention.place?.count ?? 0)
            return field
        }
        return payload
    }
}

/// Records whether a message mentions this person. The shown version decides; the first version
/// with the mention is where it is read, so that an edit notifies only persons whom no earlier
/// version mentioned.
///
/// Three rows per message bound what an edit costs, however many there are.
enum MentionNotes {
    /// Notes a version of a message, which came or came with its text.
    static func note(
        _ mentions: Mentions, in version: AppliedOperation, isEdit: Bool,
        of message: OperationReference, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let author = context.author.person
        guard context.roster.kind != .own, author != context.ownPerson else { return [] }
        var entry = Entry(
            space: context.space.number, object: .operation(message.tag, message.sequence),
            field: .shownEdit, element: try Target.element(of: message.check, in: store),
            operation: version.number, order: version.operation.orderKey)
        if isEdit { try keep(entry, in: store) { $0.order > $1.order } }
        entry.field = .firstMention
        if mentions.includes(context.ownPerson) {
            let before = try LastWriter.rivals(of: entry, in: store).first
            let isFirst = try keep(entry, in: store) { $0.order < $1.order }
            if isFirst, let before { try store.remove(mention(said: before, isOn: true)) }
        }
        return try settle(like: entry, message, by: version, context, in: store)
    }

    /// Replaces the existing entry if the new one comes before it.
    @discardableResult
    private static func keep(
        _ entry: Entry, in store: some MergeStore, _ precedes: (Entry, Entry) -> Bool
    ) throws(StoreError) -> Bool {
        let rivals = try LastWriter.rivals(of: entry, in: store)
        if rivals.contains(where: { $0.operation != entry.operation && !precedes(entry, $0) }) {
            return false
        }
        for rival in rivals { try store.remove(rival) }
        try store.put(entry)
        return true
    }

    private static func mention(said first: Entry, isOn: Bool) -> Entry {
        Entry(
            space: first.space, object: .operation(first.order.tag, first.order.sequence),
            field: .mention, operation: first.operation, order: first.order, isOn: isOn)
    }

    /// Keeps what holds now. A message that is not here mentions nobody yet.
    private static func settle(
        like entry: Entry, _ message: OperationReference, by version: AppliedOperation,
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let first = try LastWriter.rivals(of: entry, in: store).first,
            let log = try store.log(message.tag, in: entry.space),
            let stored = try store.operation(at: message.sequence, in: log.number),
            stored.operation.header.kind.isMessage, stored.id.check == message.check
        else { return [] }
        var shown = entry
        shown.field = .shownEdit
        let edit = try LastWriter.rivals(of: shown, in: store).first
        let operation = try edit.flatMap { edit throws(StoreError) in
            try store.operation(edit.operation)
        }
        let mentions =
            operation.map { $0.operation.payload.flatMap(MessageEdit.init)?.mentions }
            ?? stored.operation.payload.flatMap(TextMessage.init)?.mentions
        let isOn = mentions?.includes(context.ownPerson) ?? false
        try store.put(mention(said: first, isOn: isOn))
        let isNews = isOn && first.operation == version.number && !version.isBackfill
        return isNews ? [.mention(entry.space, stored.number)] : []
    }

    /// Drops all that is noted of a message, which was deleted.
    static func forget(
        _ object: EntryObject, _ check: Check, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) {
        let element = try Target.element(of: check, in: store)
        for field in [EntryField.firstMention, .shownEdit] {
            let kept = try store.entries(
                about: object, in: space, field: field, element: element)
            for entry in kept {
                try store.remove(entry)
                if field == .firstMention { try store.remove(mention(said: entry, isOn: true)) }
            }
        }
    }
}

extension Overview {
    /// How many messages of others mention this person where they have not read it.
    public static func unreadMentionCount(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID, ownSpace: SpaceNumber? = nil,
        in store: some MergeStore
    ) throws(StoreError) -> Int {
        try UnreadPlaces(of: space, roster, ownPerson, ownSpace, in: store)
            .mentionCount(of: space, in: store)
    }

    /// The message that a mention is in.
    public static func message(
        of mention: Entry, in store: some MergeStore
    ) throws(StoreError) -> StoredOperation? {
        guard let version = try store.operation(mention.operation) else { return nil }
        if version.operation.header.kind.isMessage { return version }
        guard let message = version.operation.header.references.first,
            let log = try store.log(message.tag, in: mention.space)
        else { return nil }
        return try store.operation(at: message.sequence, in: log.number)
    }
}
