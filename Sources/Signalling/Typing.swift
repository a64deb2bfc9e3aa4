public import ParleyWire

/// Typing signals: what this device says about its own person, not too often, and what others say,
/// not for too long.
/// Source: `Protocol/11-calls.md`, "Typing".
public struct Typing: Equatable, Sendable {
    /// How often the signal is sent while a person types, in milliseconds.
    public static let interval: UInt64 = 3_000
    /// How long it is shown after it was sent, in milliseconds.
    public static let shownTime: UInt64 = 5_000
    /// Persons who are shown as typing, in all spaces together.
    public static let shownCountMax = 256

    private struct Place: Hashable, Comparable, Sendable {
        var space: SpaceID
        var person: PersonID

        static func < (left: Self, right: Self) -> Bool {
            (left.space, left.person) < (right.space, right.person)
        }
    }

    private var said: [SpaceID: UInt64] = [:]
    private var shown: [Place: UInt64] = [:]

    /// Nobody types.
    public init() {}

    /// When ``due(at:)`` has to be called, on the monotonic clock.
    public var deadline: UInt64? { shown.values.min() }

    /// Whether anybody is shown as typing.
    public var isShown: Bool { !shown.isEmpty }

    /// The persons shown as typing in a space, ascending.
    public func persons(in space: SpaceID) -> [PersonID] {
        shown.keys.filter { $0.space == space }.map(\.person).sorted()
    }

    /// The person of this device types, or has stopped; returns whether others are told.
    public mutating func types(_ isTyping: Bool, in space: SpaceID, at now: UInt64) -> Bool {
        said = said.filter { $0.value + Self.interval > now }
        let wasSaid = said[space] != nil
        said[space] = isTyping ? (said[space] ?? now) : nil
        return isTyping != wasSaid
    }

    /// Another person types, or has stopped; returns whether that changes what is shown.
    public mutating func heard(
        _ isTyping: Bool, from person: PersonID, in space: SpaceID, at now: UInt64
    ) -> Bool {
        let place = Place(space: space, person: person)
        guard isTyping else { return shown.removeValue(forKey: place) != nil }
        guard shown[place] != nil || shown.count < Self.shownCountMax else { return false }
        return shown.updateValue(now + Self.shownTime, forKey: place) == nil
    }

    /// Removes persons whose signals expired; returns the spaces that look otherwise.
    public mutating func due(at now: UInt64) -> [SpaceID] {
        let late = shown.filter { $0.value <= now }.keys.sorted()
        for place in late { shown[place] = nil }
        var spaces: [SpaceID] = []
        for place in late where spaces.last != place.space { spaces.append(place.space) }
        return spaces
    }
}
