import ParleyConversation
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// Makes anew what follows from the operations of a space, after they were stored all at once.
public enum StoredSpace {
    /// Notes what its operations name as seen, and folds its views.
    ///
    /// - Returns: whether the person belongs to the space; nothing is folded otherwise.
    public static func fold(
        _ space: SpaceRecord, for person: PersonID, in store: some Store
    ) throws(StoreError) -> Bool {
        var judge = try RosterReader.judge(of: space, in: store)
        let roster = judge.roster
        guard roster.member(person) != nil else { return false }
        for var log in try store.logs(in: space.number) {
            log.limit = log.lane == .control ? nil : roster.limit(of: log)
            try store.update(log)
        }
        for log in try store.logs(in: space.number) {
            for span in log.spans { try cover(span, of: log, judge, store) }
        }
        let context = MergeContext(
            space: space, roster: roster, ownPerson: person, newestClock: 0)
        try Merge.rebuild(context, judging: &judge, in: store)
        return true
    }

    private static func cover(
        _ span: Span, of log: LogRecord, _ judge: Judge, _ store: some Store
    ) throws(StoreError) {
        guard log.lane.isCausal else { return }
        var walk = try ViewWalk(at: span.first, in: log, store)
        var next = span.first
        while next <= span.last {
            let block = try store.operations(in: log.number, next...span.last, limit: 1024)
            guard let last = block.last else { return }
            for stored in block {
                try Causality.cover(
                    stored.operation.header, lane: log.lane, in: log.space, store: store)
                _ = try walk.step(
                    VerifiedOperation(stored: stored, tag: log.tag), in: log, judge, store)
            }
            next = last.sequence + 1
        }
    }
}
