import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// Which branch of a forked log continues to count once its device is out.
///
/// Above a fork nothing counts, because nobody knows which branch others hold. The author of a
/// revocation may decide: a cut names an operation, and thereby a branch. A device made with the
/// recovery code does not hold the branch; members who do send it proof, with the signature of the
/// lost device.
/// Source: `Protocol/08-roster.md`, "Cuts".
extension NodeCore {
    private static let branchKey = Array("branch ".utf8)

    // MARK: What a cut says

    /// Sets how far forked logs of other lanes than 0 count by the cut that ends them.
    ///
    /// - Parameter tags: the logs to look at; nil for all.
    /// - Returns: those of which another part counts than before.
    static func chooseBranches(
        in space: SpaceRecord, among tags: Set<LogTag>? = nil, _ store: some Store
    ) throws(StoreError) -> Set<LogTag> {
        var changed: Set<LogTag> = []
        var logs: [LogRecord] = []
        if let tags {
            for tag in tags.sorted() {
                if let log = try store.log(tag, in: space.number) { logs.append(log) }
            }
        } else {
            logs = try store.logs(in: space.number)
        }
        for var log in logs where log.proven != nil && log.lane != .control {
            let part = try VouchedPart(cutOf: log, in: store)
            guard part != log.vouched else { continue }
            if part?.end != log.vouched?.end { changed.insert(log.tag) }
            log.vouched = part
            try store.update(log)
        }
        return changed
    }

    // MARK: What others hold

    /// Tells a peer how far the branches of forked logs are held here, each with a signature.
    mutating func tellBranches(of space: SpaceRecord, on id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        let outputs = try peers.links[id]?.session?.tellBranches(of: space, store: turn.store) ?? []
        send(outputs, on: id, &turn)
    }

    /// Stores what a peer proves to hold of forked logs of this person's lost devices. Of several
    /// places of a log the highest is kept: nobody can say which of two branches more people have
    /// read.
    func noteBranches(
        of frontier: Frontier, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        guard identity.cameBack, !frontier.ownTips.isEmpty else { return }
        for device in identity.log.revoked.sorted() {
            for lane in Lane.allCases where lane != .control {
                let name = OperationHash.log(space: space.id, device: device, lane: lane)
                guard let tip = frontier.ownTips.first(where: { $0.tag == LogTag(name) }) else {
                    continue
                }
                let place = LogPlace(
                    device: device, lane: lane, sequence: tip.sequence, operation: tip.operation)
                if let known = try branch(of: name, device, lane, store),
                    (known.sequence, known.operation) >= (place.sequence, place.operation)
                {
                    continue
                }
                let head = SignedHead(sequence: tip.sequence, signature: tip.signature)
                guard
                    OperationHash.isSigned(head, log: name, operation: tip.operation, by: device)
                else { continue }
                var writer = ByteWriter(capacity: 40)
                writer.uint64(tip.sequence)
                writer.identifier(tip.operation)
                try store.setValue(writer.bytes, .profile, Self.branchKey + name.bytes)
            }
        }
    }

    private func branch(
        of name: LogID, _ device: DeviceID, _ lane: Lane, _ store: some Store
    ) throws(StoreError) -> LogPlace? {
        guard let bytes = try store.value(.profile, Self.branchKey + name.bytes) else { return nil }
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            let sequence = try reader.uint64()
            return LogPlace(
                device: device, lane: lane, sequence: sequence,
                operation: try reader.identifier())
        } catch { return nil }
    }

    /// What others were proven to hold of forked logs of a lost device: a cut that names it
    /// preserves it.
    func branches(
        of device: DeviceID, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [LogPlace] {
        guard identity.cameBack else { return [] }
        var found: [LogPlace] = []
        for lane in Lane.allCases where lane != .control {
            let name = OperationHash.log(space: space.id, device: device, lane: lane)
            if let place = try branch(of: name, device, lane, store) { found.append(place) }
        }
        return found
    }
}
