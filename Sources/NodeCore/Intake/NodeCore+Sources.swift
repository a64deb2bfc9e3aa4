public import ParleyLedger
import ParleyReconciliation
import ParleyWire

/// The link that a space's missing operations are asked from: one at a time, so that nothing is
/// sent twice.
struct SpaceSource: Sendable {
    var link: LinkID
    /// When it last delivered something, or was made the source.
    var lastProgress: UInt64
    /// When it was last asked for all that is missing.
    var lastAsked: UInt64
    /// How often in a row a source was given up without having delivered anything.
    var fruitlessCount: UInt64 = 0
    /// A hole was open: once it is closed, there may be more above it.
    var hadHole = false
    /// Something did not join what is held: it is asked again when its time is over.
    var mustAskAgain = false

    /// How long it may deliver nothing: 3 s, 6 s … 3 min. What nobody holds is not asked for at
    /// every moment, and still asked for one day.
    var patience: UInt64 { NodeCore.sourcePatience << min(fruitlessCount, 6) }

    func isSpent(at time: UInt64) -> Bool { time >= lastProgress + patience }
}

extension NodeCore {
    /// A source that delivers nothing for this long is replaced.
    static let sourcePatience: UInt64 = 3_000

    /// A peer may hold what is missing here: it becomes the source unless another one is.
    mutating func noteHolder(of space: SpaceNumber, link id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let peer = peers.links[id]?.peer, peers.links[id]?.session != nil,
            let record = try turn.store.space(space)
        else { return }
        let isServed = intake.sources[space].map {
            $0.link != id && peers.links[$0.link]?.session != nil
        }
        // Of a space that this person has not accepted no more is kept: nobody need send it on each
        // link.
        let isFull = try !mayGrow(record, from: peer.person, on: id, turn.store)
        if isFull { return try declineRest(of: record, on: id, &turn) }
        if isServed == true {
            // It need not send what the source does, but must send what it writes from now on.
            peers.links[id]?.unasked.insert(space)
            let outputs = try peers.links[id]?.session?.tell(space, store: turn.store) ?? []
            return send(outputs, on: id, &turn)
        }
        try makeSource(
            SpaceSource(link: id, lastProgress: turn.now.monotonic, lastAsked: turn.now.monotonic),
            of: space, &turn)
    }

    /// Tells a linked peer that no more is kept of a space.
    mutating func declineRest(of space: SpaceRecord, on link: LinkID?, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let link else { return }
        let outputs =
            try peers.links[link]?.session?.declineRest(of: space, store: turn.store) ?? []
        send(outputs, on: link, &turn)
    }

    /// Operations of the space did not join what is held. The source is asked again, but not for
    /// every frame in transit: it would send everything over and over.
    mutating func noteDisconnected(_ space: SpaceNumber, link id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let source = intake.sources[space], source.link == id,
            turn.now.monotonic < source.lastAsked + Self.sourcePatience
        else { return try noteHolder(of: space, link: id, &turn) }
        intake.sources[space]?.mustAskAgain = true
    }

    private mutating func makeSource(
        _ source: SpaceSource, of space: SpaceNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        let due = peers.links[source.link]?.rounds[space]?.due ?? 0
        guard turn.now.monotonic >= due else {
            // It was asked over and over without result.
            if intake.sources[space]?.link == source.link { intake.sources[space] = nil }
            peers.links[source.link]?.unasked.insert(space)
            return timers.set(.source(space), in: due - turn.now.monotonic, &turn)
        }
        peers.links[source.link]?.rounds[space, default: RoundPace()].ask(at: turn.now.monotonic)
        intake.sources[space] = source
        peers.links[source.link]?.unasked.remove(space)
        timers.set(.source(space), in: source.patience, &turn)
        peers.links[source.link]?.session?.forgetQuestions(space)
        let outputs = try peers.links[source.link]?.session?.ask(space, store: turn.store) ?? []
        send(outputs, on: source.link, &turn)
        try fillHoles(of: space, from: source.link, &turn)
    }

    /// Asks the source for the holes of a space; once they are closed, whether there is more
    /// above.
    mutating func fillHoles(of space: SpaceNumber, from id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let source = intake.sources[space], source.link == id, peers.links[id]?.session != nil
        else {
            return
        }
        if try hasHole(space, turn.store) {
            intake.sources[space]?.hadHole = true
            let outputs = try peers.links[id]?.session?.fillHoles(space, store: turn.store) ?? []
            send(outputs, on: id, &turn)
        } else if source.hadHole {
            intake.sources[space]?.hadHole = false
            intake.sources[space]?.mustAskAgain = false
            intake.sources[space]?.lastAsked = turn.now.monotonic
            peers.links[id]?.rounds[space, default: RoundPace()].ask(at: turn.now.monotonic)
            send(try peers.links[id]?.session?.ask(space, store: turn.store) ?? [], on: id, &turn)
        }
    }

    /// Starts requesting gaps that opened while nobody was being asked, because an earlier frame
    /// failed. Digests cover only tips, so nothing else would ever show the gaps.
    mutating func missHoles(of space: SpaceNumber, from id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard intake.sources[space] == nil, try hasHole(space, turn.store) else { return }
        try noteHolder(of: space, link: id, &turn)
    }

