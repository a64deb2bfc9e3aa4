import ParleyConversation
public import ParleyLedger
import ParleyReconciliation
public import ParleyRoster
import ParleySealing
public import ParleySignalling
public import ParleyWire

/// The whole node as one deterministic value.
///
/// It is fed inputs and answers with effects; it knows no socket, no file, no clock and no source
/// of randomness of its own. The shell opens a transaction of the store, offers one or many
/// inputs, commits, and only then performs the effects: nothing leaves and nothing is shown as
/// saved before the commit that holds it. When a step or the commit fails, the shell drops the
/// effects and puts the core back to its value before the batch.
///
/// Data that grows with history lives in the store; a core holds only what is in flight.
public struct NodeCore: Sendable {
    /// Who this node is. The keys never change; the identity log grows.
    var identity: NodeIdentity
    /// The space of the person's own devices, once it exists.
    public internal(set) var ownSpace: SpaceRecord?
    /// Pending timers.
    var timers = Timers()
    /// Links to other devices.
    var peers = Peers()
    /// Contacts, and the own card.
    var people: People
    /// Who is in which space.
    var rosters = Rosters()
    /// What comes in and is not applied yet.
    var intake = Intake()
    /// What the store lacks of this device's own operations.
    var ownHistory: OwnHistory
    /// Relays, and what goes through them.
    var courier = Courier()
    /// What is known about the epochs of spaces.
    var epochs: [SpaceNumber: EpochProgress] = [:]
    /// Files of messages.
    var fileDesk = FileDesk()
    /// Calls, typing and presence.
    var desk = SignalDesk()
    /// What entries of the log of events are marked with in this life; nil before the first.
    var eventGeneration: UInt64?

    /// A node that has not started.
    ///
    /// - Parameters:
    ///   - rejoin: what the shell found out about the store being behind, if it is.
    ///   - cardVersion: of the newest part of its card that this device signed, as far as the shell
    ///     knows: the next one is above it.
    public init(
        identity: NodeIdentity, rejoin: Rejoin? = nil, cardVersion: CardVersion = .zero
    ) {
        self.identity = identity
        ownHistory = OwnHistory(rejoin)
        people = People(cardVersionMin: cardVersion)
    }

    /// Who this node is.
    public var node: NodeIdentity { identity }

    /// What must be recovered from others before anything may be written; nil otherwise. Determined
    /// by the shell; what a peer proves concerns only its space.
    public var rejoin: Rejoin? { ownHistory.rejoin }

    /// Whether something that this device wrote is no longer known here, even if nobody can deliver
    /// it: the shell then keeps what its guard remembered.
    public var isBehind: Bool { ownHistory.isBehind }

    /// Whether received operations wait to be acknowledged: the shell then makes them durable as
    /// soon as no further frame waits, and offers ``Input/madeDurable``.
    public var hasUnacknowledged: Bool {
        peers.links.values.contains { !$0.unacknowledged.isEmpty }
    }

    /// Devices that are linked, ascending, each once.
    public var linkedPeers: [LinkPeer] {
        peers.links.values.filter { $0.session != nil }.map(\.peer).sorted { $0.device < $1.device }
    }

    /// Who belongs to a space, if that is in memory.
    public func heldRoster(of space: SpaceNumber) -> Roster? { rosters.judges[space]?.roster }

    /// Runs that wait for their causes.
    public var waitingRunCount: Int { intake.waiting.count }

    /// All calls that this device knows of.
    public var calls: Calls { desk.calls }

    /// Who types where.
    public var typing: Typing { desk.typing }

    /// Presence of others.
    public var presences: PresenceBook { desk.presences }

    /// This person's presence, as others are told.
    public var presence: Presence { desk.presence }

