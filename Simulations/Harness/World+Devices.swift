import ParleyNodeCore
import ParleySealing
import ParleyWire

extension World {
    /// A further device of a person's, linked by one that they have: it begins to fetch what the
    /// others hold.
    ///
    /// - Parameter owner: a device of the person's that is up; it certifies the new one.
    /// - Throws: ``WorldError`` where there is a node of this name, or the owner refused.
    public func addDevice(
        _ name: String, of owner: SimulatedNode, on store: StoreChoice = .memory
    ) throws -> SimulatedNode {
        guard !nodes.contains(where: { $0.name == name }) else {
            throw error(.nameTaken, "there is a node \(name) already")
        }
        let index = nodes.count
        let node = try remembering {
            try SimulatedNode(
                name: name, seed: seed, index: index, on: store, of: owner.identity.person,
                at: moment(of: owner).wall
            ) { request in
                let reply = try owner.carryOut(.addDevice(request), "link \(name)")
                guard case .card(let card) = reply else {
                    throw error(.refused, "\(owner.name) linked no \(name)")
                }
                return card
            }
        }
        // It is in all that its person is in.
        for space in conversations.keys.sorted() {
            guard conversations[space]?.members.contains(owner.index) == true else { continue }
            conversations[space]?.members.append(index)
        }
        return try begin(node, profile: nil)
    }
}
