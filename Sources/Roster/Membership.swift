import ParleyPayloads
public import ParleyLedger
public import ParleySealing
public import ParleyWire

/// What proves a newcomer and their devices.
public struct Newcomer: Equatable, Sendable {
    /// The person.
    public var person: PersonID
    /// Their name.
    public var name: String
    /// Their identity log: it proves which devices are theirs.
    public var identity: [[UInt8]]
    /// Where epochs are sealed to before their devices have leaves.
    public var prekeys: [PrekeyCertificate]
    /// What lies at or below these places is not for them.
    public var horizon: Horizon

    /// A newcomer with these fields.
    public init(
        person: PersonID, name: String, identity: [[UInt8]], prekeys: [PrekeyCertificate] = [],
        horizon: Horizon = Horizon()
    ) {
        self.person = person
        self.name = name
        self.identity = identity
        self.prekeys = prekeys
        self.horizon = horizon
    }
}

/// A person comes into the space. Kind 2.
public struct AddMember: Equatable, Sendable {
    /// Who.
    public var newcomer: Newcomer
    /// Their role.
    public var role: Role
    /// What the conversation is called; empty for no name.
    public var conversation: String

    /// The addition of this person.
    public init(_ newcomer: Newcomer, role: Role, conversation: String = "") {
        self.newcomer = newcomer
        self.role = role
        self.conversation = conversation
    }

    /// The operation that this is, yet to be written.
    public func draft() -> Draft {
        var payload = PayloadAddMember()
        payload.person = field(newcomer.person.bytes)
        payload.role = UInt32(role.rawValue)
        payload.identity = newcomer.identity.map { field($0) }
        payload.name = newcomer.name
        payload.prekeys = newcomer.prekeys.map { field($0.bytes) }
        payload.horizon = newcomer.horizon.message
        payload.conversation = conversation
        return .control(.addMember, payload)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        let message = try Payload.control(PayloadAddMember.self, payload)
        role = try ControlField.role(message.role)
        conversation = try ControlField.name(message.conversation)
        newcomer = Newcomer(
            person: try ControlField.identifier(message.person),
            name: try ControlField.name(message.name),
            identity: try ControlField.identity(message.identity),
            prekeys: try ControlField.prekeys(message.prekeys),
            horizon: try Horizon(message.horizon))
    }
}

/// A person is out. Kind 3.
public struct RemoveMember: Equatable, Sendable {
    /// Who.
    public var person: PersonID
    /// What the remover held of the person's logs: so far they count.
    public var cut: Cut

    /// The removal of this person.
    public init(_ person: PersonID, cut: Cut) {
        self.person = person
        self.cut = cut
    }

    /// The operation that this is, yet to be written.
    public func draft() -> Draft {
        var payload = PayloadRemoveMember()
        payload.person = field(person.bytes)
        payload.cut = cut.message
        return .control(.removeMember, payload)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        let message = try Payload.control(PayloadRemoveMember.self, payload)
        person = try ControlField.identifier(message.person)
        cut = try Cut(message.cut)
    }
}

/// Changes a person's role. Kind 4.
public struct SetRole: Equatable, Sendable {
    /// Who.
    public var person: PersonID
    /// Their new role.
    public var role: Role
    /// Where the role is reader: what the author held of the person's logs.
    public var cut: Cut

    /// The change of this person's role.
    public init(_ person: PersonID, role: Role, cut: Cut = Cut()) {
        self.person = person
        self.role = role
        self.cut = cut
    }

    /// The operation that this is, yet to be written.
    public func draft() -> Draft {
        var payload = PayloadSetRole()
        payload.person = field(person.bytes)
        payload.role = UInt32(role.rawValue)
        payload.cut = cut.message
        return .control(.setRole, payload)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        let message = try Payload.control(PayloadSetRole.self, payload)
        person = try ControlField.identifier(message.person)
        role = try ControlField.role(message.role)
        cut = try Cut(message.cut)
        guard role == .reader || cut.places.isEmpty else { throw .malformed }
    }
}

/// Its author goes. Kind 5.
public struct Leave: Equatable, Sendable {
    /// The author's going.
    public init() {}

    /// The operation that this is, yet to be written.
    public func draft() -> Draft {
        var payload = PayloadLeave()
        payload.version = 1
        return .control(.leave, payload)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        let message = try Payload.control(PayloadLeave.self, payload)
        guard message.version == 1 else { throw .malformed }
    }
}

/// Its author's person wants to be in the conversation. Kind 15. It carries no authority: rosters are
/// the same without it.
public struct Accept: Equatable, Sendable {
    /// The consent of the author's person.
    public init() {}

    /// The operation that this is, yet to be written.
    public func draft() -> Draft {
        var payload = PayloadAccept()
        payload.version = 1
        return .control(.accept, payload)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        let message = try Payload.control(PayloadAccept.self, payload)
        guard message.version == 1 else { throw .malformed }
    }
}

/// A member's devices change. Kind 6.
public struct Ident: Equatable, Sendable {
    /// The effect.
    public enum Change: Hashable, Sendable {
        /// The devices that its identity operations add come into the space.
        case add
        /// This device is out, and its operations count as far as the cut says.
        case revoke(DeviceID, cut: Cut)
    }

    /// Whose devices.
    public var person: PersonID
    /// Operations of the person's identity log: at least those that the space has not seen.
    public var identity: [[UInt8]]
    /// Where epochs are sealed to before the devices have leaves.
    public var prekeys: [PrekeyCertificate]
    /// The effect.
    public var change: Change

    /// A change of this person's devices.
    public init(
        person: PersonID, identity: [[UInt8]], prekeys: [PrekeyCertificate] = [], change: Change
    ) {
        self.person = person
        self.identity = identity
        self.prekeys = prekeys
        self.change = change
    }

    /// The operation that this is, yet to be written.
    public func draft() -> Draft {
        var payload = PayloadIdent()
        payload.person = field(person.bytes)
        payload.identity = identity.map { field($0) }
        payload.prekeys = prekeys.map { field($0.bytes) }
        if case .revoke(let device, let cut) = change {
            payload.revoked = field(device.bytes)
            payload.cut = cut.message
        }
        return .control(.ident, payload)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        let message = try Payload.control(PayloadIdent.self, payload)
        person = try ControlField.identifier(message.person)
        identity = try ControlField.identity(message.identity)
        prekeys = try ControlField.prekeys(message.prekeys)
        let cut = try Cut(message.cut)
        if message.revoked.isEmpty {
            guard cut.places.isEmpty else { throw .malformed }
            change = .add
        } else {
            change = .revoke(try ControlField.identifier(message.revoked), cut: cut)
        }
    }
}
