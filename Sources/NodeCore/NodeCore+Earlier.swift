import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// What a person's own devices give each other of a conversation from before its newcomers' history begins:
/// who went and came back was there once, with some of their devices.
/// Source: `Protocol/06-sync.md`, "What own devices hold from before".
extension NodeCore {
    /// Asks another own device for what it holds from before, where it can be asked by now.
    mutating func askForEarlier(
        after frame: Frame, on id: LinkID, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard links[id]?.peer.person == identity.person else { return }
        switch frame {
        case .frontier, .spaces, .heartbeat, .operations: break
        default: return
        }
        // What was deleted here comes back from nobody.
        let outputs = try links[id]?.session?.askForEarlier(
            from: { log throws(StoreError) in try FormerLog.kept(log.id, in: store)?.end ?? 0 },
            store)
        send(outputs ?? [], on: id, &effects)
    }

    /// Whether a run lies below where its log begins here, and another own device brings it: nobody else
    /// knows what this person was there for.
    func liesEarlier(_ run: Run, than log: LogRecord?, by peer: Bringer) -> Bool {
        guard peer.person == identity.person, let log else { return false }
        return run.first < log.base
    }

    /// What is new of such a run.
    static func verifyEarlier(
        _ run: Run, in space: SpaceID, against log: LogRecord?, limit: LogPoint?
    ) throws(RunRejection) -> [VerifiedRun] {
        guard let log, let floor = log.floor else { return [] }
        let pieces: [VerifiedRun]
        do {
            pieces = try OperationVerifier.verify(run, in: space, held: log.spans, below: floor)
        } catch {
            // Where a log begins is the word of who let this person in: no peer has broken anything.
            throw .unsigned
        }
        return pieces.compactMap { $0.below(log.intakeEnd)?.below(limit) }
    }

    /// Places soon what was stored from before, in the order of its causes: it came newest first, and log
    /// by log.
    mutating func placeEarlier(
        in space: SpaceRecord, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        try store.setValue([Self.placesEarlier], .unplaced, space.id.bytes)
        let heldCount = try store.logs(in: space.number).reduce(0) { $0 + UInt64($1.heldCount) }
        set(.placing(space.number), in: Self.placingDelay + heldCount / 10, at: now, &effects)
    }
}
