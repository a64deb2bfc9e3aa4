import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// Other nodes on the local network. Source: `Protocol/04-links.md`, "Neighbours".
extension NodeNetwork {
    /// Looks for them and is found by them from now on, unless it listens on this machine alone. Who
    /// listens nowhere is found by nobody, and looks all the same.
    func seekNeighbours() {
        state.withLock { $0.seeksNeighbours = true }
        if !isOffline { beginSearch() }
    }

    func beginSearch() {
        let key = noiseKey
        let inputs = inputs
        let delegate = NeighbourSearch.Delegate(
            name: { Self.draw(for: key) },
            heard: { neighbour, host in
                // A host that a socket names is one.
                guard let place = try? Endpoint(host: host, port: neighbour.port),
                    inputs.hasRoom(for: .neighbours)
                else { return }
                inputs.offer(
                    .sighted(
                        Sighting(
                            salt: neighbour.name.salt, tag: neighbour.name.tag,
                            address: "\(place)")))
            },
            moved: { inputs.offer(.networkChanged) })
        state.withLock { state in
            guard state.seeksNeighbours, !state.isClosing, state.search == nil,
                state.port != nil || state.addresses.isEmpty
            else { return }
            state.search = transport.seekNeighbours(port: state.port, delegate: delegate)
        }
    }

    func endSearch() async {
        let search = state.withLock { state in
            defer { state.search = nil }
            return state.search
        }
        await search?.end()
    }

    private static func draw(for key: NoiseKey) -> LocalName {
        var random = SystemRandom()
        let salt = random.bytes(LocalTag.byteCount)
        guard let name = LocalName(salt: salt, tag: LocalTag.tag(of: key, salt: salt)) else {
            preconditionFailure("a salt and a tag must have their length")
        }
        return name
    }
}
