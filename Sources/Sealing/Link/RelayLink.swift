public import ParleyWire

/// One encrypted connection to a relay, as a value on either end: bytes of the stream in, frames
/// and bytes to send out. It knows no socket and no clock.
///
/// ```
/// client                                        relay
///   5 minVersion maxVersion, e, es         →
///                                          ←    e, ee, welcome
///   records of frames                      ⇄    records of frames
/// ```
///
/// `Noise_NK_25519_ChaChaPoly_BLAKE2b`: the relay proves its key, and learns nothing about the
/// caller. As with ``Link``, any failure closes it permanently, and the value is moved, never
/// copied.
/// Source: `Protocol/06-relay.md`, "Handshake".
public struct RelayLink: Sendable {
    private enum Phase {
        /// Nothing was sent. Only a client is here.
        case idle(HandshakeState)
        /// The client's first three bytes are due.
        case awaitingOpening(DeviceNoiseKey, ephemeral: DeviceNoiseKey)
        /// A message of the handshake is due.
        case shaking(HandshakeState)
        case open(SealedRecords)
        case closed(LinkRejection)
    }

    /// The pattern byte of this handshake.
    public static let pattern: UInt8 = 5
    private static let firstByteCount = 48
    private static let secondByteCount = 48 + RelayWelcome.byteCountMax

    private let network: NetworkID
    /// The relay's.
    private let greeting: RelayWelcome?
    private var phase: Phase
    private var input = StreamBuffer()

    /// The hash of the handshake: 64 bytes, equal on both ends and on no other connection. Empty
    /// until the handshake is over.
    public private(set) var handshakeHash: [UInt8] = []

    /// A client's call to the relay with this key.
    public init(
        callingRelay key: NoiseKey, network: NetworkID,
        using random: inout some RandomNumberGenerator
    ) {
        self.network = network
        greeting = nil
        let opening: [UInt8] = [Self.pattern, Link.version, Link.version]
        phase = .idle(
            HandshakeState(
                .nk, isInitiator: true, prologue: Link.prologue(opening, network),
                localStatic: nil, ephemeral: .generate(using: &random), remoteStatic: key))
    }

    /// A call to a relay.
    ///
    /// - Parameter welcome: the relay's description of itself, readable only with its key.
    public init(
        relay key: DeviceNoiseKey, welcome: RelayWelcome, network: NetworkID,
        using random: inout some RandomNumberGenerator
    ) {
        self.network = network
        greeting = welcome
        phase = .awaitingOpening(key, ephemeral: .generate(using: &random))
    }

    /// Whether frames may be sealed.
    public var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Why it is closed, or nil while it is not.
    public var rejection: LinkRejection? {
        if case .closed(let rejection) = phase { rejection } else { nil }
    }

    /// The first bytes to send: the client's. A relay has none, and waits.
    public mutating func start() -> [UInt8] {
        guard case .idle(var handshake) = phase else { return [] }
        do throws(LinkRejection) {
            let first = try Link.opening(Self.pattern, &handshake)
            phase = .shaking(handshake)
            return first
        } catch {
            // The key that we were told to call is of small order: nobody can answer.
            close(error)
            return []
        }
    }

    /// Takes bytes of the stream, cut anywhere, and returns the resulting events.
    ///
    /// - Throws: why it is closed. Earlier events stay valid; no more follow.
    public mutating func receive(
        _ bytes: ArraySlice<UInt8>
    ) throws(LinkRejection) -> [RelayLinkEvent] {
        if case .closed(let rejection) = phase { throw rejection }
        var rest = bytes
        var events: [RelayLinkEvent] = []
        do throws(LinkRejection) {
            if case .awaitingOpening(let key, let ephemeral) = phase {
                guard let opening = input.take(3, &rest) else { return events }
                try begin(opening, key, ephemeral)
            }
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

    /// A record that tells the other end of a new key for what we send. See ``Link/rekey()``.
    public mutating func rekey() -> [UInt8] {
        guard case .open(var records) = phase else { return [] }
        defer { phase = .open(records) }
        return records.rekey()
    }

    // MARK: Handshake

    private mutating func begin(
        _ opening: [UInt8], _ key: DeviceNoiseKey, _ ephemeral: DeviceNoiseKey
    ) throws(LinkRejection) {
        guard opening[0] == Self.pattern,
            (opening[1]...max(opening[1], opening[2])).contains(Link.version)
        else { throw .unsupported }
        phase = .shaking(
            HandshakeState(
                .nk, isInitiator: false, prologue: Link.prologue(opening, network),
                localStatic: key, ephemeral: ephemeral))
    }

    /// How long the next message may be: known before any of it is buffered.
    private var messageByteCountMax: Int {
        switch phase {
        case .shaking: greeting == nil ? Self.secondByteCount : Self.firstByteCount
        case .idle, .awaitingOpening, .open, .closed: SealedRecords.byteCountMax
        }
    }

    private mutating func take(
        _ message: ArraySlice<UInt8>, _ events: inout [RelayLinkEvent]
    ) throws(LinkRejection) {
        switch phase {
        case .idle, .awaitingOpening: throw .malformedHandshake
        case .closed(let rejection): throw rejection
        case .shaking(let handshake): try shake(handshake, message, &events)
        case .open(var records):
            phase = .closed(.undecipherable)  // Moved out, so that nothing is copied.
            try records.open(message) { events.append(.frame($0)) }
            phase = .open(records)
        }
    }

    private mutating func shake(
        _ state: HandshakeState, _ message: ArraySlice<UInt8>, _ events: inout [RelayLinkEvent]
    ) throws(LinkRejection) {
        var state = state
        let payload = try Link.rejecting { () throws(HandshakeFailure) in try state.read(message) }
        let welcome: RelayWelcome
        if let greeting {
            guard payload.isEmpty else { throw .malformedHandshake }
            let answer = try Link.rejecting { () throws(HandshakeFailure) in
                try state.write(greeting.encoded)
            }
            events.append(.send(Link.framed(answer)))
            welcome = greeting
        } else {
            do throws(DecodingFailure) {
                welcome = try RelayWelcome(bytes: payload)
            } catch {
                throw .malformedHello
            }
        }
        handshakeHash = state.hash
        phase = .open(SealedRecords(state.split()))
        events.append(.opened(welcome))
    }

    private mutating func close(_ rejection: LinkRejection) {
        phase = .closed(rejection)
        input = StreamBuffer()
    }
}

/// An order or event of a ``RelayLink``.
public enum RelayLinkEvent: Sendable {
    /// These bytes go to the other end, in this order.
    case send([UInt8])
    /// Frames may be sealed from now on; what the relay told of itself.
    case opened(RelayWelcome)
    /// A whole frame of the other end's.
    case frame([UInt8])
}
