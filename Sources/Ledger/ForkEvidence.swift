import ParleySealing
public import ParleyWire

/// Proof, checked, that one device wrote two operations at one place of a log.
public struct ForkEvidence: Equatable, Sendable {
    /// The log.
    public let log: LogID
    /// The first place that differs.
    public let sequence: UInt64
    /// The identifier of the operation before it, which both branches follow.
    public let anchor: OperationID
    /// What proves it to anybody.
    public let proof: ForkProof

    /// Where the branches part.
    public var point: LogPoint { LogPoint(sequence: sequence, anchor: anchor) }

    /// The evidence in a proof, or nil where it proves nothing.
    ///
    /// Both branches must be of one log, begin at one place after one operation, differ there, be
    /// no longer than ``Limits/forkOperationCountMax``, and end at a valid signature. A second
    /// first operation in place of the one that begins the space proves nothing: the space's name
    /// determines which of them counts.
    public init?(_ proof: ForkProof) {
        let (left, right) = (proof.left, proof.right)
        guard left.device == right.device, left.lane == right.lane, left.first == right.first,
            left.anchor == right.anchor
        else { return nil }
        log = OperationHash.log(space: proof.space, device: left.device, lane: left.lane)
        sequence = left.first
        if left.first == 0 {
            let firsts = [left, right].compactMap(\.operations.first)
            guard left.anchor == nil,
                !firsts.contains(where: { OperationHash.space(begunBy: $0) == proof.space })
            else { return nil }
            anchor = OperationID(reinterpreting: log)
        } else {
            guard let given = left.anchor else { return nil }
            anchor = given
        }
        self.proof = proof
        guard let one = Self.first(of: left, log: log, after: anchor),
            let other = Self.first(of: right, log: log, after: anchor), one != other
        else { return nil }
    }

    /// Evidence that a store kept: it was checked before.
    public init(stored proof: ForkProof) {
        log = OperationHash.log(
            space: proof.space, device: proof.left.device, lane: proof.left.lane)
        sequence = proof.left.first
        anchor = proof.left.anchor ?? OperationID(reinterpreting: log)
        self.proof = proof
    }

    /// The identifier of the branch's first operation, if its signature holds.
    private static func first(of run: Run, log: LogID, after anchor: OperationID) -> OperationID? {
        guard run.operations.count <= Limits.forkOperationCountMax, run.heads.count == 1,
            let head = run.heads.first, head.sequence == run.last
        else { return nil }
        var first: OperationID?
        var previous = anchor
        for operation in run.operations {
            previous = OperationHash.operation(operation, after: previous)
            first = first ?? previous
        }
        guard OperationHash.isSigned(head, log: log, operation: previous, by: run.device) else {
            return nil
        }
        return first
    }
}