    /// Processes one input and returns the effects to perform.
    ///
    /// - Parameters:
    ///   - input: what happened.
    ///   - moment: when, on both clocks; a wall clock beyond the year 2248 stands still there.
    ///   - store: inside a transaction that the shell opened.
    ///   - random: keys, salts and jitter come from here alone.
    /// - Throws: only what the store throws; the shell then rolls back and puts the core back.
    public mutating func step(
        _ input: Input, at moment: Instant, in store: some Store,
        using random: inout some RandomNumberGenerator
    ) throws(StoreError) -> [Effect] {
        // Whatever the machine believes: times of now are added to and multiplied all over.
        let now = Instant(
            monotonic: moment.monotonic, wall: WallTime(clamping: moment.wall).value)
        var turn = StepTurn(at: now, in: store, using: random)
        // The random numbers are used up, even if the step fails.
        defer { random = turn.random }
        let lastBefore = store.lastOperation
        try take(input, since: lastBefore, &turn)
        try recordEvents(since: lastBefore, &turn)
        return turn.effects
    }

    /// Routes an input, and then runs the phases that every step ends with. Their order matters:
    ///
    /// 1. What a person wrote while the space could not be written in is written, if it can be by now.
    /// 2. Changes are followed up: all that the step stored is known by then.
    /// 3. A message ends its author's typing, before signals are sent.
    /// 4. Signals of calls, typing and presence follow the rosters as they are now.
    /// 5. Relays are given what was written; shelves of files come after, behind every message.
    /// 6. What links carry comes last, so that one frame contains everything; files fill what room is left.
    ///
    /// - Parameter lastBefore: the last operation before this step.
    private mutating func take(
        _ input: Input, since lastBefore: OperationNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        // First of all: a frame that is not examined must not cause any of the later work.
        if case .frame(let link, let bytes) = input, try !admitFrame(bytes, on: link, &turn) {
            return
        }
        watchClock(&turn)
        courier.workOfStep = 0
        tendLetterKeys(at: turn.now)
        switch input {
        case .started: try start(&turn)
        case .linkOpened(let link, let peer): try opened(link, peer, &turn)
        case .linkClosed(let link): try closed(link, &turn)
        case .frame(let link, let bytes): try received(bytes, on: link, &turn)
        case .dialFailed(let device): dialFailed(device, &turn)
        case .sighted(let sighting): try saw(sighting, &turn)
        case .networkChanged:
            peers.neighbours.forgetAll()
            try dialAgain(&turn)
            callAgain(&turn)
        case .timer(let timer):
            timers.goOff(timer)
            try fired(timer, &turn)
        case .command(let id, let command): turn.emit(.reply(id, try perform(command, &turn)))
        case .madeDurable: try acknowledge(&turn)
        case .relay(let relay, let news): try told(news, by: relay, &turn)
        case .roomOn(let link): fileDesk.empty(link)
        case .fileKept(let blob, let isDurable): try kept(blob, isDurable: isDurable, &turn)
        }
        try writeKept(&turn)
        try heedChanges(&turn)
        try endTyping(since: lastBefore, &turn)
        try tendSignals(&turn)
        try tendRelays(&turn)
        try tendShelves(&turn)
        try sendOperations(&turn)
        try serveFiles(&turn)
    }

    private mutating func fired(_ timer: TimerID, _ turn: inout some Turn) throws(StoreError) {
        switch timer {
        case .heartbeat(let link): try heartbeat(link, &turn)
        case .announce: try announce(&turn)
        case .receipts: try writeReceipts(&turn)
        case .dial(let device): try dial(device, &turn)
        case .source(let space): try checkSource(of: space, &turn)
        case .bodies: try requestBodies(&turn)
        case .waiting: try endWaiting(&turn)
        case .placing(let space): try place(space, &turn)
        case .devices: try lookAtDevices(&turn)
        case .card(let number):
            try writeCard(in: number, &turn)
            if let space = try turn.store.space(number) { try tellProfile(in: space, &turn) }
        case .keys: try tendKeys(&turn)
        case .upkeep(let space): try tendKeys(of: space, &turn)
        case .epoch(let space): try mintIfNeeded(space, &turn)
        case .relay(let relay): try tend(relay, &turn)
        case .outbox: try postUnacknowledged(&turn)
        case .backlog: try goOnWithRelays(&turn)
        case .repair(let space): try requestRepair(of: space, &turn)
        case .reminder(let space): try remindDevices(of: space, &turn)
        case .invitations: try answerInvitations(&turn)
        case .polls: try closeDuePolls(&turn)
        case .ringing: try ring(&turn)
        case .scheduled: try sendScheduled(&turn)
        case .disappearing: try tendDisappearing(&turn)
        case .takenBack(let space): try forgetWithdrawnInvitation(into: space, &turn)
        case .signals(let moment): try signalsDue(moment, &turn)
        case .files: try tendFiles(&turn)
        case .fileRetry: try retryFiles(&turn)
        case .fileRoom: try tendRoom(&turn)
        case .fileLook: try lookAtFiles(&turn)
        case .collection: try collectFiles(&turn)
        case .shelves: try lookAfterShelves(&turn)
        }
    }

