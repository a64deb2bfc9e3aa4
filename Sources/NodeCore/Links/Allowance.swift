import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyReconciliation
public import ParleyWire

/// How much work a peer may still cause this node.
///
/// Work is counted in units of about ten microseconds of a release build; `parley bench hostile`
/// shows what each kind of frame costs of them. Some is saved up, and comes back with time: far
/// more than an honest peer takes, far less than what would keep a node from its work.
struct Allowance: Sendable {
    /// How much is saved up at most, and how much comes back in a second.
    struct Rate: Sendable {
        let burst: UInt64
        let perSecond: UInt64

        /// For all devices of a person together: a tenth of a processor, and more at once the more
        /// there is to compare.
        static func person(spaceCount: Int) -> Rate {
            Rate(
                burst: 40_000 + 64 * UInt64(spaceCount),
                perSecond: 10_000 + 2 * UInt64(spaceCount))
        }

        /// For all strangers together: anybody can make up persons, so a share per person would
        /// protect nothing.
        static let strangers = Rate(burst: 20_000, perSecond: 5_000)
    }

    /// What happens to a frame.
    enum Verdict: Sendable {
        /// It is looked at.
        case fine
        /// It is not looked at.
        case over
        /// Nothing more is: the link ends.
        case farOver
    }

    /// Units of dropped work, beyond what was refilled meanwhile, that end a link.
    static let excessMax: UInt64 = 20_000
    /// A peer that exceeded this much is refused for this long, in milliseconds.
    static let shunTime: UInt64 = 60_000

    /// In so many milliseconds everything is back.
    static let hour: UInt64 = 3_600_000

    private(set) var spent: UInt64 = 0
    private var excess: UInt64 = 0
    private var since: UInt64 = 0
    private var shunnedUntil: UInt64 = 0
    /// Operations that were given for nothing, less what has come back since.
    var given: UInt64 { operations.given }
    private var operations = Gifts()
    /// The same of pieces of files.
    private var pieces = Gifts()

    /// Whether its person is not listened to at all.
    func isShunned(at now: UInt64) -> Bool { now < shunnedUntil }

    /// True if nothing is spent: then the entry need not be remembered.
    mutating func isWhole(at now: UInt64, _ rate: Rate) -> Bool {
        refill(at: now, rate)
        return spent == 0 && excess == 0 && operations.areBack(at: now) && pieces.areBack(at: now)
            && !isShunned(at: now)
    }

    /// Takes into account that so many operations were given to its person: for nothing while these
    /// are no more in an hour than `free`. So everything can be fetched, and fetching it again and
    /// again is paid for.
    mutating func give(_ count: UInt64, freely free: UInt64, at now: UInt64) {
        spend(FrameWork.serving(operations.take(count, freely: free, at: now)))
    }

    /// The same of one piece of a file.
    mutating func givePiece(freely free: UInt64, at now: UInt64) {
        spend(FrameWork.piece * pieces.take(1, freely: free, at: now))
    }

    /// Whether one more piece of a file may be given now: for nothing, or as long as half of what there
    /// is at once is left for everything else.
    mutating func mayBeGivenPiece(freely free: UInt64, at now: UInt64, _ rate: Rate) -> Bool {
        refill(at: now, rate)
        return pieces.left(of: free, at: now) > 0 || spent < rate.burst / 2
    }

    /// Takes work into account before it is done.
    ///
    /// - Parameter drop: the cost of not doing the work.
    mutating func take(
        _ work: UInt64, at now: UInt64, _ rate: Rate, orDropFor drop: UInt64
    ) -> Verdict {
        refill(at: now, rate)
        guard !isShunned(at: now) else { return .farOver }
        guard spent >= rate.burst else {
            spent += work
            return .fine
        }
        excess += drop
        guard excess > Self.excessMax else { return .over }
        shunnedUntil = now + Self.shunTime
        return .farOver
    }

