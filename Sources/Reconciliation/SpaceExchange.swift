import ParleyLedger
import ParleyWire

/// What is known, on one link, about one space: what the peer lacks, and what it was asked for.
struct SpaceExchange: Sendable {
    /// Above this many missing operations the newest are sent first, and the rest when asked for.
    static let windowOperationCount = 500
    let space: SpaceRecord
    /// The device at the other end.
    private let peer: DeviceID?
    /// How much of it passes.
    private(set) var scope: SharingScope
    /// The place after the last that the peer holds or was sent, by log; nil before it told us.
    private var peerEnds: [LogTag: UInt64]?
    /// The same as the peer itself told it last, or showed by what it brought.
    private var toldEnds: [LogTag: UInt64] = [:]
    /// Whether the peer brought operations since more or less of the space passes: so it holds it now.
    private(set) var hasBrought = false
    /// What the peer said it holds and is missing here: the place, by log. Nil before it told all.
    private var lacked: [(tag: LogTag, place: UInt64)]?
    /// How far sending everything unasked has come.
    var offer = SpaceOffer.none
    /// Whether the peer has announced or sent anything of it on this link.
    var wasTaken = false
    /// Logs that may hold something for the peer, so that a long list is not walked each time.
    private var unsent: Set<LogTag> = []
    /// Logs that grew through others and were not announced yet.
    private var unannounced: Set<LogTag> = []
    /// Whether it is still to be found out what the peer lacks. That walks all logs, so it waits until
    /// something may be sent: a peer that grants nothing is not worked for.
    private var isPlanDue = false
    /// Where the newest part begins that is sent before the rest, by log.
    private var windows: [LogTag: UInt64] = [:]
    private var newest = NewestPlaces()
    /// The digests of what passes when they were last computed, and the change count of the store then.
    private var digested: (count: UInt64, digests: FrontierDigests)?
    /// Logs that were walked for the peer and not charged yet.
    private(set) var walkedCount: UInt64 = 0
    /// What the peer asked for and was not sent yet.
    private var answers = OpenWants()

    /// The lowest place that was asked for, by log.
    var asked: [LogTag: UInt64] = [:]
    /// The peer was sent all tips and asked for the rest, and nothing has arrived yet.
    private var isAsking = false
    /// The peer was told what is held here.
    var hasTold = false
    /// The peer could not answer: it is not asked again on this link.
    var cannotFill = false

    /// Questions that are open, the oldest first.
    var questions: Queue<Question> = []
    /// The searches for places where a log's branches part.
    var searches = ForkSearches()
    var forks = ForkTelling()
    /// The digests that the peer showed last, where they were not our own, and how often in a row.
    private var shown: (digests: FrontierDigests, count: Int)?

    init(_ shared: SharedSpace, with peer: DeviceID?) {
        space = shared.record
        self.peer = peer
        scope = shared.scope
    }

    func logs(_ store: some LogStore) throws(StoreError) -> [LogRecord] {
        try scope.logs(of: space.number, in: store)
    }

    func log(_ tag: LogTag, _ store: some LogStore) throws(StoreError) -> LogRecord? {
        try scope.log(tag, of: space.number, in: store)
    }

    /// From now on another part of the space passes. New parts are sent if it is known what the
    /// peer holds.
    mutating func narrow(to scope: SharingScope, store: some LogStore) throws(StoreError) {
        self.scope = scope
        digested = nil
        // What it was told was lane 0's alone: it has yet to hear how far all of it goes.
        if scope.isEverything { hasTold = false }
        // That both hold the same of lane 0 says nothing of the rest.
        (wasEqual, hasOwnNews) = (false, true)
        hasBrought = false
        (forks, answers) = (ForkTelling(), OpenWants())
        (unannounced, windows) = ([], [:])
        if peerEnds != nil { unsent = Set(try logs(store).map(\.tag)) }
    }

    /// The peer's digests were our own at least once on this link, of the part that passes now.
    private(set) var wasEqual = false
    /// Own operations were written since the digests were equal, or they never were.
    private(set) var hasOwnNews = true

