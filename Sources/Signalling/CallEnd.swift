public import ParleyWire

/// Why a call is over for a device. Each has words for a person.
public enum CallEnd: Equatable, Sendable {
    /// This device hung up.
    case hungUp
    /// Everybody else is out; who went last.
    case hungUpBy(PersonID)
    /// This device called, and gave up.
    case cancelled
    /// It rang, and nobody answered here.
    case missed
    /// This device called, and nobody answered.
    case unanswered
    /// This device called, and nobody wanted to.
    case declinedBy(PersonID)
    /// This device declined.
    case declined
    /// This device called, and everybody who could be asked could not come.
    case refusedBy(PersonID, Refusal)
    /// The host did not let this device in.
    case refused(Refusal)
    /// Another device of the person answered.
    case answeredElsewhere
    /// The person declined with another device.
    case declinedElsewhere
    /// This device answered, and the caller's was not heard of any more.
    case unreachable
    /// No connection was established, or it was lost.
    case disconnected
    /// The program for sound and pictures failed.
    case mediaFailed
    /// The person, or the one who called, is not in the conversation any more.
    case removed
    /// Both called at once, and the other's call is kept.
    case replaced

    /// The text for a person.
    ///
    /// - Parameter name: the name of a person.
    public func sentence(_ name: (PersonID) -> String) -> String {
        switch self {
        case .hungUp: "you hung up"
        case .hungUpBy(let person): "\(name(person)) hung up"
        case .cancelled: "you hung up before anybody answered"
        case .missed: "you missed the call"
        case .unanswered: "nobody answered"
        case .declinedBy(let person): "\(name(person)) declined"
        case .declined: "you declined"
        case .refusedBy(let person, let refusal): "\(name(person)): \(refusal.sentence)"
        case .refused(let refusal): refusal.sentence
        case .answeredElsewhere: "answered on another of your devices"
        case .declinedElsewhere: "declined on another of your devices"
        case .unreachable: "the caller's device could no longer be reached"
        case .disconnected:
            "no connection could be made, or it was lost: if both sides are behind strict "
                + "firewalls, a TURN server helps"
        case .mediaFailed: "the program for sound and pictures failed"
        case .removed: "the person is no longer in the conversation"
        case .replaced: "both of you called at once; the other call continues"
        }
    }

    /// The reason that a leaving device gives to others.
    var departure: Departure {
        switch self {
        case .unanswered, .missed: .unanswered
        case .disconnected, .unreachable: .disconnected
        case .mediaFailed: .mediaFailed
        case .removed: .removed
        case .replaced: .replaced
        case .hungUp, .hungUpBy, .cancelled, .declinedBy, .declined, .refusedBy, .refused,
            .answeredElsewhere, .declinedElsewhere:
            .hungUp
        }
    }
}

extension Refusal {
    /// The text for a person.
    public var sentence: String {
        switch self {
        case .declined: "the call was declined"
        case .busy: "in another call"
        case .elsewhere: "another device of the same person is in the call"
        case .full: "the call is full: it can have at most \(Limits.callDeviceCountMax) devices"
        case .stale: "the ring came too late, or the clocks of the two devices differ too much"
        case .unable: "the device has no program for sound and pictures"
        }
    }
}

/// The record of a call in the conversation.
public struct CallSummary: Equatable, Sendable {
    /// The outcome. The numbers are sent and stored; of two, the greater holds.
    public enum Outcome: UInt8, CaseIterable, Sendable {
        /// It has been begun, and nothing else is known.
        case begun = 0
        /// Both called at once, and the other's call was kept.
        case replaced = 1
        /// Nobody answered.
        case unanswered = 2
        /// The caller gave up.
        case cancelled = 3
        /// Everybody who could be asked could not come.
        case refused = 4
        /// Everybody declined.
        case declined = 5
        /// Somebody answered, and no connection was established.
        case failed = 6
        /// People talked.
        case talked = 7
    }

    /// The outcome.
    public var outcome: Outcome
    /// For how many milliseconds two or more were in.
    public var duration: UInt64
    /// The participants, ascending.
    public var persons: [PersonID]

    /// A summary with these fields.
    public init(outcome: Outcome, duration: UInt64, persons: [PersonID]) {
        self.outcome = outcome
        self.duration = duration
        self.persons = persons
    }
}

extension Call {
    /// The record of the call once it is over, by the device that writes it: see ``isNoted``.
    public func summary(at now: UInt64) -> CallSummary {
        let outcome: CallSummary.Outcome
        switch (established, answered, end) {
        case (.some, _, _): outcome = .talked
        case (nil, .some, _): outcome = .failed
        // The caller's own device could not go on: nobody else is said to have failed to answer.
        case (nil, nil, .cancelled), (nil, nil, .mediaFailed): outcome = .cancelled
        case (nil, nil, .declinedBy): outcome = .declined
        case (nil, nil, .refusedBy): outcome = .refused
        case (nil, nil, .replaced): outcome = .replaced
        case (nil, nil, _): outcome = .unanswered
        }
        return CallSummary(
            outcome: outcome, duration: established.map { now - min($0, now) } ?? 0,
            persons: persons)
    }
}