    /// Whether there is something left to pay with.
    mutating func canPay(at now: UInt64, _ rate: Rate) -> Bool {
        refill(at: now, rate)
        return spent < rate.burst
    }

    /// Takes work into account that is done in any case.
    mutating func spend(_ work: UInt64) {
        let (sum, overflow) = spent.addingReportingOverflow(work)
        spent = overflow ? .max : sum
    }

    /// Gives back what turned out to be paid for otherwise.
    mutating func giveBack(_ work: UInt64) { spent -= min(spent, work) }

    private mutating func refill(at now: UInt64, _ rate: Rate) {
        let passed = min(now - min(now, since), Self.hour)
        let back = passed * rate.perSecond / 1_000
        guard back > 0 else { return }
        spent -= min(spent, back)
        excess -= min(excess, back)
        since = now
    }
}

/// What everybody may still cost: each person by themselves, whichever of their devices sends, and
/// all strangers together.
struct Allowances: Sendable {
    /// Above so many persons those who have spent nothing lately are forgotten.
    static let personCountMax = 1_024

    private var persons: [PersonID: Allowance] = [:]
    private var strangers = Allowance()

    /// Takes work for a person into account, or for a stranger where that is nil.
    mutating func take(
        _ work: UInt64, for person: PersonID?, sharing spaceCount: Int = 0, at now: UInt64,
        orDropFor drop: UInt64 = 1
    ) -> Allowance.Verdict {
        guard let person else {
            let verdict = strangers.take(work, at: now, .strangers, orDropFor: 0)
            return verdict == .fine ? .fine : .over
        }
        let rate = Allowance.Rate.person(spaceCount: spaceCount)
        makeRoom(for: person, at: now)
        return persons[person, default: Allowance()].take(
            work, at: now, rate, orDropFor: drop)
    }

    /// Whether a person can pay for more that a relay brings of theirs.
    mutating func canPay(_ person: PersonID, at now: UInt64) -> Bool {
        makeRoom(for: person, at: now)
        return persons[person, default: Allowance()].canPay(at: now, .person(spaceCount: 0))
    }

    /// Charges a person for work that is done in any case.
    mutating func spend(_ work: UInt64, of person: PersonID) {
        persons[person, default: Allowance()].spend(work)
    }

    /// Gives back to a person what new operations pay for.
    mutating func giveBack(_ work: UInt64, to person: PersonID) {
        persons[person]?.giveBack(work)
    }

    /// Units that a person has spent, and that have not come back since.
    func spent(by person: PersonID) -> UInt64 { persons[person]?.spent ?? 0 }

    /// Takes operations that were given to a person into account.
    mutating func give(_ count: Int, to person: PersonID, freely free: UInt64, at now: UInt64) {
        makeRoom(for: person, at: now)
        persons[person, default: Allowance()].give(UInt64(count), freely: free, at: now)
    }

    /// Whether a piece of a file may be given to a person now.
    mutating func mayBeGivenPiece(
        _ person: PersonID, freely free: UInt64, at now: UInt64
    ) -> Bool {
        makeRoom(for: person, at: now)
        return persons[person, default: Allowance()].mayBeGivenPiece(
            freely: free, at: now, .person(spaceCount: 0))
    }

    /// Takes a piece of a file that was given to a person into account.
    mutating func givePiece(to person: PersonID, freely free: UInt64, at now: UInt64) {
        persons[person, default: Allowance()].givePiece(freely: free, at: now)
    }

    /// Operations that were given to a person for nothing, lately.
    func given(to person: PersonID) -> UInt64 { persons[person]?.given ?? 0 }

    /// Whether a person went so far over that nothing of theirs is listened to.
    func isShunned(_ person: PersonID, at now: UInt64) -> Bool {
        persons[person]?.isShunned(at: now) ?? false
    }

    /// Forgets those who have spent nothing lately, where there is no room for another one.
    private mutating func makeRoom(for person: PersonID, at now: UInt64) {
        guard persons[person] == nil, persons.count >= Self.personCountMax else { return }
        persons = persons.filter { _, allowance in
            var allowance = allowance
            return !allowance.isWhole(at: now, .person(spaceCount: 0))
        }
    }
}

