import ParleyPayloads
import ParleySealing
public import ParleyLedger
public import ParleyWire
internal import SwiftProtobuf

extension OperationKind {
    /// The first operation of a space.
    public static let genesis = OperationKind(rawValue: 1)
}

/// A person who is in a space from its creation.
public struct Founder: Equatable, Sendable {
    /// The person.
    public var person: PersonID
    /// What they may do.
    public var role: Role
    /// What they are called.
    public var name: String
    /// Their identity log: it proves which devices are theirs.
    public var identity: [[UInt8]]

    /// A founder with these fields.
    public init(person: PersonID, role: Role, name: String, identity: [[UInt8]]) {
        self.person = person
        self.role = role
        self.name = name
        self.identity = identity
    }
}

/// Why a space's first operation makes no space.
public enum GenesisRejection: Error, Equatable, Sendable {
    /// The payload is not one of a genesis.
    case malformed
    /// The fields do not hash to the space's name.
    case otherSpace
    /// It was not written by the device that it names as the creator.
    case otherCreator
    /// The number of persons does not fit the kind of space.
    case wrongFounders
    /// An identity log does not prove its person's devices.
    case unprovenDevices
}

/// The first operation of a space: what it is and who is in it.
public struct Genesis: Equatable, Sendable {
    /// What the space is for.
    public let kind: SpaceKind
    /// The device that made it.
    public let creator: DeviceID
    /// 16 random bytes: one device can make any number of spaces.
    public let random: [UInt8]
    /// Everyone in it, ascending by person.
    public let founders: [Founder]

    /// A genesis by this device.
    public init(kind: SpaceKind, creator: DeviceID, random: [UInt8], founders: [Founder]) {
        self.kind = kind
        self.creator = creator
        self.random = random
        self.founders = founders.sorted { $0.person < $1.person }
    }

    /// The name that the space has by it.
    public var space: SpaceID {
        OperationHash.space(kind: kind, creator: creator, random: random)
    }

    /// The operation that this is, yet to be written: the first of the creator's lane 0.
    public func draft() -> Draft {
        var payload = PayloadGenesis()
        payload.kind = UInt32(kind.rawValue)
        payload.creator = field(creator.bytes)
        payload.random = field(random)
        payload.founders = founders.map { founder in
            var entry = PayloadFounder()
            entry.person = field(founder.person.bytes)
            entry.role = UInt32(founder.role.rawValue)
            entry.identity = founder.identity.map { field($0) }
            entry.name = founder.name
            return entry
        }
        return Draft(
            kind: .genesis, lane: .control, payload: Payload.encode(payload), isErasable: false)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(GenesisRejection) {
        guard let message = Payload.decode(PayloadGenesis.self, payload),
            let kind = UInt8(exactly: message.kind).flatMap(SpaceKind.init),
            let creator = DeviceID(fieldBytes(message.creator)),
            fieldBytes(message.random).count == 16,
            message.founders.count <= Limits.founderCountMax
        else { throw .malformed }
        var founders: [Founder] = []
        for entry in message.founders {
            guard let person = PersonID(fieldBytes(entry.person)),
                let role = UInt8(exactly: entry.role).flatMap(Role.init),
                entry.name.utf8.count <= Limits.nameByteCountMax
            else { throw .malformed }
            founders.append(
                Founder(
                    person: person, role: role, name: entry.name,
                    identity: entry.identity.map { fieldBytes($0) }))
        }
        self.init(
            kind: kind, creator: creator, random: fieldBytes(message.random), founders: founders)
    }

    /// The roster that a space starts with.
    ///
    /// - Parameters:
    ///   - operation: the genesis as an operation: its identifier is the first authority.
    ///   - device: who signed it.
    public static func roster(
        from operation: VerifiedOperation, by device: DeviceID, in space: SpaceID
    ) throws(GenesisRejection) -> Roster {
        guard operation.operation.header.kind == .genesis, operation.sequence == 0,
            let payload = operation.operation.payload
        else { throw .malformed }
        let genesis = try Genesis(payload: payload)
        guard genesis.creator == device else { throw .otherCreator }
        guard genesis.space == space else { throw .otherSpace }
        return try genesis.roster(identifiedBy: operation.id)
    }

    private func roster(identifiedBy id: OperationID) throws(GenesisRejection) -> Roster {
        for (left, right) in zip(founders, founders.dropFirst()) where left.person == right.person {
            throw .wrongFounders
        }
        let isRightCount =
            switch kind {
            case .own: founders.count == 1
            case .direct: founders.count == 2
            case .group: !founders.isEmpty
            }
        guard isRightCount else { throw .wrongFounders }
        var members: [Member] = []
        for founder in founders {
            guard
                // Whatever is wrong with it, the space is refused.
                let identity = try? IdentityLog(operations: founder.identity),
                identity.person == founder.person
            else { throw .unprovenDevices }
            members.append(
                Member(
                    person: founder.person, role: founder.role, name: founder.name,
                    devices: identity.devices.map(\.device).sorted()))
        }
        guard let maker = members.first(where: { $0.devices.contains(creator) }),
            maker.role == .owner
        else { throw .wrongFounders }
        return Roster(kind: kind, members: members, frontier: [id])
    }
}
