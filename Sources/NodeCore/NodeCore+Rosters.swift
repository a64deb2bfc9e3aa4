public import ParleyConversation
public import ParleyLedger
public import ParleyRoster
import ParleyWire

extension NodeCore {
    /// Spaces whose control operations are held in memory: made again from the store when needed.
    static let judgeCountMax = 256

    /// Who belongs to a space; nil for a space without a readable genesis.
    mutating func roster(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Roster? {
        try prepare(space, store)
        return judges[space.number].flatMap { $0.roster.members.isEmpty ? nil : $0.roster }
    }

    /// Makes sure that ``judges`` holds the space.
    mutating func prepare(_ space: SpaceRecord, _ store: some Store) throws(StoreError) {
        guard judges[space.number] == nil else { return }
        let judge = try RosterReader.judge(of: space, in: store)
        // The bound is for nodes with very many spaces: then one is read again now and then.
        if judges.count >= Self.judgeCountMax { judges.removeAll() }
        judges[space.number] = judge
    }

    /// What merge rules may know of a space.
    mutating func context(
        of space: SpaceRecord, roster: Roster, _ store: some Store
    ) throws(StoreError) -> MergeContext {
        MergeContext(
            space: space, roster: roster, ownPerson: identity.person,
            newestClock: try store.messages(in: space.number, before: nil, limit: 1)
                .first?.order.clock ?? 0)
    }

    /// Whether this device is in the space.
    func belongs(to roster: Roster?) -> Bool {
        roster?.member(with: identity.device)?.person == identity.person
    }

    /// Why somebody who does not belong to a space may do nothing there.
    func outsideRefusal(_ roster: Roster?) -> CommandRefusal {
        roster?.member(identity.person) == nil ? .notMember : .notMemberYet
    }
}

/// Reads the roster of a space out of its control operations.
public enum RosterReader {
    /// Who belongs to a space; nil for a space without a readable genesis.
    public static func roster(
        of space: SpaceRecord, in store: some LogStore
    ) throws(StoreError) -> Roster? {
        let roster = try judge(of: space, in: store).roster
        return roster.members.isEmpty && roster.everyDevice.isEmpty ? nil : roster
    }

    /// What the control operations of a space say of everything in it.
    public static func judge(
        of space: SpaceRecord, in store: some LogStore
    ) throws(StoreError) -> Judge {
        let logs = try store.agreedLogs(in: space.number).filter { $0.lane == .control }
        var forks: [LogTag: UInt64] = [:]
        for log in logs { forks[log.tag] = log.fork?.sequence }
        var graph = ControlGraph(space: space.id, forks: forks)
        var pending: [(log: LogRecord, operations: ArraySlice<StoredOperation>)] = []
        for log in logs where log.end > 0 {
            let held = try store.operations(in: log.number, 0...log.end - 1, limit: .max)
            pending.append((log, held[...]))
        }
        // Causes first: each log goes as far as the others let it, until none goes further.
        var moves = true
        while moves {
            moves = false
            for place in pending.indices {
                let log = pending[place].log
                while let next = pending[place].operations.first,
                    graph.add(VerifiedOperation(stored: next, tag: log.tag), by: log.device)
                {
                    pending[place].operations.removeFirst()
                    moves = true
                }
            }
        }
        return Judge(graph)
    }
}
