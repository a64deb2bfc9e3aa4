import ParleyWire

/// Why a handshake message is refused.
enum HandshakeFailure: Error, Equatable {
    /// The message is shorter than its keys.
    case truncated
    /// A public key of small order: the shared secret would be known to everybody.
    case weakKey
    /// Not sealed by who it should be, or not for us, or altered.
    case undecipherable
}

/// Noise's HandshakeState: writes and reads the messages of one pattern, one after the other.
/// Source: Noise specification, revision 34, section 5.3.
struct HandshakeState {
    private let pattern: HandshakePattern
    private let isInitiator: Bool
    private var symmetric: SymmetricState
    private let localStatic: DeviceNoiseKey?
    private let localEphemeral: DeviceNoiseKey
    private(set) var remoteStatic: NoiseKey?
    private var remoteEphemeral: NoiseKey?
    private let sharedKey: Secret?
    private var next = 0

    /// The hash of the whole handshake, equal on both sides and in no other handshake.
    var hash: [UInt8] { symmetric.hash }
    /// Whether every message was written or read.
    var isComplete: Bool { next == pattern.messages.count }

    /// Whether only the last message is missing.
    var expectsLast: Bool { next == pattern.messages.count - 1 }

    /// - Parameters:
    ///   - ephemeral: a key that is used for this handshake and never again.
    ///   - remoteStatic: for an initiator of a pattern that knows the responder.
    init(
        _ pattern: HandshakePattern, isInitiator: Bool, prologue: [UInt8],
        localStatic: DeviceNoiseKey?, ephemeral: DeviceNoiseKey, remoteStatic: NoiseKey? = nil,
        sharedKey: Secret? = nil
    ) {
        precondition((sharedKey != nil) == pattern.usesSharedKey, "a psk pattern needs its key")
        self.pattern = pattern
        self.isInitiator = isInitiator
        self.localStatic = localStatic
        localEphemeral = ephemeral
        self.remoteStatic = remoteStatic
        self.sharedKey = sharedKey
        symmetric = SymmetricState(protocolName: pattern.name)
        symmetric.mixHash(prologue)
        guard pattern.knowsResponder else { return }
        guard let known = isInitiator ? remoteStatic : localStatic?.publicKey else {
            preconditionFailure("this pattern needs the responder's static key")
        }
        symmetric.mixHash(known.bytes)
    }

    /// The next message, which is ours to write.
    mutating func write(_ payload: [UInt8]) throws(HandshakeFailure) -> [UInt8] {
        var message: [UInt8] = []
        for token in take(isOurs: true) {
            switch token {
            case .e:
                message += localEphemeral.publicKey.bytes
                mixEphemeral(localEphemeral.publicKey)
            case .s:
                guard let localStatic else {
                    preconditionFailure("this pattern needs our static key")
                }
                message += symmetric.encryptAndHash(localStatic.publicKey.bytes)
            case .ee, .es, .se, .ss, .psk: try mix(token)
            }
        }
        return message + symmetric.encryptAndHash(payload)
    }

    /// The payload of the next message, which is theirs.
    mutating func read(_ message: ArraySlice<UInt8>) throws(HandshakeFailure) -> [UInt8] {
        var rest = message
        for token in take(isOurs: false) {
            switch token {
            case .e:
                guard let key = NoiseKey(rest.prefix(32)) else { throw .truncated }
                rest = rest.dropFirst(32)
                remoteEphemeral = key
                mixEphemeral(key)
            case .s:
                let count = symmetric.cipher == nil ? 32 : 48
                guard rest.count >= count else { throw .truncated }
                guard let bytes = symmetric.decryptAndHash(rest.prefix(count)) else {
                    throw .undecipherable
                }
                remoteStatic = NoiseKey(bytes)
                rest = rest.dropFirst(count)
            case .ee, .es, .se, .ss, .psk: try mix(token)
            }
        }
        guard let payload = symmetric.decryptAndHash(rest) else { throw .undecipherable }
        return payload
    }

    /// The transport keys: ours to send with, and theirs.
    func split() -> (sending: CipherState, receiving: CipherState) {
        precondition(isComplete, "a handshake is split when it is over")
        let (first, second) = symmetric.split()
        return isInitiator ? (first, second) : (second, first)
    }

    private mutating func take(isOurs: Bool) -> [HandshakePattern.Token] {
        precondition(!isComplete, "a handshake has no more messages than its pattern")
        precondition(isOurs == (isInitiator == next.isMultiple(of: 2)), "sides take turns")
        defer { next += 1 }
        return pattern.messages[next]
    }

    private mutating func mixEphemeral(_ key: NoiseKey) {
        symmetric.mixHash(key.bytes)
        if pattern.usesSharedKey { symmetric.mixKey(key.bytes) }
    }

    private mutating func mix(_ token: HandshakePattern.Token) throws(HandshakeFailure) {
        switch token {
        case .ee: try agree(localEphemeral, remoteEphemeral)
        case .es:
            try isInitiator
                ? agree(localEphemeral, remoteStatic) : agree(localStatic, remoteEphemeral)
        case .se:
            try isInitiator
                ? agree(localStatic, remoteEphemeral) : agree(localEphemeral, remoteStatic)
        case .ss: try agree(localStatic, remoteStatic)
        case .psk:
            guard let sharedKey else { preconditionFailure("a psk pattern needs its key") }
            symmetric.mixKeyAndHash(sharedKey)
        case .e, .s: preconditionFailure("keys are written and read, not mixed")
        }
    }

    private mutating func agree(
        _ ours: DeviceNoiseKey?, _ theirs: NoiseKey?
    ) throws(HandshakeFailure) {
        guard let ours, let theirs else {
            preconditionFailure("a pattern mixes keys only after they were exchanged")
        }
        guard let shared = ours.agree(with: theirs) else { throw .weakKey }
        symmetric.mixKey(shared)
    }
}
