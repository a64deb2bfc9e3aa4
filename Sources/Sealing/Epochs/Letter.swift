public import ParleyWire

/// Bytes for one device alone, in transit through its inbox on a relay: sealed to a prekey of the
/// device and signed by the author, whom nobody else sees.
///
/// ```
/// letter    = u8 1 ‖ ephemeral[32] ‖ ChaCha20-Poly1305(k, nonce 0, ad = ephemeral ‖ inbox, inner)
/// k         = KDF(X25519(ephemeral's scalar, prekey), "lp1/inbox", ephemeral ‖ prekey)
/// inner     = sender[32] ‖ u16 length ‖ content ‖ signature[64] ‖ zeros
/// signature = SIG(sender, "lp1/inboxsig", ephemeral ‖ prekey ‖ inbox ‖ H("lp1/env", content))
/// ```
/// One that is passed on and kept nowhere begins with 2, and has "lp1/pass" and "lp1/passsig" in the
/// places of these two: so a relay can make neither of the other.
/// Source: `Protocol/09-epochs.md`, "Letters".
public enum Letter {
    /// What becomes of a letter on a relay. Its code is the letter's first byte.
    public enum Form: UInt8, CaseIterable, Sendable {
        /// It waits in the inbox until the device has read it.
        case kept = 1
        /// It goes to the device if that is connected now, and is forgotten.
        case passing = 2

        var sealing: Label { self == .kept ? .letter : .passingLetter }
        var signing: Label { self == .kept ? .letterSignature : .passingSignature }
    }

    private static let frameByteCount = 1 + 32 + ChaCha.tagByteCount
    private static let innerByteCount = 32 + 2 + SignatureBytes.byteCount
    /// The most content that fits the largest letter.
    public static let contentByteCountMax =
        Limits.envelopeByteCountMax - frameByteCount - innerByteCount

    /// A letter; nil where the prekey is of small order, so that it would be shut to nobody.
    public static func seal(
        _ content: [UInt8], as form: Form = .kept, to prekey: LeafKey, inbox: MailboxID,
        by sender: DeviceSigningKey, using random: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        precondition(content.count <= contentByteCountMax, "content must fit a letter")
        let ephemeral = PrivateLeaf.generate(using: &random)
        guard let shared = ephemeral.agree(with: prekey) else { return nil }
        let public32 = ephemeral.publicKey.bytes
        var writer = ByteWriter(capacity: 2 * (content.count + innerByteCount))
        writer.identifier(sender.device)
        writer.uint16(UInt16(content.count))
        writer.raw(content)
        writer.raw(
            sender.sign(form.signing, signed(content, public32, prekey, inbox)).bytes)
        var size = Limits.smallestEnvelopeByteCount
        while size < writer.bytes.count + frameByteCount { size *= 2 }
        writer.raw([UInt8](repeating: 0, count: size - writer.bytes.count - frameByteCount))
        return [form.rawValue] + public32
            + ChaCha.seal(
                writer.bytes, key: key(shared, public32, prekey, form), nonce: nonce,
                authenticating: public32 + inbox.bytes)
    }

    /// The content and the author of a letter.
    ///
    /// - Parameters:
    ///   - form: the form in which it came.
    ///   - inbox: where it lay.
    ///   - prekeys: those that the device still has.
    public static func open(
        _ bytes: [UInt8], as form: Form = .kept, in inbox: MailboxID,
        with prekeys: [PrivateLeaf]
    ) throws(EnvelopeRejection) -> (sender: DeviceID, content: [UInt8]) {
        var triedCount = 0
        return try open(bytes, as: form, in: inbox, with: prekeys, tried: &triedCount)
    }

    /// As above.
    ///
    /// - Parameter triedCount: grows by one for each prekey that was tried, whatever came of it.
    public static func open(
        _ bytes: [UInt8], as form: Form = .kept, in inbox: MailboxID,
        with prekeys: [PrivateLeaf], tried triedCount: inout Int
    ) throws(EnvelopeRejection) -> (sender: DeviceID, content: [UInt8]) {
        guard isSize(bytes.count), bytes.first == form.rawValue,
            let ephemeral = LeafKey(bytes[1..<33])
        else { throw .malformed }
        for prekey in prekeys {
            triedCount += 1
            guard let shared = prekey.agree(with: ephemeral),
                let inner = ChaCha.open(
                    bytes[33...], key: key(shared, ephemeral.bytes, prekey.publicKey, form),
                    nonce: nonce, authenticating: ephemeral.bytes + inbox.bytes)
            else { continue }
            return try read(inner, as: form, ephemeral, prekey.publicKey, inbox)
        }
        throw .foreign
    }

    /// Whether a letter can have so many bytes: other lengths would tell letters apart.
    private static func isSize(_ byteCount: Int) -> Bool {
        let steps = byteCount / Limits.smallestEnvelopeByteCount
        return byteCount % Limits.smallestEnvelopeByteCount == 0 && steps > 0
            && steps & (steps - 1) == 0 && byteCount <= Limits.envelopeByteCountMax
    }

    private static func read(
        _ inner: [UInt8], as form: Form, _ ephemeral: LeafKey, _ prekey: LeafKey, _ inbox: MailboxID
    ) throws(EnvelopeRejection) -> (sender: DeviceID, content: [UInt8]) {
        var reader = ByteReader(inner)
        let sender: DeviceID
        let content: [UInt8]
        let signature: Signature?
        do {
            sender = try reader.identifier()
            content = Array(try reader.slice(Int(try reader.uint16())))
            signature = Signature(try reader.slice(SignatureBytes.byteCount))
        } catch {
            throw .malformed
        }
        guard reader.rest().allSatisfy({ $0 == 0 }) else { throw .malformed }
        guard let signature,
            signature.verifies(
                form.signing, signed(content, ephemeral.bytes, prekey, inbox), by: sender)
        else { throw .badSignature }
        return (sender, content)
    }

    /// A key is used once: every letter has an ephemeral key of its own.
    private static let nonce = [UInt8](repeating: 0, count: ChaCha.nonceByteCount)

    private static func key(
        _ shared: WipedBytes, _ ephemeral: [UInt8], _ prekey: LeafKey, _ form: Form
    ) -> WipedBytes {
        deriveWiped(key: shared, form.sealing, context: ephemeral + prekey.bytes)
    }

    private static func signed(
        _ content: [UInt8], _ ephemeral: [UInt8], _ prekey: LeafKey, _ inbox: MailboxID
    ) -> [UInt8] {
        let hash: Digest = digest(.envelope, content)
        return ephemeral + prekey.bytes + inbox.bytes + hash.bytes
    }
}
