import ParleyLedger
import ParleyWire

/// Whether the peer of a link is to be sent the proven forks of a space. It can use them once it
/// holds what is held here, and where digests differ a proof may be what it lacks.
struct ForkTelling: Sendable {
    /// It is to be told as soon as it can place it.
    var isOwed = true
    /// It was sent, or will be, when it held what is held here.
    var isKnown = false

    /// How often the peer asked for what it lacks.
    private var questionCount: UInt64 = 0

    mutating func noteEqual() {
        if !isKnown { isOwed = true }
        isKnown = true
    }

    /// The peer asks for what it lacks, which may be a proof. All of them are sent then, and a question is
    /// small: they are sent at the first, the second, the fourth, the eighth …
    mutating func noteQuestion() {
        questionCount += 1
        if questionCount & (questionCount - 1) == 0 { isOwed = true }
    }
}

/// Questions beside those about holes: where branches part, and for payloads.
extension SpaceExchange {
    /// Looks at a complete list of tips. Where it is the very one that is held here, and the digests
    /// of the two differ again and again, branches hide behind checks that are alike.
    mutating func compareAll(
        _ frontier: Frontier, showing shown: FrontierDigests?, store: some LogStore
    ) throws(StoreError) {
        if !questions.contains(.fork) { searches.forget() }
        guard scope.isEverything, let shown else { return }
        let logs = try logs(store)
        guard Frontier(of: space, logs, asksForMissing: false).entries == frontier.entries else {
            return searches.noteDifferentTips()
        }
        let own = try digests(store: store)
        guard own != shown, searches.noteEqualTips(here: own, there: shown) else { return }
        searches.audit(
            logs.reversed().compactMap { log in
                guard log.bound == nil, let last = log.spans.last else { return nil }
                return ForkSearch(
                    log.tag, above: last.first, differsAt: last.last, heldThrough: last.last,
                    isSure: false)
            })
    }

    /// Compares a tip that the peer lists with the same place here.
    mutating func compare(
        _ entry: Frontier.Entry, with log: LogRecord, store: some LogStore
    ) throws(StoreError) {
        guard searches.isIdle, let check = try store.check(at: entry.sequence, of: log),
            check != entry.check
        else { return }
        suspect(log, differsAt: entry.sequence, heldThrough: entry.sequence, on: .peer)
    }

    /// The peer's branch of a log may differ from this one at a place: where do they part?
    mutating func suspect(
        _ log: LogRecord, differsAt place: UInt64, heldThrough last: UInt64,
        on ground: ForkSearches.Ground
    ) {
        guard let span = log.spans.last(where: { $0.first <= place }) else { return }
        searches.begin(
            ForkSearch(
                log.tag, above: span.first, differsAt: place, heldThrough: last,
                isSure: ground == .peer), on: ground)
    }

    /// The next question of a search, if one is due.
    mutating func nextForkQuestion() -> Want? {
        guard !questions.contains(.fork), let range = searches.question() else { return nil }
        questions.append(.fork)
        return Want(
            space: space.id, limit: UInt64(Limits.wantOperationCountMax), ranges: [range])
    }

    /// Takes the runs that the search asked for out of a frame.
    ///
    /// - Returns: the proof, where they complete it.
    mutating func takeAnswers(
        in operations: inout Operations, store: some LogStore
    ) throws(StoreError) -> ForkProof? {
        guard questions.first == .fork, var current = searches.current else { return nil }
        let tag = current.tag
        var answers: [Run] = []
        operations.runs.removeAll { run in
            let log = OperationHash.log(space: space.id, device: run.device, lane: run.lane)
            guard LogTag(log) == tag, current.asksFor(run) else { return false }
            answers.append(run)
            return true
        }
        guard let log = try log(tag, store) else { return nil }
        for answer in answers { current.take(answer) }
        let step = try current.advance(in: log, of: space.id, store: store)
        switch step {
        case .goesOn: searches.goOn(current)
        case .failed: searches.endFruitless()
        case .proven(let proof):
            searches.succeed()
            return proof
        }
        return nil
    }

    /// Whether the proven forks of the space are to be sent now. A peer that has not heard yet of
    /// the log's author, or of the sender, could not use them.
    var mustTellForks: Bool { forks.isOwed && hasSentAll && scope.isEverything }

    /// Asks for operations whose payload did not come along.
    mutating func wantBodies(_ ranges: [Want.Range]) -> Want? {
        guard !questions.contains(.bodies), !ranges.isEmpty else { return nil }
        questions.append(.bodies)
        return Want(
            space: space.id, limit: UInt64(Limits.wantOperationCountMax), ranges: ranges)
    }
}
