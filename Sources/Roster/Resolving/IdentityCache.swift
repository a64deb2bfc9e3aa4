import ParleySealing
import ParleyWire

/// What the identity operations in a set say about a person's devices.
struct IdentityState: Sendable {
    var certificates: [DeviceID: DeviceCertificate] = [:]
    var revoked: [DeviceID] = []
    var operations: [IdentityOperation] = []

    init() {}

    init(_ log: IdentityLog) {
        for certificate in log.devices { certificates[certificate.device] = certificate }
        revoked = log.revoked
        operations = log.operations
    }
}

/// Remembers the last states of each person: they depend on few operations, and seldom change.
///
/// It is at hand wherever sets are resolved, so it counts as well what that costs.
struct IdentityCache: Sendable {
    private struct Entry: Sendable {
        let witnesses: [Int]
        let state: IdentityState
    }
    private static let entryCountMax = 16
    private var entries: [PersonID: [Entry]] = [:]
    /// How many operations were looked at so far.
    var work = 0

    /// What follows from all testimonies in a set, whether they hold or not: they are signed by the
    /// person's own keys. Those that repeat what their authors had seen are left out.
    mutating func state(
        of person: PersonID, in set: ClosedSet, _ index: AuthorityIndex
    ) -> IdentityState {
        let witnesses = (index.witnesses[person] ?? []).filter { index.contains(set, $0) }
        work += index.witnesses[person]?.count ?? 0
        if let known = entries[person]?.first(where: { $0.witnesses == witnesses }) {
            return known.state
        }
        let state = Self.state(of: person, by: witnesses, index)
        let recent = (entries[person] ?? []).suffix(Self.entryCountMax - 1)
        entries[person] = recent + [Entry(witnesses: witnesses, state: state)]
        return state
    }

    private static func state(
        of person: PersonID, by witnesses: [Int], _ index: AuthorityIndex
    ) -> IdentityState {
        var all: Set<IdentityOperation> = []
        for witness in witnesses {
            all.formUnion(index[witness].testimony(of: person)?.identity ?? [])
        }
        if !fits(all) { all = bounded(person, witnesses, index) }
        guard !all.isEmpty,
            // Each testimony was resolved with all that its author had seen before it was taken.
            let log = try? IdentityLog(all.sorted { $0.id < $1.id })
        else { return IdentityState() }
        return IdentityState(log)
    }

    /// What fits, where branches together hold more than a log may: revocations first, so that a
    /// thief cannot fill the log against them, then seniors; each with all that it follows from.
    private static func bounded(
        _ person: PersonID, _ witnesses: [Int], _ index: AuthorityIndex
    ) -> Set<IdentityOperation> {
        let sorted = witnesses.sorted { index[$0].key < index[$1].key }
        var all: Set<IdentityOperation> = []
        for witness in sorted {
            var more = all
            for cause in witnesses where cause == witness || index.isInPast(cause, of: witness) {
                more.formUnion(index[cause].testimony(of: person)?.identity ?? [])
            }
            if fits(more) { all = more }
        }
        return all
    }

    /// Whether a log may have this many, and this many by devices: one that may not is no log at
    /// all, and its person would be left without a device.
    private static func fits(_ operations: Set<IdentityOperation>) -> Bool {
        guard operations.count <= IdentityLog.operationCountMax else { return false }
        let roots = operations.compactMap { operation -> DeviceID? in
            guard case .genesis(let root, _, _) = operation.content else { return nil }
            return root
        }
        return operations.count { !roots.contains($0.author) }
            <= IdentityLog.deviceOperationCountMax
    }
}
