import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

extension Views {
    /// The person's devices: this one, then those that stand, then those that were revoked.
    func devices() throws -> [DeviceView] {
        let log = core.node.log
        var names: [DeviceID: String] = [:]
        if let own = core.ownSpace {
            for each in try Overview.deviceNames(ownSpace: own.number, in: store) {
                names[each.device] = each.name
            }
        }
        let linked = Set(core.linkedPeers.map(\.device))
        let forked = Set(try store.forks().map(\.proof.left.device)).union(log.forked)
        let ownRank = log.certificate(of: core.node.device)?.rank
        let card = try CardReader.parts(of: ownPerson, store)
        let standing = try log.devices.map { certificate in
            let device = certificate.device
            return DeviceView(
                device: device.description, name: names[device] ?? "",
                isThis: device == core.node.device,
                state: forked.contains(device) ? "compromised" : "active",
                isLinked: linked.contains(device),
                lastSeen: try NodeCore.lastSeen(device, in: store),
                addresses: card.first { $0.device == device }?.addresses ?? [],
                needsRecoveryCode: device != core.node.device
                    && ownRank.map { certificate.rank <= $0 } ?? true)
        }
        let gone = try log.revoked.map { device in
            DeviceView(
                device: device.description, name: names[device] ?? "",
                isThis: device == core.node.device, state: "revoked", isLinked: false,
                lastSeen: try NodeCore.lastSeen(device, in: store), addresses: [],
                needsRecoveryCode: false)
        }
        let all = standing + gone
        return all.filter(\.isThis) + all.filter { !$0.isThis }
    }

    /// The device of one's own that an argument means: its name, or the start of its identifier.
    func device(_ argument: String) throws -> DeviceID {
        let all = try devices()
        var meaning = Meaning<DeviceView>(argument)
        for device in all {
            // One that is revoked may have left its name to another.
            meaning.consider(
                device, name: device.state == "revoked" ? "" : device.name,
                identifier: device.device)
        }
        let found = meaning.things
        guard found.count <= 1 else {
            throw NodeError("ambiguous", "Several devices answer to “\(argument)”.")
        }
        guard let id = found.first.flatMap({ bytes(hex: $0.device) }).flatMap({ DeviceID($0) })
        else { throw NodeError(.unknownDevice) }
        return id
    }
}
