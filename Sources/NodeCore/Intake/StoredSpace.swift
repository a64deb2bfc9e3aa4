import ParleyConversation
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// Recomputes what follows from the operations of a space, after they were stored all at once.
public enum StoredSpace {
    /// Notes what its operations name as seen, and folds its views.
    ///
    /// - Returns: whether the person is or was in the space: a former member keeps what they had.
    ///   Otherwise nothing is recomputed.
    public static func fold(
        _ space: SpaceRecord, for person: PersonID, in store: some Store
    ) throws(StoreError) -> Bool {
        var judge = try RosterReader.judge(of: space, in: store)
        let roster = judge.roster
        let isIn = space.kind != .own && roster.takesPart(person)
        for other in judge.graph.persons {
            try store.noteNaming(
                of: other, in: space.number, isShared: isIn && roster.takesPart(other))
        }
        guard let device = roster.devicesEver(of: person).first else { return false }
        for var log in try store.logs(in: space.number) {
            log.limit = log.lane == .control ? nil : roster.limit(of: log)
            try store.update(log)
        }
        _ = try NodeCore.chooseBranches(in: space, store)
        for log in try store.logs(in: space.number) where log.lane.isCausal {
            var awaited: [AwaitedLog: AwaitedPlace] = [:]
            for span in log.spans {
                _ = try store.eachOperation(of: log, span) { stored throws(StoreError) in
                    let header = stored.operation.header
                    try Causality.cover(header, at: stored.sequence, in: log, store: store)
                    if log.lane != .control {
                        try NodeCore.awaitLogs(
                            namedIn: header, of: log, &awaited, judge, space, store)
                    }
                    return true
                }
            }
        }
        let horizon = roster.horizon(of: device)
        for var log in try store.logs(in: space.number) where log.base > 0 {
            guard let place = horizon.place(of: log.device, log.lane) else { continue }
            log.begin(at: log.floor, below: place.stand)
            try store.update(log)
            try ViewWalk.note(place, of: log, place.view, store)
        }
        try ViewWalk.again(through: space, judge, store)
        _ = try StandSettling.again(space.number, by: judge.placing, in: store)
        let own = try store.spaces().first { $0.kind == .own }
        let context = MergeContext(
            space: space, roster: roster, ownPerson: person, newestStand: 0,
            ownDeletions: try OwnDeletions(in: space.id, ownSpace: own?.number, store: store))
        try Merge.rebuild(context, judging: &judge, in: store)
        return true
    }
}
