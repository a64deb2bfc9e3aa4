import ParleyLedger
import ParleySealing
import ParleyWire

/// The effect of an operation on a roster, without its bytes.
enum AuthorityDeed: Hashable, Sendable {
    /// The first persons, each with a role and the rank that they begin with.
    case genesis(SpaceKind, [Seat], SpaceSettings)
    case add(PersonID, Role)
    case remove(PersonID)
    case setRole(PersonID, Role)
    case leave
    case addDevices(PersonID)
    case revokeDevice(PersonID, DeviceID)
    case settings(SpaceSettings)
    case invite(key: DeviceID, role: Role, uses: UInt32, expires: UInt64)
    /// By the invite's place in the graph.
    case endInvite(Int)
    case redeem(PersonID, invite: Int)

    struct Seat: Hashable, Sendable {
        let person: PersonID
        let role: Role
        let rank: Int
    }
}

/// Where an operation stands among all: seniors are heard first.
struct AuthorityKey: Comparable, Sendable {
    /// The rank of a newcomer by an invite through a sponsor without a rank: below all who have
    /// one, and above what the newcomer writes.
    static let guestRank = Member.plainRank - 1
    /// What precedes everybody's.
    static let genesisRank = -2
    /// What a person's own identity log proves needs nobody's right.
    static let proofRank = -1

    /// The author's rank by what they had seen.
    let rank: Int
    /// 1 for a Redeem, so that the end of its invite is processed first; else 0.
    let phase: UInt8
    /// Among Redeems: how many operations the sponsor's admission had seen. The earlier sponsor is
    /// processed first, whatever they leave out of what they have seen.
    var age = 0
    /// Among those who come by invites: how many operations the sponsor had seen.
    var depth = 0
    let id: OperationID

    static func < (left: Self, right: Self) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        if left.phase != right.phase { return left.phase < right.phase }
        if left.age != right.age { return left.age < right.age }
        if left.depth != right.depth { return left.depth < right.depth }
        return left.id < right.id
    }
}

/// What an operation says about a person's devices.
struct Testimony: Sendable {
    let person: PersonID
    let name: String
    /// Operations of the person's identity log.
    let identity: [IdentityOperation]
    /// The devices that it admits, ascending; none if it is no admission.
    let devices: [DeviceID]
    /// Those that hold.
    let prekeys: [PrekeyCertificate]
    let horizon: Horizon
    /// Whether it holds an operation of the identity log that its author had not seen in the space.
    var isNews = true
}

/// The author of an operation by which somebody joins by an invite.
struct Sponsor: Sendable {
    let person: PersonID
    /// The role by which they are processed before those without a rank: an operation that takes it
    /// from them, unseen, voids what they wrote by it.
    let need: Role
    /// What made them a member: at least one of these must hold.
    let grants: [Int]
}

/// An operation that its author could write by what they had seen. It is in the graph permanently;
/// whether it holds depends on all others.
struct AuthorityNode: Sendable {
    let id: OperationID
    /// Its place among those of its log.
    let log: Int
    let index: Int
    /// All that its author had seen.
    let past: ClosedSet
    let place: LogTip
    /// Its author.
    let device: DeviceID
    /// Whose right is used: for a newcomer by an invite, that of the invite's creator.
    let author: PersonID
    /// The author of a Redeem.
    let sponsor: Sponsor?
    let deed: AuthorityDeed
    let key: AuthorityKey
    /// The role that it needs.
    let need: Role
    /// What gave the author that role: at least one of these must hold.
    let grants: [Int]
    let testimonies: [Testimony]
    let cut: Cut

    /// Whose standing it changes.
    var subjects: [PersonID] {
        switch deed {
        case .genesis(_, let seats, _): seats.map(\.person)
        case .add(let person, _), .remove(let person), .setRole(let person, _),
            .addDevices(let person), .revokeDevice(let person, _), .redeem(let person, _):
            [person]
        case .leave: [author]
        case .settings, .invite, .endInvite: []
        }
    }

    /// Persons of whose devices something may be revoked that was not, as far as it tells.
    var told: [PersonID] { testimonies.filter { $0.isNews || isRevocation }.map(\.person) }

    /// The highest role that the affected person keeps, of what takes rights; less than any where
    /// they keep none.
    var floor: Int {
        if case .setRole(_, let role) = deed { Int(role.rawValue) } else { -1 }
    }

    /// Whether its author's right decides about it.
    var isVoidable: Bool {
        switch deed {
        case .genesis, .revokeDevice: false
        case .add, .remove, .setRole, .leave, .addDevices, .settings, .invite, .endInvite,
            .redeem:
            true
        }
    }

    /// Whether it holds by what the person's identity log says, and by nothing else.
    var isRevocation: Bool {
        if case .revokeDevice = deed { true } else { false }
    }

    /// Whether it brings this person into the space.
    func admits(_ person: PersonID) -> Bool {
        switch deed {
        case .genesis(_, let seats, _): seats.contains { $0.person == person }
        case .add(let other, _), .redeem(let other, _): other == person
        case .remove, .setRole, .leave, .addDevices, .revokeDevice, .settings, .invite,
            .endInvite:
            false
        }
    }

    /// Whether it takes this person out.
    func expels(_ person: PersonID) -> Bool {
        switch deed {
        case .remove(let other): other == person
        case .leave: author == person
        case .genesis, .add, .redeem, .setRole, .addDevices, .revokeDevice, .settings, .invite,
            .endInvite:
            false
        }
    }

    func testimony(of person: PersonID) -> Testimony? {
        testimonies.first { $0.person == person }
    }
}
