public import ParleyLedger
public import ParleyWire

/// What entries are about: one operation of the space, or the space itself.
public enum EntryObject: Hashable, Sendable {
    /// The space itself.
    case space
    /// The operation at this place. It may not be held yet.
    case operation(LogTag, UInt64)
}

/// Which feature an entry belongs to. The numbers are stored: never reuse one.
public struct EntryField: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number in the store.
    public let rawValue: UInt16
    /// The field with this number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Fields order by number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// One fact that an operation established about an object: the row of every merge rule.
///
/// It holds no value: the value is in the payload of `operation`, so that views hold nothing that
/// must be sealed, and erasing the payload erases the value.
public struct Entry: Equatable, Sendable {
    /// The space.
    public var space: SpaceNumber
    /// The subject.
    public var object: EntryObject
    /// The feature.
    public var field: EntryField
    /// Tells entries of one field apart (a reaction: who and which); 0 where there is one.
    /// Made by ``ConversationStore/locator(_:)``, so it tells a thief of the disk nothing.
    public var element: UInt64
    /// The operation that established it.
    public var operation: OperationNumber
    /// Its order.
    public var order: OrderKey
    /// A yes or no, such as "the reaction is on"; the field gives its meaning.
    public var isOn: Bool

    /// An entry with these fields.
    public init(
        space: SpaceNumber, object: EntryObject, field: EntryField, element: UInt64 = 0,
        operation: OperationNumber, order: OrderKey, isOn: Bool = true
    ) {
        self.space = space
        self.object = object
        self.field = field
        self.element = element
        self.operation = operation
        self.order = order
        self.isOn = isOn
    }
}

extension Entry {
    /// The end of a page, from which the next one goes on: entries are paged by stand and row, and nothing else
    /// of this one counts.
    public static func pageEnd(
        at stand: UInt64, _ operation: OperationNumber, of field: EntryField
    ) -> Entry {
        let order = OrderKey(stand: stand, tag: LogTag(0), sequence: 0, id: OperationID { _ in })
        return Entry(
            space: SpaceNumber(0), object: .space, field: field, operation: operation, order: order)
    }
}

/// One message in a timeline.
public struct MessageRow: Equatable, Sendable {
    /// A mark on a screen; local unless stated otherwise.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits in the store.
        public let rawValue: UInt8
        /// The flags with these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// It came long after newer ones were shown. Local: depends on the order of arrival.
        public static let late = Flags(rawValue: 1 << 0)
        /// Deleted for everyone.
        public static let deleted = Flags(rawValue: 1 << 1)
        /// Brought in from elsewhere by its author.
        public static let imported = Flags(rawValue: 1 << 2)
        /// Its text has not arrived. Local.
        public static let bodyless = Flags(rawValue: 1 << 3)
    }

    /// The space.
    public var space: SpaceNumber
    /// Where it stands.
    public var order: OrderKey
    /// The operation that wrote it.
    public var operation: OperationNumber
    /// The log of that operation.
    public var log: LogNumber
    /// A mark on a screen.
    public var flags: Flags

    /// A row with these fields.
    public init(
        space: SpaceNumber, order: OrderKey, operation: OperationNumber, log: LogNumber,
        flags: Flags
    ) {
        self.space = space
        self.order = order
        self.operation = operation
        self.log = log
        self.flags = flags
    }
}

/// Which kind of progress a mark records.
public enum MarkKind: UInt8, CaseIterable, Sendable {
    /// A device said in a receipt that its person has read these places.
    case read = 0
    /// A device said in a receipt that it holds these places.
    case delivered = 1
    /// A linked device acknowledged the log up to a place. Local.
    case acknowledged = 2
    /// A device said in a receipt that it holds all files that the messages at these places bring.
    case held = 3
}

/// Which places of one log a device has.
public struct Mark: Equatable, Sendable {
    /// The space.
    public var space: SpaceNumber
    /// Which kind.
    public var kind: MarkKind
    /// The device, as its 32 bytes.
    public var actor: Digest
    /// The log, which need not be held yet: receipts name no causes.
    public var tag: LogTag
    /// The places.
    public var places: PlaceSet
    /// The place of the receipt in the device's own log of receipts; 0 if there is none.
    public var said: UInt64
    /// The start of the identifier of the operation at the last place: it tells which branch of the
    /// log is meant. Nil if it was not given.
    public var check: Check?

    /// A mark with these fields.
    public init(
        space: SpaceNumber, kind: MarkKind, actor: Digest, tag: LogTag, places: PlaceSet,
        said: UInt64 = 0, check: Check? = nil
    ) {
        self.check = check
        self.space = space
        self.kind = kind
        self.actor = actor
        self.tag = tag
        self.places = places
        self.said = said
    }
}

/// What the merge rules ask of a store: three kinds of rows for all features together.
///
/// Everything here can be dropped and folded again from the log, except acknowledged marks.
public protocol ConversationStore: AnyObject {
    /// A short keyed hash of a private value, the same for the life of this store only.
    func locator(_ value: [UInt8]) throws(StoreError) -> UInt64

