public import ParleyWire

/// The connection by which a device becomes a person's, as a value: bytes of the stream in, bytes
/// to send and events out. It knows no socket and no clock.
///
/// ```
/// new device                                    existing device, which waits
///   3 minVersion maxVersion, e             →
///                                          ←    e, ee, s, es
///   s, se, psk, request                    →    checks secret and proof, certifies the device
///   checks that it is certified            ←    first record: card, certificate of the key for backups
/// ```
///
/// `Noise_XXpsk3_25519_ChaChaPoly_BLAKE2b`: without the one-use secret a caller can neither read
/// the request nor get an answer. As with ``Link``, any failure closes it permanently.
/// Source: `Protocol/04-links.md`, "Linking a device".
public struct Pairing: Sendable {
    private enum Phase {
        /// Nothing was sent. Only a new device is here.
        case idle(HandshakeState)
        /// The new device's first three bytes are due.
        case awaitingOpening(PairingDesk.Offer)
        /// A message of the handshake is due.
        case shaking(HandshakeState)
        /// The new device was reported: the node has yet to certify it.
        case judging(SealedRecords)
        /// The card is due, as the first record.
        case awaitingCard(SealedRecords)
        case done
        case closed(LinkRejection)
    }

    /// The pattern byte of this handshake.
    public static let pattern: UInt8 = 3
    private static let firstByteCount = 48
    private static let secondByteCount = 96

    private let person: PersonID
    private let noiseKey: DeviceNoiseKey
    private let network: NetworkID
    /// For a new device: whom it calls, and its request.
    private let calling: (key: NoiseKey, request: DeviceRequest)?
    /// Of an existing one, until the handshake begins.
    private var ephemeral: DeviceNoiseKey?
    private var phase: Phase
    private var input = StreamBuffer()

    /// A new device's call to the one that showed it the secret.
    ///
    /// - Parameters:
    ///   - key: the key for links of the device that is called.
    ///   - secret: 32 bytes, as they were shown.
    ///   - prekey: the device's own, so that epochs reach it from the first.
    public init(
        calling key: NoiseKey, of person: PersonID, secret: [UInt8], as device: DeviceSigningKey,
        noiseKey: DeviceNoiseKey, name: String, prekey: PrekeyCertificate? = nil,
        network: NetworkID, using random: inout some RandomNumberGenerator
    ) {
        self.person = person
        self.noiseKey = noiseKey
        self.network = network
        let proof = IdentityOperation.proofOfPossession(
            to: person, by: device, noiseKey: noiseKey.publicKey)
        calling = (
            key,
            DeviceRequest(
                device: device.device, noiseKey: noiseKey.publicKey, proof: proof, name: name,
                prekey: prekey)
        )
        let opening: [UInt8] = [Self.pattern, Link.version, Link.version]
        phase = .idle(
            HandshakeState(
                .xxpsk3, isInitiator: true, prologue: Link.prologue(opening, network),
                localStatic: noiseKey, ephemeral: .generate(using: &random),
                sharedKey: Self.sharedKey(secret)))
    }

    /// A call to the device that waits for one.
    ///
    /// - Parameter offer: the secret that is open, if one is; without it every call is refused.
    public init(
        awaiting offer: PairingDesk.Offer?, credentials: LinkCredentials, network: NetworkID,
        using random: inout some RandomNumberGenerator
    ) {
        person = credentials.person
        noiseKey = credentials.noiseKey
        self.network = network
        calling = nil
        ephemeral = .generate(using: &random)
        phase = offer.map { .awaitingOpening($0) } ?? .closed(.nobodyAwaited)
    }

    /// Why it is closed, or nil while it is not.
    public var rejection: LinkRejection? {
        if case .closed(let rejection) = phase { rejection } else { nil }
    }

    /// The first bytes to send: the new device's. The other one has none, and waits.
    public mutating func start() -> [UInt8] {
        guard case .idle(var handshake) = phase else { return [] }
        do throws(LinkRejection) {
            let first = try Link.opening(Self.pattern, &handshake)
            phase = .shaking(handshake)
            return first
        } catch {
            close(error)
            return []
        }
    }

    /// Takes bytes of the stream, cut anywhere, and returns the resulting events.
    ///
    /// - Throws: why it is closed. Earlier events stay valid; no more follow.
    public mutating func receive(
        _ bytes: ArraySlice<UInt8>
    ) throws(LinkRejection) -> [PairingEvent] {
        if case .closed(let rejection) = phase { throw rejection }
        var rest = bytes
        var events: [PairingEvent] = []
        do throws(LinkRejection) {
            if case .awaitingOpening(let offer) = phase { try readOpening(offer, &rest) }
            if case .awaitingOpening = phase { return events }
            while let message = try input.next(&rest, atMost: messageByteCountMax) {
                try take(message, &events)
            }
            return events
        } catch {
            close(error)
            throw error
        }
    }

    /// The person's card, for the new device that was certified, and what backups are sealed to,
    /// where that is known. Empty unless one waits for it.
    public mutating func answer(
        _ card: [UInt8], backup: BackupCertificate? = nil
    ) -> [UInt8] {
        answer(card, besides: backup.map { [$0.bytes] } ?? [])
    }

    /// The same with any frames behind the card: what a hostile device may answer.
    mutating func answer(_ card: [UInt8], besides frames: [[UInt8]]) -> [UInt8] {
        guard case .judging(var records) = phase else { return [] }
        phase = .done
        return records.seal([card] + frames)
    }

    // MARK: Handshake

