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
/// The initiator shows its identity only to the device that it called. Any failure closes the link
/// permanently: every later call throws the same rejection. The value is moved, never copied: two
/// copies would seal different bytes under one nonce.
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
    private let judge: HelloJudge?
    /// The responder's, until the handshake begins.
    private var ephemeral: DeviceNoiseKey?
    private var phase: Phase
    private var input = StreamBuffer()
    /// What the handshake led to and was not handed out yet: two events at most.
    private var events: Queue<LinkEvent> = []

    /// The hash of the handshake: 64 bytes, equal on both sides of this link and on no other.
    /// Empty until the handshake is over.
    public private(set) var handshakeHash: [UInt8] = []
    /// The peer, once its identity is proven.
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
        judge = nil
        let opening: [UInt8] = [Self.pattern, Self.version, Self.version]
        phase = .idle(
            HandshakeState(
                .xk, isInitiator: true, prologue: Self.prologue(opening, network),
                localStatic: credentials.noiseKey, ephemeral: .generate(using: &random),
                remoteStatic: key))
    }

    /// A link from an unknown caller.
    ///
    /// - Parameter judge: asked before what the caller shows of itself is proven.
    public init(
        responder credentials: LinkCredentials, network: NetworkID, judge: HelloJudge? = nil,
        using random: inout some RandomNumberGenerator
    ) {
        self.judge = judge
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

    /// Takes bytes of the stream, cut anywhere, and returns the resulting events.
    ///
    /// - Throws: why the link is closed. Earlier events stay valid; no more follow.
    public mutating func receive(_ bytes: [UInt8]) throws(LinkRejection) -> [LinkEvent] {
        try receive(bytes[...])
    }

    /// Takes a slice of the stream. See ``receive(_:)-([UInt8])``.
    public mutating func receive(_ bytes: ArraySlice<UInt8>) throws(LinkRejection) -> [LinkEvent] {
        var rest = bytes
        var events: [LinkEvent] = []
        while let event = try next(&rest) { events.append(event) }
        return events
    }

    /// Takes as much of the stream as one event needs, and leaves the rest: so its owner decides
    /// how many frames it has at a time, however many were received.
    ///
    /// - Returns: the event, or nil if everything was taken and more bytes are needed.
    /// - Throws: why the link is closed. Earlier events stay valid; no more follow.
    public mutating func next(
        _ rest: inout ArraySlice<UInt8>
    ) throws(LinkRejection) -> LinkEvent? {
        if case .closed(let rejection) = phase { throw rejection }
        do throws(LinkRejection) {
            while true {
                if let event = events.popFirst() { return event }
                if let frame = try nextFrame() { return .frame(frame) }
                if case .awaitingOpening = phase {
                    try readOpening(&rest)
                    if case .awaitingOpening = phase { return nil }
                }
                guard let message = try input.next(&rest, atMost: messageByteCountMax) else {
                    return nil
                }
                try take(message)
            }
        } catch {
            close(error)
            throw error
        }
    }

    /// The next frame of the record that was opened last.
    private mutating func nextFrame() throws(LinkRejection) -> [UInt8]? {
        guard case .open(var records) = phase, records.hasContent else { return nil }
        phase = .closed(.undecipherable)  // Moved out, so that nothing is copied.
        let frame = try records.nextFrame()
        phase = .open(records)
        return frame
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

    /// How long the next message may be: known before any of it is buffered.
    private var messageByteCountMax: Int {
        switch phase {
        case .shaking(let handshake):
            handshake.expectsLast
                ? 64 + LinkHello.byteCountMax : Self.openingByteCount
        case .idle, .awaitingOpening, .awaitingHello, .open, .closed: SealedRecords.byteCountMax
        }
    }

    private mutating func take(_ message: ArraySlice<UInt8>) throws(LinkRejection) {
        switch phase {
        case .idle, .awaitingOpening: throw .malformedHandshake
        case .closed(let rejection): throw rejection
        case .shaking(let handshake): try shake(handshake, message)
        case .awaitingHello(let records, let key): try greet(records, key, message)
        case .open(var records):
            phase = .closed(.undecipherable)  // Moved out, so that nothing is copied.
            try records.open(message)
            phase = .open(records)
        }
    }

    private mutating func shake(
        _ state: HandshakeState, _ message: ArraySlice<UInt8>
    ) throws(LinkRejection) {
        var state = state
        let isLast = state.expectsLast
        let payload = try Self.rejecting { () throws(HandshakeFailure) in try state.read(message) }
        if isLast { return try finish(state, payload) }
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
        _ state: HandshakeState, _ hello: [UInt8]
    ) throws(LinkRejection) {
        guard let key = state.remoteStatic else {
            preconditionFailure("the last message shows the initiator's key")
        }
        let peer = try peer(hello[...], key)
        handshakeHash = state.hash
        var records = SealedRecords(state.split())
        events.append(.send(records.seal([LinkHello(credentials).encoded])))
        admit(peer, records)
    }

    private mutating func greet(
        _ state: SealedRecords, _ key: NoiseKey, _ message: ArraySlice<UInt8>
    ) throws(LinkRejection) {
        var records = state
        try records.open(message)
        guard let hello = try records.nextFrame(upTo: LinkHello.byteCountMax),
            try records.nextFrame(upTo: LinkHello.byteCountMax) == nil
        else { throw .malformedHello }
        let peer = try peer(hello[...], key)
        if let expected, peer.device != expected { throw .otherDevice }
        admit(peer, records)
    }

    private mutating func admit(_ peer: AuthenticatedPeer, _ records: SealedRecords) {
        self.peer = peer
        phase = .open(records)
        events.append(.authenticated(peer))
    }

    private mutating func close(_ rejection: LinkRejection) {
        phase = .closed(rejection)
        input = StreamBuffer()
        events = []
    }

    private func peer(
        _ bytes: ArraySlice<UInt8>, _ key: NoiseKey
    ) throws(LinkRejection) -> AuthenticatedPeer {
        let hello: LinkHello
        do throws(DecodingFailure) { hello = try LinkHello(bytes) } catch { throw .malformedHello }
        return try hello.authenticate(key, judge)
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

    /// The first bytes of a caller.
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
