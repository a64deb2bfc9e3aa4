import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyWire

/// What others hold of this device's own logs, and is not here.
///
/// A whole store may have been rolled back, and only a peer can tell. The peer proves it with this
/// device's own signature. Then nothing is written in that space until it is recovered, or this
/// device would write a second history; what its person writes meanwhile is queued. Source:
/// `Protocol/06-sync.md`, "Claims about one's own logs".
extension NodeCore {
    /// Examines what a peer says it holds of this device's own logs.
    mutating func compareOwnLogs(_ frame: Frame, on id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let peer = peers.links[id]?.peer.device else { return }
        switch frame {
        case .frontier(let frontier):
            guard let space = try turn.store.space(frontier.space),
                peers.links[id]?.session?.shares(space.number) == true
            else { return }
            try noteBranches(of: frontier, in: space, turn.store)
            try compareOwnLogs(frontier, of: space, by: peer, &turn)
        case .spaces, .heartbeat:
            for number in peers.links[id]?.session?.sharedSpaces ?? []
            where peers.links[id]?.session?.isEqual(number) == true {
                guard let space = try turn.store.space(number) else { continue }
                confirm(space, &turn)
                if space.kind != .own { try noteAnswer(turn.store) }
                guard peers.confirmations.meetEqualPeer() else { continue }
                timers.set(.devices, in: Self.devicesRetry, &turn)
            }
        default:
            return
        }
    }

    /// Examines what a device says it holds of a space that it belongs to.
    mutating func compareOwnLogs(
        _ frontier: Frontier, of space: SpaceRecord, by peer: DeviceID, _ turn: inout some Turn
    ) throws(StoreError) {
        let isProven = try proveOwnTips(of: frontier, of: space, by: peer, &turn)
        // A peer that claims what it does not prove has shown nothing.
        guard isProven, frontier.isComplete else { return }
        confirm(space, &turn)
        try noteAnswer(turn.store)
    }

    /// Believes what is proven to have been written here. Returns whether that is everything that
    /// the peer lists of own logs above what is held.
    private mutating func proveOwnTips(
        of frontier: Frontier, of space: SpaceRecord, by peer: DeviceID, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        var names: [LogTag: LogID]?
        var claimed: Set<LogTag> = []
        for entry in frontier.entries {
            if let log = try turn.store.log(entry.tag, in: space.number) {
                // What lies above a fork of an own log cannot be recovered from anybody.
                guard log.device == identity.device, log.fork == nil,
                    entry.sequence >= log.end
                else { continue }
            } else {
                // Nothing says whose it is but its name: hashed only for logs unknown here.
                let known = names ?? ownLogs(in: space.id)
                names = known
                guard known[entry.tag] != nil else { continue }
            }
            claimed.insert(entry.tag)
        }
        var proven: [LogTag: UInt64] = [:]
        for tip in frontier.ownTips {
            let known = names ?? ownLogs(in: space.id)
            names = known
            let log = try turn.store.log(tip.tag, in: space.number)
            guard let name = known[tip.tag], log?.fork == nil, tip.sequence >= log?.end ?? 0 else {
                continue
            }
            claimed.insert(tip.tag)
            let head = SignedHead(sequence: tip.sequence, signature: tip.signature)
            guard
                OperationHash.isSigned(
                    head, log: name, operation: tip.operation, by: identity.device)
            else { continue }
            proven[tip.tag] = tip.sequence + 1
        }
        if !proven.isEmpty { try extendOwnGap(in: space, to: proven, &turn) }
        guard claimed.isSubset(of: proven.keys) else {
            if peers.confirmations.noteUnprovenClaim(by: peer) {
                try count(.emptyClaim, turn.store)
            }
            return false
        }
        return true
    }

    /// A peer has shown what it holds of a space. What waited for that is done soon.
    private mutating func confirm(_ space: SpaceRecord, _ turn: inout some Turn) {
        guard peers.confirmations.confirm(space.number) else { return }
        watchDevices(&turn)
        shareCard(in: space.number, &turn)
        // Not all at once: everybody who was let in together hears together.
        let delay = Self.upkeepDelay + identity.device.prefix % Self.upkeepDelay
        timers.set(.upkeep(space.number), in: delay, &turn)
        guard intake.unreceipted.contains(space.number) else { return }
        timers.set(.receipts, in: Self.receiptDelay, &turn)
    }

