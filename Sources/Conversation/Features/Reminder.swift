public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension PreferenceKey {
    /// That the person wants to be reminded of something; about the reminder's own name.
    public static let reminder = PreferenceKey(rawValue: 16)
}

/// Something that the person wants to be reminded of, on all of their devices; one of them rings.
/// Source: `Protocol/05-identity.md`, "Reminders".
public struct Reminder: Equatable, Sendable {
    /// Which one it is: drawn by the device that noted it.
    public struct ID: Hashable, Comparable, Sendable {
        /// The number.
        public let rawValue: UInt64
        /// The one with this number.
        public init(_ rawValue: UInt64) { self.rawValue = rawValue }
        /// By number.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// How far it is. The numbers are on the wire.
    public enum State: UInt8, CaseIterable, Sendable {
        /// It has not rung yet.
        case waiting = 1
        /// It has.
        case rung = 2
        /// The person is done with it.
        case done = 3
    }

    /// The subject.
    public struct Subject: Equatable, Sendable {
        /// The conversation.
        public var space: SpaceID
        /// A message there, or something that people do together.
        public var operation: OperationReference

        /// A subject with these fields.
        public init(space: SpaceID, operation: OperationReference) {
            self.space = space
            self.operation = operation
        }
    }

    private static let version: UInt8 = 1

    /// Which one it is.
    public var id: ID
    /// Its progress.
    public var state: State
    /// When it rings, by the clock of the device that does, in Unix milliseconds.
    public var time: UInt64
    /// Which device rings.
    public var device: DeviceID
    /// The subject; nil if the text says everything.
    public var subject: Subject?
    /// The text; may be empty if there is a subject.
    public var text: String

    /// A reminder with these fields.
    public init(
        _ id: ID, at time: UInt64, on device: DeviceID, about subject: Subject? = nil,
        text: String
    ) {
        self.id = id
        state = .waiting
        self.time = time
        self.device = device
        self.subject = subject
        self.text = text
    }

    /// The reminder in a preference; nil if it is not of this key, removes one, or breaks a rule.
    init?(_ said: Preference) {
        guard said.key == .reminder, let number = said.topicNumber else { return nil }
        id = ID(number)
        var reader = ByteReader(said.value)
        do throws(DecodingFailure) {
            guard try reader.byte() == Self.version, let state = State(rawValue: try reader.byte())
            else { return nil }
            (self.state, time) = (state, try reader.uint64())
            device = try reader.identifier()
            switch try reader.byte() {
            case 0: subject = nil
            case 1: subject = try Self.subject(&reader)
            default: return nil
            }
            guard let text = String(validating: reader.rest(), as: UTF8.self) else { return nil }
            self.text = text
        } catch { return nil }
        guard time < Limits.wallClockMax, text.utf8.count <= Limits.reminderByteCountMax,
            subject != nil || !text.isEmpty,
            (subject?.operation.sequence ?? 0) < Limits.placeMax
        else { return nil }
    }

    private static func subject(
        _ reader: inout ByteReader
    ) throws(DecodingFailure) -> Subject {
        let space: SpaceID = try reader.identifier()
        let (tag, place) = (LogTag(try reader.uint64()), try reader.uint64())
        return Subject(
            space: space,
            operation: OperationReference(tag: tag, sequence: place, check: try reader.check()))
    }

    /// What says so in the own space.
    public var preference: Preference {
        var writer = ByteWriter(capacity: 128)
        writer.byte(Self.version)
        writer.byte(state.rawValue)
        writer.uint64(time)
        writer.identifier(device)
        writer.byte(subject == nil ? 0 : 1)
        if let subject {
            writer.identifier(subject.space)
            writer.uint64(subject.operation.tag.value)
            writer.uint64(subject.operation.sequence)
            writer.check(subject.operation.check)
        }
        writer.raw(Array(text.utf8))
        return Preference(.reminder, about: Preference.topic(of: id.rawValue), writer.bytes)
    }

    /// The value that deletes it for good.
    public static func removal(of id: ID) -> Preference {
        Preference(.reminder, about: Preference.topic(of: id.rawValue), [])
    }
}

extension Overview {
    /// All that the person wants to be reminded of, or was, what rings first first.
    public static func reminders(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [Reminder] {
        try preferences(.reminder, ownSpace: ownSpace, in: store)
            .compactMap { Reminder($0) }
            .sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }
}
