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

/// Where a device was seen on the local network.
struct Nearby: Sendable {
    let address: String
    /// On the monotonic clock.
    let seenAt: UInt64
    /// Whether it was not dialled there yet.
    var isUntried: Bool
}

/// Devices on the local network: dialled there before anywhere else.
/// Source: `Protocol/04-links.md`, "Neighbours".
extension NodeCore {
    /// Where a device was seen holds for so long, in milliseconds.
    static let nearbyLifetime: UInt64 = 600_000
    /// Devices that are known to be near.
    static let nearbyCountMax = 256

    /// Somebody was seen; if it is a device that one looks for, it is dialled there.
    mutating func saw(_ sighting: Sighting, _ turn: inout some Turn) throws(StoreError) {
        guard let (person, device) = try owner(of: sighting, turn.store) else { return }
        let known = nearby[device]
        guard known != nil || nearby.count < Self.nearbyCountMax else { return }
        let isUntried = known.map { $0.isUntried || $0.address != sighting.address } ?? true
        nearby[device] = Nearby(
            address: sighting.address, seenAt: turn.now.monotonic, isUntried: isUntried)
        guard dialing[device]?.isUnderway != true else { return }
        let isDirect = links.values.contains { $0.peer.device == device && !$0.peer.isPiped }
        // What was tried a moment ago is tried again in its turn.
        guard !isDirect, isUntried || !timers.isPending(.dial(device)) else { return }
        dialing[device] = Dialing(person)
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
        // Nothing but their invite may be known of somebody whom one is to meet.
        for pending in try PendingInvite.all(store) {
            if let target = pending.invite.target,
                LocalTag.tag(of: target.noiseKey, salt: sighting.salt) == sighting.tag
            {
                return (pending.invite.person, target.device)
            }
        }
        return nil
    }

    /// Where a device was seen a short while ago.
    func nearbyAddress(of device: DeviceID, at now: Instant) -> String? {
        guard let seen = nearby[device], now.monotonic < seen.seenAt + Self.nearbyLifetime else {
            return nil
        }
        return seen.address
    }

    /// A device was not reached. Where it was seen elsewhere meanwhile, that counts for nothing.
    mutating func forgiveIfSeen(_ device: DeviceID) {
        guard nearby[device]?.isUntried == true, let person = dialing[device]?.person else {
            return
        }
        dialing[device] = Dialing(person)
    }
}