    /// Counts a refusal; `status` shows the counts.
    func count(
        _ refusal: Refusal, _ store: some Store, times: UInt64 = 1
    ) throws(StoreError) {
        let key = Array(refusal.rawValue.utf8)
        try store.setNumber((try store.number(.refusal, key) ?? 0) + times, .refusal, key)
    }
}

/// What a node refused, as `status` shows it.
public enum Refusal: String, CaseIterable, Sendable {
    /// Bytes that are no frame.
    case malformedFrame = "malformed-frame"
    /// Frames in an order that no honest peer sends.
    case frameOutOfOrder = "frame-out-of-order"
    /// More operations than granted.
    case overCredit = "over-credit"
    /// Operations whose hashes or signatures do not hold.
    case unprovenOperations = "unproven-operations"
    /// Operations without a signature that reaches them.
    case unsignedOperations = "unsigned-operations"
    /// Operations that do not join what is held.
    case unconnectedOperations = "unconnected-operations"
    /// A device wrote two histories.
    case forkedLog = "forked-log"
    /// A log whose short name another one of the space has.
    case collidingLog = "colliding-log"
    /// Operations of a device that is not in the space.
    case foreignOperations = "foreign-operations"
    /// A space that the sender may not introduce, or that does not hold this node.
    case foreignSpace = "foreign-space"
    /// A conversation that somebody asked this person into while too many waited for an answer, or
    /// one whose control log is longer than is kept before it is accepted.
    case invitation = "invitation"
    /// Somebody unknown wanted to talk.
    case stranger = "stranger"
    /// An invite that is unknown, used, expired or wrongly proven.
    case invite = "invite"
    /// An invite that this node took was refused by who gave it: used, expired or unknown there.
    case ownInvite = "invite-refused-by-peer"
    /// A contact request, while too many are pending.
    case request = "contact-request"
    /// A card that does not hold.
    case card = "card"
    /// An identity log that contradicts what is known of the person.
    case identity = "identity"
    /// A device that its person has revoked.
    case revokedDevice = "revoked-device"
    /// A peer said that it holds more of this device's own logs, and did not prove it.
    case emptyClaim = "empty-claim"
    /// An envelope or letter that nothing here opens.
    case envelope = "unopened-envelope"
    /// A relay that did not do what was requested.
    case relay = "relay-refused"
    /// A ticket for a relay that the relay did not take: somebody else has spent it.
    case ticket = "ticket-refused"
    /// A peer sent more frames that cost a look at everything than any honest one does.
    case tooManyFrames = "too-many-frames"
    /// A signal of a device that is not in the space, or of a blocked person.
    case foreignSignal = "foreign-signal"
    /// A peer sent more signals than calls need.
    case tooManySignals = "too-many-signals"
    /// A piece of a file that is not what its hash says.
    case wrongFile = "wrong-file"
    /// A piece of a file that was not asked for.
    case unaskedFile = "unasked-file"
    /// A peer asked for more pieces of files than may wait for it.
    case tooManyPieces = "too-many-file-pieces"
    /// A shelf at a relay on which too much lay that is of no use.
    case uselessShelf = "useless-shelf"
}

/// What must be taken back before a node may write again.
public struct Rejoin: Equatable, Sendable {
    /// Why, as a sentence.
    public var reason: String
    /// Own logs and the place after the last operation that is known to exist.
    public var ends: [LogTag: UInt64]
    /// Whether a peer must first show what it holds before that is known.
    public var needsPeer: Bool

    /// A rejoin with these fields.
    public init(reason: String, ends: [LogTag: UInt64], needsPeer: Bool) {
        self.reason = reason
        self.ends = ends
        self.needsPeer = needsPeer
    }
}
