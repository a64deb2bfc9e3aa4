public import ParleyWire

/// All calls that one device knows of: which of them ring, that at most one is talked in, and what
/// becomes of two that begin at once. Source: `Protocol/11-calls.md`, "Two at once".
public struct Calls: Equatable, Sendable {
    /// Calls that are known at a time: those that ring, and those that continue without this
    /// device.
    public static let callCountMax = 16
    /// Names of calls that are over; a late ring of one of them is not taken for a new call.
    public static let overCountMax = 64

    /// Why nothing was done.
    public enum Objection: Error, Equatable, Sendable {
        /// There is no such call, or it is over.
        case unknownCall
        /// This device is in another call.
        case busy
        /// This device is in the call of that conversation.
        case inIt
        /// There is nobody else in the conversation.
        case nobody
        /// It is already in progress there: it can be answered.
        case goesOn(CallID)
    }

    /// The outputs.
    public struct Output: Equatable, Sendable {
        /// Of which call.
        public var call: CallID
        /// Where it takes place.
        public var space: SpaceID
        /// What.
        public var order: Call.Output

        /// An order about a call.
        public init(call: CallID, space: SpaceID, order: Call.Output) {
            self.call = call
            self.space = space
            self.order = order
        }
    }

    /// The sender, and what this device knows about them.
    public struct Sender: Equatable, Sendable {
        /// Who.
        public var participant: Participant
        /// Whether the person may ring here: a blocked person, or one never accepted, may not.
        public var mayRing: Bool
        /// Whether the conversation is one of two: there nobody else can be meant by a ring.
        public var isAlone: Bool
        /// The devices that a list of members names, as far as they are known in the space.
        public var known: [Participant]

        /// A sender with these fields.
        public init(
            _ participant: Participant, mayRing: Bool, isAlone: Bool = false,
            known: [Participant] = []
        ) {
            self.participant = participant
            self.mayRing = mayRing
            self.isAlone = isAlone
            self.known = known
        }
    }

    /// What this device records about a call.
    public struct Note: Equatable, Sendable {
        /// Which call.
        public var call: CallID
        /// Where it took place.
        public var space: SpaceID
        /// The device that began it.
        public var founder: Participant
        /// When it began here, on the monotonic clock.
        public var begun: UInt64
        /// The outcome.
        public var summary: CallSummary

        init(of call: Call, _ summary: CallSummary) {
            self.call = call.id
            space = call.space
            founder = call.founder
            begun = call.begun
            self.summary = summary
        }
    }

    private var calls: [CallID: Call] = [:]
    private var over: Queue<CallID> = []
    private var notes: Queue<Note> = []

    /// No calls.
    public init() {}

    /// The known calls, by name.
    public var all: [Call] { calls.keys.sorted().compactMap { calls[$0] } }

    /// The call that this device is in, calls in, or answers.
    public var current: Call? {
        // At most one is: the order of the loop cannot be seen.
        calls.values.first(where: Self.isCurrent)
    }

    /// The call of this name.
    public subscript(id: CallID) -> Call? { calls[id] }

    /// When ``due(at:)`` has to be called, on the monotonic clock.
    public var deadline: UInt64? { calls.values.compactMap(\.deadline).min() }

    private static func isCurrent(_ call: Call) -> Bool {
        switch call.phase {
        case .calling, .joining, .talking: true
        case .ringing, .aside, .ended: false
        }
    }

    /// Begins a call.
    ///
    /// - Parameter inviting: everybody else in the conversation, ascending.
    public mutating func begin(
        _ id: CallID, in space: SpaceID, by own: Participant, inviting: [PersonID],
        _ media: MediaState, at now: UInt64
    ) throws(Objection) -> [Output] {
        if let current { throw current.space == space ? .inIt : .busy }
        guard inviting.contains(where: { $0 != own.person }) else { throw .nobody }
        if let known = all.first(where: { $0.space == space && $0.phase != .ended }) {
            throw .goesOn(known.id)
        }
        let (call, outputs) = Call.begun(
            id, in: space, by: own, inviting: inviting, media, at: now)
        // Should this device die, it is known all the same that it called.
        note(Note(of: call, CallSummary(outcome: .begun, duration: 0, persons: call.persons)))
        return keep(call, outputs, at: now)
    }

    /// Offers an event of this device's to a call.
    public mutating func handle(
        _ event: Call.Event, of id: CallID, at now: UInt64
    ) throws(Objection) -> [Output] {
        guard var call = calls[id] else { throw .unknownCall }
        var outputs: [Output] = []
        if case .answer = event, let current, current.id != id {
            // A person who answers another's call here no longer waits for an answer to their own.
            guard current.phase == .calling, current.space == call.space else { throw .busy }
            outputs = replace(current, at: now)
        }
        let further = call.handle(event, at: now)
        return outputs + keep(call, further, at: now)
    }

    /// Handles a device's signal about a call. It must be fresh, and from a device of the space.
    public mutating func receive(
        _ signal: CallSignal, of id: CallID, in space: SpaceID, _ stamp: Stamp,
        from sender: Sender, to own: Participant, at now: UInt64
    ) -> [Output] {
        if var call = calls[id] {
            guard call.space == space else { return [] }
            let outputs = call.handle(
                .received(signal, from: sender.participant, stamp, known: sender.known), at: now)
            return keep(call, outputs, at: now)
        }
        guard !over.contains(id) else { return [] }
        switch signal {
        case .ring(let media, let elapsed):
            guard sender.mayRing || sender.participant.person == own.person else { return [] }
            return rung(
                Ring(id: id, space: space, by: sender, media, elapsed), own, at: now)
        case .members:
            guard sender.mayRing, sender.known.count > 1 else { return [] }
            var (call, outputs) = Call.received(
                id, in: space, at: own, from: sender.participant, [], elapsed: .max, at: now)
            outputs += call.handle(
                .received(signal, from: sender.participant, stamp, known: sender.known), at: now)
            return keep(call, outputs, at: now)
        case .ringing, .join, .reject, .leave, .state, .leg:
            return []
        }
    }