/// The cost of examining a frame, by its type and size alone: nothing in it was read yet.
///
/// Source: `Protocol/06-sync.md`, "What a peer may cost".
public enum FrameWork {
    /// Letting a peer in: who it is, what both share.
    public static let link: UInt64 = 300

    /// The cost of a frame.
    ///
    /// - Parameter spaceCount: how many spaces both belong to.
    public static func units(of bytes: [UInt8], sharing spaceCount: Int) -> UInt64 {
        let count = UInt64(bytes.count)
        let spaces = UInt64(spaceCount)
        return switch bytes.first.flatMap(Frame.Kind.init(rawValue:)) {
        case nil: 1 + count / 256
        case .hello, .bye, .error, .credit: 5
        case .spaces: 10 + spaces + count / 64
        case .frontier: 20 + count / 16
        case .want: 100 + count / 16
        case .operations: 5
        case .acknowledge: 5 + count / 8
        case .fork: 100 + count / 32
        case .introduce: 50 + count / 8
        case .heartbeat: 5 + 2 * spaces
        case .signal: 300
        // Each is looked for in the views, and a piece is read, checked and sealed.
        case .blobAsk: 5 + count / 4
        case .blobWant: 10
        case .blobHave: 10 + count / 16
        // Nobody asked for it.
        case .blobSection, .blobChunk: 10 + count / 256
        }
    }

    /// So many logs are walked for one unit.
    static let logsEach: UInt64 = 16

    /// The cost of reading and sending this many operations.
    public static func serving(_ count: UInt64) -> UInt64 { count / 4 }

    /// The cost of reading, checking and sealing a piece of a file.
    static let piece: UInt64 = 16

    /// Whether a frame may come before there is a session: any other one of a stranger is not read.
    static func mayPrecedeSession(_ bytes: [UInt8]) -> Bool {
        switch bytes.first.flatMap(Frame.Kind.init(rawValue:)) {
        case nil, .introduce, .bye, .error: true
        default: false
        }
    }

    /// The cost of dropping a frame.
    static func drop(_ bytes: [UInt8]) -> UInt64 { 1 + UInt64(bytes.count) / 256 }

    /// The cost of reading a roster that is not in memory, of this many control operations. If it
    /// were more than half of the strangers' burst, a guest would hardly ever be admitted.
    static func roster(operationCount count: UInt64) -> UInt64 { min(8 * count, 10_000) }

    /// The cost of a frame of operations in which nothing was new: credit pays for the others.
    public static func nothingNew(_ operations: Operations) -> UInt64 {
        5 + UInt64(operations.creditByteCount) / 512
    }
}

extension NodeCore {
    /// Operations that a person may be given in an hour for nothing, whatever there is.
    static let givenCountMin: UInt64 = 20_000

    /// A frame goes to a peer. Of operations twice all that was ever stored is given in an hour for
    /// nothing.
    mutating func gave(_ frame: Frame, on id: LinkID, at now: Instant, _ store: some Store) {
        guard case .operations(let operations) = frame, let person = peers.links[id]?.peer.person
        else { return }
        let stored = UInt64(clamping: store.lastOperation.rawValue)
        peers.allowances.give(
            operations.runs.reduce(0) { $0 + $1.operations.count }, to: person,
            freely: Self.givenCountMin + 2 * stored, at: now.monotonic)
    }

    /// Frames of a stranger on one link: honest ones present themselves and wait.
    static let strangerFrameCountMax = 16

