import ParleyConversation
import ParleyLedger
import ParleyPayloads
import ParleyRoster
import ParleyWire

extension NaiveModel {
    /// What a person has read counts with whichever device they had; what a device has, while it is in.
    /// Of what a device says of a log the last word holds.
    mutating func foldReceipts(
        _ acts: [Act], about tags: Set<LogTag>, _ now: NaiveRosters.Fold
    ) {
        let said = acts.filter { $0.kind == 112 && $0.lane == .receipts }
        for act in said.sorted(by: { $0.place.sequence < $1.place.sequence }) {
            guard let receipts = Payload.decode(PayloadReceipts.self, act.payload) else { continue }
            let isMember = now.seats[act.author.person] != nil
            for mark in receipts.read where isMember && tags.contains(LogTag(mark.tag)) {
                note(true, act.device, mark)
            }
            let isIn = now.owners[act.device] != nil
            for mark in receipts.delivered where isIn && tags.contains(LogTag(mark.tag)) {
                note(false, act.device, mark)
            }
        }
    }

    private mutating func note(_ isRead: Bool, _ device: DeviceID, _ mark: PayloadReceiptMark) {
        let key = Progress(
            isRead: isRead, actor: Digest(reinterpreting: device), tag: LogTag(mark.tag))
        var (places, next, isIn): (Set<UInt64>, UInt64, Bool) = ([], 0, true)
        for (index, count) in mark.counts.enumerated() {
            // A world has no such logs, and liars say nothing by it.
            guard index == 0 || count > 0, count < 1 << 20, index < 130 else { return }
            if isIn { places.formUnion(next..<next + count) }
            (next, isIn) = (next + count, !isIn)
        }
        guard !isIn, !places.isEmpty else { return }
        progress[key] = places
    }
}
