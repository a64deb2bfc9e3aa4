public import ParleyLedger
public import ParleyWire

/// Who belongs to a space and may do what: a function of its control operations alone.
///
/// ``ControlGraph`` computes it, from all operations or from those that an author had seen;
/// whatever control operations do, this type is what the other rooms see.
/// Source: `Protocol/08-roster.md`.
public struct Roster: Equatable, Sendable {
    /// What the space is for.
    public let kind: SpaceKind
    /// Everyone, ascending by person.
    public let members: [Member]
    /// The digest that operations written under this roster carry: of the frontier of the
    /// operations that made it.
    public let authority: UInt64
    /// What an epoch for this roster names: the hash of everything that holds, except settings and
    /// invites, ascending.
    public let digest: Digest
    /// What holds for the whole space.
    public let settings: SpaceSettings
    /// The open invites, ascending by operation.
    public let invites: [LiveInvite]
    let standings: Standings
    /// Persons who were added and have not accepted, ascending by person. Nobody in a roster of
    /// what an author had seen: consent decides nothing about operations.
    public internal(set) var invited: [PersonID] = []

    init(
        kind: SpaceKind, members: [Member], authority: UInt64, digest: Digest,
        settings: SpaceSettings, invites: [LiveInvite], standings: Standings
    ) {
        self.kind = kind
        self.members = members
        self.authority = authority
        self.digest = digest
        self.settings = settings
        self.invites = invites
        self.standings = standings
    }

    /// What a newcomer is given of earlier messages.
    public var history: HistoryPolicy { settings.history ?? .none }

    /// The member whose device this is, or nil.
    public func member(with device: DeviceID) -> Member? {
        standings.persons[device].flatMap { member($0) }
    }

    /// The member who is this person, or nil.
    public func member(_ person: PersonID) -> Member? {
        let found = members.firstIndex(afterAll: { $0.person < person })
        return found < members.count && members[found].person == person ? members[found] : nil
    }

    /// Whether a member was added and has not accepted.
    public func isInvited(_ person: PersonID) -> Bool {
        let found = invited.firstIndex(afterAll: { $0 < person })
        return found < invited.count && invited[found] == person
    }

    /// Whether a person is a member who has accepted.
    public func takesPart(_ person: PersonID) -> Bool {
        member(person) != nil && !isInvited(person)
    }

    /// Whether the device belongs to a member who has accepted.
    public func takesPart(_ device: DeviceID) -> Bool {
        standings.persons[device].map { !isInvited($0) } ?? false
    }

    /// Whether the device belongs to somebody who is asked into the space, and has not accepted.
    public func isGuest(_ device: DeviceID) -> Bool {
        standings.persons[device].map(isInvited) ?? false
    }

    /// Every member who has accepted, ascending by person.
    public var participants: [Member] {
        invited.isEmpty ? members : members.filter { !isInvited($0.person) }
    }

    /// Those for whom waits what a person writes where nobody else takes part: who is invited, ascending. None
    /// where somebody else takes part, for nothing waits for the invited then.
    public func awaited(by person: PersonID) -> [Member] {
        guard !invited.isEmpty, takesPart(person),
            !participants.contains(where: { $0.person != person })
        else { return [] }
        return members.filter { isInvited($0.person) }
    }

    /// The devices of everybody who has accepted, ascending.
    public var participatingDevices: [MemberDevice] {
        participants.flatMap(\.devices).sorted { $0.device < $1.device }
    }

    /// Whether the device belongs to a member.
    public func contains(_ device: DeviceID) -> Bool { standings.persons[device] != nil }

    /// The device as it stands in this roster, or nil.
    public func device(_ device: DeviceID) -> MemberDevice? {
        member(with: device)?.devices.first { $0.device == device }
    }

    /// Every device, ascending.
    public var devices: [MemberDevice] {
        members.flatMap(\.devices).sorted { $0.device < $1.device }
    }
}