    /// The answer to a ring that came too late.
    public static func answer(toStale signal: CallSignal) -> CallSignal? {
        if case .ring = signal { .reject(.stale) } else { nil }
    }

    /// Whether anything is to be written down.
    public var hasNotes: Bool { !notes.isEmpty }

    /// What is to be recorded since the last time, in order.
    public mutating func takeNotes() -> [Note] {
        defer { notes = [] }
        return Array(notes)
    }

    /// A person is no longer in a conversation, or is kept away.
    public mutating func gone(_ person: PersonID, from space: SpaceID, at now: UInt64) -> [Output] {
        each(at: now, .gone(person)) { $0.space == space }
    }

    /// Lets time pass.
    public mutating func due(at now: UInt64) -> [Output] {
        each(at: now, .due) { call in call.deadline.map { $0 <= now } ?? false }
    }

    private mutating func each(
        at now: UInt64, _ event: Call.Event, where isMeant: (Call) -> Bool
    ) -> [Output] {
        var all: [Output] = []
        for call in self.all where isMeant(call) {
            var call = call
            let outputs = call.handle(event, at: now)
            all += keep(call, outputs, at: now)
        }
        return all
    }

    private mutating func note(_ note: Note) {
        notes.append(note)
        if notes.count > Self.overCountMax { notes.dropOldest() }
    }

    private mutating func keep(
        _ call: Call, _ outputs: [Call.Output], at now: UInt64
    ) -> [Output] {
        var call = call
        if call.isNoted, call.phase == .ended || call.phase == .aside {
            note(Note(of: call, call.summary(at: now)))
            call.isNoted = false
        }
        if call.phase == .ended {
            calls[call.id] = nil
            over.append(call.id)
            if over.count > Self.overCountMax { over.dropOldest() }
        } else {
            calls[call.id] = call
        }
        return outputs.map { Output(call: call.id, space: call.space, order: $0) }
    }
}

// MARK: - Ringing

extension Calls {
    private struct Ring {
        var id: CallID
        var space: SpaceID
        var founder: Participant
        var isAlone: Bool
        var media: MediaState
        var elapsed: UInt64

        init(
            id: CallID, space: SpaceID, by sender: Sender, _ media: MediaState, _ elapsed: UInt64
        ) {
            self.id = id
            self.space = space
            founder = sender.participant
            isAlone = sender.isAlone
            self.media = media
            self.elapsed = elapsed
        }
    }

    private mutating func rung(_ ring: Ring, _ own: Participant, at now: UInt64) -> [Output] {
        let mine = all.first { $0.space == ring.space && $0.founder.person == own.person }
        if let mine, ring.founder.person != own.person, Self.isBeginning(mine) {
            // A caller draws the name, and may have heard the other's. Where others are called too,
            // nobody is brought to talk by that: it rings, and the person decides.
            guard ring.isAlone else { return begin(ring, own, at: now) }
            // Of two calls that begin at once the one with the lesser name is kept.
            guard ring.id < mine.id else { return [] }
            if mine.phase == .calling { return give(mine, up: ring, own, at: now) }
        }
        guard ring.founder.person != own.person else {
            let outputs = begin(ring, own, at: now)
            return silence(in: ring.space, for: ring.id, own, at: now) + outputs
        }
        guard current == nil, calls.count < Self.callCountMax else {
            return [
                Output(
                    call: ring.id, space: ring.space,
                    order: .send(.reject(.busy), to: .device(ring.founder.device)))
            ]
        }
        return begin(ring, own, at: now)
    }

    /// Whether the person calls, with this device or another one, as far as is known here.
    private static func isBeginning(_ call: Call) -> Bool {
        switch call.phase {
        case .calling: true
        case .aside: call.end == nil && call.members.count < 2
        case .ringing, .joining, .talking, .ended: false
        }
    }

    private mutating func begin(_ ring: Ring, _ own: Participant, at now: UInt64) -> [Output] {
        let (call, outputs) = Call.received(
            ring.id, in: ring.space, at: own, from: ring.founder, ring.media,
            elapsed: ring.elapsed, at: now)
        return keep(call, outputs, at: now)
    }

    /// Both called: the other's call is answered at once, and nothing rings.
    private mutating func give(
        _ mine: Call, up ring: Ring, _ own: Participant, at now: UInt64
    ) -> [Output] {
        var outputs = replace(mine, at: now)
        var (theirs, _) = Call.received(
            ring.id, in: ring.space, at: own, from: ring.founder, ring.media, elapsed: 0, at: now)
        let joined = theirs.handle(.answer(mine.media), at: now).filter { $0 != .stopRinging(nil) }
        outputs += keep(theirs, joined, at: now)
        return outputs
    }

    private mutating func replace(_ mine: Call, at now: UInt64) -> [Output] {
        var mine = mine
        let outputs = mine.handle(.replaced, at: now)
        return keep(mine, outputs, at: now)
    }

    /// Another of the person's own devices calls back at the same moment: the call that rings here
    /// is not kept.
    private mutating func silence(
        in space: SpaceID, for id: CallID, _ own: Participant, at now: UInt64
    ) -> [Output] {
        each(at: now, .replaced) { call in
            call.space == space && call.phase == .ringing && id < call.id
        }
    }
}
