import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyReconciliation
import ParleySealing
import ParleyWire

/// What a backup holds: contacts, conversations and settings as they were, and no key of a device.
///
/// As in production, what others wrote is kept as the runs that a link would carry, and proven
/// again when it is taken out. Source: `Protocol/05-identity.md`, "Backups".
public struct DeviceBackup {
    private struct Kept {
        var id: SpaceID
        var kind: SpaceKind
        var forks: [ForkEvidence]
        var runs: [Run]
    }

    /// What belongs to one device alone stays with it, and so do open invites.
    private static let tables: [ValueTable] = [
        .card, .importProgress, .introduction, .missingBody, .awaitedLog,
    ]

    /// The person's devices, as the one that made it knew them.
    let identity: IdentityLog
    private var values: [(table: ValueTable, key: [UInt8], value: [UInt8])] = []
    private var spaces: [Kept] = []
    /// Whether everybody takes what is in it: a changed program may have put into its own control log
    /// what no node that came to it by a link would hold.
    let isSound: Bool

    init(of node: SimulatedNode) throws {
        identity = node.core.node.log
        isSound = try node.isHonest || !Self.isStuck(node)
        let store = node.store
        for table in Self.tables {
            values += try store.values(table).map { (table, $0.key, $0.value) }
        }
        for space in try store.spaces() {
            // Control first: everything else is judged by it.
            let logs = try store.agreedLogs(in: space.number)
                .sorted { ($0.lane.rawValue, $0.tag) < ($1.lane.rawValue, $1.tag) }
            spaces.append(
                Kept(
                    id: space.id, kind: space.kind,
                    forks: try store.forks().filter { $0.proof.space == space.id },
                    runs: try logs.flatMap { try Self.runs(of: $0, in: store) }))
        }
    }

    /// Whether others wait for what stands in a control log of a node's own, for good.
    private static func isStuck(_ node: SimulatedNode) throws(StoreError) -> Bool {
        guard let stuck = node.world?.stuckLogs, !stuck.isEmpty else { return false }
        for space in try node.store.spaces() {
            for log in try node.store.logs(in: space.number)
            where log.device == node.identity.device && stuck.contains(log.tag) { return true }
        }
        return false
    }

    private static func runs(
        of log: LogRecord, in store: any SimulatedStore
    ) throws(StoreError) -> [Run] {
        var runs: [Run] = []
        for span in log.spans {
            var next = span.first
            while next <= span.last {
                let run = try RunReader.forward(
                    log, from: next, room: Limits.operationsFrameByteCount, bringsAnchor: true,
                    store: store)
                // What no signature reaches proves nothing to anybody.
                guard let run else { break }
                runs.append(run)
                next = run.last + 1
            }
        }
        return runs
    }

    /// Puts it into the empty store of a new device.
    func restore(into store: any SimulatedStore) throws {
        for (table, key, value) in values { try store.setValue(value, table, key) }
        for kept in spaces {
            let space = try store.addSpace(kept.id, kind: kept.kind)
            for fork in kept.forks {
                let proof = fork.proof.left
                let log = try store.addLog(
                    fork.log, device: proof.device, lane: proof.lane, in: space.number)
                try store.addFork(fork, in: log.number)
            }
            for run in kept.runs { try Self.keep(run, in: space, store) }
            _ = try StoredSpace.fold(space, for: identity.person, in: store)
        }
    }

    private static func keep(
        _ run: Run, in space: SpaceRecord, _ store: any SimulatedStore
    ) throws {
        let id = OperationHash.log(space: space.id, device: run.device, lane: run.lane)
        var log =
            try store.log(LogTag(id), in: space.number)
            ?? store.addLog(id, device: run.device, lane: run.lane, in: space.number)
        let pieces = try OperationVerifier.verify(
            run, in: space.id, held: log.spans, bound: log.fork)
        for piece in pieces {
            _ = try store.insert(piece.operations, in: log.number)
            log.hold(piece)
            for head in piece.heads { try store.addHead(head, in: log.number) }
        }
        try store.update(log)
    }
}

extension SimulatedNode {
    /// A backup of what the node holds now, for ``World/recover(_:of:from:helpedBy:keeping:on:)``.
    public func makeBackup() throws -> DeviceBackup { try observing { try DeviceBackup(of: self) } }
}
