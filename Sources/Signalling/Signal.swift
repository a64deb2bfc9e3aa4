public import ParleyWire

/// The name of a call: sixteen bytes that the device that begins it draws.
public struct CallID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The bytes.
    public let check: Check

    /// The call of this name.
    public init(_ check: Check) { self.check = check }

    /// The bytes in hex.
    public var description: String { check.description }

    /// Whether the bytes of `left` come before those of `right`.
    public static func < (left: Self, right: Self) -> Bool { left.check < right.check }
}

/// The media that a device sends in a call.
public struct MediaState: OptionSet, Hashable, Sendable {
    /// Bits as they are sent.
    public let rawValue: UInt8
    /// The state with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The microphone is on: without it the device is muted.
    public static let microphone = MediaState(rawValue: 1)
    /// The camera is on.
    public static let camera = MediaState(rawValue: 2)
    /// The screen is shared.
    public static let screen = MediaState(rawValue: 4)
}

/// One way by which a connection may come about, as WebRTC tells it.
public struct Candidate: Equatable, Sendable {
    /// The line of the candidate; empty once no further one comes.
    public var text: String
    /// Which part of the description it is for.
    public var part: String
    /// The number of that part.
    public var index: UInt8

    /// A candidate with these fields.
    public init(text: String, part: String, index: UInt8) {
        self.text = text
        self.part = part
        self.index = index
    }
}

/// Why a device does not come into a call. The numbers are sent.
public enum Refusal: UInt8, CaseIterable, Sendable {
    /// The person does not want to.
    case declined = 1
    /// The device is in another call.
    case busy = 2
    /// Another device of the person is in the call.
    case elsewhere = 3
    /// The call has as many devices as it may.
    case full = 4
    /// The call was begun too long ago by the clock of the device that it rings.
    case stale = 5
    /// The device has no program for sound and pictures.
    case unable = 6
}

/// Why a device goes out of a call. The numbers are sent.
public enum Departure: UInt8, CaseIterable, Sendable {
    /// The person hung up.
    case hungUp = 1
    /// Nobody answered in time.
    case unanswered = 2
    /// No connection was established, or it was lost.
    case disconnected = 3
    /// The program for sound and pictures failed.
    case mediaFailed = 4
    /// The person was taken out of the conversation.
    case removed = 5
    /// Both called at once, and the other's call is kept.
    case replaced = 6
}

/// The signals of a call: to everyone in the conversation, except those about a leg.
public enum CallSignal: Equatable, Sendable {
    /// The call is begun, or still rings, so many milliseconds after it began.
    case ring(MediaState, elapsed: UInt64)
    /// The device rings.
    case ringing
    /// The device wants to come in.
    case join(MediaState)
    /// The device does not come in; or, to one that wants to: it may not.
    case reject(Refusal)
    /// The device goes out.
    case leave(Departure)
    /// From the host: the devices that are in, ascending.
    case members([DeviceID])
    /// What the device sends; again every ten seconds, as a sign of life.
    case state(MediaState)
    /// About the connection between the sender and the receiver alone.
    case leg(LegSignal)
}

/// What two devices in a call say about the connection between them.
public enum LegSignal: Equatable, Sendable {
    /// A session description of the sender. Offers are numbered from 1; one that is not greater
    /// than the last is stale. On a restart, candidates are gathered again.
    case offer(UInt64, startsAnew: Bool, String)
    /// The answer to the offer of this number.
    case answer(UInt64, String)
    /// A way to the sender, found for the offer of this number.
    case candidate(UInt64, Candidate)
    /// The receiver, who makes the offers of the two, shall make one.
    case renegotiate(startsAnew: Bool)
}

/// A person's presence.
public enum Presence: UInt8, CaseIterable, Sendable {
    /// No device of the person's is there.
    case offline = 0
    /// A device is there, and the person is not using it.
    case away = 1
    /// The person is there.
    case online = 2
}

/// What may be forgotten.
public enum SignalBody: Equatable, Sendable {
    /// The person types, or has stopped.
    case typing(Bool)
    /// The person is there or not; and when they were there last, in Unix milliseconds rounded to a
    /// minute. 0 if they do not tell.
    case presence(Presence, lastSeen: UInt64)
    /// Something of a call.
    case call(CallID, CallSignal)
}

/// What one device says to others of a space, fast, and nobody keeps.
/// Source: `Protocol/11-calls.md`, "Signals".
public struct Signal: Equatable, Sendable {
    /// The only version so far.
    public static let version: UInt8 = 1
    /// The space.
    public var space: SpaceID
    /// When it was sent, and in which order.
    public var stamp: Stamp
    /// The content.
    public var body: SignalBody

    /// A signal with these fields.
    public init(space: SpaceID, stamp: Stamp, body: SignalBody) {
        self.space = space
        self.stamp = stamp
        self.body = body
    }
}

/// A moment of the sender's wall clock in Unix milliseconds, times 2^16, made greater than that of
/// every signal before: at once the signal's number and its age.
public struct Stamp: Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt64
    /// The stamp of this number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Unix milliseconds.
    public var wallClock: UInt64 { rawValue >> 16 }

    /// The stamp after this one, at a moment in Unix milliseconds.
    public func next(at wall: UInt64) -> Stamp {
        let now = min(wall, Limits.wallClockMax - 1) << 16
        return Stamp(max(rawValue + 1, now))
    }

    /// Whether `left` was sent before `right`.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
