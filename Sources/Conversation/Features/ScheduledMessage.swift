public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension PreferenceKey {
    /// A message that the person wants sent later; about its own name.
    public static let scheduled = PreferenceKey(rawValue: 17)
}

/// A message that one of the person's devices sends at a time; all of them know of it.
/// Source: `Protocol/05-identity.md`, "Scheduled messages".
public struct ScheduledMessage: Equatable, Sendable {
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
        /// Its time has not come.
        case waiting = 1
        /// It could not be written when it was to be sent: its person was out of the conversation, say.
        case failed = 2
    }

    private static let version: UInt8 = 1
    /// Bytes of a value before its message: version, state, time, device and conversation.
    private static let headByteCount = 1 + 1 + 8 + 32 + 32
    /// Bytes of a message as an operation holds it, that fits with the rest into one preference.
    public static let messageByteCountMax = Preference.valueByteCountMax - headByteCount

    /// Which one it is.
    public var id: ID
    /// Its progress.
    public var state: State
    /// When it is sent, by the clock of the device that does, in Unix milliseconds.
    public var time: UInt64
    /// Which device sends it.
    public var device: DeviceID
    /// The conversation.
    public var space: SpaceID
    /// The message.
    public var message: TextMessage

    /// A message to be sent with these fields.
    public init(
        _ id: ID, at time: UInt64, on device: DeviceID, to space: SpaceID, _ message: TextMessage
    ) {
        self.id = id
        state = .waiting
        self.time = time
        self.device = device
        self.space = space
        self.message = message
    }

    /// The message in a preference; nil if it is not of this key, removes one, or breaks a rule.
    init?(_ said: Preference) {
        guard said.key == .scheduled, let number = said.topicNumber else { return nil }
        id = ID(number)
        var reader = ByteReader(said.value)
        do throws(DecodingFailure) {
            guard try reader.byte() == Self.version, let state = State(rawValue: try reader.byte())
            else { return nil }
            (self.state, time) = (state, try reader.uint64())
            device = try reader.identifier()
            space = try reader.identifier()
        } catch { return nil }
        guard time < Limits.wallClockMax,
            let message = TextMessage(payload: Array(reader.rest())), message.files.isEmpty
        else { return nil }
        self.message = message
    }

    /// What says so in the own space.
    public var preference: Preference {
        var writer = ByteWriter(capacity: 256)
        writer.byte(Self.version)
        writer.byte(state.rawValue)
        writer.uint64(time)
        writer.identifier(device)
        writer.identifier(space)
        writer.raw(message.draft().payload ?? [])
        return Preference(.scheduled, about: Preference.topic(of: id.rawValue), writer.bytes)
    }

    /// The value that deletes it for good.
    public static func removal(of id: ID) -> Preference {
        Preference(.scheduled, about: Preference.topic(of: id.rawValue), [])
    }
}

extension Overview {
    /// All that the person wants sent later, what is sent first first: each by the word of the device that sends
    /// it. No other one makes it speak.
    public static func scheduled(
        ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> [ScheduledMessage] {
        var all: [ScheduledMessage] = []
        for entry in try store.entries(about: .space, in: ownSpace, field: .preference)
        where entry.isOn {
            guard let stored = try store.operation(entry.operation),
                let said = stored.operation.payload.flatMap(Preference.init),
                let scheduled = ScheduledMessage(said),
                try store.log(stored.log)?.device == scheduled.device
            else { continue }
            all.append(scheduled)
        }
        return all.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }
}
