public import ParleyWire

/// The name of a network: devices of different networks cannot shake hands.
public struct NetworkID: Hashable, Sendable {
    /// The first 16 bytes of `H("lp1/network", name)`.
    public let check: Check

    /// The network with this name.
    public init(named name: String) {
        let hash: Digest = digest(.network, Array(name.utf8))
        check = hash.check
    }

    /// The default network of a node.
    public static let main = NetworkID(named: "parley")

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.check(check)
        return writer.bytes
    }
}

/// What a device shows on a link, and the keys that prove it.
public struct LinkCredentials: Sendable {
    /// Whose device it is.
    public let person: PersonID
    /// The device.
    public let device: DeviceID
    /// The key that the device's certificate names.
    public let noiseKey: DeviceNoiseKey
    /// The identity log, causes before effects: it certifies the device.
    public let identity: [[UInt8]]
    /// Feature bits, shown to an authenticated peer alone.
    public let capabilities: UInt8

    /// Credentials with these fields.
    public init(
        person: PersonID, device: DeviceID, noiseKey: DeviceNoiseKey, identity: [[UInt8]],
        capabilities: UInt8 = 0
    ) {
        self.person = person
        self.device = device
        self.noiseKey = noiseKey
        self.identity = identity
        self.capabilities = capabilities
    }
}

/// The peer at the other end. Only a ``Link`` makes one, after the handshake and the peer's own
/// proofs were verified; whether they are known, blocked or revoked by *newer* operations is not
/// for it to decide.
public struct AuthenticatedPeer: Sendable {
    /// The person.
    public let person: PersonID
    /// The device.
    public let device: DeviceID
    /// The device's key for links.
    public let noiseKey: NoiseKey
    /// The identity log that they showed: it may know more than ours.
    public let identity: IdentityLog
    /// Feature bits; unknown ones are ignored.
    public let capabilities: UInt8

    init(
        _ certificate: DeviceCertificate, _ identity: IdentityLog, capabilities: UInt8
    ) {
        person = certificate.person
        device = certificate.device
        noiseKey = certificate.noiseKey
        self.identity = identity
        self.capabilities = capabilities
    }
}

/// Says which of these identity operations are known to be valid, before any of them is verified;
/// nil if the peer is not to be examined now.
public typealias HelloJudge = @Sendable ([[UInt8]]) -> Set<[UInt8]>?

/// What each side shows once the other is known to be the right one.
///
/// `person[32] ‖ capabilities ‖ u16 count ‖ (u16 length ‖ operation)*`.
/// Source: `Protocol/04-links.md`, "Hello".
struct LinkHello {
    /// The longest hello that is read: the longest identity log, and not more.
    static let byteCountMax = 16_384

    let person: PersonID
    let capabilities: UInt8
    let identity: [[UInt8]]

    init(_ credentials: LinkCredentials) {
        person = credentials.person
        capabilities = credentials.capabilities
        identity = credentials.identity
    }

    init(_ bytes: ArraySlice<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        person = try reader.identifier()
        capabilities = try reader.byte()
        let count = Int(try reader.uint16())
        guard count <= IdentityLog.operationCountMax else {
            throw .tooLarge(
                field: "identity", value: UInt64(count),
                limit: UInt64(IdentityLog.operationCountMax))
        }
        var identity: [[UInt8]] = []
        for _ in 0..<count {
            identity.append(Array(try reader.slice(Int(try reader.uint16()))))
        }
        try reader.finish()
        self.identity = identity
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.identifier(person)
        writer.byte(capabilities)
        writer.uint16(UInt16(identity.count))
        for operation in identity {
            writer.uint16(UInt16(operation.count))
            writer.raw(operation)
        }
        return writer.bytes
    }

    /// The peer, if their proof certifies the key that the handshake proved they hold.
    func authenticate(
        _ noiseKey: NoiseKey, _ judge: HelloJudge? = nil
    ) throws(LinkRejection) -> AuthenticatedPeer {
        var proven: Set<[UInt8]> = []
        if let judge {
            guard let known = judge(identity) else { throw .overAllowance }
            proven = known
        }
        let log: IdentityLog
        do throws(IdentityRejection) {
            log = try IdentityLog(operations: identity, proven: proven)
        } catch {
            throw .badIdentity(error)
        }
        guard log.person == person else { throw .notCertified }
        guard let certificate = log.devices.first(where: { $0.noiseKey == noiseKey }) else {
            throw .notCertified
        }
        return AuthenticatedPeer(certificate, log, capabilities: capabilities)
    }
}
