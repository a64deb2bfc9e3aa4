public import ParleyWire

/// Presence: what the devices of others say, for as long as that can be believed.
/// Source: `Protocol/11-calls.md`, "Presence".
public struct PresenceBook: Equatable, Sendable {
    /// How long a presence signal is valid, in milliseconds; it is repeated in half that time.
    public static let lifetime: UInt64 = 600_000
    /// Devices of which something is remembered.
    public static let deviceCountMax = 1024

    /// What a person lets another one see.
    public enum Privacy: UInt8, CaseIterable, Sendable {
        /// Whether they are there, and when they were.
        case everything = 0
        /// Whether they are there, and not when they were.
        case nowOnly = 1
        /// Nothing.
        case nothing = 2
    }

    /// What is known about a person.
    public struct Entry: Equatable, Sendable {
        /// Whether they are there.
        public var presence: Presence
        /// When they were there last, in Unix milliseconds; nil where that is not told.
        public var lastSeen: UInt64?

        /// An entry with these fields.
        public init(presence: Presence, lastSeen: UInt64?) {
            self.presence = presence
            self.lastSeen = lastSeen
        }
    }

    private struct Word: Equatable, Sendable {
        var presence: Presence
        var lastSeen: UInt64
        var until: UInt64
    }

    private var words: [Participant: Word] = [:]

    /// Nothing is known.
    public init() {}

    /// When ``due(at:)`` has to be called, on the monotonic clock.
    public var deadline: UInt64? {
        words.values.filter { $0.presence != .offline }.map(\.until).min()
    }

    /// The devices at which somebody is, ascending.
    public var devices: [Participant] {
        words.filter { $0.value.presence != .offline }.keys.sorted()
    }

    /// Whether somebody is at a device.
    public func isThere(_ device: Participant) -> Bool {
        (words[device]?.presence ?? .offline) != .offline
    }

    /// What is known about a person: the best state of their devices.
    public subscript(person: PersonID) -> Entry? {
        let words = words.filter { $0.key.person == person }.values
        guard let presence = words.map(\.presence).max(by: { $0.rawValue < $1.rawValue }) else {
            return nil
        }
        let lastSeen = words.map(\.lastSeen).max() ?? 0
        return Entry(presence: presence, lastSeen: lastSeen == 0 ? nil : lastSeen)
    }

    /// A device reports its state; returns whether what is known about its person changes.
    public mutating func heard(
        _ presence: Presence, lastSeen: UInt64, from sender: Participant, at now: UInt64
    ) -> Bool {
        guard words[sender] != nil || words.count < Self.deviceCountMax else { return false }
        let before = self[sender.person]
        words[sender] = Word(presence: presence, lastSeen: lastSeen, until: now + Self.lifetime)
        return self[sender.person] != before
    }

    /// No path leads to the device any more; returns whether what is known about its person
    /// changes.
    public mutating func lost(_ sender: Participant) -> Bool {
        let before = self[sender.person]
        words[sender]?.presence = .offline
        return self[sender.person] != before
    }

    /// Ends expired signals; returns the persons whose known state changed.
    public mutating func due(at now: UInt64) -> [PersonID] {
        let late = words.filter { $0.value.presence != .offline && $0.value.until <= now }
        var persons: [PersonID] = []
        for sender in late.keys.sorted() where lost(sender) { persons.append(sender.person) }
        return persons.sorted()
    }

    /// What a person is told, or nil for nothing. Moments are rounded to a minute.
    public static func word(
        _ presence: Presence, lastSeen: UInt64, for privacy: Privacy
    ) -> SignalBody? {
        switch privacy {
        case .everything: .presence(presence, lastSeen: lastSeen / 60_000 * 60_000)
        case .nowOnly: .presence(presence, lastSeen: 0)
        case .nothing: nil
        }
    }
}
