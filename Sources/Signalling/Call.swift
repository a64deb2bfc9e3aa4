public import ParleyWire

/// A device in a call, and whose it is.
public struct Participant: Hashable, Comparable, Sendable {
    /// The person.
    public var person: PersonID
    /// The device.
    public var device: DeviceID

    /// A device of a person.
    public init(person: PersonID, device: DeviceID) {
        self.person = person
        self.device = device
    }

    /// Ordered by device.
    public static func < (left: Self, right: Self) -> Bool { left.device < right.device }
}

/// One call as one device sees it: a value that is fed, and says what to do.
///
/// The *host* is the device that began the call, or, once that is gone, the least of those that are
/// in. It alone says who is in, so that two devices of one person never are. Legs are made between
/// devices that it named, and only their outcome connects the call: a lost signal costs time. It
/// knows no link and no clock.
/// Source: `Protocol/11-calls.md`, "Calls".
public struct Call: Equatable, Sendable {
    /// Its progress.
    public enum Phase: String, CaseIterable, Sendable {
        /// This device began it, and nobody has answered.
        case calling
        /// It rings here.
        case ringing
        /// It was answered here, and the host has not said that this device is in.
        case joining
        /// This device is in.
        case talking
        /// It continues, or may do so, without this device.
        case aside
        /// It is over.
        case ended
    }

    /// Everything that can happen to it.
    public enum Event: Equatable, Sendable {
        /// The person answers, sending this.
        case answer(MediaState)
        /// The person does not want to answer.
        case decline
        /// The person hangs up.
        case hangUp
        /// The person mutes, or switches the camera or the sharing of the screen.
        case setMedia(MediaState)
        /// The program tells something of the connection to a device.
        case news(DeviceID, MediaNews)
        /// The program cannot continue.
        case mediaFailed
        /// A device of the conversation says something, no less fresh than it should be. Of the
        /// devices that a list of members names, those that are known.
        case received(CallSignal, from: Participant, Stamp, known: [Participant])
        /// A person is no longer in the conversation, or is kept away.
        case gone(PersonID)
        /// Both called at once, and the other's call is kept.
        case replaced
        /// ``deadline`` has passed.
        case due
    }

    /// The recipients of a signal.
    public enum Recipients: Equatable, Sendable {
        /// All devices of the conversation, own ones included.
        case everyone
        /// One of them.
        case device(DeviceID)
    }

    /// The outputs.
    public enum Output: Equatable, Sendable {
        /// Say something.
        case send(CallSignal, to: Recipients)
        /// Ring: somebody calls.
        case ring
        /// Ring no more, for this reason, if it is not that the call was answered here.
        case stopRinging(CallEnd?)
        /// Tell the program something about the connection to a device.
        case media(DeviceID, MediaOrder)
        /// The first connection stands.
        case established
        /// Who is in, or what they send, has changed.
        case changed
        /// It is over for this device.
        case ended(CallEnd)
    }

    /// How long it rings, in milliseconds.
    public static let ringTime: UInt64 = 60_000
    /// How often a ring is repeated, for devices that come online meanwhile.
    public static let ringInterval: UInt64 = 5_000
    /// How long the host has time to let somebody in; and how often that is asked again.
    public static let joinTime: UInt64 = 15_000
    /// See ``joinTime``.
    public static let joinInterval: UInt64 = 2_000
    /// How often a device in the call gives a sign of life.
    public static let beatInterval: UInt64 = 10_000
    /// After what silence a device without a connection counts as gone.
    public static let silenceMax: UInt64 = 30_000
    /// Signals about legs that may come before the list that names their sender.
    public static let earlyCountMax = 64

    /// The call.
    public let id: CallID
    /// Where it takes place.
    public let space: SpaceID
    /// This device.
    public let own: Participant
    /// The device that began it.
    public let founder: Participant
    /// Its progress.
    public internal(set) var phase: Phase
    /// The members, by device.
    public internal(set) var members: [Participant]
    /// The media that this device sends.
    public internal(set) var media: MediaState
    /// What the others send, as they said.
    public internal(set) var sent: [DeviceID: MediaState] = [:]
    /// The connections to the others.
    public internal(set) var legs: [DeviceID: Leg] = [:]
    /// Why it is over, or continues without this device.
    public internal(set) var end: CallEnd?
    /// When it began here, and when the second device was in; on the monotonic clock.
    public let begun: UInt64
    /// See ``begun``.
    public internal(set) var answered: UInt64?
    /// When the first connection stood.
    public internal(set) var established: UInt64?
    /// Whether this device notes in the conversation what became of the call.
    public internal(set) var isNoted = false
    /// Everybody who was in at any time, ascending.
    public internal(set) var persons: [PersonID]

    /// Who is to be rung: everybody else in the conversation, ascending.
    var invited: [PersonID]
    /// Which devices do not come, and why: one that cannot speaks for itself alone.
    var refusals: [Participant: Refusal] = [:]
    /// Which devices ring.
    var alerted: [Participant] = []
    var heard: [DeviceID: UInt64] = [:]
    /// The newest list of members, and whose it is.
    var listed: Listed?
    var early: Queue<Early> = []
    var ringUntil: UInt64?
    var ringAgain: UInt64?
    var joinUntil: UInt64?
    var joinAgain: UInt64?
    var beatAgain: UInt64?
    var asideUntil: UInt64?

