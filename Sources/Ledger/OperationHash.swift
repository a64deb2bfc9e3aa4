package import ParleySealing
public import ParleyWire

/// The hashes and signatures that tie operations together.
/// Source: `Protocol/03-operations.md`, "Hashes".
public enum OperationHash {
    /// `H("lp1/space", header ‖ commitment)` of the operation that begins the space: there is one
    /// such operation, whatever its author signs later.
    public static func space(begunBy operation: Operation) -> SpaceID {
        var hash = LabelledHash(.space)
        content(of: operation, into: &hash)
        return hash.finalize()
    }

    /// `H("lp1/log", space ‖ device ‖ lane)`.
    public static func log(space: SpaceID, device: DeviceID, lane: Lane) -> LogID {
        var hash = LabelledHash(.log)
        hash.update(space)
        hash.update(device)
        hash.update(lane.rawValue)
        return hash.finalize()
    }

    /// `H("lp1/op", previous ‖ header ‖ commitment)`.
    public static func operation(_ operation: Operation, after previous: OperationID)
        -> OperationID
    {
        var hash = LabelledHash(.op)
        hash.update(previous)
        content(of: operation, into: &hash)
        return hash.finalize()
    }

    private static func content(of operation: Operation, into hash: inout LabelledHash) {
        hash.update(operation.head)
        if let commitment = commitment(of: operation) { hash.update(commitment) }
    }

    /// The commitment of an operation to its payload; nil if there is no payload.
    public static func commitment(of operation: Operation) -> Digest? {
        switch operation.body {
        case .none: return nil
        case .present(let salt, let payload):
            return payloadCommitment(salt: salt.isEmpty ? nil : salt[...], payload: payload[...])
        case .erased(let commitment, _, _): return commitment
        }
    }

    /// The digest of an authority: the first eight bytes of `H("lp1/auth", operations)`.
    ///
    /// - Parameter frontier: the operations that the authority rests on, in any order.
    public static func authority(_ frontier: [OperationID]) -> UInt64 {
        var hash = LabelledHash(.auth)
        for operation in frontier.sorted() { hash.update(operation) }
        let digest: Digest = hash.finalize()
        return digest.prefix
    }

    /// Signs a log up to one operation.
    package static func sign(
        log: LogID, sequence: UInt64, operation: OperationID, with key: DeviceSigningKey
    ) -> SignedHead {
        SignedHead(
            sequence: sequence,
            signature: key.sign(.head, headMessage(log, sequence, operation)))
    }

    /// Whether the device signed its log up to this operation.
    public static func isSigned(
        _ head: SignedHead, log: LogID, operation: OperationID, by device: DeviceID
    ) -> Bool {
        head.signature.verifies(
            .head, headMessage(log, head.sequence, operation), by: device)
    }

    private static func headMessage(
        _ log: LogID, _ sequence: UInt64, _ operation: OperationID
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 72)
        writer.identifier(log)
        writer.uint64(sequence)
        writer.identifier(operation)
        return writer.bytes
    }
}
