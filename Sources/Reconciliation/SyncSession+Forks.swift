public import ParleyLedger
public import ParleyWire

/// Questions beside those about holes: where branches part, and for payloads.
extension SyncSession {
    /// The peer's branch of a log differs from the one held here: asks where they part.
    ///
    /// - Parameters:
    ///   - place: where they are known to differ.
    ///   - last: the last place of the peer's branch that is known to exist.
    ///   - isHearsay: nobody but a third one says so, who names an operation as a cause.
    public mutating func suspectFork(
        of log: LogRecord, differsAt place: UInt64, heldThrough last: UInt64,
        isHearsay: Bool = false
    ) -> [SessionOutput] {
        guard isOpen else { return [] }
        shared[log.space]?.suspect(
            log.agreed, differsAt: place, heldThrough: last, on: isHearsay ? .cause : .peer)
        return nextForkQuestion(log.space)
    }

    /// Asks for operations whose payload did not come along, unless the last such question is
    /// still open.
    public mutating func wantBodies(
        _ ranges: [Want.Range], in space: SpaceNumber
    ) -> [SessionOutput] {
        guard isOpen, let want = shared[space]?.wantBodies(ranges) else { return [] }
        return [.send(.want(want))]
    }

    /// The spaces whose proven forks are to be sent to the peer now.
    public mutating func takeOwedForks() -> Set<SpaceNumber> {
        var spaces: Set<SpaceNumber> = []
        for (number, exchange) in shared where exchange.mustTellForks {
            shared[number]?.forks.isOwed = false
            spaces.insert(number)
        }
        return spaces
    }

    /// Records that more forks are proven in a space. If the peer cannot use the proof yet, it has
    /// to be sent once more.
    public mutating func provedMore(in space: SpaceNumber) {
        shared[space]?.forks.isKnown = false
    }

    /// So many frames of them at most: logs may fork in any number.
    private static let branchFrameCountMax = 16

    /// Tells the peer how far branches above forks are held here.
    public func tellBranches(
        of space: SpaceRecord, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard shares(space.number) else { return [] }
        var outputs: [SessionOutput] = []
        var tips = try Frontier.branchTips(in: space.number, store)[...]
        while !tips.isEmpty, outputs.count < Self.branchFrameCountMax {
            var frontier = Frontier(of: space, [], isComplete: false, asksForMissing: false)
            frontier.ownTips = Array(tips.prefix(Limits.ownTipCountMax))
            tips = tips.dropFirst(Limits.ownTipCountMax)
            outputs.append(.send(.frontier(frontier)))
        }
        return outputs
    }

    mutating func nextForkQuestion(_ space: SpaceNumber) -> [SessionOutput] {
        shared[space]?.nextForkQuestion().map { [.send(.want($0))] } ?? []
    }
}