    var hasAnnouncements: Bool { !unannounced.isEmpty }

    /// Whether there may be anything to send: usually there is nothing.
    var mayHaveOperations: Bool {
        !answers.isEmpty
            || (peerEnds != nil && offer != .made
                && (isPlanDue || !unsent.isEmpty || offer != .none))
    }

    /// Whether the peer is known to hold, or was sent, all that it may have.
    var hasSentAll: Bool { peerEnds != nil && !isPlanDue && unsent.isEmpty && offer == .none }

    /// The digests of what passes. They are computed anew only where a log of the space changed.
    mutating func digests(store: some LogStore) throws(StoreError) -> FrontierDigests {
        let count = store.logChangeCount(in: space.number)
        if let digested, digested.count == count { return digested.digests }
        let digests = try FrontierDigests(of: space.number, scope, in: store)
        digested = (count, digests)
        walkedCount += UInt64(try store.logs(in: space.number).count)
        return digests
    }

    /// Takes the number of logs that were walked for the peer since it was last taken.
    mutating func takeWalkedCount() -> UInt64 {
        defer { walkedCount = 0 }
        return walkedCount
    }

    // MARK: What the peer holds

    /// The peer's digests are not our own. Returns how often in a row it has shown these.
    mutating func noteDifference(showing digests: FrontierDigests) -> Int {
        var count = 1
        if let shown, shown.digests == digests { count += shown.count }
        shown = (digests, count)
        return count
    }

    /// The peer's digests are our own.
    mutating func noteEqual(store: some LogStore) throws(StoreError) {
        var ends: [LogTag: UInt64] = [:]
        for log in try logs(store) where log.end > 0 {
            ends[log.tag] = log.end
        }
        peerEnds = ends
        lacked = []
        (wasEqual, hasOwnNews) = (true, false)
        noteTaken()
        forks.noteEqual()
        (unsent, isPlanDue) = ([], false)
        (unannounced, windows) = ([], [:])
        cannotFill = false
        shown = nil
        searches.noteEqual()
    }

    /// Processes the peer's tips. Returns what is missing here according to them, if anything is.
    mutating func received(
        _ frontier: Frontier, store: some LogStore
    ) throws(StoreError) -> Lack? {
        var lack: Lack?
        noteTaken()
        if frontier.isComplete {
            walkedCount += UInt64(try store.logs(in: space.number).count)
            lacked = scope.isMutual ? [] : nil
            try compareAll(frontier, showing: shown?.digests, store: store)
        }
        var ends = frontier.isComplete ? [:] : peerEnds ?? [:]
        if frontier.isComplete { toldEnds = [:] }
        for entry in frontier.entries {
            let log = try log(entry.tag, store)
            if scope.isMutual, entry.sequence >= log?.end ?? 0, log?.endsAtBound != true {
                let isNew = peerEnds?[entry.tag] ?? 0 <= entry.sequence
                lack = isNew || lack == .news ? .news : .known
                noteLacked(entry)
            }
            if let log { try compare(entry, with: log, store: store) }
            unannounced.remove(entry.tag)
            // Tips of logs that nobody has must not fill the memory.
            guard ends[entry.tag] != nil || ends.count < Limits.frontierEntryCountMax
            else { continue }
            ends[entry.tag] = max(ends[entry.tag] ?? 0, entry.sequence + 1)
            if frontier.isComplete { toldEnds[entry.tag] = ends[entry.tag] }
        }
        if frontier.isComplete {
            if frontier.asksForMissing {
                forks.noteQuestion()
                peerEnds = ends
                isPlanDue = true
            } else if unsent.isEmpty && !isPlanDue || peerEnds == nil || scope == .welcome {
                // Somebody else serves it, or who has not accepted keeps no more; only what is new from
                // now on is sent.
                (unsent, isPlanDue) = ([], false)
                for log in try logs(store) {
                    ends[log.tag] = max(ends[log.tag] ?? 0, log.end)
                }
                peerEnds = ends
            } else {
                peerEnds?.merge(ends, uniquingKeysWith: max)
            }
        } else if peerEnds != nil {
            peerEnds = ends
        }
        // Its tips crossed with ours: asked once more, it would send everything once more.
        defer { if frontier.isComplete { isAsking = false } }
        return isAsking && frontier.isComplete ? nil : lack
    }

