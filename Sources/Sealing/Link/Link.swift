public import ParleyWire

/// One encrypted connection between two devices, as a value: bytes of the stream in, frames and
/// bytes to send out. It knows no socket and no clock.
///
/// ```
/// initiator                                     responder
///   1 minVersion maxVersion, e, es        →
///                                         ←     e, ee
///   s, se, hello                          →     checks the initiator
///   checks the responder                  ←     first record: hello
///   records of frames                     ⇄     records of frames
/// ```
///
/// The initiator shows who it is to the device that it called and to nobody else. Anything that
/// does not hold closes the link for good: every later call throws the same rejection. The value
/// is moved, never copied: two copies would seal different bytes under one nonce.
/// Source: `Protocol/04-links.md`.
public struct Link: Sendable {
    private enum Phase {
        /// Nothing was sent. Only an initiator is here.
        case idle(HandshakeState)
        /// The initiator's first three bytes are due.
        case awaitingOpening
        /// A message of the handshake is due.
        case shaking(HandshakeState)
        /// The responder's hello is due, as the first record.
        case awaitingHello(SealedRecords, NoiseKey)
        case open(SealedRecords)
        case closed(LinkRejection)
    }

    /// The pattern byte of this link's handshake: XK.
    static let pattern: UInt8 = 1
    /// The version of this protocol.
    static let version: UInt8 = 1
    /// Ephemeral key and tag: the first two messages, whose payloads are empty.
    private static let openingByteCount = 48

    private let credentials: LinkCredentials
    private let network: NetworkID
    private let expected: DeviceID?
    private let isInitiator: Bool
    /// The responder's, until the handshake begins.
    private var ephemeral: DeviceNoiseKey?
    private var phase: Phase
    private var input = StreamBuffer()

    /// The hash of the handshake: 64 bytes, equal on both sides of this link and on no other.
    /// Empty until the handshake is over.
    public private(set) var handshakeHash: [UInt8] = []
    /// Who is at the other end, once that is proven.
    public private(set) var peer: AuthenticatedPeer?

    /// A link to the device with this key, which we call.
    ///
    /// - Parameter device: refuses any other device of the same key's person, if given.
    public init(
        initiatorTo key: NoiseKey, expecting device: DeviceID?, credentials: LinkCredentials,
        network: NetworkID, using random: inout some RandomNumberGenerator
    ) {
        self.credentials = credentials
        self.network = network
        expected = device
        isInitiator = true
        let opening: [UInt8] = [Self.pattern, Self.version, Self.version]
        phase = .idle(
            HandshakeState(
                .xk, isInitiator: true, prologue: Self.prologue(opening, network),
                localStatic: credentials.noiseKey, ephemeral: .generate(using: &random),
                remoteStatic: key))
    }

    /// A link from whoever calls us.
    public init(
        responder credentials: LinkCredentials, network: NetworkID,
        using random: inout some RandomNumberGenerator
    ) {
        self.credentials = credentials
        self.network = network
        expected = nil
        isInitiator = false
        ephemeral = .generate(using: &random)
        phase = .awaitingOpening
    }

    /// Whether frames may be sealed.
    public var isAuthenticated: Bool { if case .open = phase { true } else { false } }

    /// Why the link is closed, or nil while it is not.
    public var rejection: LinkRejection? {
        if case .closed(let rejection) = phase { rejection } else { nil }
    }

    /// The first bytes to send: the initiator's. A responder has none, and waits.
    public mutating func start() -> [UInt8] {
        guard case .idle(var handshake) = phase else { return [] }
        do throws(LinkRejection) {
            let first = try Self.opening(Self.pattern, &handshake)
            phase = .shaking(handshake)
            return first
        } catch {
            // The key that we were told to call is of small order: nobody can answer.
            close(error)
            return []
        }
    }

    /// Takes bytes of the stream, cut anywhere, and says what follows from them.
    ///
    /// - Throws: why the link is closed. What was taken before stays taken; nothing more is.
    public mutating func receive(_ bytes: [UInt8]) throws(LinkRejection) -> [LinkEvent] {
        try receive(bytes[...])
    }

