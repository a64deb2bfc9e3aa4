import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// A member that writes two histories: found, proven, told to everybody once.
///
/// The point where the branches diverge is found by questions to a peer with the other branch; the
/// proof goes to every linked member. From then on nodes exchange only the part below. Each node
/// keeps and shows what it has of its branch; nothing more of any branch is accepted. Source:
/// `Protocol/03-operations.md`, "Forks".
extension NodeCore {
    /// So many operations at once are written by people, not brought by catching up.
    private static let liveCountMax = 16
    /// Proofs that go along with an answer by letter.
    private static let toldForkCountMax = 16

    /// A signature shows that the peer's branch of a log is another: where do they part?
    mutating func suspectFork(
        of log: LogRecord, at place: UInt64, through last: UInt64, on id: LinkID,
        _ turn: inout some Turn
    ) {
        let outputs =
            peers.links[id]?.session?.suspectFork(of: log, differsAt: place, heldThrough: last)
            ?? []
        send(outputs, on: id, &turn)
    }

    /// Looks for causes that name another operation than the one held at that place: their author
    /// has seen another branch, or invents one. Where that costs a look into the store, it is done
    /// only for control operations and for small numbers: tips show the rest.
    mutating func suspectForks(
        namedBy run: VerifiedRun, in space: SpaceRecord, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        let isThorough = run.lane == .control || run.operations.count <= Self.liveCountMax
        for operation in run.operations {
            let header = operation.operation.header
            for cause in header.dependencies + header.references {
                guard let log = try turn.store.log(cause.tag, in: space.number), log.bound == nil,
                    cause.sequence < log.end
                else { continue }
                let isTip = cause.sequence + 1 == log.end
                guard isTip || isThorough else { continue }
                let held =
                    isTip
                    ? log.tip : try turn.store.operation(at: cause.sequence, in: log.number)?.id
                guard let held, held.check != cause.check else { continue }
                let outputs =
                    peers.links[id]?.session?.suspectFork(
                        of: log, differsAt: cause.sequence, heldThrough: cause.sequence,
                        isHearsay: true) ?? []
                send(outputs, on: id, &turn)
            }
        }
    }

    /// A proof arrived, or was put together from delivered runs.
    mutating func learned(_ proof: ForkProof, by peer: Bringer, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let space = try turn.store.space(proof.space),
            let roster = try roster(of: space, turn.store), roster.contains(peer.device),
            roster.person(of: proof.left.device) != nil
        else { return }
        let name = OperationHash.log(
            space: space.id, device: proof.left.device, lane: proof.left.lane)
        let known = try turn.store.log(LogTag(name), in: space.number)
        if let known, known.id != name { return try count(.collidingLog, turn.store) }
        // Known costs nothing: it comes once from every peer.
        if let fork = known?.proven, fork.sequence <= proof.left.first { return }
        guard let evidence = ForkEvidence(proof) else {
            guard let id = peer.link else { return try count(.unprovenOperations, turn.store) }
            return try breach(.unproven, .unprovenOperations, on: id, &turn)
        }
        let log =
            if let known {
                known
            } else {
                try turn.store.addLog(
                    name, device: proof.left.device, lane: proof.left.lane, in: space.number)
            }
        if let place = try difference(of: log, from: evidence, turn.store) {
            // A third branch, which parts lower: what proves that is still to be asked for.
            guard let id = peer.link else { return }
            return suspectFork(of: log, at: place, through: evidence.sequence - 1, on: id, &turn)
        }
        try turn.store.addFork(evidence, in: log.number)
        try count(.forkedLog, turn.store)
        turn.emit(.linksChanged)
        _ = try Self.chooseBranches(in: space, among: [log.tag], turn.store)
        try spread(evidence, in: space, &turn)
        if !peer.hasToldAll {
            try tellAbsent(evidence, in: space, roster, &turn)
        }
        if log.lane == .control {
            // What is above is no longer in any past: everything that depended on it is judged
            // again.
            try judgeAnew(space, &turn)
        } else if try placeAnew(space, turn.store) || log.limit != nil {
            // For a former member nothing counts above it, and it was shown until now.
            try refold(space, &turn)
        }
        try admit(in: space, from: peer.link, &turn)
        // What waited for the proof has been taken in: a list of what is held names that as well.
        try learnedMore(of: space.number, &turn)
    }

