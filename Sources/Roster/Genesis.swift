import ParleyPayloads
public import ParleyLedger
public import ParleySealing
public import ParleyWire
internal import SwiftProtobuf

/// A person who is in a space from its creation.
public struct Founder: Equatable, Sendable {
    /// The person.
    public var person: PersonID
    /// Their role.
    public var role: Role
    /// Their name.
    public var name: String
    /// Their identity log: it proves which devices are theirs.
    public var identity: [[UInt8]]
    /// Where epochs are sealed to before their devices have leaves.
    public var prekeys: [PrekeyCertificate]

    /// A founder with these fields.
    public init(
        person: PersonID, role: Role, name: String, identity: [[UInt8]],
        prekeys: [PrekeyCertificate] = []
    ) {
        self.person = person
        self.role = role
        self.name = name
        self.identity = identity
        self.prekeys = prekeys
    }
}

/// Why a space's first operation makes no space.
public enum GenesisRejection: Error, Equatable, Sendable {
    /// The payload is not one of a genesis.
    case malformed
    /// It was not written by the device that it names as the creator.
    case otherCreator
    /// The number of persons does not fit the kind of space.
    case wrongFounders
    /// An identity log does not prove its person's devices.
    case unprovenDevices
}

/// The first operation of a space: its kind and its members.
public struct Genesis: Equatable, Sendable {
    /// What the space is for.
    public let kind: SpaceKind
    /// The device that made it.
    public let creator: DeviceID
    /// 16 random bytes: one device can make any number of spaces.
    public let random: [UInt8]
    /// Its members, ascending by person.
    public let founders: [Founder]
    /// What holds from the start.
    public let settings: SpaceSettings
    /// The name of a group; empty for no name.
    public let name: String

    /// A genesis by this device.
    public init(
        kind: SpaceKind, creator: DeviceID, random: [UInt8], founders: [Founder],
        settings: SpaceSettings = SpaceSettings(), name: String = ""
    ) {
        self.kind = kind
        self.settings = settings
        self.name = name
        self.creator = creator
        self.random = random
        self.founders = founders.sorted { $0.person < $1.person }
    }

    /// The name of the space that it creates, if written at this moment.
    public func space(at wallClock: UInt64) -> SpaceID { draft().space(begunAt: wallClock) }

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
            entry.prekeys = founder.prekeys.map { field($0.bytes) }
            return entry
        }
        if settings != SpaceSettings() { payload.settings = settings.message }
        payload.name = name
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
        do throws(ControlRejection) {
            var founders: [Founder] = []
            for entry in message.founders {
                founders.append(
                    Founder(
                        person: try ControlField.identifier(entry.person),
                        role: try ControlField.role(entry.role),
                        name: try ControlField.name(entry.name),
                        identity: try ControlField.identity(entry.identity),
                        prekeys: try ControlField.prekeys(entry.prekeys)))
            }
            self.init(
                kind: kind, creator: creator, random: fieldBytes(message.random),
                founders: founders,
                settings: message.hasSettings
                    ? try SpaceSettings(message.settings) : SpaceSettings(),
                name: try ControlField.name(message.name))
        } catch { throw .malformed }
    }

    /// Whether it is sound, written by this device, and every founder is proven.
    ///
    /// - Returns: the identity log of each founder.
    func check(by device: DeviceID) throws(GenesisRejection) -> [IdentityLog] {
        guard creator == device else { throw .otherCreator }
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
        var logs: [IdentityLog] = []
        for founder in founders {
            guard
                // Whatever is wrong with it, the space is refused.
                let identity = try? IdentityLog(operations: founder.identity),
                identity.person == founder.person
            else { throw .unprovenDevices }
            logs.append(identity)
        }
        let makers = zip(founders, logs).filter { $0.1.certificate(of: creator) != nil }
        guard makers.count == 1, makers[0].0.role == .owner else { throw .wrongFounders }
        return logs
    }
}