    private mutating func noteLacked(_ entry: Frontier.Entry) {
        guard let count = lacked?.count else { return }
        // More than anybody may list at once: it is no longer known what is missing.
        guard count < Limits.frontierEntryCountMax else { return lacked = nil }
        lacked?.append((entry.tag, entry.sequence))
    }

    /// Whether all is held here that the peer said it holds, its holes aside.
    mutating func lacksNothing(store: some LogStore) throws(StoreError) -> Bool {
        while let last = lacked?.last {
            guard let log = try log(last.tag, store), log.end > last.place || log.endsAtBound
            else { return false }
            lacked?.removeLast()
        }
        return lacked != nil
    }

    /// Our tips, with a request for what lies above them.
    mutating func request(store: some LogStore) throws(StoreError) -> Frontier {
        isAsking = true
        return try frontier(asksForMissing: true, store: store)
    }

    /// All tips, and for logs of the peer's own what proves that it wrote them.
    func frontier(
        asksForMissing: Bool, store: some LogStore
    ) throws(StoreError) -> Frontier {
        let logs = try logs(store)
        var frontier = Frontier(of: space, logs, asksForMissing: asksForMissing)
        if let peer {
            // A peer that is known to hold as much need not be told.
            let unheld = logs.filter { $0.device == peer && peerEnds?[$0.tag] ?? 0 < $0.end }
            frontier.ownTips = try Frontier.ownTips(of: peer, among: unheld, in: store)
        }
        return frontier
    }

    /// Operations arrived: what was requested is in transit.
    mutating func receivedOperations() {
        isAsking = false
        noteTaken()
    }

    /// The peer knows nothing of it and may not want it: until it has shown that, one frame is sent.
    mutating func offerAll() {
        peerEnds = [:]
        offer = .due
        isPlanDue = true
    }

    /// All of the space is to be sent.
    ///
    /// - Parameters:
    ///   - holdsLane0: whether the peer holds of lane 0 what it told, or was sent.
    ///   - letItselfIn: whether what the peer brought is why: then it holds what it told.
    mutating func introduce(holdsLane0: Bool, letItselfIn: Bool = false) {
        if !holdsLane0 || peerEnds == nil { peerEnds = letItselfIn ? toldEnds : [:] }
        offer = .taken
        isPlanDue = true
    }

    mutating func peerHolds(_ tag: LogTag, through place: UInt64) {
        unannounced.remove(tag)
        let end = peerEnds?[tag] ?? 0
        peerEnds?[tag] = max(end, place + 1)
        toldEnds[tag] = max(toldEnds[tag] ?? 0, place + 1)
        hasBrought = true
    }

    /// What the peer holds it may not have said: the last operation is sent once more.
    mutating func sendLastAgain(of tag: LogTag, store: some LogStore) throws(StoreError) {
        guard !unsent.contains(tag), let end = try log(tag, store)?.end, end > 0,
            // Else it is sent as soon as that is planned.
            !isPlanDue || peerEnds?[tag] ?? 0 >= end
        else { return }
        peerEnds?[tag] = end - 1
        unsent.insert(tag)
    }

    /// The peer asks for nothing and lacks something of lane 0. It may count this device as out, and not
    /// have heard of what let it in again: it is sent what it did not say that it holds of that.
    mutating func sendControl(store: some LogStore) throws(StoreError) {
        guard scope.isEverything, !wasEqual, peerEnds != nil, !mayHaveOperations else { return }
        for log in try logs(store) where log.lane == .control {
            guard case let told = toldEnds[log.tag] ?? 0, log.end > told else { continue }
            peerEnds?[log.tag] = told
            unsent.insert(log.tag)
        }
    }

    mutating func grew(_ tag: LogTag, isOwn: Bool) {
        if isOwn {
            hasOwnNews = true
            unsent.insert(tag)
        } else {
            unannounced.insert(tag)
        }
    }