    struct Listed: Equatable, Sendable {
        var stamp: Stamp
        var by: DeviceID
    }

    struct Early: Equatable, Sendable {
        var from: DeviceID
        var signal: LegSignal
    }

    /// A call that this device begins, with its first outputs.
    public static func begun(
        _ id: CallID, in space: SpaceID, by own: Participant, inviting: [PersonID],
        _ media: MediaState, at now: UInt64
    ) -> (Call, [Output]) {
        var call = Call(id, in: space, own: own, founder: own, media, at: now)
        call.phase = .calling
        call.invited = inviting.filter { $0 != own.person }
        call.ringUntil = now + ringTime
        call.ringAgain = now + ringInterval
        return (call, [.send(.ring(media, elapsed: 0), to: .everyone), .changed])
    }

    /// A call that another device began, with its first outputs.
    ///
    /// - Parameter elapsed: how long it has been ringing elsewhere.
    public static func received(
        _ id: CallID, in space: SpaceID, at own: Participant, from founder: Participant,
        _ media: MediaState, elapsed: UInt64, at now: UInt64
    ) -> (Call, [Output]) {
        var call = Call(id, in: space, own: own, founder: founder, [], at: now)
        call.sent[founder.device] = media
        call.asideUntil = now + silenceMax
        // A call that this person's other device began continues without this one.
        guard own.person != founder.person, elapsed < ringTime else { return (call, [.changed]) }
        call.phase = .ringing
        call.asideUntil = nil
        call.ringUntil = now + ringTime - elapsed
        return (call, [.ring, .send(.ringing, to: .device(founder.device)), .changed])
    }

    private init(
        _ id: CallID, in space: SpaceID, own: Participant, founder: Participant,
        _ media: MediaState, at now: UInt64
    ) {
        self.id = id
        self.space = space
        self.own = own
        self.founder = founder
        self.media = media
        phase = .aside
        members = [founder]
        persons = [founder.person]
        invited = []
        begun = now
    }

    /// The device that says who is in.
    public var host: DeviceID {
        isIn(founder.device) ? founder.device : members.first?.device ?? founder.device
    }

    /// Whether this device says who is in.
    public var isHost: Bool { host == own.device }

    /// Whose devices ring, as far as this device was told: persons who were asked, have not
    /// declined and were not in.
    public var ringing: [PersonID] {
        var persons: [PersonID] = []
        for device in alerted where !persons.contains(device.person) {
            persons.append(device.person)
        }
        return persons.filter { !self.persons.contains($0) }
    }

    /// When it has to be offered ``Event/due``, on the monotonic clock.
    public var deadline: UInt64? {
        let own = [ringUntil, ringAgain, joinUntil, joinAgain, beatAgain, asideUntil]
        // The least of numbers is the same in every order.
        return (own + legs.values.map(\.deadline)).compactMap { $0 }.min()
    }

    /// Handles an event, and returns the outputs, in order.
    public mutating func handle(_ event: Event, at now: UInt64) -> [Output] {
        switch event {
        case .answer(let media): return answer(media, at: now)
        case .decline: return decline(at: now)
        case .hangUp: return hangUp(at: now)
        case .setMedia(let media): return set(media)
        case .news(let device, let news): return told(news, of: device, at: now)
        case .mediaFailed: return mediaFailed(at: now)
        case .received(let signal, let sender, let stamp, let known):
            guard sender != own else { return [] }
            return received(signal, from: sender, stamp, known, at: now)
        case .gone(let person): return gone(person, at: now)
        case .replaced: return replaced(at: now)
        case .due: return due(at: now)
        }
    }

    /// Why a person does not come, as far as their devices said so: a decline counts for all of
    /// these.
    func refusal(of person: PersonID) -> Refusal? {
        let devices = refusals.keys.filter { $0.person == person }.sorted()
        let said = devices.compactMap { refusals[$0] }
        return said.contains(.declined) ? .declined : said.first
    }

    /// Whether a person may still come: they have not been in, and one of their devices rings, or none has
    /// refused.
    func isAwaited(_ person: PersonID) -> Bool {
        !persons.contains(person)
            && (refusal(of: person) == nil || alerted.contains { $0.person == person })
    }

    func isIn(_ device: DeviceID) -> Bool { members.contains { $0.device == device } }

    /// Whether the person is in with any device.
    func isIn(_ person: PersonID) -> Bool { members.contains { $0.person == person } }

    private mutating func received(
        _ signal: CallSignal, from sender: Participant, _ stamp: Stamp, _ known: [Participant],
        at now: UInt64
    ) -> [Output] {
        heard[sender.device] = now
        if phase == .aside { asideUntil = now + Self.silenceMax }
        switch signal {
        case .ring(let media, _): return rung(by: sender, media, at: now)
        case .ringing: return rings(at: sender)
        case .join(let media): return wantsIn(sender, media, at: now)
        case .reject(let refusal): return refused(by: sender, refusal, at: now)
        case .leave(let departure): return left(sender, departure, at: now)
        case .members: return listed(known, by: sender, stamp, at: now)
        case .state(let media): return sends(sender, media)
        case .leg(let signal): return received(signal, from: sender, at: now)
        }
    }
}
