public import ParleyWire

/// Why an envelope is not opened. It costs a round of reconciliation, never a message.
public enum EnvelopeRejection: Error, Equatable, Sendable {
    /// Not of a size or a shape that an envelope has.
    case malformed
    /// Not sealed under this epoch's key for this mailbox.
    case foreign
    /// The sender's chain gives no key for its step.
    case chain(ChainRefusal)
    /// Not sealed under the sender's key for this step.
    case brokenSeal
    /// Another than the sender made it: every member knows every chain.
    case badSignature
}

/// Where an envelope lies: it opens nowhere else.
public struct EnvelopePlace: Hashable, Sendable {
    /// The space.
    public let space: SpaceID
    /// The operation of the epoch that it is sealed under.
    public let epoch: OperationID
    /// The mailbox.
    public let mailbox: MailboxID

    /// A place with these names.
    public init(space: SpaceID, epoch: OperationID, mailbox: MailboxID) {
        self.space = space
        self.epoch = epoch
        self.mailbox = mailbox
    }

    /// What the inner layer and the signature are bound to.
    func bound(to device: DeviceID, step: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: 132)
        writer.identifier(space)
        writer.identifier(epoch)
        writer.identifier(device)
        writer.uint32(step)
        writer.identifier(mailbox)
        return writer.bytes
    }
}

/// Bytes for all devices of an epoch, on their way through a relay that can open nothing.
///
/// The outer layer hides who sent it and how long it is from everybody outside the epoch. The
/// inner one is sealed under a key of the sender's chain that both ends erase, and signed: so it
/// stays shut when keys are stolen later, and no member can speak for another.
/// Source: `Protocol/09-epochs.md`, "Envelopes".
public struct Envelope: Sendable {
    /// The most content that fits the largest envelope.
    public static let contentByteCountMax =
        Limits.envelopeByteCountMax - outerByteCount - innerByteCount - SignatureBytes.byteCount

    /// The first byte: the kind of a relay's blob that is sealed under an epoch.
    static let kind: UInt8 = 2
    /// Stands where the step stands in what takes none.
    static let noStep = UInt32.max
    /// Kind, nonce and tag.
    static let outerByteCount = 1 + XChaCha.nonceByteCount + XChaCha.tagByteCount
    /// Sender, step, nonce, length and tag.
    static let innerByteCount = 8 + 4 + XChaCha.nonceByteCount + 2 + XChaCha.tagByteCount

    /// The first eight bytes of the sender's name.
    public let sender: UInt64
    /// Whether it may be forgotten, and took no step of a chain.
    public var isVolatile: Bool { step == Self.noStep }
    /// The step of the sender's chain.
    let step: UInt32
    /// The nonce of the inner seal: 24 bytes that follow from the plaintext and the key of the step.
    public let nonce: [UInt8]
    let ciphertext: [UInt8]
    let place: EnvelopePlace

    // MARK: Sealing

    /// An envelope under the next step of the sender's chain, which moves on. The chain must be
    /// stored before the envelope leaves.
    ///
    /// - Throws: ``EnvelopeRejection/chain(_:)`` once the chain has no step left.
    public static func seal(
        _ content: [UInt8], at place: EnvelopePlace, chain: inout Chain, keys: EpochKeys,
        by sender: DeviceSigningKey, using random: inout some RandomNumberGenerator
    ) throws(EnvelopeRejection) -> [UInt8] {
        let step = chain.step
        let bound = place.bound(to: sender.device, step: step)
        let plaintext = signed(content, bound, by: sender)
        let key: WipedBytes
        do {
            key = try chain.messageKey(at: step, now: 0)
        } catch {
            throw .chain(error)
        }
        // From the content: even a copied device that repeats a step repeats no nonce for another.
        let nonce = derive(
            key: key, .messageNonce, context: plaintext, byteCount: XChaCha.nonceByteCount)
        let ciphertext = XChaCha.seal(
            plaintext, key: deriveWiped(key: key, .messageKey), nonce: nonce,
            authenticating: bound)
        chain.skip(1)
        return wrap(
            sender.device, step, nonce, ciphertext, at: place, keys: keys, using: &random)
    }

    /// An envelope of what may be forgotten: it takes no step of a chain.
    public static func sealVolatile(
        _ content: [UInt8], at place: EnvelopePlace, keys: EpochKeys, by sender: DeviceSigningKey,
        using random: inout some RandomNumberGenerator
    ) -> [UInt8] {
        let bound = place.bound(to: sender.device, step: noStep)
        let nonce = random.bytes(XChaCha.nonceByteCount)
        let ciphertext = XChaCha.seal(
            signed(content, bound, by: sender), key: keys.volatileKey, nonce: nonce,
            authenticating: bound)
        return wrap(
            sender.device, noStep, nonce, ciphertext, at: place, keys: keys, using: &random)
    }