    /// Lets a source be done as soon as all is held that it said it holds.
    mutating func endSource(of space: SpaceNumber, on id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let source = intake.sources[space], source.link == id, !source.hadHole,
            !source.mustAskAgain, try lacksNothing(space, on: id, turn.store),
            try !hasHole(space, turn.store)
        else { return }
        intake.sources[space] = nil
        // Others who said that they hold more need not be asked for what has arrived meanwhile.
        for other in peers.links.keys.sorted()
        where peers.links[other]?.unasked.contains(space) == true {
            if try lacksNothing(space, on: other, turn.store) {
                peers.links[other]?.unasked.remove(space)
            }
        }
        guard peers.links.values.contains(where: { $0.unasked.contains(space) }) else { return }
        try replace(source, of: space, &turn)
    }

    /// The same for all spaces that a link is the source of, after a frame that told of its tips.
    mutating func endSources(after frame: Frame, on id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        switch frame {
        case .frontier, .spaces, .heartbeat: break
        default: return
        }
        for space in intake.sources.keys.sorted() where intake.sources[space]?.link == id {
            try endSource(of: space, on: id, &turn)
        }
    }

    private mutating func lacksNothing(
        _ space: SpaceNumber, on id: LinkID, _ store: some Store
    ) throws(StoreError) -> Bool {
        try peers.links[id]?.session?.lacksNothing(space, store: store) == true
    }

    /// Looks whether a space's source still delivers, and whether it is needed any more.
    mutating func checkSource(of space: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        guard let source = intake.sources[space] else {
            return try askUnasked(space, &turn)
        }
        guard source.isSpent(at: turn.now.monotonic) else {
            let wait = source.lastProgress + source.patience - turn.now.monotonic
            return timers.set(.source(space), in: wait, &turn)
        }
        intake.sources[space] = nil
        let hasHole = try hasHole(space, turn.store)
        let isUnasked = peers.links.values.contains { $0.unasked.contains(space) }
        guard source.mustAskAgain || hasHole || isUnasked else { return }
        try replace(source, of: space, &turn)
    }

    /// Something was learned about a space: peers that were asked in vain may be asked again.
    mutating func learnedMore(of space: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        for id in peers.links.keys.sorted() { peers.links[id]?.rounds[space] = nil }
        if intake.sources[space] == nil { try askUnasked(space, &turn) }
    }

    /// Asks a peer that said that it holds more and was not asked, as soon as one may be. Nobody
    /// announces that they can fill a gap, so everybody may be asked for that: a peer that always
    /// claims to hold more, and delivers nothing, must not hide one that can.
    private mutating func askUnasked(_ space: SpaceNumber, _ turn: inout some Turn)
        throws(StoreError)
    {
        let hasHole = try hasHole(space, turn.store)
        let able = peers.links.keys.sorted().filter { id in
            guard let link = peers.links[id], let session = link.session else { return false }
            return link.unasked.contains(space) || hasHole && session.shares(space)
        }
        let dues = able.map { peers.links[$0]?.rounds[space]?.due ?? 0 }
        guard let next = zip(dues, able).min(by: { $0 < $1 })?.1 else { return }
        try makeSource(
            SpaceSource(
                link: next, lastProgress: turn.now.monotonic, lastAsked: turn.now.monotonic),
            of: space, &turn)
    }

    /// Asks another linked peer for what a space lacks. If there is no other, the same one again:
    /// it may have received since what it could not deliver.
    private mutating func replace(
        _ former: SpaceSource, of space: SpaceNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        let able = peers.links.keys.sorted().filter {
            peers.links[$0]?.session?.shares(space) == true
        }
        // A peer that said that it holds more; then the next in turn: two that lack the same must
        // not hide a third that has it.
        let unasked = able.first { peers.links[$0]?.unasked.contains(space) == true }
        guard let next = unasked ?? able.first(where: { $0 > former.link }) ?? able.first else {
            return
        }
        var source = SpaceSource(
            link: next, lastProgress: turn.now.monotonic, lastAsked: turn.now.monotonic)
        source.fruitlessCount = unasked == nil ? former.fruitlessCount + 1 : 0
        try makeSource(source, of: space, &turn)
    }

    /// A source is gone: somebody else is asked, if it was delivering or something is known to be
    /// missing.
    mutating func lostSource(of space: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        guard let source = intake.sources.removeValue(forKey: space) else { return }
        let hasHole = try hasHole(space, turn.store)
        guard hasHole || !source.isSpent(at: turn.now.monotonic) else { return }
        try replace(source, of: space, &turn)
    }

    /// Whether something that others hold is still to come: the own space of a new device, what is
    /// being requested, or what lies in a gap.
    public func isCatchingUp(in store: some Store) throws(StoreError) -> Bool {
        guard ownSpace != nil, intake.sources.isEmpty else { return true }
        for space in try store.spaces() where try hasHole(space.number, store) { return true }
        return false
    }

    func hasHole(_ space: SpaceNumber, _ store: some Store) throws(StoreError) -> Bool {
        try store.agreedLogs(in: space).contains { !$0.isWhole }
    }

    func send(_ outputs: [SessionOutput], on id: LinkID, _ turn: inout some Turn) {
        for output in outputs {
            if case .send(let frame) = output { turn.emit(.send(id, frame.encoded())) }
        }
    }
}
