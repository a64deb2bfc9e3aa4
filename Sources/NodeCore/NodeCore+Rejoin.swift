import ParleyLedger
import ParleyReconciliation
import ParleyWire

/// What one device says it holds of this device's own logs.
struct OwnClaim: Sendable {
    /// The place after the last, by log.
    var ends: [LogTag: UInt64]
    /// How many own operations were held when it was last looked at.
    var heldCount: Int
}

extension Rejoin {
    init(_ claims: [DeviceID: OwnClaim]) {
        var ends: [LogTag: UInt64] = [:]
        for device in claims.keys.sorted() {
            ends.merge(claims[device]?.ends ?? [:], uniquingKeysWith: max)
        }
        self.init(
            reason: "another node says it holds more of what this one wrote", ends: ends,
            needsPeer: false)
    }
}

extension NodeCore {
    /// A device that says it holds more of this one's logs has so long to show some of it. Saying
    /// so stops this node from writing, so it must not be free. In milliseconds.
    static let claimPatience: UInt64 = 10_000

    /// Looks at what a peer says it holds of this device's own logs.
    mutating func compareOwn(
        _ frame: Frame, on id: LinkID, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let peer = links[id]?.peer.device else { return }
        switch frame {
        case .frontier(let frontier):
            guard let space = try store.space(frontier.space),
                links[id]?.session?.shares(space.number) == true
            else { return }
            try compareOwn(frontier, of: space, by: peer, at: now, store, &effects)
        case .spaces, .heartbeat:
            for space in try store.spaces()
            where links[id]?.session?.isEqual(space.number) == true {
                hear(of: space, at: now, &effects)
                if space.kind != .own { try heardFromPeer(store) }
                guard awaitsEvenPeer else { continue }
                awaitsEvenPeer = false
                set(.devices, in: Self.devicesRetry, at: now, &effects)
            }
        default:
            return
        }
    }

    /// Looks at what a device says it holds of a space that it belongs to.
    mutating func compareOwn(
        _ frontier: Frontier, of space: SpaceRecord, by peer: DeviceID, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        var ends: [LogTag: UInt64] = [:]
        var ownTags: Set<LogTag>?
        for entry in frontier.entries {
            if let log = try store.log(entry.tag, in: space.number) {
                // What lies above a fork of one's own cannot be taken back from anybody.
                guard log.device == identity.device, log.fork == nil,
                    entry.sequence >= log.end
                else { continue }
            } else {
                // Nothing says whose it is but its name: hashed only for logs unknown here.
                let known = ownTags ?? self.ownTags(in: space.id)
                ownTags = known
                guard known.contains(entry.tag) else { continue }
            }
            ends[entry.tag] = entry.sequence + 1
        }
        if !ends.isEmpty { try claim(ends, by: peer, at: now, store, &effects) }
        guard frontier.isComplete else { return }
        hear(of: space, at: now, &effects)
        try heardFromPeer(store)
    }

    /// A peer has shown what it holds of a space. What waited for that is done soon.
    private mutating func hear(
        of space: SpaceRecord, at now: Instant, _ effects: inout [Effect]
    ) {
        guard heard.insert(space.number).inserted else { return }
        watchDevices(at: now, &effects)
        shareCard(in: space.number, at: now, &effects)
        // Not all at once: everybody who was let in together hears together.
        let delay = Self.upkeepDelay + identity.device.prefix % Self.upkeepDelay
        set(.upkeep(space.number), in: delay, at: now, &effects)
        guard unreceipted.contains(space.number) else { return }
        set(.receipts, in: Self.receiptDelay, at: now, &effects)
    }

    private func ownTags(in space: SpaceID) -> Set<LogTag> {
        Set(
            Lane.allCases.map {
                LogTag(OperationHash.log(space: space, device: identity.device, lane: $0))
            })
    }

    /// A peer has shown what it holds: whatever it did not list, it does not have either.
    private mutating func heardFromPeer(_ store: some Store) throws(StoreError) {
        guard foundBehind?.needsPeer == true else { return }
        foundBehind?.needsPeer = false
        try finishRejoin(store)
    }

    /// A peer lists more of own logs than is held here: nothing is written until it is back, or
    /// this device would write a second history.
    private mutating func claim(
        _ ends: [LogTag: UInt64], by device: DeviceID, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard !doubted.contains(device) else { return }
        var claim = OwnClaim(ends: ends, heldCount: try ownCount(store))
        if let known = claims[device] { claim.ends.merge(known.ends, uniquingKeysWith: max) }
        claims[device] = claim
        set(.claim(device), in: Self.claimPatience, at: now, &effects)
    }

    /// Ends a claim of which nothing was shown; goes on waiting while something comes.
    mutating func checkClaim(
        of device: DeviceID, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard var claim = claims[device] else { return }
        let count = try ownCount(store)
        guard count > claim.heldCount else {
            claims[device] = nil
            doubted.insert(device)
            return try self.count(.emptyClaim, store)
        }
        claim.heldCount = count
        claims[device] = claim
        set(.claim(device), in: Self.claimPatience, at: now, &effects)
    }

    /// How many operations of this device are held.
    private func ownCount(_ store: some Store) throws(StoreError) -> Int {
        var count = 0
        for space in try store.spaces() {
            for log in try store.logs(in: space.number) where log.device == identity.device {
                count += log.heldCount
            }
        }
        return count
    }

    /// Ends the rejoin once everything known to exist was taken back, wherever somebody brings it.
    mutating func finishRejoin(_ store: some Store) throws(StoreError) {
        guard isBehind else { return }
        var ends: [LogTag: UInt64] = [:]
        var outside: Set<LogTag> = []
        var (isWhole, isWholeInside) = (true, true)
        for space in try store.spaces() {
            let isOut = try isOut(of: space, store)
            if isOut { outside.formUnion(ownTags(in: space.id)) }
            for log in try store.logs(in: space.number) where log.device == identity.device {
                ends[log.tag] = log.fork == nil ? log.end : UInt64.max
                guard !log.agreed.isWhole else { continue }
                isWhole = false
                if !isOut { isWholeInside = false }
            }
        }
        func lacking(_ wanted: [LogTag: UInt64]) -> Set<LogTag> {
            Set(wanted.filter { ends[$0.key] ?? 0 < $0.value }.keys)
        }
        lacksOnlyWhereOut = false
        guard isWholeInside else { return }
        claims = claims.filter { !lacking($0.value.ends).isEmpty }
        guard let foundBehind, !foundBehind.needsPeer else { return }
        let lacking = lacking(foundBehind.ends)
        lacksOnlyWhereOut = lacking.isSubset(of: outside)
        if isWhole, lacking.isEmpty { self.foundBehind = nil }
    }

    /// Whether this device can take nothing but lane 0 from others in a space, and write nothing.
    private mutating func isOut(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let roster = try roster(of: space, store) else { return true }
        return !belongs(to: roster)
            && !letsItselfIn(identity.device, of: identity.person, to: roster)
    }
}