    private mutating func readOpening(
        _ offer: PairingDesk.Offer, _ rest: inout ArraySlice<UInt8>
    ) throws(LinkRejection) {
        guard let opening = try input.opening(Self.pattern, &rest) else { return }
        guard let ephemeral else { preconditionFailure("who waits has its ephemeral key") }
        self.ephemeral = nil
        phase = .shaking(
            HandshakeState(
                .xxpsk3, isInitiator: false, prologue: Link.prologue(opening, network),
                localStatic: noiseKey, ephemeral: ephemeral, sharedKey: offer.sharedKey))
    }

    /// How long the next message may be: known before any of it is buffered.
    private var messageByteCountMax: Int {
        switch phase {
        case .shaking(let handshake):
            if calling != nil {
                Self.secondByteCount
            } else if handshake.expectsLast {
                64 + DeviceRequest.byteCountMax
            } else {
                Self.firstByteCount
            }
        case .idle, .awaitingOpening, .judging, .awaitingCard, .done, .closed:
            SealedRecords.byteCountMax
        }
    }

    private mutating func take(
        _ message: ArraySlice<UInt8>, _ events: inout [PairingEvent]
    ) throws(LinkRejection) {
        switch phase {
        // Nothing is due: a peer that speaks out of turn is not the intended device.
        case .idle, .awaitingOpening, .judging, .done: throw .malformedHandshake
        case .closed(let rejection): throw rejection
        case .shaking(let handshake): try shake(handshake, message, &events)
        case .awaitingCard(let records): try readCard(records, message, &events)
        }
    }

    private mutating func shake(
        _ state: HandshakeState, _ message: ArraySlice<UInt8>, _ events: inout [PairingEvent]
    ) throws(LinkRejection) {
        var state = state
        let isLast = state.expectsLast
        let payload = try Link.rejecting { () throws(HandshakeFailure) in try state.read(message) }
        if isLast { return try judge(state, payload, &events) }
        guard payload.isEmpty else { throw .malformedHandshake }
        // The secret proves nothing about the device that answers; its key does, which was shown.
        if let calling, state.remoteStatic != calling.key { throw .otherDevice }
        let reply = calling?.request.encoded ?? []
        let answer = try Link.rejecting { () throws(HandshakeFailure) in try state.write(reply) }
        events.append(.send(Link.framed(answer)))
        phase =
            calling == nil ? .shaking(state) : .awaitingCard(SealedRecords(state.split()))
    }

    /// The existing device has read the request, which only the secret's holder could seal.
    private mutating func judge(
        _ state: HandshakeState, _ payload: [UInt8], _ events: inout [PairingEvent]
    ) throws(LinkRejection) {
        guard let key = state.remoteStatic else {
            preconditionFailure("the last message shows the new device's key")
        }
        let request = try DeviceRequest(payload, noiseKey: key)
        guard request.isProven(to: person) else { throw .badProof }
        phase = .judging(SealedRecords(state.split()))
        events.append(.asked(request))
    }

    private mutating func readCard(
        _ state: SealedRecords, _ message: ArraySlice<UInt8>, _ events: inout [PairingEvent]
    ) throws(LinkRejection) {
        var records = state
        var frames: [[UInt8]] = []
        try records.open(message, frameByteCountMax: Limits.cardByteCountMax) { frames.append($0) }
        guard let bytes = frames.first, frames.count <= 2 else { throw .malformedHello }
        let (card, log) = try check(bytes)
        let backup = try frames.count == 2 ? Self.backup(frames[1], of: log.root) : nil
        phase = .done
        events.append(.accepted(card, log, backup))
    }

    /// A device that hands over another's key could open everything that this device seals: it is
    /// trusted with nothing else either.
    private static func backup(
        _ bytes: [UInt8], of root: DeviceID
    ) throws(LinkRejection) -> BackupCertificate {
        guard let backup = BackupCertificate(bytes), backup.key(of: root) != nil else {
            throw .badBackupKey
        }
        return backup
    }

    /// The card must be the person's, and name as devices both the one that was called and this.
    private func check(_ bytes: [UInt8]) throws(LinkRejection) -> (Card, IdentityLog) {
        guard let calling else { preconditionFailure("only a new device reads a card") }
        let card: Card
        do throws(DecodingFailure) { card = try Card(bytes: bytes) } catch { throw .malformedHello }
        let log: IdentityLog
        do throws(IdentityRejection) { log = try IdentityLog(operations: card.identity) } catch {
            throw .badIdentity(error)
        }
        guard log.person == person, card.person == person,
            log.devices.contains(where: { $0.noiseKey == calling.key }),
            log.certificate(of: calling.request.device)?.noiseKey == noiseKey.publicKey
        else { throw .notCertified }
        do throws(CardRejection) { return (try card.verified(by: log), log) } catch {
            throw .notCertified
        }
    }

    private mutating func close(_ rejection: LinkRejection) {
        phase = .closed(rejection)
        input = StreamBuffer()
    }

    /// The key that both mix into the handshake, from the secret that one showed the other.
    static func sharedKey(_ secret: [UInt8]) -> Secret {
        deriveSecret(key: Secret(secret), .pairing, context: [])
    }
}

/// An order or event of a ``Pairing``.
public enum PairingEvent: Sendable {
    /// These bytes go to the peer, in this order.
    case send([UInt8])
    /// A device that knows the secret and holds its keys asks to become the person's.
    case asked(DeviceRequest)
    /// This device has become the person's: their card, the identity log that says so, and what
    /// the person's backups are sealed to, signed by the root, where the other device knew that.
    case accepted(Card, IdentityLog, BackupCertificate?)
}
