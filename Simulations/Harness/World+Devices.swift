import ParleyNodeCore
public import ParleySealing
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
        let person = owner.identity.person
        var card: [UInt8] = []
        var prekey: Prekey?
        let node = try makeDevice(name, on: store) { key, noiseKey in
            let proof = IdentityOperation.proofOfPossession(
                to: person, by: key, noiseKey: noiseKey)
            var random = SeededRandom(seed: seed, purpose: "device \(name), first prekey")
            let first = Prekey(of: key, at: moment(of: owner).wall, using: &random)
            prekey = first
            let request = DeviceRequest(
                device: key.device, noiseKey: noiseKey, proof: proof, name: name,
                prekey: first.certificate)
            guard
                case .card(let answer) = try owner.carryOut(.addDevice(request), "link \(name)")
            else { throw error(.refused, "\(owner.name) linked no \(name)") }
            card = answer
            return try IdentityLog(operations: try Card(bytes: answer).identity)
        } holding: { store in
            try store.setValue(card, .card, person.bytes)
            try prekey?.keep(in: store)
        }
        return try begin(node, profile: nil)
    }

    /// A further device of a person's that the recovery code makes: from a backup, or with the help
    /// of somebody who knows the person.
    ///
    /// It has keys and logs of its own, and catches up from those it meets. Devices that are not
    /// kept are revoked, for good.
    ///
    /// - Parameters:
    ///   - lost: any device that was the person's.
    ///   - backup: what it begins with.
    ///   - friend: a contact who tells who the person is, and becomes one again.
    ///   - kept: devices that stay the person's.
    /// - Throws: ``WorldError`` where there is a node of this name.
    public func recover(
        _ name: String, of lost: SimulatedNode, from backup: DeviceBackup? = nil,
        helpedBy friend: SimulatedNode? = nil, keeping kept: [SimulatedNode] = [],
        on store: StoreChoice = .memory
    ) throws -> SimulatedNode {
        let person = lost.identity.person
        let own = nodes.filter { $0.identity.person == person }
        guard let root = recoveryKey(of: lost) else {
            throw error(.stranger, "nobody has the recovery code of \(lost.name)")
        }
        let told = try observe { try friend?.store.value(.card, person.bytes) }
        // The person knows what they did with the code themself: it never signs twice at one place.
        var log = try own.reduce(lost.identity.log) { try $0.merging($1.core.node.log.operations) }
        if let backup { log = try log.merging(backup.identity.operations) }
        if let told {
            let known = try IdentityLog(operations: Card(bytes: told).identity)
            log = try log.merging(known.operations)
        }
        let staying = Set(kept.map(\.identity.device))
        let node = try makeDevice(name, on: store) { key, noiseKey in
            let proof = IdentityOperation.proofOfPossession(
                to: person, by: key, noiseKey: noiseKey)
            let before = log.devices.map(\.device)
            log = try log.merging([
                log.adding(key.device, noiseKey: noiseKey, proof: proof, by: root)
            ])
            for device in before where !staying.contains(device) {
                log = try log.merging([log.revoking(device, by: root)])
            }
            return log
        } holding: { store in
            try backup?.restore(into: store)
            if backup == nil { try NodeCore.noteRecovered(in: store) }
            if let told { try store.setValue(told, .card, person.bytes) }
        }
        // Nobody takes what it writes below such operations, whatever it does.
        if backup?.isSound == false { node.isHonest = false }
        _ = try begin(node, profile: nil)
        if let friend { try invite(node, by: friend) }
        return node
    }

    /// What the recovery code of a node's person makes; it signs whatever a command asks it for.
    public func recoveryKey(of node: SimulatedNode) -> DeviceSigningKey? {
        nodes.first { $0.identity.person == node.identity.person && $0.rootKey != nil }?.rootKey
    }

    private func makeDevice(
        _ name: String, on store: StoreChoice,
        certifiedBy certify: (DeviceSigningKey, NoiseKey) throws -> IdentityLog,
        holding fill: (any SimulatedStore) throws -> Void
    ) throws -> SimulatedNode {
        guard !nodes.contains(where: { $0.name == name }) else {
            throw error(.nameTaken, "there is a node \(name) already")
        }
        return try remembering {
            try SimulatedNode(
                name: name, seed: seed, index: nodes.count, on: store, certifiedBy: certify,
                holding: fill)
        }
    }
}
