public import ParleyWire

/// An operation whose payload, place in its log and author have been checked.
///
/// Only ``OperationVerifier`` and ``LogAuthor`` make one, so holding one is the proof.
public struct VerifiedOperation: Equatable, Sendable {
    /// Its name everywhere.
    public let id: OperationID
    /// Its log.
    public let tag: LogTag
    /// Its place in the log.
    public let sequence: UInt64
    /// Its payload.
    public let operation: Operation
    /// Where it stands, as far as that is known here; until it is placed, by its author's clock.
    public internal(set) var stand: Stand

    // Internal: no other room can forge the proof.
    init(
        id: OperationID, tag: LogTag, sequence: UInt64, operation: Operation, stand: Stand? = nil
    ) {
        self.id = id
        self.tag = tag
        self.sequence = sequence
        self.operation = operation
        self.stand = stand ?? Stand(unplaced: operation.header)
    }

    /// Where it stands on a screen, unless it was imported.
    public var orderKey: OrderKey {
        OrderKey(stand: stand.value, tag: tag, sequence: sequence, id: id)
    }
}

extension VerifiedOperation {
    /// An operation from the store: it was verified before it was kept.
    public init(stored: StoredOperation, tag: LogTag) {
        self.init(
            id: stored.id, tag: tag, sequence: stored.sequence, operation: stored.operation,
            stand: stored.stand)
    }
}
