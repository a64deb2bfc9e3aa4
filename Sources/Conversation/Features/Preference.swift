import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// What holds for the person, on all of their devices.
    public static let preference = OperationKind(rawValue: 38)
}

extension EntryField {
    /// The person's preferences, in the own space; one entry for each key and subject.
    static let preference = EntryField(rawValue: 12)
}

/// The key of a preference.
/// Source: `Protocol/05-identity.md`, "Preferences".
public struct PreferenceKey: RawRepresentable, Hashable, Sendable {
    /// The number in the operation.
    public let rawValue: UInt16
    /// The key with this number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Who sees the person's presence; about a person, or about all others.
    public static let presence = PreferenceKey(rawValue: 1)
    /// A server that helps calls; about its address.
    public static let callServer = PreferenceKey(rawValue: 2)
    /// That a conversation was deleted; about its space.
    public static let deleted = PreferenceKey(rawValue: 3)
    /// How far a conversation was read that the person is out of; about its space.
    public static let readOutside = PreferenceKey(rawValue: 4)
    /// When the recovery code was asked back.
    public static let recoveryCheck = PreferenceKey(rawValue: 5)
    /// That a conversation was archived, and its state then; about its space.
    public static let archived = PreferenceKey(rawValue: 6)
    /// That a conversation was marked as unread; about its space.
    public static let unread = PreferenceKey(rawValue: 7)
    /// What the person began to write in a conversation and has not sent; about its space.
    public static let unsent = PreferenceKey(rawValue: 8)
    /// Whether messages get previews of links without being told.
    public static let linkPreviews = PreferenceKey(rawValue: 10)
    /// That a conversation stands above others in the list; about its space.
    public static let keptFirst = PreferenceKey(rawValue: 18)
    /// After how many seconds messages disappear in conversations that the person begins.
    public static let lifetime = PreferenceKey(rawValue: 19)

    /// Those that this device knows.
    public static let all: [PreferenceKey] = [
        .presence, .callServer, .deleted, .readOutside, .recoveryCheck, .archived, .unread,
        .unsent, .sentAgain, .linkPreviews, .reminder, .scheduled, .keptFirst, .lifetime,
        .readingTold, .typingTold, .readQuietly,
    ]

    /// Those that hold words which the person takes back by setting others, or none.
    static let ofWords: Set<PreferenceKey> = [.unsent, .reminder, .scheduled]

    /// Those that change how a conversation is listed.
    fileprivate static let ofLists: Set<PreferenceKey> = [
        .readOutside, .archived, .unread, .unsent, .keptFirst, .readingTold, .readQuietly,
    ]
}

/// The payload that says what holds for the person: one kind for all that they can set, so that a
/// device keeps and passes on what only a newer one understands.
public struct Preference: Equatable, Sendable {
    /// Bytes of a topic: the address of a server is the longest.
    public static let topicByteCountMax = 256
    /// Bytes of a value: a server's name and password of 512 each are the longest.
    public static let valueByteCountMax = 2_048

    /// The key.
    public var key: PreferenceKey
    /// The topic; empty if the key has only one.
    public var topic: [UInt8]
    /// The value; empty for the default.
    public var value: [UInt8]

    /// A preference with these fields.
    public init(_ key: PreferenceKey, about topic: [UInt8] = [], _ value: [UInt8]) {
        self.key = key
        self.topic = topic
        self.value = value
    }

    /// The topic of one of many that a device named by a number.
    static func topic(of number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.uint64(number)
        return writer.bytes
    }

    /// The number in such a topic; nil where it is another one.
    var topicNumber: UInt64? {
        topic.count == 8 ? topic.reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadPreference.self, payload),
            let key = UInt16(exactly: message.key), key > 0,
            message.topic.count <= Self.topicByteCountMax,
            message.value.count <= Self.valueByteCountMax
        else { return nil }
        self.init(
            PreferenceKey(rawValue: key), about: fieldBytes(message.topic),
            fieldBytes(message.value))
    }

    /// The operation that says this, in the own space.
    ///
    /// - Parameter ended: the operation of words that an empty value ends, and it alone; else an empty value
    ///   takes the place of whatever was said before.
    public func draft(ending ended: OperationReference? = nil) -> Draft {
        var message = PayloadPreference()
        message.key = UInt32(key.rawValue)
        message.topic = field(topic)
        message.value = field(value)
        return Draft(
            kind: PreferenceKey.ofWords.contains(key) ? .passingPreference : .preference,
            lane: .shared, references: ended.map { [$0] } ?? [], payload: Payload.encode(message))
    }
}

extension Preference: OwnNote {
    static var kind: OperationKind { .preference }
    static var entryField: EntryField { .preference }
    var subject: [UInt8] { Self.subject(key, topic) }
    var isOn: Bool { !value.isEmpty }

    /// Whether or not this device knows the key: of those that it does not know the last word holds, too.
    static func subject(_ key: PreferenceKey, _ topic: [UInt8]) -> [UInt8] {
        [UInt8(key.rawValue >> 8), UInt8(truncatingIfNeeded: key.rawValue)] + topic
    }

    func changes(
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        // A topic may say more about a conversation, behind its name.
        guard PreferenceKey.ofLists.contains(key),
            let id = SpaceID(Array(topic.prefix(SpaceID.byteCount))),
            let space = try store.space(id)
        else { return [.preference(key)] }
        return [.preference(key), .conversation(space.number)]
    }
}

extension Overview {
    /// What the person said about one topic; nil where nothing holds.
    public static func preference(
        _ key: PreferenceKey, about topic: [UInt8] = [], ownSpace: SpaceNumber,
        in store: some MergeStore
    ) throws(StoreError) -> [UInt8]? {
        try statement(of: key, about: topic, ownSpace: ownSpace, in: store)?.value
    }

    /// The same, with the operation in which the person said it.
    static func statement(
        of key: PreferenceKey, about topic: [UInt8], ownSpace: SpaceNumber,
        in store: some MergeStore
    ) throws(StoreError) -> (value: [UInt8], operation: OperationReference)? {
        let element = try store.locator(Preference.subject(key, topic))
        let entries = try store.entries(
            about: .space, in: ownSpace, field: .preference, element: element)
        for entry in entries where entry.isOn {
            let payload = try store.operation(entry.operation)?.operation.payload
            guard let said = payload.flatMap(Preference.init), said.key == key,
                said.topic == topic
            else { continue }
            let order = entry.order
            return (
                said.value,
                OperationReference(
                    tag: order.tag, sequence: order.sequence, check: order.id.check)
            )
        }
        return nil
    }

    /// All preferences of the person under a key that hold, in the order in which they were set.
    public static func preferences(
        _ key: PreferenceKey, ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [Preference] {
        try notes(Preference.self, ownSpace: ownSpace, in: store).filter {
            $0.key == key && $0.isOn
        }
    }
}

extension Preference {
    /// One number under a key.
    public init(_ key: PreferenceKey, about topic: [UInt8] = [], number: UInt64) {
        var writer = ByteWriter(capacity: 8)
        writer.uint64(number)
        self.init(key, about: topic, writer.bytes)
    }
}

extension Overview {
    /// The number that the person said about one topic; nil where nothing holds, or no number.
    public static func number(
        _ key: PreferenceKey, about topic: [UInt8] = [], ownSpace: SpaceNumber,
        in store: some MergeStore
    ) throws(StoreError) -> UInt64? {
        guard let value = try preference(key, about: topic, ownSpace: ownSpace, in: store),
            value.count == 8
        else { return nil }
        return value.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