    private static func signed(
        _ content: [UInt8], _ bound: [UInt8], by sender: DeviceSigningKey
    ) -> [UInt8] {
        precondition(content.count <= contentByteCountMax, "content must fit an envelope")
        let hash: Digest = digest(.envelope, content)
        return content + sender.sign(.envelopeSignature, bound + hash.bytes).bytes
    }

    private static func wrap(
        _ sender: DeviceID, _ step: UInt32, _ nonce: [UInt8], _ ciphertext: [UInt8],
        at place: EnvelopePlace, keys: EpochKeys, using random: inout some RandomNumberGenerator
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: ciphertext.count * 2)
        writer.uint64(sender.prefix)
        writer.uint32(step)
        writer.raw(nonce)
        writer.uint16(UInt16(ciphertext.count))
        writer.raw(ciphertext)
        let padded = bucket(writer.bytes.count + outerByteCount) - outerByteCount
        writer.raw([UInt8](repeating: 0, count: padded - writer.bytes.count))
        let outerNonce = random.bytes(XChaCha.nonceByteCount)
        return [kind] + outerNonce
            + XChaCha.seal(
                writer.bytes, key: keys.envelopes, nonce: outerNonce,
                authenticating: place.mailbox.bytes)
    }

    /// The size of envelope that so many bytes take.
    private static func bucket(_ byteCount: Int) -> Int {
        var size = Limits.smallestEnvelopeByteCount
        while size < byteCount { size *= 2 }
        return size
    }

    // MARK: Opening

    /// Opens the outer layer: names the claimed sender, and proves nothing yet.
    public init(
        _ bytes: [UInt8], at place: EnvelopePlace, keys: EpochKeys
    ) throws(EnvelopeRejection) {
        guard bytes.count <= Limits.envelopeByteCountMax, bytes.first == Self.kind,
            bytes.count == Self.bucket(bytes.count)
        else { throw .malformed }
        guard
            let inner = XChaCha.open(
                bytes[(1 + XChaCha.nonceByteCount)...], key: keys.envelopes,
                nonce: Array(bytes[1...XChaCha.nonceByteCount]),
                authenticating: place.mailbox.bytes)
        else { throw .foreign }
        var reader = ByteReader(inner)
        do {
            sender = try reader.uint64()
            step = try reader.uint32()
            nonce = Array(try reader.slice(XChaCha.nonceByteCount))
            ciphertext = Array(try reader.slice(Int(try reader.uint16())))
        } catch {
            throw .malformed
        }
        let used = inner.count - reader.remaining + Self.outerByteCount
        // One content has one form: the smallest size, and nothing hidden in the padding.
        guard Self.bucket(used) == bytes.count, reader.rest().allSatisfy({ $0 == 0 }) else {
            throw .malformed
        }
        self.place = place
    }

    /// The content, if this device sent it. The chain moves only once everything held.
    ///
    /// - Parameters:
    ///   - device: one whose name begins with ``sender``.
    ///   - chain: the device's, in the epoch.
    ///   - now: Unix milliseconds.
    public func open(
        from device: DeviceID, chain: inout Chain, now: UInt64
    ) throws(EnvelopeRejection) -> [UInt8] {
        let key: WipedBytes
        do {
            key = try chain.messageKey(at: step, now: now)
        } catch {
            throw .chain(error)
        }
        let content = try open(from: device, key: deriveWiped(key: key, .messageKey))
        chain.use(step, now: now)
        return content
    }

    /// How many steps a chain has to go to its key; none where it was there before.
    public func steps(ahead chain: Chain) -> UInt32 { chain.stepCount(to: step) }

    /// The content of one that may be forgotten, if this device sent it.
    public func openVolatile(
        from device: DeviceID, keys: EpochKeys
    ) throws(EnvelopeRejection) -> [UInt8] {
        guard isVolatile else { throw .malformed }
        return try open(from: device, key: keys.volatileKey)
    }

    private func open(
        from device: DeviceID, key: WipedBytes
    ) throws(EnvelopeRejection) -> [UInt8] {
        let bound = place.bound(to: device, step: step)
        guard
            let plaintext = XChaCha.open(
                ciphertext, key: key, nonce: nonce, authenticating: bound),
            plaintext.count >= Signature.byteCount
        else { throw .brokenSeal }
        let content = Array(plaintext.dropLast(Signature.byteCount))
        let hash: Digest = digest(.envelope, content)
        guard let signature = Signature(plaintext.suffix(Signature.byteCount)),
            signature.verifies(.envelopeSignature, bound + hash.bytes, by: device)
        else { throw .badSignature }
        return content
    }
}

extension EpochKeys {
    /// The key of envelopes that may be forgotten.
    var volatileKey: WipedBytes { deriveWiped(key: envelopes, .volatileEnvelope) }
}
