public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// What a person wrote in a conversation and no device of another person holds.
public struct WaitingCounts: Equatable, Sendable {
    /// Messages that are here alone.
    public var saved = 0
    /// Messages that a relay holds.
    public var relayed = 0
    /// Edits, deletions and reactions, and operations of lanes 0, 3 and 4, here or on a relay.
    public var changes = 0
    /// As many of these as are about who is in a group and what they may do.
    public var control = 0
    /// As many of these changes as a relay holds.
    public var relayedChanges = 0
    /// What stays here for good: this device wrote it above the fork of its log, and nobody accepts
    /// it.
    public var stranded = 0

    /// All that wait.
    public var total: Int { saved + relayed + changes }
    /// All that wait and would not be given to those who have not accepted an invitation.
    public var words: Int { total - control }
}

extension Overview {
    /// Kinds that change a message.
    private static let changingKinds: [OperationKind] = [.edit, .delete, .reaction]

    /// How many own messages, and changes of messages, no device of another person has.
    ///
    /// - Parameters:
    ///   - known: from which place on that is known of own logs of lanes 0, 3 and 4.
    ///   - device: whose branch is counted as stranded; none where it is nil.
    ///   - relayed: which places of own logs relays have on their disks.
    public static func waitingCounts(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID, device: DeviceID? = nil,
        known: [LogTag: UInt64] = [:], relayed: [LogTag: [Range<UInt64>]] = [:],
        in store: some MergeStore
    ) throws(StoreError) -> WaitingCounts {
        let states = try MessageStates(in: space, roster: roster, besides: ownPerson, store: store)
        var counts = WaitingCounts()
        // Who is invited was told the name.
        let told: SharedWord.Subject? = states.areInvited ? .name : nil
        for log in try store.logs(in: space.number) where states.isOwn(log.tag) {
            // Of lane 0 others may still take what is above a fork.
            let isStranded = log.device == device && log.lane != .control
            for range in isStranded ? states.stranded(in: log) : [] {
                counts.stranded += try writtenCount(in: log, range, store)
            }
            for gap in states.waiting(in: log) {
                let onRelays = (relayed[log.tag] ?? []).map { $0.clamped(to: gap) }
                    .filter { !$0.isEmpty }
                if SharedWord.acknowledgedLanes.contains(log.lane) {
                    guard let first = known[log.tag] else { continue }
                    let count = try wordCount(in: log, from: first, gap, told, store)
                    counts.changes += count
                    if log.lane == .control { counts.control += count }
                    for places in onRelays {
                        counts.relayedChanges += try wordCount(
                            in: log, from: first, places, told, store)
                    }
                    continue
                }
                let all = try store.messageCount(in: log.number, gap.closed)
                var onRelay = 0
                for places in onRelays {
                    onRelay += try store.messageCount(in: log.number, places.closed)
                }
                counts.saved += all - onRelay
                counts.relayed += onRelay
                // Almost always there are messages alone.
                guard all < gap.count else { continue }
                counts.changes += try changeCount(in: log, gap, store)
                for places in onRelays {
                    counts.relayedChanges += try changeCount(in: log, places, store)
                }
            }
        }
        return counts
    }

    /// The words of a log of lane 0, 3 or 4 in a range, as far as it is known from this place on.
    private static func wordCount(
        in log: LogRecord, from first: UInt64, _ range: Range<UInt64>,
        _ told: SharedWord.Subject?, _ store: some MergeStore
    ) throws(StoreError) -> Int {
        guard first < range.upperBound else { return 0 }
        let places = max(first, range.lowerBound)..<range.upperBound
        return try wordCount(in: log, places, besides: told, store)
    }

    /// Messages and what changes them.
    private static func writtenCount(
        in log: LogRecord, _ range: Range<UInt64>, _ store: some MergeStore
    ) throws(StoreError) -> Int {
        if SharedWord.lanes.contains(log.lane) { return try wordCount(in: log, range, store) }
        return try store.messageCount(in: log.number, range.closed)
            + changeCount(in: log, range, store)
    }

    private static func changeCount(
        in log: LogRecord, _ range: Range<UInt64>, _ store: some MergeStore
    ) throws(StoreError) -> Int {
        var count = 0
        try store.eachOperation(of: log, in: range) { stored in
            let operation = stored.operation
            // An edit whose message is deleted says nothing any more.
            if changingKinds.contains(operation.header.kind), !operation.isErased { count += 1 }
            return true
        }
        return count
    }
}

extension Range<UInt64> {
    /// The same places; the range must not be empty.
    var closed: ClosedRange<UInt64> { lowerBound...Swift.max(lowerBound, upperBound - 1) }
}