    /// Keeps a message. Its place in the timeline is `row.order`.
    func insert(_ row: MessageRow) throws(StoreError)
    /// Replaces the flags of a message that is kept.
    func update(_ row: MessageRow) throws(StoreError)
    /// Drops a message from its place.
    func remove(_ row: MessageRow) throws(StoreError)
    /// The message that stands at this place, or nil.
    ///
    /// - Parameter order: where it stands; the key of the row.
    func message(
        _ order: OrderKey, in space: SpaceNumber
    ) throws(StoreError) -> MessageRow?
    /// At most `limit` messages below `before` (or the newest), newest first.
    func messages(
        in space: SpaceNumber, before: OrderKey?, limit: Int
    ) throws(StoreError) -> [MessageRow]
    /// How many operations of this kind the log holds with places in the range, that are not
    /// deleted messages.
    func messageCount(
        in log: LogNumber, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> Int

    /// Keeps an entry; one with the same object, field, element and operation is replaced.
    func put(_ entry: Entry) throws(StoreError)
    /// Drops the entry with this object, field, element and operation.
    func remove(_ entry: Entry) throws(StoreError)
    /// The entries about an object, of one field or of all, ascending by (field, element, order).
    func entries(
        about object: EntryObject, in space: SpaceNumber, field: EntryField?
    ) throws(StoreError) -> [Entry]
    /// The entries about an object with one field and element, ascending by order. Other entries
    /// about the object cost nothing: this is how rules look up what an operation replaces.
    func entries(
        about object: EntryObject, in space: SpaceNumber, field: EntryField, element: UInt64
    ) throws(StoreError) -> [Entry]
    /// Whether there is an entry about an object of a field and element.
    func hasEntry(
        about object: EntryObject, in space: SpaceNumber, field: EntryField, element: UInt64
    ) throws(StoreError) -> Bool
    /// Whether there is an entry about an object of a field.
    func hasEntry(
        about object: EntryObject, in space: SpaceNumber, field: EntryField
    ) throws(StoreError) -> Bool

    /// How many entries of the field ``EntryField/mention`` are on about places of a log in the range
    /// and stand above this.
    func mentionCount(
        on tag: LogTag, _ range: ClosedRange<UInt64>, above stand: UInt64, in space: SpaceNumber
    ) throws(StoreError) -> Int
    /// At most `limit` entries of that field, of all spaces, that are on and stand below `before` (or
    /// all), the highest first.
    func mentions(before: OrderKey?, limit: Int) throws(StoreError) -> [Entry]

    /// At most `limit` answers of a thread, named by the element, below `before` or the newest; newest
    /// first.
    func answers(
        in thread: UInt64, of space: SpaceNumber, before: OrderKey?, limit: Int
    ) throws(StoreError) -> [Entry]
    /// How many answers of a thread there are below `before`, or in all.
    func answerCount(
        in thread: UInt64, of space: SpaceNumber, before: OrderKey?
    ) throws(StoreError) -> Int
    /// The thread of each answer about a place of a log in the range that stands above this.
    func threadsAnswered(
        on tag: LogTag, _ range: ClosedRange<UInt64>, above stand: UInt64, in space: SpaceNumber
    ) throws(StoreError) -> [UInt64]
    /// At most `limit` threads of a space or of all, below `before` or all, the highest first: by where the
    /// newest answer stands, then by its row.
    func threads(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry]

    /// At most `limit` decisions of a space or of all, below `before` or all, the highest first: by where they
    /// stand, then by their row.
    func decisions(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry]

    /// At most `limit` messages that bring files, of a space or of all, below `before` or all, the highest
    /// first: by where they stand, then by their row.
    func files(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry]
    /// At most `limit` entries of messages that name the sealed file with this short name, of all spaces,
    /// by their rows.
    func naming(blob element: UInt64, limit: Int) throws(StoreError) -> [Entry]

    /// Keeps a mark in place of the one of the same kind, actor and log.
    func put(_ mark: Mark) throws(StoreError)
    /// The mark of one actor on one log, or nil.
    func mark(
        _ kind: MarkKind, of actor: Digest, on tag: LogTag, in space: SpaceNumber
    ) throws(StoreError) -> Mark?
    /// All marks of this kind on the logs of a space, ascending by (tag, actor).
    func marks(_ kind: MarkKind, in space: SpaceNumber) throws(StoreError) -> [Mark]

    /// Drops all messages, entries and marks of a space but the acknowledged marks.
    func clearViews(of space: SpaceNumber) throws(StoreError)
}

extension ConversationStore {
    /// Stores what a receipt says, unless a later one of the same device said more.
    func replace(_ mark: Mark) throws(StoreError) {
        let known = try self.mark(mark.kind, of: mark.actor, on: mark.tag, in: mark.space)
        if let known, known.said > mark.said { return }
        try put(mark)
    }

    /// A device acknowledged a log up to an operation. An earlier word changes nothing.
    public func acknowledge(
        _ last: OperationReference, by device: DeviceID, in space: SpaceNumber
    ) throws(StoreError) {
        let actor = Digest(reinterpreting: device)
        let known = try mark(.acknowledged, of: actor, on: last.tag, in: space)
        if let known, known.places.contains(last.sequence) { return }
        try put(
            Mark(
                space: space, kind: .acknowledged, actor: actor, tag: last.tag,
                places: PlaceSet(0..<last.sequence + 1), check: last.check))
    }

    /// At most `limit` entries of messages that name a sealed file, of all spaces, by their rows.
    public func naming(_ blob: BlobID, limit: Int) throws(StoreError) -> [Entry] {
        try naming(blob: locator(blob.bytes), limit: limit)
    }

    /// Whether a message that can be read names a sealed file.
    public func names(_ blob: BlobID) throws(StoreError) -> Bool {
        try !naming(blob, limit: 1).isEmpty
    }

    /// What a person has read of a log, on any of these devices.
    public func placesRead(
        of tag: LogTag, on devices: [DeviceID], in space: SpaceNumber
    ) throws(StoreError) -> PlaceSet {
        var read = PlaceSet()
        for device in devices {
            let actor = Digest(reinterpreting: device)
            if let mark = try mark(.read, of: actor, on: tag, in: space) {
                read.formUnion(mark.places)
            }
        }
        return read
    }
}
