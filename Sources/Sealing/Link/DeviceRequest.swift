public import ParleyWire

/// The request of a device that is to be linked: its keys, with the proof that it holds them.
///
/// `device[32] ‖ proof[64] ‖ counted name ‖ counted prekey`; the key for links is the one that the
/// handshake proved.
/// Source: `Protocol/04-links.md`, "Linking a device".
public struct DeviceRequest: Hashable, Sendable {
    /// The longest request.
    static let byteCountMax =
        32 + Signature.byteCount + 2 + Limits.nameByteCountMax + 2 + PrekeyCertificate.byteCount

    /// The device.
    public let device: DeviceID
    /// Its key for links.
    public let noiseKey: NoiseKey
    /// That it holds both keys, said to this person alone.
    public let proof: Signature
    /// What the person wants it called; may be empty.
    public let name: String
    /// What epochs are sealed to before it has a leaf; without one it is sealed to later.
    public let prekey: PrekeyCertificate?

    /// A request with these fields. Whether the proof holds is seen where it is used.
    public init(
        device: DeviceID, noiseKey: NoiseKey, proof: Signature, name: String,
        prekey: PrekeyCertificate? = nil
    ) {
        self.device = device
        self.noiseKey = noiseKey
        self.proof = proof
        self.name = name
        self.prekey = prekey
    }

    init(_ bytes: [UInt8], noiseKey: NoiseKey) throws(LinkRejection) {
        do throws(DecodingFailure) {
            var reader = ByteReader(bytes)
            device = try reader.identifier()
            guard let proof = Signature(try reader.slice(Signature.byteCount)) else {
                throw .truncated
            }
            self.proof = proof
            self.noiseKey = noiseKey
            let count = try reader.count("name", atMost: Limits.nameByteCountMax)
            guard let name = String(validating: try reader.slice(count), as: UTF8.self) else {
                throw .forbidden(field: "name")
            }
            self.name = name
            let prekeyCount = try reader.count("prekey", atMost: PrekeyCertificate.byteCount)
            let prekey = Array(try reader.slice(prekeyCount))
            self.prekey = prekey.isEmpty ? nil : try PrekeyCertificate(bytes: prekey)
            try reader.finish()
        } catch { throw .malformedHello }
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 320)
        writer.identifier(device)
        writer.raw(proof.bytes)
        writer.counted(Array(name.utf8))
        writer.counted(prekey?.bytes ?? [])
        return writer.bytes
    }

    /// Whether the device holds its keys and means this person, and the prekey is its own.
    func isProven(to person: PersonID) -> Bool {
        if let prekey, prekey.device != device || !prekey.holds { return false }
        return IdentityOperation.isPossession(
            proof, to: person, by: device, noiseKey: noiseKey)
    }
}

/// The one secret by which a device may now be linked, with its rules: good for a few minutes and
/// for one device.
///
/// Kept in memory only: a restarted node waits for nobody.
/// Source: `Protocol/04-links.md`, "Linking a device".
public struct PairingDesk: Sendable {
    /// How long a secret is good, in milliseconds.
    public static let lifetime: UInt64 = 300_000

    /// A secret that is open, for one handshake.
    public struct Offer: Sendable {
        fileprivate let number: UInt64
        let sharedKey: Secret
    }

    private struct Open {
        let offer: Offer
        let expires: UInt64
        var taker: DeviceID?
    }

    private var open: Open?
    private var lastNumber: UInt64 = 0

    /// A desk at which nobody is waited for.
    public init() {}

    /// Opens a secret of 32 bytes; the one before is closed.
    ///
    /// - Returns: when it ends, on the clock that `now` is of, in milliseconds.
    public mutating func open(_ secret: [UInt8], at now: UInt64) -> UInt64 {
        lastNumber += 1
        let expires = now + Self.lifetime
        open = Open(
            offer: Offer(number: lastNumber, sharedKey: Pairing.sharedKey(secret)),
            expires: expires)
        return expires
    }

    /// Waits for nobody any more.
    public mutating func close() { open = nil }

    /// What a device that calls now may be asked for, or nil if none is expected.
    public mutating func offer(at now: UInt64) -> Offer? {
        guard let open, now < open.expires else {
            self.open = nil
            return nil
        }
        return open.offer
    }

    /// Whether the device that has proven to know the secret is the one that it is spent on. The
    /// same one may come again: the answer to it may have been lost.
    public mutating func redeem(
        _ offer: Offer, by device: DeviceID, at now: UInt64
    ) throws(LinkRejection) {
        guard let open, open.offer.number == offer.number, now < open.expires else {
            throw .nobodyAwaited
        }
        guard open.taker ?? device == device else { throw .secretSpent }
        self.open?.taker = device
    }
}
