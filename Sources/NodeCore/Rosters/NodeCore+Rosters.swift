public import ParleyConversation
public import ParleyLedger
public import ParleyRoster
import ParleyWire

extension NodeCore {
    /// Who belongs to a space; nil for a space without a readable genesis.
    mutating func roster(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Roster? {
        try prepare(space, store)
        return rosters.judges[space.number].flatMap { $0.roster.isBegun ? $0.roster : nil }
    }

    /// Makes sure that ``judges`` holds the space.
    mutating func prepare(_ space: SpaceRecord, _ store: some Store) throws(StoreError) {
        rosters.judgeUses.note(space.number)
        guard rosters.judges[space.number] == nil else { return }
        let judge = try RosterReader.judge(of: space, in: store)
        rosters.makeRoom(for: space.number, of: judge.graph.operationCount)
        rosters.judges[space.number] = judge
        _ = try vouch(in: space, store)
        _ = try Self.chooseBranches(in: space, store)
    }

    /// What merge rules may know of a space.
    mutating func context(
        of space: SpaceRecord, roster: Roster, _ store: some Store
    ) throws(StoreError) -> MergeContext {
        MergeContext(
            space: space, roster: roster, ownPerson: identity.person,
            newestStand: try store.messages(in: space.number, before: nil, limit: 1)
                .first?.order.stand ?? 0,
            ownDeletions: try OwnDeletions(in: space.id, ownSpace: ownSpace?.number, store: store))
    }

    /// Whether this device is in the space, and its person has accepted.
    func belongs(to roster: Roster?) -> Bool {
        isListed(in: roster) && roster?.isInvited(identity.person) == false
    }

    /// Whether this device is in a space, and its person has accepted.
    mutating func belongs(
        to space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        // In two lines: in one the whole core would be copied first.
        let roster = try roster(of: space, store)
        return belongs(to: roster)
    }

    /// Whether the roster contains this device, even if its person has not accepted.
    func isListed(in roster: Roster?) -> Bool {
        roster?.member(with: identity.device)?.person == identity.person
    }

    /// Why a person who does not belong to a space may do nothing there.
    func outsideRefusal(_ roster: Roster?) -> CommandRefusal {
        guard let roster, roster.member(identity.person) != nil else { return .notMember }
        return roster.isInvited(identity.person) ? .invited : .notMemberYet
    }
}

/// Reads the roster of a space out of its control operations.
public enum RosterReader {
    /// Who belongs to a space; nil for a space without a readable genesis.
    public static func roster(
        of space: SpaceRecord, in store: some LogStore
    ) throws(StoreError) -> Roster? {
        let roster = try judge(of: space, in: store).roster
        return roster.isBegun ? roster : nil
    }

    /// What the control operations of a space say about everything in it.
    public static func judge(
        of space: SpaceRecord, in store: some LogStore
    ) throws(StoreError) -> Judge {
        let logs = try store.logs(in: space.number).filter { $0.lane == .control }
        var ends: [LogTag: UInt64] = [:]
        for log in logs { ends[log.tag] = log.proven?.sequence }
        let graph = try graph(of: space, logs, ends, store)
        if ends.isEmpty { return Judge(graph) }
        var judge = Judge(graph, below: graph)
        for log in logs where log.proven != nil {
            if let end = try vouchedPart(of: log, by: &judge, store)?.end {
                ends[log.tag] = end.sequence
            }
        }
        return Judge(try self.graph(of: space, logs, ends, store), below: graph)
    }

    /// What others vouch for in a log of lane 0 with a proven fork, or nil for nothing.
    static func vouchedPart(
        of log: LogRecord, by judge: inout Judge, _ store: some LogStore
    ) throws(StoreError) -> VouchedPart? {
        let names = judge.names(of: log)
        guard let highest = names.map(\.sequence).max() else { return nil }
        func branch(_ place: UInt64) throws(StoreError) -> OperationID? {
            try log.holds(place) ? store.operation(at: place, in: log.number)?.id : nil
        }
        var end: LogPoint?
        if let sequence = try Vouching.end(of: names, on: branch),
            let last = try branch(sequence - 1)
        {
            end = LogPoint(sequence: sequence, anchor: last)
        }
        return VouchedPart(end: end, namedEnd: highest + 1)
    }

    /// The control operations of a space, of forked logs those below these places.
    private static func graph(
        of space: SpaceRecord, _ logs: [LogRecord], _ ends: [LogTag: UInt64],
        _ store: some LogStore
    ) throws(StoreError) -> ControlGraph {
        var graph = ControlGraph(space: space.id, forks: ends)
        var parts: [ControlPart] = []
        for log in logs where log.end > 0 {
            let held = try store.operations(in: log.number, 0...log.end - 1, limit: .max)
            parts.append(
                ControlPart(
                    held.map { VerifiedOperation(stored: $0, tag: log.tag) }, by: log.device))
        }
        graph.add(parts)
        return graph
    }
}
