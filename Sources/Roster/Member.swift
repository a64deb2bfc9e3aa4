public import ParleySealing
public import ParleyWire

/// What a person may do in a space. Higher roles may do all that lower ones may.
public enum Role: UInt8, Comparable, Sendable {
    /// Reads.
    case reader = 0
    /// Reads and writes.
    case member = 1
    /// Names the conversation, deletes what others wrote, and adds, invites and removes members
    /// and readers.
    case admin = 2
    /// Everything.
    case owner = 3

    /// Roles order by what they may do.
    public static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}

/// A device of a person in a space.
public struct MemberDevice: Hashable, Sendable {
    /// The device.
    public let device: DeviceID
    /// The key by which it is known on links.
    public let noiseKey: NoiseKey
    /// Where epochs are sealed to before it has a leaf: those that hold, ascending by number.
    public let prekeys: [PrekeyCertificate]
    /// How far from the person's root it was added: it may revoke those of greater rank alone.
    public let rank: Int
    /// What lies at or below these places is not for it.
    public let horizon: Horizon

    init(
        _ certificate: DeviceCertificate, prekeys: [PrekeyCertificate], horizon: Horizon
    ) {
        device = certificate.device
        noiseKey = certificate.noiseKey
        self.prekeys = prekeys
        rank = certificate.rank
        self.horizon = horizon
    }
}

/// A person in a space.
public struct Member: Equatable, Sendable {
    /// The rank of whoever was given no right over others.
    public static let plainRank = 255

    /// The person.
    public let person: PersonID
    /// Their role.
    public let role: Role
    /// How far from the founder the right over others was passed on: the founder has 0, whoever
    /// was made an admin or an owner by rank k has k + 1, all others ``plainRank``.
    public let rank: Int
    /// What they were called when they came.
    public let name: String
    /// Their devices, ascending.
    public let devices: [MemberDevice]
}

/// An invite by which somebody may still come.
public struct LiveInvite: Hashable, Sendable {
    /// The operation that made it.
    public let operation: OperationID
    /// Who made it.
    public let inviter: PersonID
    /// The public half of its key.
    public let key: DeviceID
    /// What a newcomer may do.
    public let role: Role
    /// How many persons may come by it yet.
    public let usesLeft: UInt32
    /// When whoever writes the ``Redeem`` refuses it, in Unix milliseconds.
    public let expires: UInt64
}
