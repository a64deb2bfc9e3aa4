import ParleyLedger
import ParleySealing
import ParleyWire

/// How it goes with reaching one device.
struct Dialing: Sendable {
    private(set) var failureCount: UInt64 = 0
    private(set) var isUnderway = false

    mutating func begins() { isUnderway = true }

    mutating func fails() {
        isUnderway = false
        failureCount += 1
    }

    /// A link came about. One that ends before the peer has greeted counts as a failure, or a
    /// stranger would be dialled every second for ever.
    mutating func isLinked() {
        isUnderway = false
        failureCount += 1
    }

    /// The peer takes this node in.
    mutating func isWelcome() { failureCount = 0 }

    mutating func wasLost() { isUnderway = false }

    /// 1 s, 2 s, 4 s … 5 min, and up to a quarter more, so that two nodes do not keep step.
    func delay(using random: inout some RandomNumberGenerator) -> UInt64 {
        let base = min(300_000, UInt64(1_000) << min(failureCount, 9))
        return base + random.next() % (base / 4)
    }
}

extension NodeCore {
    /// Begins to look for everyone known.
    mutating func dialEveryone(
        at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        for target in try targets(store) where dialing[target.device] == nil {
            dialing[target.device] = Dialing()
            try dial(target.device, at: now, store, &effects)
        }
    }

    mutating func dial(
        _ device: DeviceID, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard !links.values.contains(where: { $0.peer.device == device }),
            dialing[device]?.isUnderway != true,
            let target = try targets(store).first(where: { $0.device == device })
        else { return }
        dialing[device, default: Dialing()].begins()
        effects.append(.dial(target))
    }

    /// Tries everyone again at once.
    mutating func dialAgain(
        at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        for device in dialing.keys.sorted() where dialing[device]?.isUnderway == false {
            dialing[device] = Dialing()
            try dial(device, at: now, store, &effects)
        }
        try dialEveryone(at: now, store, &effects)
    }

    mutating func dialFailed(
        _ device: DeviceID, at now: Instant, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) {
        dialing[device]?.fails()
        scheduleDial(device, at: now, &random, &effects)
    }

    mutating func scheduleDial(
        _ device: DeviceID, at now: Instant, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) {
        guard var state = dialing[device] else { return }
        state.wasLost()
        dialing[device] = state
        set(.dial(device), in: state.delay(using: &random), at: now, &effects)
    }

    private func isWanted(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        if try isAccepted(person, store) { return true }
        return try pendingInvite(of: person, store) != nil
    }

    /// Devices of people one knows or wants to meet, that have an address; ascending.
    private func targets(_ store: some Store) throws(StoreError) -> [DialTarget] {
        var targets: [DialTarget] = []
        for (key, bytes) in try store.values(.card) {
            guard let person = PersonID(key), person != identity.person,
                try isWanted(person, store)
            else { continue }
            targets += CardReader.targets(of: bytes)
        }
        return targets.sorted { $0.device < $1.device }
    }
}
