public import ParleyWire

/// Where an inviter's card is on a relay, and what seals it there: both are derived from the
/// invite's secret, so holders of the invite can read it and the relay cannot.
///
/// ```
/// sealed card = u8 3 ‖ nonce[24] ‖ XChaCha20-Poly1305(k, nonce, ad = mailbox, inner)
/// k           = KDF(secret, "lp1/inv/card", relay[32])
/// inner       = u16 length ‖ card ‖ zeros
/// ```
/// The size is that of an envelope. Source: `Protocol/05-identity.md`, "Invites".
public struct InviteMailbox: Sendable {
    private static let form: UInt8 = 3
    private static let frameByteCount = 1 + XChaCha.nonceByteCount + XChaCha.tagByteCount

    /// The key that reads and writes the mailbox.
    public let key: DeviceSigningKey
    private let seal: Secret

    /// The mailbox on this relay.
    ///
    /// - Parameter secret: the invite's, of 16 bytes.
    public init(secret: [UInt8], relay: NoiseKey) {
        key = DeviceSigningKey(
            seed: deriveSecret(key: secret, .inviteMailbox, context: relay.bytes))
        seal = deriveSecret(key: secret, .inviteCard, context: relay.bytes)
    }

    /// The mailbox's name.
    public var id: MailboxID { MailboxID(drop: key.device) }

    /// A card as it lies there.
    public func sealed(
        _ card: [UInt8], using random: inout some RandomNumberGenerator
    ) -> [UInt8] {
        precondition(card.count <= Limits.cardByteCountMax, "a card has at most 16 KiB")
        var inner = ByteWriter(capacity: 2 * card.count)
        inner.uint16(UInt16(card.count))
        inner.raw(card)
        var size = Limits.smallestEnvelopeByteCount
        while size < inner.bytes.count + Self.frameByteCount { size *= 2 }
        inner.raw([UInt8](repeating: 0, count: size - inner.bytes.count - Self.frameByteCount))
        let nonce = random.bytes(XChaCha.nonceByteCount)
        return [Self.form] + nonce
            + XChaCha.seal(inner.bytes, key: seal, nonce: nonce, authenticating: id.bytes)
    }

    /// The card in the mailbox's content; nil for content not sealed by a holder of the invite.
    public func card(in bytes: [UInt8]) -> [UInt8]? {
        let start = 1 + XChaCha.nonceByteCount
        guard bytes.count > Self.frameByteCount, bytes.first == Self.form,
            let inner = XChaCha.open(
                Array(bytes[start...]), key: seal, nonce: Array(bytes[1..<start]),
                authenticating: id.bytes)
        else { return nil }
        var reader = ByteReader(inner)
        // Why it does not read helps nobody.
        guard let length = try? reader.uint16(),
            // As above.
            let card = try? reader.slice(Int(length)),
            reader.rest().allSatisfy({ $0 == 0 })
        else { return nil }
        return Array(card)
    }
}
