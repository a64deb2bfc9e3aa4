import ParleySignalling
import ParleyWire

/// What is happening between people at this moment: calls, typing, presence.
///
/// It lives in memory only and ends with the process; nothing is ever stored, except the record of
/// a call, which is an operation like any other.
/// Source: `Protocol/11-calls.md`.
struct SignalDesk: Sendable {
    /// All calls that this device knows of.
    var calls = Calls()
    /// Who types where.
    var typing = Typing()
    /// Presence of others.
    var presences = PresenceBook()
    /// Received signals, so that copies and late ones are recognised.
    var freshness = Freshness()
    /// That of the last signal that was sent.
    var stamp = Stamp(0)
    /// This person's presence.
    var presence: Presence = .offline
    /// When the person was last at this device, in Unix milliseconds; 0 for never.
    var lastOnline: UInt64 = 0
    /// When the person's presence has to be told again, on the monotonic clock.
    var presenceAgain: UInt64?
    /// What each device was told last, unless that was nothing.
    var told: [Participant: SignalBody] = [:]
    /// Devices without a link that are to be told, in this order.
    var untold: Queue<Participant> = []
    /// When the next of them may be, on the monotonic clock.
    var toldNext: UInt64 = 0
    /// Persons who left a conversation in which calls may be going on, until that is handled.
    var departed: [Departed] = []
    /// Moments for which a timer is set.
    var moments: Set<UInt64> = []

    /// A person is blocked from now on, wherever calls are going on.
    mutating func depart(_ person: PersonID) {
        departed += calls.all.map { Departed(person: person, space: $0.space) }
    }

    /// When something has to be done, on the monotonic clock.
    var deadline: UInt64? {
        let next = untold.isEmpty ? nil : toldNext
        return [calls.deadline, typing.deadline, presences.deadline, presenceAgain, next]
            .compactMap { $0 }.min()
    }

    /// The clock was set: stamps continue from its new time, or from the last one if that is ahead.
    mutating func restartStamps(at wall: UInt64) {
        let ahead = WallTime(clamping: stamp.wallClock).excess(over: WallTime(clamping: wall))
        if ahead > Freshness.skewMax { stamp = Stamp(0) }
    }
}

/// A person who is no longer in a conversation, or is blocked.
struct Departed: Equatable, Sendable {
    var person: PersonID
    var space: SpaceID
}

extension Stamp {
    /// How many milliseconds the sender's clock is ahead, as far as this tells.
    func clockOffset(at now: Instant) -> Int64 {
        Int64(WallTime(clamping: wallClock).value) - Int64(WallTime(clamping: now.wall).value)
    }
}

extension Hello {
    /// How many milliseconds the sender's clock is ahead, as far as its greeting tells.
    func clockOffset(at now: Instant) -> Int64 {
        Int64(wallClock.value) - Int64(WallTime(clamping: now.wall).value)
    }
}