    /// Takes a slice of the stream. See ``receive(_:)-([UInt8])``.
    public mutating func receive(_ bytes: ArraySlice<UInt8>) throws(LinkRejection) -> [LinkEvent] {
        if case .closed(let rejection) = phase { throw rejection }
        var rest = bytes
        var events: [LinkEvent] = []
        do throws(LinkRejection) {
            if case .awaitingOpening = phase { try readOpening(&rest) }
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

    /// Seals frames as one batch, in this order. Empty unless the link is open.
    public mutating func seal(_ frames: [[UInt8]]) -> [UInt8] {
        guard case .open(var records) = phase, !frames.isEmpty else { return [] }
        phase = .closed(.undecipherable)  // Moved out, so that nothing is copied.
        defer { phase = .open(records) }
        return records.seal(frames)
    }

    /// A record that tells the peer of a new key for what we send, which is then in use. For the
    /// driver to call every ten minutes; a count of records is kept without it.
    public mutating func rekey() -> [UInt8] {
        guard case .open(var records) = phase else { return [] }
        defer { phase = .open(records) }
        return records.rekey()
    }

    // MARK: Handshake

    private mutating func readOpening(_ rest: inout ArraySlice<UInt8>) throws(LinkRejection) {
        guard let opening = try input.opening(Self.pattern, &rest) else { return }
        guard let ephemeral else { preconditionFailure("a responder has its ephemeral key") }
        self.ephemeral = nil
        phase = .shaking(
            HandshakeState(
                .xk, isInitiator: false, prologue: Self.prologue(opening, network),
                localStatic: credentials.noiseKey, ephemeral: ephemeral))
    }

    /// How long the next message may be: known before any of it is kept.
    private var messageByteCountMax: Int {
        switch phase {
        case .shaking(let handshake):
            handshake.expectsLast
                ? 64 + LinkHello.byteCountMax : Self.openingByteCount
        case .idle, .awaitingOpening, .awaitingHello, .open, .closed: SealedRecords.byteCountMax
        }
    }

    private mutating func take(
        _ message: ArraySlice<UInt8>, _ events: inout [LinkEvent]
    ) throws(LinkRejection) {
        switch phase {
        case .idle, .awaitingOpening: throw .malformedHandshake
        case .closed(let rejection): throw rejection
        case .shaking(let handshake): try shake(handshake, message, &events)
        case .awaitingHello(let records, let key): try greet(records, key, message, &events)
        case .open(var records):
            phase = .closed(.undecipherable)  // Moved out, so that nothing is copied.
            try records.open(message) { events.append(.frame($0)) }
            phase = .open(records)
        }
    }

    private mutating func shake(
        _ state: HandshakeState, _ message: ArraySlice<UInt8>, _ events: inout [LinkEvent]
    ) throws(LinkRejection) {
        var state = state
        let isLast = state.expectsLast
        let payload = try Self.rejecting { () throws(HandshakeFailure) in try state.read(message) }
        if isLast { return try finish(state, payload, &events) }
        guard payload.isEmpty else { throw .malformedHandshake }
        let reply = isInitiator ? LinkHello(credentials).encoded : []
        let answer = try Self.rejecting { () throws(HandshakeFailure) in try state.write(reply) }
        events.append(.send(Self.framed(answer)))
        guard isInitiator, let key = state.remoteStatic else {
            phase = .shaking(state)
            return
        }
        handshakeHash = state.hash
        phase = .awaitingHello(SealedRecords(state.split()), key)
    }

    /// The responder has read the last message: it knows who calls, and shows itself.
    private mutating func finish(
        _ state: HandshakeState, _ hello: [UInt8], _ events: inout [LinkEvent]
    ) throws(LinkRejection) {
        guard let key = state.remoteStatic else {
            preconditionFailure("the last message shows the initiator's key")
        }
        let peer = try Self.peer(hello[...], key)
        handshakeHash = state.hash
        var records = SealedRecords(state.split())
        events.append(.send(records.seal([LinkHello(credentials).encoded])))
        admit(peer, records, &events)
    }

    private mutating func greet(
        _ state: SealedRecords, _ key: NoiseKey, _ message: ArraySlice<UInt8>,
        _ events: inout [LinkEvent]
    ) throws(LinkRejection) {
        var records = state
        var frames: [[UInt8]] = []
        try records.open(message, frameByteCountMax: LinkHello.byteCountMax) { frames.append($0) }
        guard let hello = frames.first, frames.count == 1 else { throw .malformedHello }
        let peer = try Self.peer(hello[...], key)
        if let expected, peer.device != expected { throw .otherDevice }
        admit(peer, records, &events)
    }

    private mutating func admit(
        _ peer: AuthenticatedPeer, _ records: SealedRecords, _ events: inout [LinkEvent]
    ) {
        self.peer = peer
        phase = .open(records)
        events.append(.authenticated(peer))
    }

    private mutating func close(_ rejection: LinkRejection) {
        phase = .closed(rejection)
        input = StreamBuffer()
    }

    private static func peer(
        _ bytes: ArraySlice<UInt8>, _ key: NoiseKey
    ) throws(LinkRejection) -> AuthenticatedPeer {
        let hello: LinkHello
        do throws(DecodingFailure) { hello = try LinkHello(bytes) } catch { throw .malformedHello }
        return try hello.authenticate(key)
    }

    static func rejecting<R>(
        _ step: () throws(HandshakeFailure) -> R
    ) throws(LinkRejection) -> R {
        do throws(HandshakeFailure) { return try step() } catch { throw LinkRejection(error) }
    }

    /// `"lp1/noise" ‖ opening ‖ network`: a handshake whose opening was altered on the way, or of
    /// another network, fails at its first tag.
    static func prologue(_ opening: [UInt8], _ network: NetworkID) -> [UInt8] {
        Array("lp1/noise".utf8) + opening + network.bytes
    }

    /// The first bytes of who calls.
    static func opening(
        _ pattern: UInt8, _ handshake: inout HandshakeState
    ) throws(LinkRejection) -> [UInt8] {
        let message: [UInt8]
        do throws(HandshakeFailure) { message = try handshake.write([]) } catch {
            throw LinkRejection(error)
        }
        return [pattern, version, version] + framed(message)
    }

    static func framed(_ message: [UInt8]) -> [UInt8] {
        [UInt8(message.count >> 8), UInt8(truncatingIfNeeded: message.count)] + message
    }
}

extension LinkRejection {
    fileprivate init(_ failure: HandshakeFailure) {
        switch failure {
        case .truncated: self = .malformedHandshake
        case .weakKey: self = .weakKey
        case .undecipherable: self = .undecipherable
        }
    }
}
