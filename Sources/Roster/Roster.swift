public import ParleyLedger
public import ParleyWire

/// What a person may do in a space. Higher roles may do all that lower ones may.
public enum Role: UInt8, Comparable, Sendable {
    /// Reads.
    case reader = 0
    /// Reads and writes.
    case member = 1
    /// Names the conversation, and deletes what others wrote.
    case admin = 2
    /// Everything.
    case owner = 3

    /// Roles order by what they may do.
    public static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}

/// A person in a space.
public struct Member: Equatable, Sendable {
    /// The person.
    public let person: PersonID
    /// What they may do.
    public let role: Role
    /// What they were called when they came.
    public let name: String
    /// Their devices, ascending.
    public let devices: [DeviceID]

    /// A member with these fields.
    public init(person: PersonID, role: Role, name: String, devices: [DeviceID]) {
        self.person = person
        self.role = role
        self.name = name
        self.devices = devices
    }
}

/// Who belongs to a space and may do what: a function of its control operations alone.
///
/// Today that is the genesis operation; whatever else control operations will do, this type is
/// what the other rooms see of it. Source: `Protocol/03-operations.md`, "Roster".
public struct Roster: Equatable, Sendable {
    /// What the space is for.
    public let kind: SpaceKind
    /// Everyone, ascending by person.
    public let members: [Member]
    /// The digest that operations written under this roster carry.
    public let authority: UInt64
    private let persons: [DeviceID: Int]

    /// A roster of these members.
    ///
    /// - Parameter frontier: the control operations that it rests on.
    init(kind: SpaceKind, members: [Member], frontier: [OperationID]) {
        self.kind = kind
        self.members = members.sorted { $0.person < $1.person }
        authority = OperationHash.authority(frontier)
        var persons: [DeviceID: Int] = [:]
        for (index, member) in self.members.enumerated() {
            for device in member.devices { persons[device] = index }
        }
        self.persons = persons
    }

    /// The member whose device this is, or nil.
    public func member(with device: DeviceID) -> Member? {
        persons[device].map { members[$0] }
    }

    /// The member who is this person, or nil.
    public func member(_ person: PersonID) -> Member? {
        var low = 0
        var high = members.count
        while low < high {
            let middle = (low + high) / 2
            if members[middle].person < person { low = middle + 1 } else { high = middle }
        }
        return low < members.count && members[low].person == person ? members[low] : nil
    }

    /// Whether the device belongs to a member.
    public func contains(_ device: DeviceID) -> Bool { persons[device] != nil }

    /// Whether an operation of this device, written under this authority, has an effect.
    public func allows(_ device: DeviceID, atLeast role: Role, under authority: UInt64?) -> Bool {
        guard let member = member(with: device), authority == self.authority else { return false }
        return member.role >= role
    }
}