    /// Whether a link is taken, before anything costly is done for it. One that this node made is.
    mutating func admitLink(_ id: LinkID, _ peer: LinkPeer, _ turn: inout some Turn)
        throws(StoreError) -> Bool
    {
        // Whom this node called is put off by the dialer.
        let isPutOff =
            !peer.isInitiator && peers.breaches.isPutOff(peer.device, at: turn.now.monotonic)
        let isShunned =
            isPutOff || peers.allowances.isShunned(peer.person, at: turn.now.monotonic)
        let isKnown = try isAccepted(peer.person, turn.store)
        if !isShunned {
            if peer.isInitiator { return true }
            let payer = isKnown ? peer.person : nil
            let verdict = peers.allowances.take(FrameWork.link, for: payer, at: turn.now.monotonic)
            if verdict == .fine { return true }
        }
        try count(.tooManyFrames, turn.store)
        peers.dialer.note(.turnedAway, of: peer.device)
        turn.emit(.hangUp(id, .flooded))
        return false
    }

    /// Whether a frame is examined. It was not decoded yet, so refusing it costs next to nothing.
    mutating func admitFrame(_ bytes: [UInt8], on id: LinkID, _ turn: inout some Turn)
        throws(StoreError) -> Bool
    {
        guard let peer = peers.links[id]?.peer, peers.links[id]?.isEnding == false else {
            return false
        }
        // The question pays for the very piece that was requested, once.
        if let piece = BlobPiece(in: bytes), fileDesk.fetcher.isOwed(piece, by: id) { return true }
        let spaceCount = peers.links[id]?.session?.sharedCount
        // A peer that this node called is no stranger to it.
        let isStranger = spaceCount == nil && !peer.isInitiator
        if isStranger {
            peers.links[id]?.strangerFrameCount += 1
            if peers.links[id]?.strangerFrameCount ?? 0 > Self.strangerFrameCountMax {
                try flooded(id, &turn)
                return false
            }
        }
        let verdict = peers.allowances.take(
            FrameWork.units(of: bytes, sharing: spaceCount ?? 0),
            for: isStranger ? nil : peer.person, sharing: spaceCount ?? 0, at: turn.now.monotonic,
            orDropFor: FrameWork.drop(bytes))
        switch verdict {
        case .fine: return true
        case .over:
            let isSignal = bytes.first == Frame.Kind.signal.rawValue
            try dropped(on: id, isSignal ? .tooManySignals : .tooManyFrames, turn.store)
        case .farOver: try flooded(id, &turn)
        }
        return false
    }

    /// Whether a space's roster may be read for somebody who names the space, if it is not in memory:
    /// whether they know more than its name, only the roster tells.
    mutating func chargeReading(
        rosterOf space: SpaceRecord, _ person: PersonID, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard rosters.judges[space.number] == nil else { return true }
        let count = try store.logs(in: space.number).filter { $0.lane == .control }
            .reduce(0 as UInt64) { $0 + $1.end }
        let payer = try isAccepted(person, store) ? person : nil
        let verdict = peers.allowances.take(
            FrameWork.roster(operationCount: count), for: payer, at: now.monotonic, orDropFor: 0)
        return verdict == .fine
    }

    /// Ends the link of a peer that sends frames reserved for peers that are served.
    mutating func turnAway(_ id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        try count(.stranger, turn.store)
        turn.emit(.send(id, Frame.error(.stranger).encoded()))
        hangUp(id, .stranger, &turn)
    }

    mutating func flooded(_ id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        try count(.tooManyFrames, turn.store)
        if let device = peers.links[id]?.peer.device { peers.dialer.note(.turnedAway, of: device) }
        hangUp(id, .flooded, &turn)
    }

    /// Counts a dropped frame. Counting must not cost more than examining would: the store is
    /// updated for the first few, and then for sixty-four at a time.
    private mutating func dropped(
        on id: LinkID, _ refusal: Refusal, _ store: some Store
    ) throws(StoreError) {
        guard let before = peers.links[id]?.droppedCount else { return }
        let number = before + 1
        peers.links[id]?.droppedCount = number
        if number <= 8 { return try count(refusal, store) }
        if number % 64 == 0 { try count(refusal, store, times: number == 64 ? 56 : 64) }
    }
}
