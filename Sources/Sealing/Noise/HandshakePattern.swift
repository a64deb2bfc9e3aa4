/// Who sends which keys in which order. Source: Noise specification, revision 34, section 7.5.
struct HandshakePattern {
    /// A step inside a message.
    enum Token {
        case e, s, ee, es, se, ss, psk
    }

    /// The name under which the handshake is hashed.
    let name: String
    /// Whether the initiator knows the responder's static key before the first message.
    let knowsResponder: Bool
    /// The messages, the initiator's first.
    let messages: [[Token]]
    /// Whether a shared key is mixed in: then each ephemeral key is mixed in as well.
    var usesSharedKey: Bool { messages.contains { $0.contains(.psk) } }

    private init(_ name: String, knowsResponder: Bool, _ messages: [[Token]]) {
        self.name = "Noise_\(name)_25519_ChaChaPoly_BLAKE2b"
        self.knowsResponder = knowsResponder
        self.messages = messages
    }

    /// Between devices that know each other: the initiator shows itself to the right one alone.
    static let xk = HandshakePattern(
        "XK", knowsResponder: true, [[.e, .es], [.e, .ee], [.s, .se]])
    /// Between devices that share a one-use secret and nothing else.
    static let xxpsk3 = HandshakePattern(
        "XXpsk3", knowsResponder: false, [[.e], [.e, .ee, .s, .es], [.s, .se, .psk]])
    /// To a relay, which need not know who calls.
    static let nk = HandshakePattern("NK", knowsResponder: true, [[.e, .es], [.e, .ee]])
}
