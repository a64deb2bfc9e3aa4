import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

extension DeviceView {
    /// Its name where nothing else identifies it: with the start of its identifier if others of
    /// these have the same name, and by that alone if it has no name.
    func label(among all: [DeviceView]) -> String {
        let start = device.prefix(8)
        if name.isEmpty { return String(start) }
        let isShared = all.contains { $0.device != device && $0.name == name }
        return isShared ? "\(name) (\(start))" : name
    }
}

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
        let forked = try forkedDevices().union(log.forked)
        let ownRank = log.certificate(of: core.node.device)?.rank
        let card = try CardReader.parts(of: ownPerson, store)
        let standing = try log.devices.map { certificate in
            let device = certificate.device
            return DeviceView(
                device: device.description, name: VisibleName.shownPerson(names[device] ?? ""),
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
                device: device.description, name: VisibleName.shownPerson(names[device] ?? ""),
                isThis: device == core.node.device, state: "revoked", isLinked: false,
                lastSeen: try NodeCore.lastSeen(device, in: store), addresses: [],
                needsRecoveryCode: false)
        }
        let all = standing + gone
        return all.filter(\.isThis) + all.filter { !$0.isThis }
    }

    /// Whether it is this device, and no other of the person's stands.
    func isOnlyDevice(_ device: DeviceID) -> Bool {
        device == core.node.device && core.node.log.devices.map(\.device) == [device]
    }
}
