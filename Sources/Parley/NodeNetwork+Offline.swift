import ParleyNodeCore
import ParleySealing
import Synchronization

/// Being there and being away, as a person wants it.
extension NodeNetwork {
    /// Whether links are neither made nor taken.
    var isOffline: Bool { state.withLock { $0.isOffline } }

    /// Whether a person wants that; damage alone makes a node leave as well.
    var isCutOff: Bool { state.withLock { $0.isOffline && !$0.isHeldBack } }

    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// Ends all links, connections to relays, and attempts at either, and makes no new ones; or takes
    /// that back.
    func setOffline(_ isOffline: Bool) {
        if isOffline { leave() }
        state.withLock { ($0.isOffline, $0.isHeldBack) = (isOffline, false) }
        if isOffline { Task { await endSearch() } } else { beginSearch() }
        if !isOffline { inputs.offer(.networkChanged) }
    }

    /// Ends everything, and makes no new links: the node takes nothing any more.
    func leaveAll() {
        let isCutOff = isCutOff
        setOffline(true)
        state.withLock { $0.isHeldBack = !isCutOff }
    }

    private func leave() {
        // The order in which they end cannot be seen.
        let (links, relays, dials, calls) = state.withLock { state in
            state.isOffline = true
            // There is no connection that would report its end to the core.
            let calls = state.relays.filter { $0.value.driver == nil }
            for relay in calls.keys { state.relays[relay] = nil }
            return (
                Array(state.carried.values), Array(state.reached.values),
                Array(state.dials.values), calls
            )
        }
        for dial in dials { dial.cancel() }
        for (relay, call) in calls.sorted(by: { $0.key < $1.key }) {
            call.abandon()
            inputs.offer(.relay(relay, .closed))
        }
        for link in links { link.hangUp() }
        for relay in relays { relay.end() }
    }

    // MARK: Connections

    /// A connection stands on which a link may come about. Returns whether it is wanted: who went
    /// offline while it was made says nothing on it.
    func admit(_ driver: LinkDriver) -> Bool {
        state.withLock { state in
            guard !state.isOffline else { return false }
            state.carried[driver.id] = driver
            return true
        }
    }

    /// The same of a connection to a relay.
    func admit(_ driver: RelayDriver) -> Bool {
        state.withLock { state in
            guard !state.isOffline else { return false }
            state.reached[ObjectIdentifier(driver)] = driver
            return true
        }
    }

    /// A connection to a relay is gone.
    func left(_ driver: RelayDriver) {
        state.withLock { $0.reached[ObjectIdentifier(driver)] = nil }
    }
}
