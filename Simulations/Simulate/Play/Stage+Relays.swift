import ParleyNodeCore
import ParleySimulation

/// Relays, and what befalls them.
extension Stage {
    /// Each person uses a relay, in turn.
    func useRelays() throws {
        guard let count = scenario.relays, count > 0 else { return }
        let relays = (0..<count).map { world.addRelay("relay\($0)") }
        // Where two who are there always have a pipe, little is left to envelopes.
        for relay in relays { relay.hasPipes = scenario.pipes ?? ((scenario.seed >> 1) % 2 == 0) }
        for (place, node) in world.nodes.enumerated() {
            try world.use(relays[place % count], by: node)
        }
    }

    /// Something befalls a relay. Returns whether there is one.
    func befall(_ place: Int, _ how: RelayTrouble) -> Bool {
        guard world.relays.indices.contains(place) else { return false }
        let relay = world.relays[place]
        switch how {
        case .down: world.stop(relay)
        case .up:
            relay.lossEvery = 0
            let liedAboutDays = relay.mischief.isLyingAboutDays
            relay.mischief = RelayMischief()
            if liedAboutDays { world.tellDay(by: relay) }
            relay.delay = 1...20
            if relay.isDown { world.start(relay) }
        case .wipe: world.wipe(relay)
        case .copy: world.copyStore(of: relay)
        case .rollBack: world.rollBack(relay)
        case .lose: relay.lossEvery = 3
        case .swallow: relay.lossEvery = 1
        case .slow: relay.delay = 500...5_000
        case .shuffle: relay.mischief.isShuffling = true
        case .replay: relay.mischief.isReplaying = true
        case .stale: relay.mischief.isStale = true
        case .cutOff: relay.mischief.cutEvery = 10
        case .wrongDays: relay.mischief.isLyingAboutDays = true
        case .wrongStarts: relay.mischief.isLyingAboutStarts = true
        }
        return true
    }
}