    /// The place below a fork where this node holds another history than both branches, or nil.
    private func difference(
        of log: LogRecord, from evidence: ForkEvidence, _ store: some Store
    ) throws(StoreError) -> UInt64? {
        guard evidence.sequence > 0, log.holds(evidence.sequence - 1) else { return nil }
        let place = evidence.sequence - 1
        let held = try store.operation(at: place, in: log.number)?.id
        return held == evidence.anchor ? nil : place
    }

    /// Sets how far forked logs of lane 0 count by the word of others.
    ///
    /// - Returns: whether a different part counts than before, so that the space has to be judged
    ///   again.
    mutating func vouch(in space: SpaceRecord, _ store: some Store) throws(StoreError) -> Bool {
        guard rosters.judges[space.number]?.hasForks == true,
            var judge = rosters.judges.removeValue(forKey: space.number)
        else { return false }
        defer { rosters.judges[space.number] = judge }
        var isChanged = false
        for var log in try store.logs(in: space.number) where log.lane == .control {
            guard log.proven != nil else { continue }
            let part = try RosterReader.vouchedPart(of: log, by: &judge, store)
            guard part != log.vouched else { continue }
            isChanged = isChanged || part?.end != log.vouched?.end
            log.vouched = part
            try store.update(log)
        }
        return isChanged
    }

    /// A run of a lane 0 log on another branch than the held one replaces it, if others vouch for a
    /// branch and the held one is not known to be that. Returns what is new in the run; nothing if
    /// the held branch stays.
    func otherBranch(
        _ run: Run, insteadOf log: LogRecord, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [VerifiedRun] {
        guard log.awaitsBranch, let fork = log.proven else { return [] }
        let below = log.withoutBranch
        // What does not hold takes nobody's place, whatever is wrong with it.
        let pieces = try? Self.verify(
            run, in: space.id, against: below, limit: log.lane == .control ? nil : log.limit)
        guard let pieces, pieces.first?.first == below.end, let last = pieces.last?.operations.last
        else { return [] }
        if log.holds(last.sequence),
            try store.operation(at: last.sequence, in: log.number)?.id == last.id
        {
            return []
        }
        try store.drop(log.number, from: fork)
        return pieces
    }

    /// Whether it is proven that this device wrote two histories, as a copied home does. Nobody
    /// accepts what it writes from then on, so it writes nothing.
    func hasOwnFork(_ store: some Store) throws(StoreError) -> Bool {
        try store.hasForked(identity.device)
    }

    /// Tells every linked member; for one that knows it already this costs one frame.
    private mutating func spread(
        _ evidence: ForkEvidence, in space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        let bytes = Frame.fork(evidence.proof).encoded()
        for id in peers.links.keys.sorted()
        where peers.links[id]?.session?.shares(space.number) == true {
            peers.links[id]?.session?.provedMore(in: space.number)
            turn.emit(.send(id, bytes))
            try tellBranches(of: space, on: id, &turn)
        }
    }

    /// Informs by letter members who are not linked.
    private mutating func tellAbsent(
        _ evidence: ForkEvidence, in space: SpaceRecord, _ roster: Roster, _ turn: inout some Turn
    ) throws(StoreError) {
        let linked = devicesLinked(in: space.number)
        let absent = roster.participatingDevices.map(\.device).filter {
            $0 != identity.device && !linked.contains($0)
        }
        guard absent.count <= Self.toldLogCountMax else { return }
        for device in absent {
            guard let person = roster.person(of: device) else { continue }
            _ = try send([.fork(evidence.proof)], to: device, of: person, &turn)
        }
    }

    /// The fork proofs of a space, for a peer that asks by letter for what it lacks.
    func proofs(in space: SpaceRecord, _ store: some Store) throws(StoreError) -> [Frame] {
        try store.forks().filter { $0.proof.space == space.id }.prefix(Self.toldForkCountMax)
            .map { .fork($0.proof) }
    }

    /// Sends a peer the fork proofs of spaces whose lane 0 it holds by now: it could not have used
    /// them before.
    mutating func tellForks(to id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let spaces = peers.links[id]?.session?.takeOwedForks(), !spaces.isEmpty else {
            return
        }
        for evidence in try turn.store.forks() {
            guard let space = try turn.store.space(evidence.proof.space),
                spaces.contains(space.number)
            else { continue }
            turn.emit(.send(id, Frame.fork(evidence.proof).encoded()))
        }
    }
}

extension VerifiedRun {
    /// The part below a fork, or nil if there is none.
    func below(_ fork: LogPoint?) -> VerifiedRun? {
        guard let fork, fork.sequence <= last else { return self }
        guard fork.sequence > first else { return nil }
        return prefix(Int(fork.sequence - first))
    }
}
