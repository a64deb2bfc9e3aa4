import ParleyPayloads
public import ParleyLedger
public import ParleySealing
public import ParleyWire

/// Creates an invite for holders of a secret, or ends one. Kind 10.
public enum GroupInvite: Equatable, Sendable {
    /// The most persons who may use one invite.
    public static let useCountMax: UInt32 = 1000

    /// A new invite: a person who shows a signature by this key's private half may join.
    ///
    /// `expires`, in Unix milliseconds, is judged only by the author of the ``Redeem``: no clock
    /// decides what is accepted.
    case open(key: DeviceID, role: Role, uses: UInt32, expires: UInt64)
    /// The invite of this operation ends.
    case end(OperationID)

    /// The operation that this is, yet to be written.
    public func draft() -> Draft {
        var payload = PayloadGroupInvite()
        switch self {
        case .open(let key, let role, let uses, let expires):
            payload.key = field(key.bytes)
            payload.role = UInt32(role.rawValue)
            payload.uses = uses
            payload.expires = expires
        case .end(let invite):
            payload.ended = field(invite.bytes)
        }
        return .control(.groupInvite, payload)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        let message = try Payload.control(PayloadGroupInvite.self, payload)
        if !message.ended.isEmpty {
            guard message.key.isEmpty, message.role == 0, message.uses == 0, message.expires == 0
            else { throw .malformed }
            self = .end(try ControlField.identifier(message.ended))
            return
        }
        let role = try ControlField.role(message.role)
        // A newcomer by a link that may be passed on starts at the bottom.
        guard role <= .member, (1...Self.useCountMax).contains(message.uses),
            message.expires < Limits.wallClockMax
        else { throw .malformed }
        self = .open(
            key: try ControlField.identifier(message.key), role: role, uses: message.uses,
            expires: message.expires)
    }
}

/// A person joins by an invite. Kind 11, written by any member whom they asked.
public struct Redeem: Equatable, Sendable {
    /// The operation of the invite.
    public var invite: OperationID
    /// The newcomer.
    public var newcomer: Newcomer
    /// The newcomer's device: the invite's key signed for it.
    public var device: DeviceID
    /// By the invite's key.
    public var signature: Signature
    /// What removed the newcomer before, as far as their device knew, ascending: so nobody admits a
    /// person who has left since.
    public var departures: [OperationID]
    /// By the newcomer's device: nobody else can say that they want to come.
    public var consent: Signature

    /// A redemption with these fields.
    public init(
        invite: OperationID, newcomer: Newcomer, device: DeviceID, signature: Signature,
        departures: [OperationID] = [], consent: Signature
    ) {
        self.invite = invite
        self.newcomer = newcomer
        self.device = device
        self.signature = signature
        self.departures = departures
        self.consent = consent
    }

    /// What a newcomer signs with the invite's secret key and gives to a member.
    public static func signature(
        to invite: OperationID, in space: SpaceID, for person: PersonID, _ device: DeviceID,
        with key: DeviceSigningKey
    ) -> Signature {
        key.sign(.groupRedeem, claim(invite, space, person, device))
    }

    /// Whether the invite's key signed for this person and device.
    public func isProven(in space: SpaceID, by key: DeviceID) -> Bool {
        signature.verifies(
            .groupRedeem, Self.claim(invite, space, newcomer.person, device), by: key)
    }

    /// What a newcomer's device signs and gives to a member: that its person wants to join.
    ///
    /// - Parameter departures: what took the person out before, as far as the device knows, ascending.
    public static func consent(
        to invite: OperationID, in space: SpaceID, for person: PersonID,
        after departures: [OperationID] = [], with key: DeviceSigningKey
    ) -> Signature {
        key.sign(.groupConsent, wish(invite, space, person, departures))
    }

    /// Whether the newcomer's device signed that its person wants to come.
    public func isWanted(in space: SpaceID) -> Bool {
        consent.verifies(
            .groupConsent, Self.wish(invite, space, newcomer.person, departures), by: device)
    }

    private static func wish(
        _ invite: OperationID, _ space: SpaceID, _ person: PersonID, _ departures: [OperationID]
    ) -> [UInt8] {
        space.bytes + invite.bytes + person.bytes + departures.flatMap(\.bytes)
    }

    private static func claim(
        _ invite: OperationID, _ space: SpaceID, _ person: PersonID, _ device: DeviceID
    ) -> [UInt8] {
        space.bytes + invite.bytes + person.bytes + device.bytes
    }

    /// The operation that this is, yet to be written.
    public func draft() -> Draft {
        var payload = PayloadRedeem()
        payload.invite = field(invite.bytes)
        payload.person = field(newcomer.person.bytes)
        payload.identity = newcomer.identity.map { field($0) }
        payload.name = newcomer.name
        payload.prekeys = newcomer.prekeys.map { field($0.bytes) }
        payload.horizon = newcomer.horizon.message
        payload.device = field(device.bytes)
        payload.signature = field(signature.bytes)
        payload.departures = departures.map { field($0.bytes) }
        payload.consent = field(consent.bytes)
        return .control(.redeem, payload)
    }

    /// Reads a payload.
    public init(payload: [UInt8]) throws(ControlRejection) {
        let message = try Payload.control(PayloadRedeem.self, payload)
        invite = try ControlField.identifier(message.invite)
        newcomer = Newcomer(
            person: try ControlField.identifier(message.person),
            name: try ControlField.name(message.name),
            identity: try ControlField.identity(message.identity),
            prekeys: try ControlField.prekeys(message.prekeys),
            horizon: try Horizon(message.horizon))
        device = try ControlField.identifier(message.device)
        guard let signature = Signature(fieldBytes(message.signature)),
            let consent = Signature(fieldBytes(message.consent))
        else { throw .malformed }
        self.signature = signature
        self.consent = consent
        departures = try ControlField.departures(message.departures)
    }
}
