import ParleyLedger
import ParleySealing
import ParleyWire

/// Somebody on the local network, as they announce themselves.
public struct Sighting: Equatable, Sendable {
    /// What the tag was made with.
    public var salt: [UInt8]
    /// By which those know them who hold their card.
    public var tag: [UInt8]
    /// Where they are, as `host:port`.
    public var address: String

    /// A sighting with these fields.
    public init(salt: [UInt8], tag: [UInt8], address: String) {
        self.salt = salt
        self.tag = tag
        self.address = address
    }
}

/// Devices on the local network: dialled there before anywhere else.
/// Source: `Protocol/04-links.md`, "Neighbours".
extension NodeCore {
    /// Somebody was seen; if it is a device that one looks for, it is dialled there.
    mutating func saw(_ sighting: Sighting, _ turn: inout some Turn) throws(StoreError) {
        guard let (person, device) = try owner(of: sighting, turn.store) else { return }
        guard
            let isUntried = peers.neighbours.note(device, at: sighting.address, turn.now.monotonic),
            !peers.dialer.isUnderway(device)
        else { return }
        let isDirect = peers.links.values.contains { $0.peer.device == device && !$0.peer.isPiped }
        // An address tried a moment ago is tried again in its turn.
        guard !isDirect, isUntried || !timers.isPending(.dial(device)) else { return }
        peers.dialer.restart(device, of: person)
        try dial(device, &turn)
    }

    private func owner(
        of sighting: Sighting, _ store: some Store
    ) throws(StoreError) -> (PersonID, DeviceID)? {
        for (key, _) in try store.values(.card) {
            guard let person = PersonID(key) else { continue }
            for part in try CardReader.parts(of: person, store)
            where part.device != identity.device
                && LocalTag.tag(of: part.noiseKey, salt: sighting.salt) == sighting.tag
            {
                return (person, part.device)
            }
        }
        // Of a person to be met only their invite may be known.
        for pending in try PendingInvite.all(store) {
            if let target = pending.invite.target,
                LocalTag.tag(of: target.noiseKey, salt: sighting.salt) == sighting.tag
            {
                return (pending.invite.person, target.device)
            }
        }
        return nil
    }
}
