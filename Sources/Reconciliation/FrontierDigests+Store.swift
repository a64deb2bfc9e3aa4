import ParleySealing
public import ParleyLedger
public import ParleyWire

extension FrontierDigests {
    /// The digests of what is held of a space: over the tips of its logs, ascending by tag.
    ///
    /// Holes below a tip do not show: they are this node's own business, and are asked for. Of a
    /// forked log the part below the fork counts, which all branches have; of a removed member's that
    /// within the cuts.
    public init(
        of space: SpaceNumber, _ scope: SharingScope = .everything(), in store: some LogStore
    ) throws(StoreError) {
        var control = LabelledHash(.digest)
        var content = LabelledHash(.digest)
        var receipts = LabelledHash(.digest)
        for log in try scope.logs(of: space, in: store) where log.end > 0 {
            switch log.lane {
            case .control: control.add(log)
            case .content, .notes, .shared: content.add(log)
            case .receipts: receipts.add(log)
            }
        }
        self.init(
            control: control.finish(), content: content.finish(), receipts: receipts.finish())
    }
}

extension LabelledHash {
    fileprivate mutating func add(_ log: LogRecord) {
        update(log.tag.value)
        update(log.end - 1)
        update(log.tip)
    }

    fileprivate mutating func finish() -> Check {
        let digest: Digest = finalize()
        return digest.check
    }
}

extension Frontier {
    /// The tips of these logs of a space.
    init(
        of space: SpaceRecord, _ logs: [LogRecord], isComplete: Bool = true, asksForMissing: Bool
    ) {
        self.init(
            space: space.id, isComplete: isComplete, asksForMissing: asksForMissing,
            entries: logs.filter { $0.end > 0 }.map {
                Entry(tag: $0.tag, sequence: $0.end - 1, check: $0.tip.check)
            })
    }

    /// The signatures of a device over the tips of its own logs.
    ///
    /// A device whose store was rolled back learns from these what it once wrote. Nobody else's
    /// word would do: the device writes nothing where more of its own operations exist.
    static func ownTips(
        of device: DeviceID, among logs: [LogRecord], in store: some LogStore
    ) throws(StoreError) -> [OwnTip] {
        var tips: [OwnTip] = []
        for log in logs where log.device == device && log.end > 0 && log.holds(log.end - 1) {
            // What ends at a fork or a cut has no signature of its own there.
            guard let head = try store.head(atOrAfter: log.end - 1, in: log.number),
                head.sequence == log.end - 1, tips.count < Limits.ownTipCountMax
            else { continue }
            tips.append(
                OwnTip(
                    tag: log.tag, sequence: head.sequence, operation: log.tip,
                    signature: head.signature))
        }
        return tips
    }

    /// The last signed operations that are held of forked logs above their forks, of lanes other than 0:
    /// nobody is sent those before somebody ends the device by one of them.
    static func branchTips(
        in space: SpaceNumber, _ store: some LogStore
    ) throws(StoreError) -> [OwnTip] {
        var tips: [OwnTip] = []
        for log in try store.logs(in: space) where log.lane != .control && log.vouched == nil {
            guard let fork = log.proven, log.limit == nil, log.isWhole, fork.sequence < log.end,
                let head = try store.heads(in: log.number, fork.sequence...log.end - 1).last,
                let stored = try store.operation(at: head.sequence, in: log.number)
            else { continue }
            tips.append(
                OwnTip(
                    tag: log.tag, sequence: head.sequence, operation: stored.id,
                    signature: head.signature))
        }
        return tips
    }
}