    private func ownLogs(in space: SpaceID) -> [LogTag: LogID] {
        let names = Lane.allCases.map {
            OperationHash.log(space: space, device: identity.device, lane: $0)
        }
        return Dictionary(names.map { (LogTag($0), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A peer has shown what it holds: it does not have what it did not list.
    private mutating func noteAnswer(_ store: some Store) throws(StoreError) {
        guard ownHistory.noteAnswer() else { return }
        try finishRecovery(store)
    }

    /// Writes nothing in a space until own logs are held up to these places.
    private mutating func extendOwnGap(
        in space: SpaceRecord, to ends: [LogTag: UInt64], _ turn: inout some Turn
    ) throws(StoreError) {
        guard ownHistory.extendGap(in: space.number, to: ends) else { return }
        for (tag, end) in ends.sorted(by: { $0.key < $1.key }) {
            try turn.store.setNumber(end, .ownGap, space.number.key + tag.bytes)
        }
        turn.emit(.changed([.conversation(space.number)]))
    }

    /// Continues after a restart: there may be nobody to prove it again.
    mutating func resumeOwnGaps(_ store: some Store) throws(StoreError) {
        for (key, _) in try store.values(.ownGap) {
            guard key.count == 16, let space = SpaceNumber(key: Array(key[..<8])),
                let tag = LogTag(bytes: Array(key[8...])), let end = try store.number(.ownGap, key)
            else { continue }
            _ = ownHistory.extendGap(in: space, to: [tag: end])
        }
    }

    /// Lets spaces be written in again whose own logs are whole.
    private mutating func closeOwnGaps(_ store: some Store) throws(StoreError) {
        for (number, ends) in ownHistory.gaps {
            var isOpen = false
            for (tag, end) in ends {
                let log = try store.log(tag, in: number)
                if let log, log.fork != nil || (log.end >= end && log.agreed.isWhole) { continue }
                isOpen = true
            }
            if isOpen { continue }
            for tag in ends.keys.sorted() {
                try store.setValue(nil, .ownGap, number.key + tag.bytes)
            }
            ownHistory.closeGap(in: number)
        }
    }

    /// The store was rolled back: if nobody is linked, nobody tells what it lacks. For spaces whose
    /// own logs are known to be incomplete, all are asked soon; for the others, including what they
    /// hold of others, as after something was put.
    mutating func requestOwnHistory(_ turn: inout some Turn) throws(StoreError) {
        guard let ends = ownHistory.found?.ends else { return }
        for space in try turn.store.spaces() {
            try restartReminders(of: space.number, &turn)
            for tag in ownLogs(in: space.id).keys.sorted() {
                guard let end = ends[tag], try turn.store.log(tag, in: space.number)?.end ?? 0 < end
                else { continue }
                try scheduleRepair(of: space.number, from: nil, &turn)
            }
        }
    }

    /// Ends the rejoin once everything known to exist was taken back, wherever somebody brings it.
    mutating func finishRecovery(_ store: some Store) throws(StoreError) {
        try closeOwnGaps(store)
        guard ownHistory.found != nil else { return }
        let wasUnrecoverable = ownHistory.reopenRecovery()
        var ends: [LogTag: UInt64] = [:]
        var isWhole = true
        for space in try store.spaces() {
            var isWholeHere = true
            for log in try store.logs(in: space.number) where log.device == identity.device {
                ends[log.tag] = log.fork == nil ? log.end : UInt64.max
                if !log.agreed.isWhole { isWholeHere = false }
            }
            guard !isWholeHere else { continue }
            isWhole = false
            // Rosters are read only where something is missing: there may be very many.
            guard try isOut(of: space, store) else { return }
        }
        guard let missing = ownHistory.missingLogs(holding: ends) else { return }
        let isComplete = isWhole && missing.isEmpty
        let isUnrecoverable = try belongToFormerSpaces(missing, store)
        // Before the verdict: as long as something is missing, expanded chains count as used.
        if isComplete || isUnrecoverable, !wasUnrecoverable { try expandReturned(store) }
        ownHistory.judgeRecovery(isComplete: isComplete, isUnrecoverable: isUnrecoverable)
    }

    /// Whether all these own logs are of spaces that this device was removed from.
    private mutating func belongToFormerSpaces(
        _ logs: Set<LogTag>, _ store: some Store
    ) throws(StoreError) -> Bool {
        var left = logs
        for space in try store.spaces() where !left.isEmpty {
            let here = left.intersection(ownLogs(in: space.id).keys)
            guard !here.isEmpty else { continue }
            guard try isOut(of: space, store) else { return false }
            left.subtract(here)
        }
        return left.isEmpty
    }

    /// Whether this device can take nothing but lane 0 from others in a space, and write nothing.
    private mutating func isOut(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let roster = try roster(of: space, store) else { return true }
        // An invited person may have accepted before the store was rolled back.
        return !isListed(in: roster)
            && !letsItselfIn(identity.device, of: identity.person, to: roster)
    }
}
