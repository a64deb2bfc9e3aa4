public import ParleyLedger
import ParleyConversation
import ParleyRoster
public import ParleySealing
public import ParleyWire

/// Chains: made from an epoch's seed when its first envelope is sealed or opened, and stored in a
/// row each.
/// Source: `Protocol/09-epochs.md`, "Chains".
extension NodeCore {
    /// The chain of a device in an epoch, or nil where it is not held any more.
    ///
    /// The first question about an epoch makes the chains of all its devices, and its seed is gone:
    /// what one of them used cannot be computed again.
    public mutating func chain(
        of device: DeviceID, in epoch: OperationID, of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Chain? {
        try expand(epoch, of: space, store)
        return try store.secret(.chain, epoch.bytes + device.bytes, in: space.number)
            .flatMap(Chain.init(stored:))
    }

    /// Stores a chain that advanced, in place of its former state. Before an envelope leaves, the
    /// transaction must survive a crash of the machine.
    public func keep(
        _ chain: Chain, of device: DeviceID, in epoch: OperationID, of space: SpaceRecord,
        _ store: some Store
    ) throws(StoreError) {
        try store.setSecret(
            chain.stored, .chain, epoch.bytes + device.bytes, in: space.number)
    }

    /// The keys of an epoch that all its devices share, or nil where they are not held.
    public func keys(
        of epoch: OperationID, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> EpochKeys? {
        try store.secret(.epochKeys, epoch.bytes, in: space.number).flatMap { KeptEpoch($0)?.keys }
    }

    private mutating func expand(
        _ epoch: OperationID, of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        guard let secret = try store.secret(.seed, epoch.bytes, in: space.number) else { return }
        try prepare(space, store)
        guard
            let known = rosters.judges[space.number]?.graph.epochs.first(where: { $0.id == epoch }),
            let roster = rosters.judges[space.number]?.view(
                LogView(first: 0, tips: [known.place]))
        else { return }
        let seed = EpochSeed(secret, space: space.id)
        for device in roster.devices.map(\.device) {
            var chain = seed.chain(of: device)
            // A peer may have brought back an epoch in which this device sealed before.
            if device == identity.device {
                let setBackCount = try store.number(.profile, Self.setBackCountKey) ?? 0
                if rejoin != nil {
                    chain.spend()
                } else {
                    for _ in 0..<setBackCount { chain.skip() }
                }
            }
            try keep(chain, of: device, in: epoch, of: space, store)
        }
        try store.setSecret(nil, .seed, epoch.bytes, in: space.number)
    }

    private static var setBackCountKey: [UInt8] { Array("setBackCount".utf8) }
    /// Of more than so many the earlier ones are forgotten: a chain has 64 times as many steps.
    private static var setBackCountMax: UInt64 { 16 }

    /// Leaves no step of own chains: how many were used before the store was set back nobody knows, and
    /// another epoch is made before anything is sealed.
    mutating func spendUsedChains(_ store: some Store) throws(StoreError) {
        let count = try store.number(.profile, Self.setBackCountKey) ?? 0
        try store.setNumber(
            min(count, Self.setBackCountMax - 1) + 1, .profile, Self.setBackCountKey)
        for space in try store.spaces() {
            for (name, secret) in try store.secrets(.chain, in: space.number)
            where DeviceID(name.dropFirst(32)) == identity.device {
                guard var chain = Chain(stored: secret) else { continue }
                chain.spend()
                try store.setSecret(chain.stored, .chain, name, in: space.number)
            }
        }
    }

    /// Makes the chains of all epochs that arrived while this device recovered what it had lost: it
    /// may have sealed in any of them before.
    mutating func expandReturned(_ store: some Store) throws(StoreError) {
        for space in try store.spaces() {
            for (name, _) in try store.secrets(.seed, in: space.number) {
                guard let epoch = OperationID(name) else { continue }
                try expand(epoch, of: space, store)
            }
        }
    }

    /// Erases the chains of devices that moved on to an epoch of their own a day ago, and in all
    /// others the keys of skipped steps that are older than a day. An envelope erases such keys
    /// only in its own chain, and a relay that withholds envelopes decides when the next one comes.
    func dropChains(
        _ graph: ControlGraph, _ opened: [OperationID: UInt64], in space: SpaceRecord,
        at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        var didDrop = false
        for (name, secret) in try store.secrets(.chain, in: space.number) {
            if let epoch = OperationID(name.prefix(32)),
                let device = DeviceID(name.dropFirst(32)),
                graph.hasLeft(epoch, device),
                graph.epochs.contains(where: { newer in
                    newer.author == device && newer.id != epoch
                        && opened[newer.id].map { now.wall > $0 + Self.day } == true
                })
            {
                try store.setSecret(nil, .chain, name, in: space.number)
                didDrop = true
            } else if var chain = Chain(stored: secret), chain.eraseExpiredKeys(now: now.wall) {
                try store.setSecret(chain.stored, .chain, name, in: space.number)
                didDrop = true
            }
        }
        return didDrop
    }
}
