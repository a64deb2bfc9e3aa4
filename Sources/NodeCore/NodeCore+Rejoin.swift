import ParleyLedger
import ParleyReconciliation
import ParleyWire

extension NodeCore {
    /// Looks at what a peer says it holds of this device's own logs.
    mutating func compareOwn(
        _ frame: Frame, on id: LinkID, _ store: some Store
    ) throws(StoreError) {
        switch frame {
        case .frontier(let frontier):
            guard let space = try store.space(frontier.space),
                links[id]?.session?.shares(space.number) == true
            else { return }
            for lane in Lane.allCases {
                let log = OperationHash.log(
                    space: space.id, device: identity.device, lane: lane)
                let tag = LogTag(log)
                guard let entry = frontier.entries.first(where: { $0.tag == tag }) else { continue }
                let end = try store.log(tag, in: space.number)?.end ?? 0
                if entry.sequence >= end { foundAhead(tag, end: entry.sequence + 1) }
            }
            if frontier.isComplete { try heardFromPeer(store) }
        case .spaces:
            let spaces = try store.spaces().filter { $0.kind != .own }
            if spaces.contains(where: { links[id]?.session?.isEqual($0.number) == true }) {
                try heardFromPeer(store)
            }
        default:
            return
        }
    }

    /// A peer has shown what it holds: whatever it did not list, it does not have either.
    private mutating func heardFromPeer(_ store: some Store) throws(StoreError) {
        guard rejoin?.needsPeer == true else { return }
        rejoin?.needsPeer = false
        try finishRejoin(store)
    }

    /// A peer listed more of an own log than is held here: nothing is written until it is back,
    /// or this device would write a second history.
    mutating func foundAhead(_ tag: LogTag, end: UInt64) {
        var rejoin =
            rejoin
            ?? Rejoin(
                reason: "another node holds more of what this one wrote", ends: [:],
                needsPeer: false)
        rejoin.ends[tag] = max(rejoin.ends[tag] ?? 0, end)
        rejoin.needsPeer = false
        self.rejoin = rejoin
    }

    /// Ends the rejoin once everything known to exist was taken back.
    mutating func finishRejoin(_ store: some Store) throws(StoreError) {
        guard let rejoin, !rejoin.needsPeer else { return }
        var ends = rejoin.ends
        for space in try store.spaces() {
            for log in try store.logs(in: space.number) where log.device == identity.device {
                guard log.isWhole, log.end >= ends.removeValue(forKey: log.tag) ?? 0 else {
                    return
                }
            }
        }
        // A log of which nothing at all is here has not come back either.
        guard ends.isEmpty else { return }
        self.rejoin = nil
    }
}
