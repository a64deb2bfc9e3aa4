public import ParleySealing
public import ParleyWire

/// The rights of a person in a space. Higher roles include the rights of lower ones.
public enum Role: UInt8, Comparable, Sendable {
    /// Reads.
    case reader = 0
    /// Reads and writes.
    case member = 1
    /// Names the conversation, deletes others' messages, and adds, invites and removes members and
    /// readers.
    case admin = 2
    /// Everything.
    case owner = 3

    /// Roles order by their rights.
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
    /// The rank of a member without rights over others.
    public static let plainRank = 255

    /// The person.
    public let person: PersonID
    /// Their role.
    public let role: Role
    /// The number of steps from the founder by which the right over others was passed on: the
    /// founder has 0, a person made an admin or an owner by rank k has k + 1, all others
    /// ``plainRank``.
    public let rank: Int
    /// Their name at admission.
    public let name: String
    /// Their devices, ascending.
    public let devices: [MemberDevice]
}

/// An invite by which somebody may still come.
public struct LiveInvite: Hashable, Sendable {
    /// The operation that made it.
    public let operation: OperationID
    /// Its creator.
    public let inviter: PersonID
    /// The public half of its key.
    public let key: DeviceID
    /// The role of a newcomer.
    public let role: Role
    /// How many more persons may use it.
    public let usesLeft: UInt32
    /// When the author of a ``Redeem`` refuses it, in Unix milliseconds.
    public let expires: UInt64
}
