import ParleyLedger
import ParleyWire

extension NodeCore {
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
        for space in try store.spaces() {
            for log in try store.logs(in: space.number) where log.device == identity.device {
                guard log.isWhole, log.end >= rejoin.ends[log.tag] ?? 0 else { return }
            }
        }
        self.rejoin = nil
    }
}