    mutating func announcement(store: some LogStore) throws(StoreError) -> Frontier? {
        guard let ends = peerEnds, !unannounced.isEmpty else { return nil }
        var news: [LogRecord] = []
        for tag in unannounced.sorted() {
            if let log = try log(tag, store), log.end > ends[tag] ?? 0 { news.append(log) }
        }
        unannounced = []
        guard !news.isEmpty else { return nil }
        return Frontier(of: space, news, isComplete: false, asksForMissing: false)
    }

    // MARK: Sending what the peer lacks

    /// Everything that is held above the peer's tips is to be sent; where that is much, the
    /// newest first.
    private mutating func planSending(store: some LogStore) throws(StoreError) {
        let ends = peerEnds ?? [:]
        (unsent, isPlanDue) = ([], false)
        windows = [:]
        let isMuch = UInt64(2 * Self.windowOperationCount)
        var missing: UInt64 = 0
        for log in try logs(store) {
            let first = max(ends[log.tag] ?? 0, scope.first(of: log.tag))
            guard log.end > first else { continue }
            unsent.insert(log.tag)
            // Places are the author's word: their sum need not fit a number.
            if log.lane == .content { missing += min(isMuch + 1, log.end - first) }
        }
        guard missing > isMuch else { return }
        let newest = try newest.read(of: space.number, count: Self.windowOperationCount, store)
        for tag in unsent {
            guard let log = try log(tag, store), log.lane == .content else {
                continue
            }
            let first = newest.first { $0.log == log.number }?.first ?? log.end - 1
            if first > ends[tag] ?? 0 { windows[tag] = first }
        }
    }

    /// The next frame of operations for the peer, or nil where it lacks nothing that is known.
    mutating func nextOperations(store: some LogStore) throws(StoreError) -> Operations? {
        if peerEnds != nil, offer != .made {
            if isPlanDue { try planSending(store: store) }
            var runs: [Run] = []
            var room = Limits.operationsFrameByteCount
            for log in try unsentLogs(store: store) {
                while room > 0, let run = try nextRun(of: log, room, store: store) {
                    runs.append(run)
                    room -= run.byteCount
                }
                if room <= 0 || runs.count >= Limits.runCountMax { break }
            }
            if !runs.isEmpty {
                if offer == .due, !unsent.isEmpty { offer = .made }
                return Operations(space: space.id, endsAnswer: false, runs: runs)
            }
        }
        return try answers.next(of: space, scope, store: store)
    }

    /// Logs to send from: control first, then by tag. A space is offered with its first operation.
    private mutating func unsentLogs(store: some LogStore) throws(StoreError) -> [LogRecord] {
        var logs: [LogRecord] = []
        for tag in unsent.sorted() {
            if let log = try log(tag, store) {
                logs.append(log)
            } else {
                // The peer may not have it.
                unsent.remove(tag)
            }
        }
        let first = offer == .due ? try genesisLog(of: logs, store) : nil
        return logs.sorted {
            ($0.tag == first ? 0 : $0.lane == .control ? 1 : 2, $0.tag)
                < ($1.tag == first ? 0 : $1.lane == .control ? 1 : 2, $1.tag)
        }
    }

    private mutating func nextRun(
        of log: LogRecord, _ room: Int, store: some LogStore
    ) throws(StoreError) -> Run? {
        var first = max(peerEnds?[log.tag] ?? 0, scope.first(of: log.tag))
        if let window = windows[log.tag], window > first { first = window }
        if let top = log.spans.last, first < top.first { first = top.first }
        guard first < log.end else {
            unsent.remove(log.tag)
            windows[log.tag] = nil
            return nil
        }
        let run = try RunReader.forward(
            log, from: first, room: room, bringsAnchor: true, store: store)
        guard let run else {
            unsent.remove(log.tag)
            return nil
        }
        peerEnds?[log.tag] = run.last + 1
        return run
    }

    mutating func received(_ want: Want) { answers.add(want) }
}
